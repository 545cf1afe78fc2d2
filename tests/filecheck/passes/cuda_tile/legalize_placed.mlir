// RUN: tilewright-opt %s -p 'cuda-tile-legalize-placed{arch=sm_100a}' | filecheck %s

// A scaled product in tensor memory stays; another one is one of f16 for each scale factor.

cuda_tile.module @m {
  entry @k() {
    %x = constant <f8E4M3FN: 1.0> : tile<128x64xf8E4M3FN>
    %y = constant <f8E4M3FN: 1.0> : tile<64x128xf8E4M3FN>
    %z = constant <f32: 1.0> : tile<128x128xf32>
    %f = constant <f8E8M0FNU: 1.0> : tile<128x2xf8E8M0FNU>
    %g = constant <f8E8M0FNU: 1.0> : tile<2x128xf8E8M0FNU>
    %a = mmaf_scaled %x, %y, %z, %f, %g {cute.accumulators = 0 : i32} : tile<128x64xf8E4M3FN>, tile<64x128xf8E4M3FN>, tile<128x128xf32>, tile<128x2xf8E8M0FNU>, tile<2x128xf8E8M0FNU>
    %b = mmaf_scaled %x, %y, %z, %f, %g : tile<128x64xf8E4M3FN>, tile<64x128xf8E4M3FN>, tile<128x128xf32>, tile<128x2xf8E8M0FNU>, tile<2x128xf8E8M0FNU>
    return
  }
}

// CHECK: %a = mmaf_scaled %x, %y, %z, %f, %g {cute.accumulators = 0 : i32}
// CHECK-NOT: mmaf_scaled
// CHECK: mmaf {{.*}} : tile<128x32xf16>, tile<32x128xf16>, tile<128x128xf32>
// CHECK: mmaf {{.*}} : tile<128x32xf16>, tile<32x128xf16>, tile<128x128xf32>
