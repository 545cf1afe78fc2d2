// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s --check-prefix PTX
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_80

// CHECK-LABEL: @libdevice
// CHECK:    cute_nvgpu.libdevice "__nv_powf" %f, %f : (f32, f32) -> f32
// CHECK:    cute_nvgpu.libdevice "__nv_exp2f" %h {name = "x"} : (f16) -> f16
// PTX-LABEL: @libdevice
// PTX:      ptx.ex2 approx.ftz.f32
func.func @libdevice(%x: f64, %out: memref<1xf64>, %f: f32, %small: memref<1xf32>, %h: f16, %halves: memref<1xf16>) attributes {gpu.kernel} {
  %zero = arith.constant 0 : index
  %a = cute_nvgpu.libdevice "__nv_exp" %x : (f64) -> f64
  memref.store %a, %out[%zero] : memref<1xf64>
  %b = cute_nvgpu.libdevice "__nv_powf" %f, %f : (f32, f32) -> f32
  memref.store %b, %small[%zero] : memref<1xf32>
  %c = cute_nvgpu.libdevice "__nv_exp2f" %h {name = "x"} : (f16) -> f16
  memref.store %c, %halves[%zero] : memref<1xf16>
  func.return
}
