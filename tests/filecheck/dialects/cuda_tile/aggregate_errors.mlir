// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.reduce' expected dim of 0 to 1 as tile<4x8xf32> has, got 2}}
    %r = reduce %f dim=2 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32> (%a: tile<f32>, %d: tile<f32>) {
      yield %a : tile<f32>
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.reduce' expected an identity of f32 as the tile, got f16}}
    %r = reduce %f dim=1 identities=[0.0 : f16] : tile<4x8xf32> -> tile<4xf32> (%a: tile<f32>, %d: tile<f32>) {
      yield %a : tile<f32>
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.reduce' expected an identity for each of 1 tiles, got 0}}
    %r = reduce %f dim=1 identities=[] : tile<4x8xf32> -> tile<4xf32> (%a: tile<f32>, %d: tile<f32>) {
      yield %a : tile<f32>
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.reduce' expected results (tile<4xf32>), got (tile<8xf32>)}}
    %r = reduce %f dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<8xf32> (%a: tile<f32>, %d: tile<f32>) {
      yield %a : tile<f32>
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.reduce' expected arguments (tile<f32>, tile<f32>), two for each tile, got (tile<f32>)}}
    %r = reduce %f dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32> (%a: tile<f32>) {
      yield %a : tile<f32>
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>) {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.reduce' expected its body to yield (tile<f32>), got (tile<i32>)}}
    %r = reduce %f dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32> (%a: tile<f32>, %d: tile<f32>) {
      yield %i : tile<i32>
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{'cuda_tile.scan' expected results (tile<4x8xf32>), got (tile<4xf32>)}}
    %r = scan %f dim=1 reverse=false identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32> (%a: tile<f32>, %d: tile<f32>) {
      yield %a : tile<f32>
    }
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    // expected-error @+1 {{Operation has 2 results, but was given 1 to bind.}}
    %r = scan %f, %x dim=1 reverse=false identities=[0.0 : f32, 0.0 : f32] : tile<4x8xf32>, tile<f32> -> tile<4x8xf32>, tile<f32> (%a: tile<f32>, %d: tile<f32>, %e: tile<f32>, %g: tile<f32>) {
      yield %a, %a : tile<f32>, tile<f32>
    }
    return
  }
}
