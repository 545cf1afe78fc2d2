// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.broadcast' expected source of 1 or as many elements as the result along each dimension, got tile<4x8xf32> and tile<8x8xf32>}}
    %r = broadcast %f : tile<4x8xf32> -> tile<8x8xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.broadcast' expected source and result of one element type, got tile<4x8xf32> and tile<4x8xi32>}}
    %r = broadcast %f : tile<4x8xf32> -> tile<4x8xi32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.broadcast' expected source and result of one rank, got tile<f32> and tile<4xf32>}}
    %r = broadcast %x : tile<f32> -> tile<4xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.cat' expected dim of 0 to 1 as tile<4x8xf32> has, got 2}}
    %r = cat %f, %f dim = 2 : tile<4x8xf32>, tile<4x8xf32> -> tile<8x8xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.cat' expected dimension 0 of the result to be 4 + 4 where dim is 0, got 4 (tile<4x8xf32>, tile<4x8xf32> -> tile<4x16xf32>)}}
    %r = cat %f, %f dim = 0 : tile<4x8xf32>, tile<4x8xf32> -> tile<4x16xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{expected numbers of shape [4] as the tile, got [2]}}
    %r = constant <f32: [1.0, 2.0]> : tile<4xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{expected a tile of f32, got tile<4xf16>}}
    %r = constant <f32: 1.0> : tile<4xf16>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{expected an integer of -128 to 255 as i8, got 300}}
    %r = constant <i8: 300> : tile<4xi8>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{expected a float with a point, or its bits in hex, got 1}}
    %r = constant <f32: 1> : tile<4xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{expected a number}}
    %r = constant <i32: one> : tile<4xi32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{expected a float of 0 or more as f8E8M0FNU, got -1.0}}
    %r = constant <f8E8M0FNU: -1.0> : tile<4xf8E8M0FNU>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{expected elements of shape [2], got [1]}}
    %r = constant <i32: [[1, 2], [3]]> : tile<2x2xi32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.iota' expected a result of rank 1, got tile<4x4xi32>}}
    %r = iota : tile<4x4xi32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.iota' expected at most 256 elements as i8 counts, got 512}}
    %r = iota : tile<512xi8>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.iota' expected result to be a tile of i1, i8, i16, i32 or i64, got tile<4xf32>}}
    %r = iota : tile<4xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.extract' expected 2 indices as source has dimensions, got 1}}
    %r = extract %f[%i] : tile<4x8xf32> -> tile<2x2xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.extract' expected dimension 0 of result to divide that of source, got tile<8x8xf32> and tile<4x8xf32>}}
    %r = extract %f[%i, %i] : tile<4x8xf32> -> tile<8x8xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.insert' expected 2 indices as destination has dimensions, got 1}}
    %r = insert %f, %f[%i] : tile<4x8xf32>, tile<4x8xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.pack' expected source and result of one rank, got tile<4x8xf32> and tile<32xi8>}}
    %r = pack %f : tile<4x8xf32> -> tile<32xi8>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.reshape' expected source and result of as many elements, got 32 and 64}}
    %r = reshape %f : tile<4x8xf32> -> tile<64xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.permute' expected each of 0 to 1 once, got [0, 0]}}
    %r = permute %f [0, 0] : tile<4x8xf32> -> tile<4x8xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.permute' expected a result of shape [8, 4] where tile<4x8xf32> is permuted by [1, 0], got tile<4x8xf32>}}
    %r = permute %f [1, 0] : tile<4x8xf32> -> tile<4x8xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.permute' expected a source of rank 2 or more, got tile<f32>}}
    %r = permute %x [] : tile<f32> -> tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%c: tile<i1>) {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.select' expected cond and result of one shape, got tile<i1> and tile<4x8xf32>}}
    %r = select %c, %f, %f : tile<i1>, tile<4x8xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.select' expected cond to be a tile of i1, got tile<i32>}}
    %r = select %i, %x, %x : tile<i32>, tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>, %p: tile<ptr<f32>>) {
    // expected-error @+1 {{'cuda_tile.offset' expected offset to be a tile of i1, i8, i16, i32 or i64, got tile<f32>}}
    %r = offset %p, %x : tile<ptr<f32>>, tile<f32> -> tile<ptr<f32>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{Operation has 3 results, but was given 1 to bind.}}
    %r = get_tile_block_id : tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{Operation get_tile_block_ids is not registered}}
    %r = get_tile_block_ids : tile<i32>
    return
  }
}
