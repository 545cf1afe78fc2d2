// RUN: tilewright-opt %s -p 'cuda-tile-align-stores' | filecheck %s

// The address, the stride and the sizes of a tensor are loaded. Where they are multiples of 16 bytes
// so is whatever a row begins with; a size of rows is not asked for.

cuda_tile.module @m {
  entry @loaded(%table: tile<ptr<i64>>, %sizes: tile<ptr<i32>>, %m: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %tile = constant <f16: 1.0> : tile<64x32xf16>
    %number, %t0 = load_ptr_tko weak %table : tile<ptr<i64>> -> tile<i64>, token
    %base = int_to_ptr %number : tile<i64> -> tile<ptr<f16>>
    %n, %t1 = load_ptr_tko weak %sizes : tile<ptr<i32>> -> tile<i32>, token
    %v = make_tensor_view %base, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %p = make_partition_view %v : partition_view<tile=(64x32), tensor_view<?x?xf16, strides=[?,1]>>
    %t2 = store_view_tko weak %tile, %p[%0, %0] : tile<64x32xf16>, partition_view<tile=(64x32), tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> token
    return
  }

  entry @given(%base: tile<ptr<f16>>, %n: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %tile = constant <f16: 1.0> : tile<64x32xf16>
    %v = make_tensor_view %base, shape = [%n, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %p = make_partition_view %v : partition_view<tile=(64x32), tensor_view<?x?xf16, strides=[?,1]>>
    %t = store_view_tko weak %tile, %p[%0, %0] : tile<64x32xf16>, partition_view<tile=(64x32), tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> token
    return
  }
}

// CHECK-LABEL: entry @loaded
// CHECK: ptr_to_int %base
// CHECK: %[[SIXTEEN:.*]] = cmpi equal
// CHECK: andi %n, %
// CHECK: %[[EIGHT:.*]] = cmpi equal
// CHECK-NEXT: %[[BOTH:.*]] = andi %[[SIXTEEN]], %[[EIGHT]]
// CHECK-NEXT: %t2 = if %[[BOTH]] -> (token) {
// CHECK-NEXT: %[[BASE:.*]] = assume div_by<16>, %base
// CHECK-NEXT: %[[N:.*]] = assume div_by<8>, %n
// CHECK-NEXT: make_tensor_view %[[BASE]], shape = [%m, %[[N]]], strides = [%[[N]], 1]
// CHECK: store_view_tko
// CHECK: } else {
// CHECK-NEXT: store_view_tko weak %tile, %p[

// What is known of parameters is all that there is to know.

// CHECK-LABEL: entry @given
// CHECK-NOT: if
