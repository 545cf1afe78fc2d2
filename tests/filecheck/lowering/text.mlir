// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_75

// A whole kernel: registers declared by kind, the parameters loaded that are used, a comment with op
// and line wherever the source op changes, fall-through where the next block follows.

//      CHECK: .visible .entry sum(
// CHECK-NEXT:   .param .u64 sum_x,
// CHECK-NEXT:   .param .u64 sum_out,
// CHECK-NEXT:   .param .u32 sum_n,
// CHECK-NEXT:   .param .u32 sum_unused
// CHECK-NEXT: )
// CHECK-NEXT: {
// CHECK-NEXT:   .reg .pred %p<2>;
// CHECK-NEXT:   .reg .b32 %r<3>;
// CHECK-NEXT:   .reg .f32 %f<3>;
// CHECK-NEXT:   .reg .b64 %rd<8>;
// CHECK-EMPTY:
// CHECK-NEXT:   ld.param.u64 %rd1, [sum_x];
// CHECK-NEXT:   ld.param.u64 %rd2, [sum_out];
// CHECK-NEXT:   ld.param.u32 %r1, [sum_n];
// CHECK-NEXT:   cvta.to.global.u64 %rd3, %rd1;
// CHECK-NEXT:   cvta.to.global.u64 %rd4, %rd2;
// CHECK-NEXT:   mov.b32 %r2, 0;
// CHECK-NEXT:   mov.f32 %f1, 0f00000000;
// CHECK-NEXT: $for1:
// CHECK-NEXT:   // scf.for text.mlir:52
// CHECK-NEXT:   setp.lt.s32 %p1, %r2, %r1;
// CHECK-NEXT:   @!%p1 bra $for1_end;
// CHECK-NEXT: $for1_body:
// CHECK-NEXT:   // arith.index_cast text.mlir:53
// CHECK-NEXT:   cvt.s64.s32 %rd5, %r2;
// CHECK-NEXT:   // memref.load text.mlir:54
// CHECK-NEXT:   shl.b64 %rd6, %rd5, 2;
// CHECK-NEXT:   add.s64 %rd7, %rd6, %rd3;
// CHECK-NEXT:   ld.global.f32 %f2, [%rd7];
// CHECK-NEXT:   // arith.addf text.mlir:55
// CHECK-NEXT:   add.rn.f32 %f1, %f1, %f2;
// CHECK-NEXT:   // scf.for text.mlir:52
// CHECK-NEXT:   add.s32 %r2, %r2, 1;
// CHECK-NEXT:   bra.uni $for1;
// CHECK-NEXT: $for1_end:
// CHECK-NEXT:   // memref.store text.mlir:59
// CHECK-NEXT:   st.global.f32 [%rd4], %f1;
// CHECK-NEXT:   // func.return text.mlir:60
// CHECK-NEXT:   ret;
// CHECK-NEXT: }
func.func @sum(%x: memref<?xf32>, %out: memref<1xf32>, %n: i32, %unused: i32) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
    %j = arith.index_cast %i : i32 to index
    %v = memref.load %x[%j] : memref<?xf32>
    %next = arith.addf %acc, %v : f32
    scf.yield %next : f32
  }
  %at = arith.constant 0 : index
  memref.store %sum, %out[%at] : memref<1xf32>
  func.return
}
