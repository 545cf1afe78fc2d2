// RUN: tilewright-opt %s -p 'cuda-tile-transpose-products{arch=sm_90a}' | filecheck %s
// RUN: tilewright-opt %s -p 'cuda-tile-transpose-products{arch=sm_100a}' | filecheck %s --check-prefix=MEMORY

// wgmma takes words K-major alone: rows of B come through registers. Of bf16, and of a B whose columns
// are contiguous, it reads both where they lie, as tcgen05.mma does from shared memory alone.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>) {
    %0 = constant <i32: 0> : tile<i32>
    %z = constant <f32: 0.0> : tile<64x64xf32>
    %q = assume div_by<16>, %p : tile<ptr<f32>>
    %a = make_tensor_view %q, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %b = make_tensor_view %q, shape = [64, 64], strides = [1, 64] : tensor_view<64x64xf32, strides=[1,64]>
    %ta = make_partition_view %a : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %tb = make_partition_view %b : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[1,64]>>
    %l, %t = load_view_tko weak %ta[%0, %0] : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<64x64xf32>, token
    %r, %u = load_view_tko weak %tb[%0, %0] : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[1,64]>>, tile<i32> -> tile<64x64xf32>, token
    %s, %v = load_view_tko weak %ta[%0, %0] : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<64x64xf32>, token
    %w = ftof %s : tile<64x64xf32> -> tile<64x64xtf32>
    %x = ftof %l : tile<64x64xf32> -> tile<64x64xtf32>
    %y = ftof %r : tile<64x64xf32> -> tile<64x64xtf32>
    %d = mmaf %w, %x, %z : tile<64x64xtf32>, tile<64x64xtf32>, tile<64x64xf32>
    %e = mmaf %w, %y, %d : tile<64x64xtf32>, tile<64x64xtf32>, tile<64x64xf32>
    return
  }
}

// CHECK: %d = mmaf %w, %x, %z {cute.transposed} :
// CHECK: %e = mmaf %w, %y, %d :
// MEMORY: %d = mmaf %w, %x, %z :
