// RUN: tilewright-opt %s -p 'cuda-tile-split-blocks{arch=sm_90a}' | filecheck %s
// RUN: tilewright-opt %s -p 'cuda-tile-split-blocks{arch=sm_90a},cuda-tile-split-blocks{arch=sm_90a}' | filecheck %s
// RUN: tilewright-opt %s -p 'cuda-tile-split-blocks{arch=sm_80}' | filecheck %s --check-prefix=WHOLE
// RUN: sed 's/num_cta_in_cga = 2/occupancy = 1/' %s | tilewright-opt -p 'cuda-tile-share-blocks{ctas=2},cuda-tile-split-blocks{arch=sm_90a}' | filecheck %s --check-prefix=SHARED

// Two CTAs, each of which has half of the rows, once.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f16>>, %o: tile<ptr<f32>>) optimization_hints=<sm_90 = {num_cta_in_cga = 2}> {
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

// CHECK: %4 = andi %0, %3
// CHECK: %10 = shri %x, %9 unsigned
// CHECK: %12 = muli %10, %11
// CHECK: %15 = addi %12, %14
// CHECK: load_view_tko weak %16[%15, %7] attributes {cuda_tile.part_of_block} {{.*}} -> tile<128x64xf16>
// CHECK: load_view_tko weak %tb[%6, %5] : {{.*}} -> tile<64x64xf16>
// CHECK: mmaf %l, %r, %z : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
// CHECK: store_view_tko weak %d, {{.*}} {cuda_tile.part_of_block} : tile<128x64xf32>
// CHECK: } {cuda_tile.block_ctas = 2 : i32}

// WHOLE: mmaf %l, %r, %z : tile<256x64xf16>, tile<64x64xf16>, tile<256x64xf32>
// WHOLE-NOT: cuda_tile.block_ctas

// SHARED: } {cuda_tile.shared_by = 2 : i32, cuda_tile.block_ctas = 2 : i32, cuda_tile.unclustered}
