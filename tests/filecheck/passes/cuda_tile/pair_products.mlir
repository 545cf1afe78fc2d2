// RUN: tilewright-opt %s -p 'cuda-tile-split-blocks{arch=sm_100a},cuda-tile-place-accumulators{arch=sm_100a},cuda-tile-pair-products{arch=sm_100a}' | filecheck %s
// RUN: tilewright-opt %s -p 'cuda-tile-split-blocks{arch=sm_100a}' | tilewright-opt -p 'cuda-tile-place-accumulators{arch=sm_100a},cuda-tile-pair-products{arch=sm_100a}' | filecheck %s

// Both CTAs have rows of A and all of B: they multiply together. All that a step knows is in the text.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f16>>, %o: tile<ptr<f32>>) optimization_hints=<sm_100 = {num_cta_in_cga = 2}> {
    %0 = constant <i32: 0> : tile<i32>
    %z = constant <f32: 0.0> : tile<256x64xf32>
    %x, %y, %n = get_tile_block_id : tile<i32>
    %a = make_tensor_view %p, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
    %b = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
    %c = make_tensor_view %o, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf32, strides=[64,1]>
    %ta = make_partition_view %a : partition_view<tile=(256x64), tensor_view<4096x64xf16, strides=[64,1]>>
    %tb = make_partition_view %b : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
    %tc = make_partition_view %c : partition_view<tile=(256x64), tensor_view<4096x64xf32, strides=[64,1]>>
    %l, %t = load_view_tko weak %ta[%x, %0] : partition_view<tile=(256x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<256x64xf16>, token
    %r, %u = load_view_tko weak %tb[%0, %0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %d = mmaf %l, %r, %z : tile<256x64xf16>, tile<64x64xf16>, tile<256x64xf32>
    %v = store_view_tko weak %d, %tc[%x, %0] : tile<256x64xf32>, partition_view<tile=(256x64), tensor_view<4096x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}

// CHECK: %d = mmaf %l, %r, %z {cute.accumulators = 0 : i32, cute.pair} : tile<128x64xf16>
