// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

cuda_tile.module @m {
  entry @k(%x: tile<f64>) {
    %y = addf %x, %x rounding<zero> : tile<f64>
    return
  }
}

// CHECK: 'cuda_tile.addf' rounding<zero> of f64 has no lowering to cute; nearest legal: of f32, or rounding<nearest_even>
// CHECK-NEXT: %y = addf %x, %x rounding<zero> : tile<f64>

// -----

cuda_tile.module @m {
  global @g <f32: [1.0, 2.0]> : tile<2xf32>
  entry @k() {
    %p = get_global @g : tile<ptr<f32>>
    return
  }
}

// CHECK: 'cuda_tile.get_global' has no lowering to cute
