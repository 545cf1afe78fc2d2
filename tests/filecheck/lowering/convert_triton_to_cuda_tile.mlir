// RUN: tilewright-opt %s -p convert-triton-to-cuda-tile | filecheck %s

tt.func public @k(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %at = tt.addptr %s, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  scf.for %j = %c0 to %n step %c1 : i32 {
    %x = tt.load %at : tensor<4x!tt.ptr<f32>>
    %y = arith.addf %x, %x : tensor<4xf32>
    tt.store %at, %y : tensor<4x!tt.ptr<f32>>
  }
  tt.return
}

// CHECK: builtin.module {
// CHECK-NEXT: cuda_tile.module @kernels {
// CHECK-NEXT: entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {
// CHECK-NEXT: %c1 = constant <i32: 1> : tile<i32>
// CHECK-NEXT: %c0 = constant <i32: 0> : tile<i32>
// CHECK-NEXT: %0 = assume div_by<16>, %p : tile<ptr<f32>>
// CHECK-NEXT: %i = iota : tile<4xi32>
// CHECK-NEXT: %1 = reshape %0 : tile<ptr<f32>> -> tile<1xptr<f32>>
// CHECK-NEXT: %s = broadcast %1 : tile<1xptr<f32>> -> tile<4xptr<f32>>
// CHECK-NEXT: %at = offset %s, %i : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
// CHECK-NEXT: %2 = make_token : token
// CHECK-NEXT: %3 = for %4 in (%c0 to %n, step %c1) : tile<i32> iter_values(%5 = %2) -> (token) {
// CHECK-NEXT: %x, %6 = load_ptr_tko weak %at token=%5 : tile<4xptr<f32>> -> tile<4xf32>, token
// CHECK-NEXT: %y = addf %x, %x : tile<4xf32>
// CHECK-NEXT: %7 = join_tokens %5, %6 : token
// CHECK-NEXT: %8 = store_ptr_tko weak %at, %y token=%7 : tile<4xptr<f32>>, tile<4xf32> -> token
// CHECK-NEXT: continue %8 : token
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
