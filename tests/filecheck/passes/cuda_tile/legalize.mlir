// RUN: tilewright-opt %s -p 'cuda-tile-legalize{arch=sm_80}' | filecheck %s

// Squares are products; floats of 8 bits are multiplied as f16 where no MMA takes them.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>) {
    %x = constant <f8E4M3FN: 1.0> : tile<16x32xf8E4M3FN>
    %y = constant <f8E4M3FN: 1.0> : tile<32x16xf8E4M3FN>
    %s = constant <f32: 1.0> : tile<16x16xf32>
    %two = constant <i32: 2> : tile<16x16xi32>
    %d = mmaf %x, %y, %s : tile<16x32xf8E4M3FN>, tile<32x16xf8E4M3FN>, tile<16x16xf32>
    %q = fpowi %d, %two : tile<16x16xf32>, tile<16x16xi32>
    return
  }
}

// CHECK: %0 = ftof %x : tile<16x32xf8E4M3FN> -> tile<16x32xf16>
// CHECK: %1 = ftof %y : tile<32x16xf8E4M3FN> -> tile<32x16xf16>
// CHECK: %d = mmaf %0, %1, %s
// CHECK: %q = mulf %d, %d
