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
  // expected-error @+1 {{'cute.reduce' op failed to infer returned types: expected tensors of one shape, the destination's strides 0 along what is combined, got '!cute.memref<f32, rmem, "((2,2),4):((1,2),4)">', '!cute.memref<f32, rmem, "(2,4):(1,0)">'; nearest legal: a destination of ((2,2),4):((0,0),0), which combines all}}
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

// -----

!t = !cute.coord_tensor<"(0,?)", "(4,2):(1@0,1@1)">
func.func @f(%t: !t, %open: !cute.coord<"(1,_)">) {
  // expected-error @+1 {{'cute.memref.load' op failed to infer returned types: expected a coordinate of an element of '!cute.coord_tensor<"(0,?)", "(4,2):(1@0,1@1)">', got '!cute.coord<"(1,_)">'}}
  %x = cute.memref.load(%t, %open)
  func.return
}

// -----

func.func @f(%t: !cute.coord_tensor<"(0,?)", "(4,2):(1@0,1@1)">) {
  // expected-error @+1 {{'cute.coords' op failed to infer returned types: expects mode index in [0, 2) at depth 0, but got 2}}
  %x = cute.coords<[2]> (%t)
  func.return
}

// -----

func.func @f(%t: !cute.coord_tensor<"((0,0),?)", "(4,2):(1@0@0,1@1)">) {
  // expected-error @+1 {{'cute.coords' op failed to infer returned types: expected mode indices down to a leaf of '!cute.coord<"((0,0),?)">', got [0]}}
  %x = cute.coords<[0]> (%t)
  func.return
}

// -----

func.func @f(%t: !cute.coord_tensor<"(0,?)", "(4,?):(1@0,1@1)">) {
  // expected-error @+1 {{'cute.coords' op failed to infer returned types: expected a !cute.coord_tensor of static shape, got '!cute.coord_tensor<"(0,?)", "(4,?):(1@0,1@1)">'}}
  %x = cute.coords<[0]> (%t)
  func.return
}
