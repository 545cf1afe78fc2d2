// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{'cuda_tile.addf' expected lhs to be a tile of f16, bf16, f32 or f64, got tile<i32>}}
    %r = addf %i, %i : tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>, %h: tile<f16>) {
    // expected-error @+1 {{operand is used with type !cuda_tile.tile<f32>, but has been previously used or defined with type !cuda_tile.tile<f16>}}
    %r = addf %x, %h : tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.addf' expected rounding of nearest_even, zero, negative_inf or positive_inf, got approx; nearest legal: zero}}
    %r = addf %x, %x rounding<approx> : tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%h: tile<f16>) {
    // expected-error @+1 {{'cuda_tile.addf' expected f32 where flush_to_zero is, got f16}}
    %r = addf %h, %h flush_to_zero : tile<f16>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%h: tile<f16>) {
    // expected-error @+1 {{'cuda_tile.divf' expected f32 where rounding<approx> is, got f16}}
    %r = divf %h, %h rounding<approx> : tile<f16>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{expected rounding that is one of nearest_even, zero, negative_inf, positive_inf, approx, full, nearest_int_to_zero, nearest_away, got nearest; nearest legal: nearest_even}}
    %r = addf %x, %x rounding<nearest> : tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.sqrt' expected rounding of nearest_even, zero, negative_inf, positive_inf or approx, got full; nearest legal: positive_inf}}
    %r = sqrt %x rounding<full> : tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%h: tile<f16>) {
    // expected-error @+1 {{'cuda_tile.tanh' expected f32 where rounding<approx> is, got f16}}
    %r = tanh %h rounding<approx> : tile<f16>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{expected comparison_predicate that is one of equal, not_equal, less_than, less_than_or_equal, greater_than, greater_than_or_equal, got less; nearest legal: less_than}}
    %r = cmpf less ordered %x, %x : tile<f32> -> tile<i1>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.cmpf' expected result to be a tile of i1, got tile<i32>}}
    %r = cmpf less_than ordered %x, %x : tile<f32> -> tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{expected comparison_ordering that is one of unordered, ordered, got order; nearest legal: ordered}}
    %r = cmpf less_than order %x, %x : tile<f32> -> tile<i1>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.fpowi' expected exponent to be a tile of i1, i8, i16, i32 or i64, got tile<f32>}}
    %r = fpowi %x, %x : tile<f32>, tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%h: tile<f16>) {
    // expected-error @+1 {{'cuda_tile.exp2' expected f32 where flush_to_zero is, got f16}}
    %r = exp2 %h flush_to_zero : tile<f16>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%h: tile<f16>) {
    // expected-error @+1 {{'cuda_tile.maxf' expected f32 where flush_to_zero is, got f16}}
    %r = maxf %h, %h flush_to_zero : tile<f16>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.addf' expected rounding_mode to be a rounding, got none}}
    %r = "cuda_tile.addf"(%x, %x) : (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{Expected ','}}
    %r = addf %x : tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.negf' expected 1 operands, got 2}}
    %r = "cuda_tile.negf"(%x, %x) : (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.negf' expected no property but none, got fast}}
    %r = "cuda_tile.negf"(%x) <{fast}> : (!cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
    return
  }
}
