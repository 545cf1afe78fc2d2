// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK: cuda_tile.module @views {
cuda_tile.module @views {
  // CHECK-NEXT: entry @views(%p: tile<ptr<f32>>, %n: tile<i32>, %i: tile<i32>) {
  entry @views(%p: tile<ptr<f32>>, %n: tile<i32>, %i: tile<i32>) {
    // CHECK-NEXT: %t = make_tensor_view %p, shape = [%n, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>
    %t = make_tensor_view %p, shape = [%n, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>
    // CHECK-NEXT: %v = make_partition_view %t : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]>
    %v = make_partition_view %t : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]>
    // CHECK-NEXT: %w = make_partition_view %t : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1]>>
    %w = make_partition_view %t : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1]>>
    // CHECK-NEXT: %s = make_strided_view %t : strided_view<tile=(4x8), traversal_strides=[2,8], tensor_view<?x64xf32, strides=[64,1]>>
    %s = make_strided_view %t : strided_view<tile=(4x8), traversal_strides=[2,8], tensor_view<?x64xf32, strides=[64,1]>>
    // CHECK-NEXT: %g = make_gather_scatter_view %t : gather_scatter_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1]>, sparse_dim=0>
    %g = make_gather_scatter_view %t : gather_scatter_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1]>, sparse_dim=0>
    // CHECK-NEXT: %n0, %n1 = get_index_space_shape %w : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1]>> -> tile<i32>
    %n0, %n1 = get_index_space_shape %w : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1]>> -> tile<i32>
    // CHECK-NEXT: %d0, %d1 = get_tensor_shape %t : tensor_view<?x64xf32, strides=[64,1]> -> tile<i32>
    %d0, %d1 = get_tensor_shape %t : tensor_view<?x64xf32, strides=[64,1]> -> tile<i32>
    // CHECK-NEXT: %x, %t0 = load_view_tko weak %w[%i, %i] : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1]>>, tile<i32> -> tile<4x8xf32>, token
    %x, %t0 = load_view_tko weak %w[%i, %i] : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1]>>, tile<i32> -> tile<4x8xf32>, token
    // CHECK-NEXT: %y, %t1 = load_view_tko relaxed device %w[%i, %i] token = %t0 optimization_hints = <sm_100 = {allow_tma = false, latency = 4}> inbounds = [true, false] : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1]>>, tile<i32> -> tile<4x8xf32>, token
    %y, %t1 = load_view_tko relaxed device %w[%i, %i] token = %t0 optimization_hints = <sm_100 = {allow_tma = false, latency = 4}> inbounds = [true, false] : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1]>>, tile<i32> -> tile<4x8xf32>, token
    // CHECK-NEXT: %t2 = store_view_tko weak %x, %w[%i, %i] token = %t1 : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1]>>, tile<i32> -> token
    %t2 = store_view_tko weak %x, %w[%i, %i] token = %t1 : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1]>>, tile<i32> -> token
    // CHECK-NEXT: %t3 = atomic_red_view_tko relaxed device %w[%i, %i], addf, %x token = %t2 : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1]>>, tile<i32> -> token
    %t3 = atomic_red_view_tko relaxed device %w[%i, %i], addf, %x token = %t2 : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1]>>, tile<i32> -> token
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @multimem(%p: tile<ptr<f32, #cuda_tile.ptr_attr<multicast>>>, %i: tile<i32>) {
  entry @multimem(%p: tile<ptr<f32, #cuda_tile.ptr_attr<multicast>>>, %i: tile<i32>) {
    // CHECK-NEXT: %t = make_tensor_view %p, shape = [64], strides = [1] : tile<ptr<f32, #cuda_tile.ptr_attr<multicast>>> -> tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>
    %t = make_tensor_view %p, shape = [64], strides = [1] : tile<ptr<f32, #cuda_tile.ptr_attr<multicast>>> -> tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>
    // CHECK-NEXT: %v = make_partition_view %t : partition_view<tile=(8), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>
    %v = make_partition_view %t : partition_view<tile=(8), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>
    // CHECK-NEXT: %x, %t0 = multimem_load_reduce_view_tko relaxed sys %v[%i] : partition_view<tile=(8), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8xf32>, token
    %x, %t0 = multimem_load_reduce_view_tko relaxed sys %v[%i] : partition_view<tile=(8), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8xf32>, token
    // CHECK-NEXT: %t1 = multimem_reduce_view_tko relaxed sys %v, %x[%i] token = %t0 : partition_view<tile=(8), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<8xf32>, tile<i32>, token -> token
    %t1 = multimem_reduce_view_tko relaxed sys %v, %x[%i] token = %t0 : partition_view<tile=(8), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<8xf32>, tile<i32>, token -> token
    // CHECK-NEXT: %t2 = multimem_store_view_tko relaxed sys %v, %x[%i] : partition_view<tile=(8), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<8xf32>, tile<i32> -> token
    %t2 = multimem_store_view_tko relaxed sys %v, %x[%i] : partition_view<tile=(8), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<8xf32>, tile<i32> -> token
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
// CHECK: }
}
