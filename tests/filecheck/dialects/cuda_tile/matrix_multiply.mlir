// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK: cuda_tile.module @matrix_multiply {
cuda_tile.module @matrix_multiply {
  // CHECK-NEXT: entry @mma() {
  entry @mma() {
    // CHECK-NEXT: %a = constant <f16: 1.000000e+00> : tile<4x8xf16>
    %a = constant <f16: 1.000000e+00> : tile<4x8xf16>
    // CHECK-NEXT: %b = constant <f16: 1.000000e+00> : tile<8x2xf16>
    %b = constant <f16: 1.000000e+00> : tile<8x2xf16>
    // CHECK-NEXT: %c = constant <f32: 0.000000e+00> : tile<4x2xf32>
    %c = constant <f32: 0.000000e+00> : tile<4x2xf32>
    // CHECK-NEXT: %0 = mmaf %a, %b, %c : tile<4x8xf16>, tile<8x2xf16>, tile<4x2xf32>
    %0 = mmaf %a, %b, %c : tile<4x8xf16>, tile<8x2xf16>, tile<4x2xf32>
    // CHECK-NEXT: %e = constant <f8E4M3FN: 1.000000e+00> : tile<2x4x64xf8E4M3FN>
    %e = constant <f8E4M3FN: 1.000000e+00> : tile<2x4x64xf8E4M3FN>
    // CHECK-NEXT: %g = constant <f8E4M3FN: 1.000000e+00> : tile<2x64x2xf8E4M3FN>
    %g = constant <f8E4M3FN: 1.000000e+00> : tile<2x64x2xf8E4M3FN>
    // CHECK-NEXT: %d = constant <f32: 0.000000e+00> : tile<2x4x2xf32>
    %d = constant <f32: 0.000000e+00> : tile<2x4x2xf32>
    // CHECK-NEXT: %1 = mmaf %e, %g, %d fast_acc : tile<2x4x64xf8E4M3FN>, tile<2x64x2xf8E4M3FN>, tile<2x4x2xf32>
    %1 = mmaf %e, %g, %d fast_acc : tile<2x4x64xf8E4M3FN>, tile<2x64x2xf8E4M3FN>, tile<2x4x2xf32>
    // CHECK-NEXT: %s = constant <f8E8M0FNU: 1.000000e+00> : tile<2x4x2xf8E8M0FNU>
    %s = constant <f8E8M0FNU: 1.000000e+00> : tile<2x4x2xf8E8M0FNU>
    // CHECK-NEXT: %t = constant <f8E8M0FNU: 1.000000e+00> : tile<2x2x2xf8E8M0FNU>
    %t = constant <f8E8M0FNU: 1.000000e+00> : tile<2x2x2xf8E8M0FNU>
    // CHECK-NEXT: %2 = mmaf_scaled %e, %g, %d, %s, %t : tile<2x4x64xf8E4M3FN>, tile<2x64x2xf8E4M3FN>, tile<2x4x2xf32>, tile<2x4x2xf8E8M0FNU>, tile<2x2x2xf8E8M0FNU>
    %2 = mmaf_scaled %e, %g, %d, %s, %t : tile<2x4x64xf8E4M3FN>, tile<2x64x2xf8E4M3FN>, tile<2x4x2xf32>, tile<2x4x2xf8E8M0FNU>, tile<2x2x2xf8E8M0FNU>
    // CHECK-NEXT: %i = constant <i8: 1> : tile<4x8xi8>
    %i = constant <i8: 1> : tile<4x8xi8>
    // CHECK-NEXT: %j = constant <i8: 1> : tile<8x2xi8>
    %j = constant <i8: 1> : tile<8x2xi8>
    // CHECK-NEXT: %k = constant <i32: 0> : tile<4x2xi32>
    %k = constant <i32: 0> : tile<4x2xi32>
    // CHECK-NEXT: %3 = mmai %i, %j, %k signed unsigned : tile<4x8xi8>, tile<8x2xi8>, tile<4x2xi32>
    %3 = mmai %i, %j, %k signed unsigned : tile<4x8xi8>, tile<8x2xi8>, tile<4x2xi32>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
// CHECK: }
}
