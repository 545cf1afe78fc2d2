// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

!t = !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">
func.func @f(%t: !t, %v: vector<8xf32>) {
  // expected-error @+1 {{'cute.memref.store_vec' op failed to infer returned types: expected a value of vector<16xf32> for '!cute.memref<f32, rmem, "((2,2),4):((1,2),4)">', got vector<8xf32>}}
  cute.memref.store_vec(%v, %t)
  func.return
}

// -----

!t = !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">
func.func @f(%t: !t) {
  // expected-error @+1 {{'cute.memref.load_vec' expected a result of 'vector<16xf32>', got 'vector<16xf16>'}}
  %v = cute.memref.load_vec(%t) : (!t) -> vector<16xf16>
  func.return
}

// -----

func.func @f(%t: !cute.memref<f32, gmem, "(2,?):(1,2)">) {
  // expected-error @+1 {{'cute.memref.load_vec' op failed to infer returned types: expected a tensor of static shape, got '!cute.memref<f32, gmem, "(2,?):(1,2)">'}}
  %v = cute.memref.load_vec(%t)
  func.return
}

// -----

!t = !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">
func.func @f(%t: !t, %c: !cute.coord<"(0,_)">) {
  // expected-error @+1 {{'cute.memref.load' op failed to infer returned types: expected a coordinate of an element of '!cute.memref<f32, rmem, "((2,2),4):((1,2),4)">', got '!cute.coord<"(0,_)">'}}
  %v = cute.memref.load(%t, %c)
  func.return
}

// -----

!t = !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">
func.func @f(%t: !t, %c: !cute.coord<"(0,1)">, %x: f16) {
  // expected-error @+1 {{'cute.memref.store' op failed to infer returned types: expected a value of f32 for '!cute.memref<f32, rmem, "((2,2),4):((1,2),4)">', got f16}}
  cute.memref.store(%x, %t, %c)
  func.return
}

// -----

!t = !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">
func.func @f(%t: !t, %x: f16) {
  // expected-error @+1 {{'cute.fill' op failed to infer returned types: expected a value of f32 for '!cute.memref<f32, rmem, "((2,2),4):((1,2),4)">', got f16}}
  cute.fill(%t, %x)
  func.return
}

// -----

!t = !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">
func.func @f(%t: !t, %u: !cute.memref<f32, rmem, "(4,4):(1,0)">, %w: !cute.memref<f32, rmem, "(2,4):(1,0)">) {
  cute.reduce<add> (%t, %u)
  // expected-error @+1 {{'cute.reduce' op failed to infer returned types: expected tensors of one shape, got '!cute.memref<f32, rmem, "((2,2),4):((1,2),4)">', '!cute.memref<f32, rmem, "(2,4):(1,0)">'}}
  cute.reduce<add> (%t, %w)
  func.return
}

// -----

!t = !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">
func.func @f(%t: !t, %u: !cute.memref<f16, rmem, "(4,4):(1,0)">) {
  // expected-error @+1 {{'cute.reduce' op failed to infer returned types: expected elements of one type, got '!cute.memref<f32, rmem, "((2,2),4):((1,2),4)">', '!cute.memref<f16, rmem, "(4,4):(1,0)">'}}
  cute.reduce<add> (%t, %u)
  func.return
}

// -----

!t = !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">
func.func @f(%t: !t, %u: !cute.memref<f32, smem, "(4,4):(1,0)">) {
  // expected-error @+1 {{'cute.reduce' op failed to infer returned types: expected tensors in rmem, got '!cute.memref<f32, rmem, "((2,2),4):((1,2),4)">', '!cute.memref<f32, smem, "(4,4):(1,0)">'}}
  cute.reduce<add> (%t, %u)
  func.return
}

// -----

!t = !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">
func.func @f(%t: !t) {
  // expected-error @+1 {{expected add, max, min, got mul}}
  cute.reduce<mul> (%t, %t)
  func.return
}

// -----

!t = !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">
func.func @f(%t: !t) {
  // expected-error @+1 {{'cute.reduce' expected bits of a lane's number, 1, 2, 4, 8 or 16, got 3; nearest legal: 2}}
  cute.reduce<add, [3]> (%t, %t)
  func.return
}
