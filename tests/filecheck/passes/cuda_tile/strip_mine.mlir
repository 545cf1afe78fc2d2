// RUN: tilewright-opt %s -p 'cuda-tile-strip-mine{arch=sm_80}' | filecheck %s

// 2^19 elements: 2^17 of them in an iteration.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>) {
    %0 = constant <i32: 0> : tile<i32>
    %v = make_tensor_view %p, shape = [524288], strides = [1] : tensor_view<524288xf32, strides=[1]>
    %w = make_partition_view %v : partition_view<tile=(524288), tensor_view<524288xf32, strides=[1]>>
    %x, %t = load_view_tko weak %w[%0] : partition_view<tile=(524288), tensor_view<524288xf32, strides=[1]>>, tile<i32> -> tile<524288xf32>, token
    %y = addf %x, %x : tile<524288xf32>
    %u = store_view_tko weak %y, %w[%0] token = %t : tile<524288xf32>, partition_view<tile=(524288), tensor_view<524288xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}

// CHECK: %1 = constant <i32: 4> : tile<i32>
// CHECK: for %3 in (%0 to %1, step %2)
// CHECK: %9 = muli %3, %8
// CHECK: %10 = addi %7, %9
// CHECK: %x, %t = load_view_tko weak %11[%10] {{.*}} -> tile<131072xf32>
// CHECK: store_view_tko weak %y, {{.*}} : tile<131072xf32>
