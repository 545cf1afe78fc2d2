// RUN: tilewright-opt %s -p cuda-tile-make-loads-late | filecheck %s

// What is added behind two products is loaded behind the first one.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>) {
    %0 = constant <i32: 0> : tile<i32>
    %m = make_tensor_view %p, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf32, strides=[16,1]>
    %w = make_partition_view %m : partition_view<tile=(16x16), tensor_view<16x16xf32, strides=[16,1]>>
    %x = constant <f16: 1.0> : tile<16x16xf16>
    %z = constant <f32: 1.0> : tile<16x16xf32>
    %v, %t = load_view_tko weak %w[%0, %0] : partition_view<tile=(16x16), tensor_view<16x16xf32, strides=[16,1]>>, tile<i32> -> tile<16x16xf32>, token
    %a = mmaf %x, %x, %z : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
    %b = mmaf %x, %x, %a : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
    %c = addf %b, %v : tile<16x16xf32>
    return
  }
}

// CHECK: %a = mmaf
// CHECK-NEXT: %v, %t = load_view_tko
// CHECK-NEXT: %b = mmaf
