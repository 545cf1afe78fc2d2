// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.addi' expected lhs to be a tile of i1, i8, i16, i32 or i64, got tile<f32>}}
    %r = addi %x, %x : tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %q: tile<i64>) {
    // expected-error @+1 {{operand is used with type !cuda_tile.tile<i32>, but has been previously used or defined with type !cuda_tile.tile<i64>}}
    %r = addi %i, %q : tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{expected overflow that is one of none, no_signed_wrap, no_unsigned_wrap, no_wrap, got wrap; nearest legal: no_wrap}}
    %r = addi %i, %i overflow<wrap> : tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{'cuda_tile.negi' expected overflow of none, no_signed_wrap or no_wrap, got no_unsigned_wrap (it is signed); nearest legal: no_signed_wrap}}
    %r = negi %i overflow<no_unsigned_wrap> : tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{expected signedness that is one of unsigned, signed, got none; nearest legal: unsigned}}
    %r = divi %i, %i : tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{'cuda_tile.divi' expected rounding of zero, negative_inf or positive_inf, got approx; nearest legal: zero}}
    %r = divi %i, %i signed rounding<approx> : tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{Expected ','}}
    %r = cmpi less_than %i, %i signed : tile<i32> -> tile<i1>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{expected comparison_predicate that is one of equal, not_equal, less_than, less_than_or_equal, greater_than, greater_than_or_equal, got lt; nearest legal: less_than}}
    %r = cmpi lt %i, %i, signed : tile<i32> -> tile<i1>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{expected signedness that is one of unsigned, signed, got sign; nearest legal: signed}}
    %r = shri %i, %i sign : tile<i32>
    return
  }
}
