// RUN: tilewright-opt %s -p 'cuda-tile-slice-products{arch=sm_90a}' | filecheck %s

// 64x4096 and 4096x64 of f16 have no room: a loop over slices of K loads them.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f16>>) {
    %z = constant <f32: 1.0> : tile<64x64xf32>
    %0 = constant <i32: 0> : tile<i32>
    %a = make_tensor_view %p, shape = [64, 4096], strides = [4096, 1] : tensor_view<64x4096xf16, strides=[4096,1]>
    %b = make_tensor_view %p, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
    %ta = make_partition_view %a : partition_view<tile=(64x4096), tensor_view<64x4096xf16, strides=[4096,1]>>
    %tb = make_partition_view %b : partition_view<tile=(4096x64), tensor_view<4096x64xf16, strides=[64,1]>>
    %x, %t = load_view_tko weak %ta[%0, %0] : partition_view<tile=(64x4096), tensor_view<64x4096xf16, strides=[4096,1]>>, tile<i32> -> tile<64x4096xf16>, token
    %y, %u = load_view_tko weak %tb[%0, %0] : partition_view<tile=(4096x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<4096x64xf16>, token
    %d = mmaf %x, %y, %z : tile<64x4096xf16>, tile<4096x64xf16>, tile<64x64xf32>
    return
  }
}

// CHECK: %2 = constant <i32: 16> : tile<i32>
// CHECK: %d = for %4 in (%1 to %2, step %3) : tile<i32> iter_values(%5 = %z)
// CHECK: load_view_tko weak %11[%0, %10] {{.*}} -> tile<64x256xf16>
// CHECK: load_view_tko weak %17[%16, %0] {{.*}} -> tile<256x64xf16>
// CHECK: %d_1 = mmaf %x, %y, %5
