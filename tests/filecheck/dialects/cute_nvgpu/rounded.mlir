// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s --check-prefix PTX
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_80

// CHECK-LABEL: @rounded
// CHECK:    cute_nvgpu.rounded "fma.rz.f64" %x, %x, %x : f64
// CHECK:    cute_nvgpu.rounded "sqrt.rm.f64" %a {name = "x"} : f64
// PTX-LABEL: @rounded
// PTX:      ptx.fma rz.f64 %x, %x, %x
// PTX:      ptx.sqrt rm.f64
// PTX:      ptx.mul rn.ftz.f32
func.func @rounded(%x: f64, %out: memref<1xf64>, %f: f32, %small: memref<1xf32>) attributes {gpu.kernel} {
  %zero = arith.constant 0 : index
  %a = cute_nvgpu.rounded "fma.rz.f64" %x, %x, %x : f64
  %b = cute_nvgpu.rounded "sqrt.rm.f64" %a {name = "x"} : f64
  memref.store %b, %out[%zero] : memref<1xf64>
  %c = cute_nvgpu.rounded "mul.rn.ftz.f32" %f, %f : f32
  memref.store %c, %small[%zero] : memref<1xf32>
  func.return
}
