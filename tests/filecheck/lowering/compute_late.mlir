// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | filecheck %s

// An element after the other, where the text has an op after the other.
func.func @late(%m: memref<4xf32>, %x: f32) attributes {gpu.kernel, cuda_tile.computes_late} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.load %m[%c0] : memref<4xf32>
  %b = memref.load %m[%c1] : memref<4xf32>
  %a1 = arith.addf %a, %x : f32
  %b1 = arith.addf %b, %x : f32
  %a2 = arith.mulf %a1, %a1 : f32
  %b2 = arith.mulf %b1, %b1 : f32
  memref.store %a2, %m[%c0] : memref<4xf32>
  memref.store %b2, %m[%c1] : memref<4xf32>
  return
}

// CHECK: ld.global.f32
// CHECK: ld.global.f32
// CHECK-NOT: ld.global
// CHECK: add.rn.f32
// CHECK-NOT: add.rn
// CHECK: mul.rn.f32
// CHECK: st.global.f32
// CHECK: add.rn.f32
// CHECK: mul.rn.f32
// CHECK: st.global.f32

// The product comes right behind the store of what it is the last to read, with %x0; what takes a
// register more waits.
// CHECK-LABEL: .visible .entry early
func.func @early(%m: memref<4xf32>, %n: memref<4xf64>) attributes {gpu.kernel, cuda_tile.computes_late} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x0 = memref.load %m[%c0] : memref<4xf32>
  %x1 = memref.load %m[%c1] : memref<4xf32>
  %y0 = arith.addf %x0, %x0 : f32
  %y1 = arith.addf %x1, %x1 : f32
  %z0 = arith.mulf %y0, %x0 : f32
  %w1 = arith.extf %y1 : f32 to f64
  memref.store %y0, %m[%c0] : memref<4xf32>
  memref.store %y1, %m[%c1] : memref<4xf32>
  memref.store %z0, %m[%c0] : memref<4xf32>
  memref.store %w1, %n[%c1] : memref<4xf64>
  return
}
// CHECK: add.rn.f32
// CHECK: st.global.f32
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: st.global.f32
// CHECK: st.global.f32
// CHECK: cvt.f64.f32
// CHECK: st.global.f64

// A late load is no earlier than what needs it.
// CHECK-LABEL: .visible .entry late_load
func.func @late_load(%a: i64, %b: i64) attributes {gpu.kernel, cuda_tile.computes_late} {
  %x = cute_nvgpu.address.load late %a + 0 : i64 -> f32
  %y = cute_nvgpu.address.load late %a + 4 : i64 -> f32
  cute_nvgpu.address.store %x to %b + 0 : f32 to i64
  cute_nvgpu.address.store %y to %b + 4 : f32 to i64
  return
}
// CHECK: ld.global.f32
// CHECK-NOT: ld.global
// CHECK: st.global.f32
// CHECK: ld.global.f32
// CHECK: st.global.f32
