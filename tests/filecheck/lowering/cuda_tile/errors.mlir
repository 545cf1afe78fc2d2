// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

cuda_tile.module @m {
  entry @k(%x: tile<f64>) {
    %y = ftof %x : tile<f64> -> tile<fnv8E5M3FNU>
    return
  }
}

// CHECK: 'cuda_tile.ftof' expected a result whose rounding is known, got fnv8E5M3FNU (a preview); nearest legal: f8E4M3FN
// CHECK-NEXT: %y = ftof %x : tile<f64> -> tile<fnv8E5M3FNU>

// -----

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f4E2M1FN>>, %n: tile<i32>) {
    %q = offset %p, %n : tile<ptr<f4E2M1FN>>, tile<i32> -> tile<ptr<f4E2M1FN>>
    return
  }
}

// CHECK: 'cuda_tile.offset' expected pointers to elements of whole bytes, got f4E2M1FN; nearest legal: a view of them
