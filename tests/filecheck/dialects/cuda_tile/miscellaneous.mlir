// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK: cuda_tile.module @miscellaneous {
cuda_tile.module @miscellaneous {
  // CHECK-NEXT: entry @miscellaneous(%p: tile<ptr<f32>>, %i: tile<i32>) optimization_hints=<sm_100 = {num_cta_in_cga = 2, occupancy = 4}> {
  entry @miscellaneous(%p: tile<ptr<f32>>, %i: tile<i32>) optimization_hints=<sm_100 = {num_cta_in_cga = 2, occupancy = 4}> {
    // CHECK-NEXT: %0 = assume div_by<16>, %p : tile<ptr<f32>>
    %0 = assume div_by<16>, %p : tile<ptr<f32>>
    // CHECK-NEXT: %1 = assume bounded<0, ?>, %i : tile<i32>
    %1 = assume bounded<0, ?>, %i : tile<i32>
    // CHECK-NEXT: %x = constant <i32: 1> : tile<4x8xi32>
    %x = constant <i32: 1> : tile<4x8xi32>
    // CHECK-NEXT: %2 = assume same_elements<[1, 8]>, %x : tile<4x8xi32>
    %2 = assume same_elements<[1, 8]>, %x : tile<4x8xi32>
    // CHECK-NEXT: %3 = assume div_by<4, every 2 along 1>, %x : tile<4x8xi32>
    %3 = assume div_by<4, every 2 along 1>, %x : tile<4x8xi32>
    // CHECK-NEXT: %t0 = print_tko "hello\0A" -> token
    %t0 = print_tko "hello\0A" -> token
    // CHECK-NEXT: %t1 = print_tko "%d %d", %i, %i token=%t0 : tile<i32>, tile<i32> -> token
    %t1 = print_tko "%d %d", %i, %i token=%t0 : tile<i32>, tile<i32> -> token
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
// CHECK: }
}
