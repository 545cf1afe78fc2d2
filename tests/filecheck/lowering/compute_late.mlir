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
