// RUN: tilewright-opt %s -p cuda-tile-split-single-trips | filecheck %s

// A row of one tile is loaded once.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %z = constant <f32: 0.0> : tile<128xf32>
    %v = make_tensor_view %p, shape = [4096], strides = [1] : tensor_view<4096xf32, strides=[1]>
    %w = make_partition_view %v : partition_view<tile=(128), tensor_view<4096xf32, strides=[1]>>
    %s = for %i in (%0 to %n, step %1) : tile<i32> iter_values(%a = %z) -> (tile<128xf32>) {
      %x, %t = load_view_tko weak %w[%i] : partition_view<tile=(128), tensor_view<4096xf32, strides=[1]>>, tile<i32> -> tile<128xf32>, token
      %b = addf %a, %x : tile<128xf32>
      continue %b : tile<128xf32>
    }
    for %i in (%0 to %n, step %1) : tile<i32> {
      %x, %t = load_view_tko weak %w[%i] : partition_view<tile=(128), tensor_view<4096xf32, strides=[1]>>, tile<i32> -> tile<128xf32>, token
      %y = subf %x, %s : tile<128xf32>
      %u = store_view_tko weak %y, %w[%i] : tile<128xf32>, partition_view<tile=(128), tensor_view<4096xf32, strides=[1]>>, tile<i32> -> token
      continue
    }
    return
  }
}

// CHECK: %3 = cmpi equal %n, %2, signed
// CHECK-NEXT: if %3 {
// CHECK-NEXT: %x, %t = load_view_tko weak %w[%0]
// CHECK-NEXT: %b = addf %z, %x
// CHECK-NEXT: %y = subf %x, %b
// CHECK-NEXT: store_view_tko weak %y, %w[%0]
// CHECK-NEXT: } else {
// CHECK-NEXT: %s = for %i
// CHECK: for %i_1
