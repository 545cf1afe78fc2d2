// RUN: tilewright-opt %s -p 'cuda-tile-unroll-rows{arch=sm_90a}' | filecheck %s

// 256 rows of sums and of scores: of scores half of them at a time.

cuda_tile.module @m {
  entry @k(%n: tile<i32>) {
    %q = constant <f16: 1.0> : tile<256x64xf16>
    %k = constant <f16: 1.0> : tile<64x128xf16>
    %v = constant <f16: 1.0> : tile<128x128xf16>
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %z = constant <f32: 0.0> : tile<256x128xf32>
    %o = for %i in (%0 to %n, step %1) : tile<i32> iter_values(%a = %z) -> (tile<256x128xf32>) {
      %s = mmaf %q, %k, %z : tile<256x64xf16>, tile<64x128xf16>, tile<256x128xf32>
      %e = exp %s : tile<256x128xf32>
      %w = ftof %e : tile<256x128xf32> -> tile<256x128xf16>
      %b = mmaf %w, %v, %a : tile<256x128xf16>, tile<128x128xf16>, tile<256x128xf32>
      continue %b : tile<256x128xf32>
    }
    return
  }
}

// CHECK: %8, %9 = for %i {{.*}} -> (tile<128x128xf32>, tile<128x128xf32>)
// CHECK: %s = mmaf %q, %k, %z
// CHECK: %b = mmaf %w, %v, %10
// CHECK: %s_1 = mmaf %q_1, %k, %z_2
// CHECK: %b_1 = mmaf %w_1, %v, %11
// CHECK: continue %b, %b_1
