// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

cuda_tile.module @m {
  // expected-error @+1 {{'cuda_tile.entry' expected parameters that are scalar tiles, got tile<4xf32>}}
  entry @f(%x: tile<4xf32>) {
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    return
  }
  // expected-error @+1 {{'cuda_tile.entry' expected a name of its own, got @f, as 'cuda_tile.entry'}}
  entry @f() {
    return
  }
}

// -----

cuda_tile.module @m {
  // expected-error @+1 {{'cuda_tile.global' expected elements of rank 1, got tile<2x2xf32>}}
  global @g <f32: 1.0> : tile<2x2xf32>
}

// -----

// expected-error @+1 {{expect symbol name}}
cuda_tile.module {
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.negf' expected operand 0 to be defined on every path here, got %z}}
    %y = negf %z : tile<f32>
    %z = negf %x : tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    return
    // expected-error @+1 {{Expected ':'}}
    %z = negf %x : tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%c: tile<i1>, %x: tile<f32>) {
    if %c {
      %z = negf %x : tile<f32>
    }
    // expected-error @+1 {{values used but not defined: [%z]}}
    %y = "cuda_tile.negf"(%z) : (!cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  global @g <f32: 1.0> : tile<1xf32>
  entry @f() {
    // expected-error @+1 {{'cuda_tile.get_global' expected a pointer to f32 as @g has elements, got tile<ptr<i32>>}}
    %p = get_global @g : tile<ptr<i32>>
    return
  }
}

// -----

cuda_tile.module @m {
  // expected-error @+1 {{'cuda_tile.entry' expected parameters that are scalar tiles, got tensor_view<4xi32, strides=[1]>}}
  entry @f(%x: tensor_view<4xi32, strides=[1]>) {
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.global' expected a module around it, got 'cuda_tile.entry'}}
    global @g <f32: 1.0> : tile<1xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  // expected-error @+1 {{'cuda_tile.entry' expected function_type to be a fun, got f16}}
  "cuda_tile.entry"() <{function_type = f16, sym_name = "f"}> ({
    "cuda_tile.return"() : () -> ()
  }) : () -> ()
}

// -----

cuda_tile.module @m {
  // expected-error @+1 {{'cuda_tile.global' expected alignment to be an i64 of 0 or more, got -16 : i64}}
  global @g alignment = -16 <f32: 1.0> : tile<1xf32>
}
