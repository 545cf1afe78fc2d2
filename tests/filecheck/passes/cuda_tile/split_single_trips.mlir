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

// So is one whose loops count elements, of which a step is a tile; what a load waits for writes
// nothing, so that it is the same load.

cuda_tile.module @steps {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %128 = constant <i32: 128> : tile<i32>
    %z = constant <f32: 0.0> : tile<128xf32>
    %v = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %w = make_strided_view %v : strided_view<tile=(128), traversal_strides=[1], tensor_view<?xf32, strides=[1]>>
    %s = for %i in (%0 to %n, step %128) : tile<i32> iter_values(%a = %z) -> (tile<128xf32>) {
      %x, %t = load_view_tko weak %w[%i] : strided_view<tile=(128), traversal_strides=[1], tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<128xf32>, token
      %b = addf %a, %x : tile<128xf32>
      continue %b : tile<128xf32>
    }
    %none = make_token : token
    for %i in (%0 to %n, step %128) : tile<i32> {
      %x, %t = load_view_tko weak %w[%i] token = %none : strided_view<tile=(128), traversal_strides=[1], tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<128xf32>, token
      %y = subf %x, %s : tile<128xf32>
      %u = store_view_tko weak %y, %w[%i] token = %t : tile<128xf32>, strided_view<tile=(128), traversal_strides=[1], tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
      continue
    }
    return
  }
}

// CHECK-LABEL: @steps
// CHECK: %[[LAST:.*]] = subi %n, %{{.*}}
// CHECK: %[[ONE:.*]] = cmpi less_than %[[LAST]], %{{.*}}, unsigned
// CHECK-NEXT: if %[[ONE]] {
// CHECK-NEXT: %x, %t = load_view_tko weak %w[%0]
// CHECK-NEXT: %b = addf %z, %x
// CHECK-NOT: load_view_tko
// CHECK: %y = subf %x, %b
// CHECK-NEXT: store_view_tko weak %y, %w[%0] token = %t
// CHECK-NEXT: } else {
// CHECK-NEXT: %s = for %i
