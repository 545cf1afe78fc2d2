// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @movmatrix
// CHECK-NEXT:    %0 = cute_nvgpu.movmatrix %f : !cute_nvgpu.fragment<2xbf16> -> !cute_nvgpu.fragment<2xbf16>
// CHECK-NEXT:    %1 = cute_nvgpu.movmatrix %g {name = "x"} : !cute_nvgpu.fragment<2xf16, "((4,8),2):((16,1),8)"> -> !cute_nvgpu.fragment<2xf16, "((4,8),2):((2,8),1)">
func.func @movmatrix(%f: !cute_nvgpu.fragment<2xbf16>, %g: !cute_nvgpu.fragment<2xf16, "((4,8),2):((16,1),8)">) {
  %0 = cute_nvgpu.movmatrix %f : !cute_nvgpu.fragment<2xbf16> -> !cute_nvgpu.fragment<2xbf16>
  %1 = cute_nvgpu.movmatrix %g {name = "x"} : !cute_nvgpu.fragment<2xf16, "((4,8),2):((16,1),8)"> -> !cute_nvgpu.fragment<2xf16, "((4,8),2):((2,8),1)">
  func.return
}
