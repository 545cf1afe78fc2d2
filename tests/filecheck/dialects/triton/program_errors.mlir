// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

tt.func @f() {
  // expected-error @+1 {{'tt.make_range' expected a result of tensor<8xi32>, got tensor<16xi32>}}
  %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<16xi32>
  tt.return
}

// -----

tt.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{'tt.precise_sqrt' expected tensors of a power of two of elements, at most 1048576, got tensor<3xf32>}}
  %0 = tt.precise_sqrt %x : tensor<3xf32>
  tt.return
}

// -----

tt.func @f(%x: f32) {
  // expected-error @+1 {{'tt.load' expected ptr to be a pointer or a tensor of it, got f32}}
  %0 = tt.load %x : f32
  tt.return
}

// -----

tt.func @f(%x: f32) {
  // expected-error @+1 {{'tt.fp_to_fp' expected rounding from f32 to f16, which is narrower, got none}}
  %0 = tt.fp_to_fp %x : f32 -> f16
  tt.return
}

// -----

// expected-error @+1 {{'tt.func' expected blocks that end in terminators, got an empty one}}
tt.func @f() {
  tt.return
^bb1:
}
