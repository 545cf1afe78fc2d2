// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: @shuffle
// CHECK-NEXT:    %other = cute_nvgpu.shfl.sync bfly %x, 2 : f32
// CHECK-NEXT:    %first = cute_nvgpu.shfl.sync idx %n, 0 {name = "x"} : i32
// CHECK-NEXT:    %given = cute_nvgpu.shfl.idx %n, %first
func.func @shuffle(%x: f32, %n: i32) {
  %other = cute_nvgpu.shfl.sync bfly %x, 2 : f32
  %first = cute_nvgpu.shfl.sync idx %n, 0 {name = "x"} : i32
  %given = cute_nvgpu.shfl.idx %n, %first
  func.return
}
