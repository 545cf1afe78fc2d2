// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.continue' expected to stand in 'cuda_tile.for' or 'cuda_tile.loop', directly or within 'cuda_tile.if', got 'cuda_tile.entry'}}
    continue
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.break' expected to stand in 'cuda_tile.loop', directly or within 'cuda_tile.if', got 'cuda_tile.entry'}}
    break
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.yield' expected to stand in cuda_tile.if, cuda_tile.reduce or cuda_tile.scan, got 'cuda_tile.entry'}}
    yield
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %q: tile<i64>) {
    // expected-error @+1 {{operand is used with type !cuda_tile.tile<i32>, but has been previously used or defined with type !cuda_tile.tile<i64>}}
    for %j in (%i to %q, step %i) : tile<i32> {
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.for' expected lower_bound to be a scalar tile of i1, i8, i16, i32 or i64, got tile<f32>}}
    for %j in (%x to %x, step %x) : tile<f32> {
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %x: tile<f32>) {
    // expected-error @+1 {{operand is used with type !cuda_tile.tile<i32>, but has been previously used or defined with type !cuda_tile.tile<f32>}}
    %r = for %j in (%i to %i, step %i) : tile<i32> iter_values(%a = %x) -> (tile<i32>) {
      continue %i : tile<i32>
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %x: tile<f32>) {
    %r = for %j in (%i to %i, step %i) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
      // expected-error @+1 {{'cuda_tile.continue' expected (tile<f32>) as the results of 'cuda_tile.for'}}
      continue %i : tile<i32>
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    for %j in (%i to %i, step %i) : tile<i32> {
      // expected-error @+1 {{'cuda_tile.break' expected to stand in 'cuda_tile.loop', directly or within 'cuda_tile.if', got 'cuda_tile.for'}}
      break
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    %r = loop : tile<i32> {
      // expected-error @+1 {{'cuda_tile.break' expected (tile<i32>) as the results of 'cuda_tile.loop'}}
      break %x : tile<f32>
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>, %c: tile<i1>) {
    // expected-error @+1 {{'cuda_tile.if' expected an else branch where it has results, got none}}
    %r = if %c -> (tile<f32>) {
      yield %x : tile<f32>
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    // expected-error @+1 {{'cuda_tile.if' expected the else branch to yield (tile<f32>) as the results, got (tile<i32>)}}
    %r = if %c -> (tile<f32>) {
      yield %x : tile<f32>
    } else {
      yield %i : tile<i32>
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    // expected-error @+1 {{operand is used with type !cuda_tile.tile<i1>, but has been previously used or defined with type !cuda_tile.tile<i32>}}
    if %i {
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.return' expected () as the results of 'cuda_tile.entry'}}
    return %x : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.assert' expected condition to be a tile of i1, got tile<f32>}}
    assert %x, "x" : tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>, %c: tile<i1>) {
    loop {
      if %c {
        // expected-error @+1 {{'cuda_tile.break' expected () as the results of 'cuda_tile.loop'}}
        break %x : tile<f32>
      }
    }
    return
  }
}
