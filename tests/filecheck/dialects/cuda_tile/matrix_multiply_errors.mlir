// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.mmaf' expected tiles of rank 2, or 3 with batches, got rank 0}}
    %r = mmaf %x, %x, %x : tile<f32>, tile<f32>, tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    %a = constant <f16: 1.0> : tile<4x8xf16>
    // expected-error @+1 {{'cuda_tile.mmaf' expected dimension 1 of lhs and 0 of rhs of one size, got tile<4x8xf16> and tile<4x8xf16>}}
    %r = mmaf %a, %a, %f : tile<4x8xf16>, tile<4x8xf16>, tile<4x8xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %a = constant <f16: 1.0> : tile<4x4xf16>
    %z = constant <f64: 1.0> : tile<4x4xf64>
    // expected-error @+1 {{'cuda_tile.mmaf' expected acc of f16 or f32 where lhs and rhs are f16, got f64; nearest legal: f32}}
    %r = mmaf %a, %a, %z : tile<4x4xf16>, tile<4x4xf16>, tile<4x4xf64>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %a = constant <i8: 1> : tile<4x4xi8>
    %z = constant <f32: 1.0> : tile<4x4xf32>
    // expected-error @+1 {{'cuda_tile.mmai' expected acc to be a tile of i32, got tile<4x4xf32>}}
    %r = mmai %a, %a, %z signed signed : tile<4x4xi8>, tile<4x4xi8>, tile<4x4xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %a = constant <i8: 1> : tile<4x4xi8>
    %z = constant <i32: 1> : tile<4x4xi32>
    // expected-error @+1 {{expected signedness_rhs that is one of unsigned, signed, got none; nearest legal: unsigned}}
    %r = mmai %a, %a, %z signed : tile<4x4xi8>, tile<4x4xi8>, tile<4x4xi32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %a = constant <f8E4M3FN: 1.0> : tile<64x64xf8E4M3FN>
    %s = constant <f8E8M0FNU: 1.0> : tile<64x4xf8E8M0FNU>
    %z = constant <f32: 1.0> : tile<64x64xf32>
    // expected-error @+1 {{'cuda_tile.mmaf_scaled' expected dimension 1 of rhs and 1 of rhs_scale of one size, got tile<64x64xf8E4M3FN> and tile<64x4xf8E8M0FNU>}}
    %r = mmaf_scaled %a, %a, %z, %s, %s : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>, tile<64x4xf8E8M0FNU>, tile<64x4xf8E8M0FNU>
    return
  }
}
