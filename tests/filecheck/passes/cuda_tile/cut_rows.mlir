// RUN: tilewright-opt %s -p 'cuda-tile-bound-sizes{places=2 most=16},cuda-tile-cut-rows{arch=sm_90a}' | filecheck %s
// RUN: tilewright-opt %s -p 'cuda-tile-bound-sizes{places=2 most=64},cuda-tile-cut-rows{arch=sm_90a}' | filecheck %s --check-prefix=HALF
// RUN: tilewright-opt %s -p 'cuda-tile-bound-sizes{places=3 most=16},cuda-tile-cut-rows{arch=sm_90a}' | filecheck %s --check-prefix=WHOLE
// RUN: tilewright-opt %s -p 'cuda-tile-bound-sizes{places=2 most=16},cuda-tile-cut-rows{arch=sm_80}' | filecheck %s --check-prefix=WHOLE
// RUN: tilewright-opt %s -p 'cuda-tile-cut-rows{arch=sm_90a}' | filecheck %s --check-prefix=WHOLE

// Of C's rows, where there are no more of them: the first part of each tile of A and C.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f16>>, %o: tile<ptr<f32>>, %m: tile<i32>, %k: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %z = constant <f32: 0.0> : tile<128x64xf32>
    %x, %y, %n = get_tile_block_id : tile<i32>
    %a = make_tensor_view %p, shape = [%k, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf16, strides=[64,1]>
    %b = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
    %c = make_tensor_view %o, shape = [%m, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>
    %ta = make_partition_view %a : partition_view<tile=(128x64), tensor_view<?x64xf16, strides=[64,1]>>
    %tb = make_partition_view %b : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
    %tc = make_partition_view %c : partition_view<tile=(128x64), tensor_view<?x64xf32, strides=[64,1]>>
    %l, %t = load_view_tko weak %ta[%x, %0] : partition_view<tile=(128x64), tensor_view<?x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
    %r, %u = load_view_tko weak %tb[%0, %0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %d = mmaf %l, %r, %z : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %v = store_view_tko weak %d, %tc[%x, %0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<?x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}

// CHECK: assume bounded<0, 16>, %m
// CHECK: load_view_tko weak {{.*}} -> tile<16x64xf16>
// CHECK: load_view_tko weak {{.*}} -> tile<64x64xf16>
// CHECK: mmaf %l, %r, %z : tile<16x64xf16>, tile<64x64xf16>, tile<16x64xf32>
// CHECK: store_view_tko weak %d, {{.*}} : tile<16x64xf32>

// HALF: mmaf %l, %r, %z : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>

// WHOLE: mmaf %l, %r, %z : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
