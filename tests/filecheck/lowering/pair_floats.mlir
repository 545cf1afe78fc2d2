// RUN: tilewright-opt %s -p "convert-cute-nvgpu-to-ptx{arch=sm_100a}" --split-input-file | filecheck %s

// Sums and products of two: what comes of a pair and goes on to one is in no register of its own.
func.func @pairs(%m: memref<?xf32>) attributes {gpu.kernel} {
  %i = arith.constant 0 : index
  %j = arith.constant 1 : index
  %a = memref.load %m[%i] : memref<?xf32>
  %b = memref.load %m[%j] : memref<?xf32>
  %c = arith.mulf %a, %a : f32
  %d = arith.mulf %b, %a : f32
  %e = arith.addf %c, %a : f32
  %f = arith.addf %d, %b : f32
  memref.store %e, %m[%i] : memref<?xf32>
  memref.store %f, %m[%j] : memref<?xf32>
  return
}

// CHECK: [[A:%[0-9]+]] = ptx.ld "global" "f32"
// CHECK-NEXT: [[B:%[0-9]+]] = ptx.ld "global" "f32"
// CHECK-NEXT: [[LOW:%[0-9]+]] = ptx.mov [[A]]
// CHECK-NEXT: [[HIGH:%[0-9]+]] = ptx.mov [[B]]
// CHECK-NEXT: [[BOTH:%[0-9]+]] = ptx.pack b64 [[LOW]], [[HIGH]]
// CHECK-NEXT: [[ONE:%[0-9]+]] = ptx.mov [[A]]
// CHECK-NEXT: [[TWICE:%[0-9]+]] = ptx.pack b64 [[ONE]], [[ONE]]
// CHECK-NEXT: [[PRODUCTS:%[0-9]+]] = ptx.mul rn.f32x2 [[BOTH]], [[TWICE]]
// CHECK-NEXT: [[SUMS:%[0-9]+]] = ptx.add rn.f32x2 [[PRODUCTS]], [[BOTH]]
// CHECK-NEXT: ptx.unpack words [[SUMS]]
// CHECK-NOT: ptx.unpack
// CHECK: ptx.ret

// -----

// One that needs the other, or would lie in two pairs, is alone.
func.func @alone(%m: memref<?xf32>) attributes {gpu.kernel} {
  %i = arith.constant 0 : index
  %j = arith.constant 1 : index
  %a = memref.load %m[%i] : memref<?xf32>
  %b = memref.load %m[%j] : memref<?xf32>
  %c = arith.addf %a, %b : f32
  %d = arith.addf %c, %b : f32
  %e = arith.mulf %a, %c : f32
  %f = arith.mulf %b, %d : f32
  %g = arith.subf %a, %e : f32
  %h = arith.subf %c, %f : f32
  memref.store %g, %m[%i] : memref<?xf32>
  memref.store %h, %m[%j] : memref<?xf32>
  return
}

// CHECK: = ptx.add rn.f32 %
// CHECK-NEXT: {{.*}} = ptx.add rn.f32 %
// CHECK: ptx.mul rn.f32x2
// CHECK: = ptx.sub rn.f32 %
// CHECK-NEXT: {{.*}} = ptx.sub rn.f32 %
