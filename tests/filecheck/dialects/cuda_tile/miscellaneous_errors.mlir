// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{'cuda_tile.assume' expected a divisor that is a power of two of at most 4611686018427387904, got 3}}
    %r = assume div_by<3>, %i : tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.assume' expected div_by of a tile of integers or pointers, or a tensor_view, got tile<f32>}}
    %r = assume div_by<16>, %x : tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %n = constant <i32: 1> : tile<4x8xi32>
    // expected-error @+1 {{'cuda_tile.assume' expected along of 0 to 1 as tile<4x8xi32> has, got 2}}
    %r = assume div_by<4, every 4 along 2>, %n : tile<4x8xi32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{'cuda_tile.assume' expected a lower bound of at most 2, got 4}}
    %r = assume bounded<4, 2>, %i : tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.assume' expected bounded of a tile of integers, got tile<f32>}}
    %r = assume bounded<0, ?>, %x : tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %n = constant <i32: 1> : tile<4x8xi32>
    // expected-error @+1 {{'cuda_tile.assume' expected 2 numbers as tile<4x8xi32> has dimensions, got 1}}
    %r = assume same_elements<[1]>, %n : tile<4x8xi32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{expected a predicate that is one of div_by, same_elements, bounded, got divides; nearest legal: div_by}}
    %r = assume divides<4>, %i : tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.print_tko' expected 1 operands as '%d' has conversions, got 0}}
    %t = print_tko "%d" -> token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %q: tile<i64>) {
    // expected-error @+1 {{'cuda_tile.print_tko' expected a conversion like %d or %f at every %, got '%q'}}
    %t = print_tko "%q", %i : tile<i32> -> token
    return
  }
}
