// RUN: tilewright-opt %s -p "cuda-tile-make-loads-early{arch=sm_90a}" | filecheck %s

// What an epilogue reads is loaded in front of the last loop of products, where a thread has one
// element of it at most; so is where it lies. What is larger stays, and what a store comes before.
// Of a kernel that multiplies nothing it is loaded in front of all loops, through its own view too.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>) {
    %x = constant <f16: 1.0> : tile<64x64xf16>
    %z = constant <f32: 1.0> : tile<64x64xf32>
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %9 = constant <i32: 9> : tile<i32>
    %m = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %rows = make_partition_view %m : partition_view<tile=(1x64), tensor_view<64x64xf32, strides=[64,1]>>
    %whole = make_partition_view %m : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %t0 = make_token : token
    %a = for %i in (%0 to %9, step %1) : tile<i32> iter_values(%acc = %z) -> (tile<64x64xf32>) {
      %b = mmaf %x, %x, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %b : tile<64x64xf32>
    }
    %c = for %i in (%0 to %9, step %1) : tile<i32> iter_values(%acc = %a) -> (tile<64x64xf32>) {
      %d = mmaf %x, %x, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %d : tile<64x64xf32>
    }
    %n = addi %1, %9 : tile<i32>
    %bias, %t1 = load_view_tko weak %rows[%n, %0] : partition_view<tile=(1x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<1x64xf32>, token
    %large, %t2 = load_view_tko weak %whole[%0, %0] : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<64x64xf32>, token
    %spread = broadcast %bias : tile<1x64xf32> -> tile<64x64xf32>
    %e = addf %c, %spread : tile<64x64xf32>
    %f = addf %e, %large : tile<64x64xf32>
    %t3 = store_view_tko weak %f, %whole[%0, %0] token = %t0 : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    %late, %t4 = load_view_tko weak %rows[%0, %0] token = %t3 : partition_view<tile=(1x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<1x64xf32>, token
    %t5 = store_view_tko weak %late, %rows[%1, %0] token = %t4 : tile<1x64xf32>, partition_view<tile=(1x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
  entry @folds(%p: tile<ptr<f32>>, %w: tile<ptr<f32>>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %9 = constant <i32: 9> : tile<i32>
    %z = constant <f32: 0.0> : tile<1x64xf32>
    %m = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %rows = make_partition_view %m : partition_view<tile=(1x64), tensor_view<64x64xf32, strides=[64,1]>>
    %sum = for %i in (%0 to %9, step %1) : tile<i32> iter_values(%acc = %z) -> (tile<1x64xf32>) {
      %x, %t0 = load_view_tko weak %rows[%i, %0] : partition_view<tile=(1x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<1x64xf32>, token
      %y = addf %acc, %x : tile<1x64xf32>
      continue %y : tile<1x64xf32>
    }
    %v = make_tensor_view %w, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %weights = make_partition_view %v : partition_view<tile=(1x1), tensor_view<64x64xf32, strides=[64,1]>>
    %weight, %t1 = load_view_tko weak %weights[%0, %0] : partition_view<tile=(1x1), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<1x1xf32>, token
    %same = broadcast %weight : tile<1x1xf32> -> tile<1x64xf32>
    %product = mulf %sum, %same : tile<1x64xf32>
    %t2 = store_view_tko weak %product, %rows[%0, %0] : tile<1x64xf32>, partition_view<tile=(1x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}

// CHECK: %a = for
// CHECK: %n = addi
// CHECK-NEXT: %bias, {{.*}} = load_view_tko
// CHECK-NEXT: %c = for
// CHECK: %large, {{.*}} = load_view_tko
// CHECK: %t3 = store_view_tko
// CHECK-NEXT: %late, {{.*}} = load_view_tko
// CHECK-LABEL: entry @folds
// CHECK: %weight, {{.*}} = load_view_tko
// CHECK-NEXT: %sum = for
