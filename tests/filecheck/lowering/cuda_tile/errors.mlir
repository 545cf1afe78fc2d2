// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

cuda_tile.module @m {
  entry @k(%x: tile<f32>) {
    %y = addf %x, %x rounding<zero> : tile<f32>
    return
  }
}

// CHECK: 'cuda_tile.addf' rounding<zero> has no lowering to cute; nearest legal: rounding<nearest_even>
// CHECK-NEXT: %y = addf %x, %x rounding<zero> : tile<f32>

// -----

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f16>>) {
    %x, %t = load_ptr_tko relaxed device %p : tile<ptr<f16>> -> tile<f16>, token
    return
  }
}

// CHECK: 'cuda_tile.load_ptr_tko' relaxed of f16 has no lowering to cute; nearest legal: weak, or elements of 32 or 64 bits
