// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{'cuda_tile.bitcast' expected elements of one width, got i32 of 32 bits and f64 of 64}}
    %r = bitcast %i : tile<i32> -> tile<f64>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.bitcast' expected result to be a tile of i1, i8, i16, i32, i64, f16, bf16, f32, tf32, f64, f8E4M3FN, f8E5M2, f8E8M0FNU, f4E2M1FN or fnv8E5M3FNU, got tile<ptr<f32>>}}
    %r = bitcast %x : tile<f32> -> tile<ptr<f32>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%q: tile<i64>) {
    // expected-error @+1 {{'cuda_tile.exti' expected to of wider elements than i64, got i32}}
    %r = exti %q signed : tile<i64> -> tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{'cuda_tile.trunci' expected to of narrower elements than i32, got i64}}
    %r = trunci %i : tile<i32> -> tile<i64>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.ftof' expected to of other elements than from, got f32 both}}
    %r = ftof %x : tile<f32> -> tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.ftof' expected rounding of nearest_even or zero, got full; nearest legal: zero}}
    %r = ftof %x rounding<full> : tile<f32> -> tile<f16>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.ftoi' expected rounding of nearest_int_to_zero, got nearest_even; nearest legal: nearest_int_to_zero}}
    %r = ftoi %x signed rounding<nearest_even> : tile<f32> -> tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{'cuda_tile.itof' expected rounding of nearest_even, got approx; nearest legal: nearest_even}}
    %r = itof %i signed rounding<approx> : tile<i32> -> tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{'cuda_tile.int_to_ptr' expected source to be a tile of i64, got tile<i32>}}
    %r = int_to_ptr %i : tile<i32> -> tile<ptr<f32>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    // expected-error @+1 {{'cuda_tile.ptr_to_int' expected result to be a tile of i64, got tile<i32>}}
    %r = ptr_to_int %p : tile<ptr<f32>> -> tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    // expected-error @+1 {{'cuda_tile.ptr_to_ptr' expected result to be a tile of pointers, got tile<i64>}}
    %r = ptr_to_ptr %p : tile<ptr<f32>> -> tile<i64>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %n = constant <i32: 1> : tile<4x8xi32>
    // expected-error @+1 {{'cuda_tile.exti' expected from_ and to of one shape, got tile<4x8xi32> and tile<4x4xi64>}}
    %r = exti %n signed : tile<4x8xi32> -> tile<4x4xi64>
    return
  }
}
