// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix PTX
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_90a

// CHECK-LABEL: func.func @passing
// CHECK:         cute_nvgpu.address.load cache "L1::no_allocate" %p + 16 : i64 -> f32, f32
// PTX:           .version 7.4
// PTX:           ld.global.L1::no_allocate.v2.f32 {%{{.*}}, %{{.*}}}, [%{{.*}}+16];
func.func @passing(%p: i64) attributes {gpu.kernel} {
  %x, %y = cute_nvgpu.address.load cache "L1::no_allocate" %p + 16 : i64 -> f32, f32
  cute_nvgpu.address.store %x, %y to %p + 0 : f32, f32 to i64
  func.return
}
