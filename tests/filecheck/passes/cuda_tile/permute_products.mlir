// RUN: tilewright-opt %s -p 'cuda-tile-permute-products{arch=sm_90a}' | filecheck %s
// RUN: tilewright-opt %s -p 'cuda-tile-permute-products{arch=sm_100a}' | filecheck %s --check-prefix=MEMORY

// Scores whose weights of 8 bits are A: columns come in the order of lanes where keys are known to be multiples of
// four and nothing else reads them. Weights of 16 bits are multiplied by who computes them.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f8E4M3FN>>, %n: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %z = constant <f32: 0.0> : tile<64x64xf32>
    %q = assume div_by<16>, %p : tile<ptr<f8E4M3FN>>
    %m = assume div_by<4>, %n : tile<i32>
    %a = make_tensor_view %q, shape = [%m, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf8E4M3FN, strides=[64,1]>
    %b = make_tensor_view %q, shape = [%n, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf8E4M3FN, strides=[64,1]>
    %ta = make_partition_view %a : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x64xf8E4M3FN, strides=[64,1]>, dim_map=[1, 0]>
    %tb = make_partition_view %b : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x64xf8E4M3FN, strides=[64,1]>, dim_map=[1, 0]>
    %l, %t = load_view_tko weak %ta[%0, %0] : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x64xf8E4M3FN, strides=[64,1]>, dim_map=[1, 0]>, tile<i32> -> tile<64x64xf8E4M3FN>, token
    %r, %u = load_view_tko weak %tb[%0, %0] : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x64xf8E4M3FN, strides=[64,1]>, dim_map=[1, 0]>, tile<i32> -> tile<64x64xf8E4M3FN>, token
    %v, %w = load_view_tko weak %ta[%0, %0] : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x64xf8E4M3FN, strides=[64,1]>, dim_map=[1, 0]>, tile<i32> -> tile<64x64xf8E4M3FN>, token
    %s = mmaf %v, %l, %z : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>
    %x = exp2 %s : tile<64x64xf32>
    %y = ftof %x : tile<64x64xf32> -> tile<64x64xf8E4M3FN>
    %o = mmaf %y, %v, %z : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>
    %c = mmaf %v, %r, %z : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>
    %d = ftof %c : tile<64x64xf32> -> tile<64x64xf8E4M3FN>
    %e = mmaf %d, %v, %z : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>
    %f, %g = load_view_tko weak %ta[%0, %0] : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x64xf8E4M3FN, strides=[64,1]>, dim_map=[1, 0]>, tile<i32> -> tile<64x64xf8E4M3FN>, token
    %h = mmaf %v, %f, %z : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>
    %i = ftof %h : tile<64x64xf32> -> tile<64x64xbf16>
    %j = constant <bf16: 0.0> : tile<64x64xbf16>
    %1 = mmaf %i, %j, %z : tile<64x64xbf16>, tile<64x64xbf16>, tile<64x64xf32>
    return
  }
}

// CHECK: %s = mmaf %v, %l, %z {cute.permuted} :
// CHECK: %c = mmaf %v, %r, %z :
// CHECK: %h = mmaf %v, %f, %z :
// MEMORY: %s = mmaf %v, %l, %z :
