// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute-nvgpu --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

cuda_tile.module @m {
  entry @k(%x: tile<f64>) {
    %y = ftof %x : tile<f64> -> tile<fnv8E5M3FNU>
    return
  }
}

// CHECK: 'cuda_tile.ftof' expected a result whose rounding is known, got fnv8E5M3FNU (a preview); nearest legal: f8E4M3FN
// CHECK-NEXT: %y = ftof %x : tile<f64> -> tile<fnv8E5M3FNU>
