// RUN: tilewright-opt %s --split-input-file --verify-diagnostics | filecheck %s

// The bytes of a tile through a swizzle, and as bytes again.
// CHECK: %b = cute.recast<f4E2M1FN> (%a) : (!cute.memref<i8, smem, align<1024>, "S<3,4,3> o 0 o (128,128):(128,1)">) -> !cute.memref<f4E2M1FN, smem, align<1024>, "S<3,5,3> o 0 o (128,256):(256,1)">
// CHECK: %c = cute.recast<i8> (%b) : {{.*}} -> !cute.memref<i8, smem, align<1024>, "S<3,4,3> o 0 o (128,128):(128,1)">
func.func @f(%a: !cute.memref<i8, smem, align<1024>, "S<3,4,3> o 0 o (128,128):(128,1)">) {
  %b = cute.recast<f4E2M1FN> (%a)
  %c = cute.recast<i8> (%b)
  func.return
}

// -----

func.func @f(%a: !cute.memref<i8, gmem, "8:1">) {
  // expected-error @+1 {{expected bytes, i8, and elements of less in gmem or smem, got '!cute.memref<i8, gmem, "8:1">' as f16}}
  %b = cute.recast<f16> (%a)
  func.return
}

// -----

func.func @f(%a: !cute.memref<i8, gmem, "8:1">) {
  // expected-error @+1 {{expected an element type: cute.recast<f4E2M1FN>}}
  %b = cute.recast (%a)
  func.return
}
