// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// The type.

// expected-error @+1 {{fragment expected an element type of f16, bf16, tf32, f32, f64,}}
func.func @f(%x: !cute_nvgpu.fragment<4xi128>)

// -----

// expected-error @+1 {{fragment expected an element type of f16}}
func.func @f(%x: !cute_nvgpu.fragment<4xindex>)

// -----

// expected-error @+1 {{fragment expected whole registers of 2 x bf16, got 3 elements; nearest legal: 4}}
func.func @f(%x: !cute_nvgpu.fragment<3xbf16>)

// -----

// expected-error @+1 {{fragment expected whole registers of 4 x si8, got 6 elements; nearest legal: 8}}
func.func @f(%x: !cute_nvgpu.fragment<6xsi8>)

// -----

// expected-error @+1 {{fragment expected whole registers of 1 x f32, got 0 elements; nearest legal: 1}}
func.func @f(%x: !cute_nvgpu.fragment<0xf32>)

// -----

// expected-error @+1 {{fragment expected whole registers of 1 x f32}}
func.func @f(%x: !cute_nvgpu.fragment<?xf32>)

// -----

// expected-error @+1 {{expected COUNTxTYPE, such as 8xbf16}}
func.func @f(%x: !cute_nvgpu.fragment<2x2xf32>)

// -----

// expected-error @+1 {{fragment expected a layout of 32 or 128 threads x 4 values, got size 64 of (32,2):(1,32)}}
func.func @f(%x: !cute_nvgpu.fragment<4xf32, "(32,2):(1,32)">)

// -----

// expected-error @+1 {{fragment expected a layout with integer strides, got (32,4):(1@0,1@1)}}
func.func @f(%x: !cute_nvgpu.fragment<4xf32, "(32,4):(1@0,1@1)">)

// -----

// expected-error @+1 {{expected ',' or ')', got the end at position 5 of '(32,4'}}
func.func @f(%x: !cute_nvgpu.fragment<4xf32, "(32,4">)

// -----

// expected-error @+1 {{expected an integer or '(', got 'S' at position 0}}
func.func @f(%x: !cute_nvgpu.fragment<4xf32, "S<2,3,3> o 0 o (32,4):(1,32)">)

// -----

// expected-error @+1 {{string literal}}
func.func @f(%x: !cute_nvgpu.fragment<4xf32, 5>)

// fragment.splat

// -----

func.func @f(%x: f16) {
  // expected-error @+1 {{'cute_nvgpu.fragment.splat' expected a scalar of the fragment's element type f32, got f16}}
  %f = cute_nvgpu.fragment.splat %x : f16 -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

func.func @f(%x: f16) {
  // expected-error @+1 {{f32 should be of base attribute cute_nvgpu.fragment}}
  %f = cute_nvgpu.fragment.splat %x : f16 -> f32
  func.return
}

// -----

// fragment.from_elements

func.func @f(%x: f32) {
  // expected-error @+1 {{'cute_nvgpu.fragment.from_elements' expected 4 elements, got 3}}
  %f = cute_nvgpu.fragment.from_elements %x, %x, %x : f32, f32, f32 -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

func.func @f(%x: f32, %y: f64) {
  // expected-error @+1 {{'cute_nvgpu.fragment.from_elements' expected a scalar of the fragment's element type f32, got f64}}
  %f = cute_nvgpu.fragment.from_elements %x, %y : f32, f64 -> !cute_nvgpu.fragment<2xf32>
  func.return
}

// -----

// fragment.extract

func.func @f(%x: !cute_nvgpu.fragment<4xf32>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.extract' expected a position below 4, got 4; nearest legal: 3}}
  %f = cute_nvgpu.fragment.extract %x[4] : !cute_nvgpu.fragment<4xf32> -> f32
  func.return
}

// -----

func.func @f(%x: !cute_nvgpu.fragment<4xf32>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.extract' expected a position below 3, got 3; nearest legal: 2}}
  %f, %g = cute_nvgpu.fragment.extract %x[3] : !cute_nvgpu.fragment<4xf32> -> f32, f32
  func.return
}

// -----

func.func @f(%x: !cute_nvgpu.fragment<1xf32>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.extract' expected 1 to 1 elements, got 2}}
  %f, %g = cute_nvgpu.fragment.extract %x[0] : !cute_nvgpu.fragment<1xf32> -> f32, f32
  func.return
}

// -----

func.func @f(%x: !cute_nvgpu.fragment<4xf32>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.extract' expected a position below 4, got -1; nearest legal: 0}}
  %f = cute_nvgpu.fragment.extract %x[-1] : !cute_nvgpu.fragment<4xf32> -> f32
  func.return
}

// -----

func.func @f(%x: !cute_nvgpu.fragment<4xf32>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.extract' expected a scalar of the fragment's element type f32, got f16}}
  %f = cute_nvgpu.fragment.extract %x[0] : !cute_nvgpu.fragment<4xf32> -> f16
  func.return
}

// -----

func.func @f(%x: f32) {
  // expected-error @+1 {{f32 should be of base attribute cute_nvgpu.fragment}}
  %f = cute_nvgpu.fragment.extract %x[0] : f32 -> f32
  func.return
}

// -----

// fragment.insert

func.func @f(%x: !cute_nvgpu.fragment<4xf32>, %s: f32) {
  // expected-error @+1 {{'cute_nvgpu.fragment.insert' expected a position below 4, got 4; nearest legal: 3}}
  %f = cute_nvgpu.fragment.insert %s, %x[4] : f32, !cute_nvgpu.fragment<4xf32> -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

func.func @f(%x: !cute_nvgpu.fragment<4xf32>, %s: f16) {
  // expected-error @+1 {{'cute_nvgpu.fragment.insert' expected a scalar of the fragment's element type f32, got f16}}
  %f = cute_nvgpu.fragment.insert %s, %x[0] : f16, !cute_nvgpu.fragment<4xf32> -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

func.func @f(%x: !cute_nvgpu.fragment<4xf32>, %s: f32) {
  // expected-error @+1 {{'cute_nvgpu.fragment.insert' expected result type !cute_nvgpu.fragment<4xf32>, got !cute_nvgpu.fragment<2xf32>}}
  %f = cute_nvgpu.fragment.insert %s, %x[0] : f32, !cute_nvgpu.fragment<4xf32> -> !cute_nvgpu.fragment<2xf32>
  func.return
}

// -----

// fragment.slice

func.func @f(%x: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.slice' expected 4 of 8 elements from the start of a register, got position 1; nearest legal: 0}}
  %f = cute_nvgpu.fragment.slice %x[1] : !cute_nvgpu.fragment<8xbf16> -> !cute_nvgpu.fragment<4xbf16>
  func.return
}

// -----

func.func @f(%x: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.slice' expected 4 of 8 elements from the start of a register, got position 6; nearest legal: 4}}
  %f = cute_nvgpu.fragment.slice %x[6] : !cute_nvgpu.fragment<8xbf16> -> !cute_nvgpu.fragment<4xbf16>
  func.return
}

// -----

func.func @f(%x: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.slice' expected 16 of 8 elements}}
  %f = cute_nvgpu.fragment.slice %x[0] : !cute_nvgpu.fragment<8xbf16> -> !cute_nvgpu.fragment<16xbf16>
  func.return
}

// -----

func.func @f(%x: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.slice' expected a scalar of the fragment's element type bf16, got f16}}
  %f = cute_nvgpu.fragment.slice %x[0] : !cute_nvgpu.fragment<8xbf16> -> !cute_nvgpu.fragment<4xf16>
  func.return
}

// -----

// fragment.cast

func.func @f(%x: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.cast' expected fragments of equal size, got 128 and 64 bits}}
  %f = cute_nvgpu.fragment.cast %x : !cute_nvgpu.fragment<8xbf16> -> !cute_nvgpu.fragment<8xsi8>
  func.return
}

// -----

func.func @f(%x: !cute_nvgpu.fragment<4xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.concat' expected 8 elements, got 12}}
  %y = cute_nvgpu.fragment.concat %x, %x, %x : !cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xbf16> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @f(%x: !cute_nvgpu.fragment<4xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.concat' expected a scalar of the fragment's element type f16, got bf16}}
  %y = cute_nvgpu.fragment.concat %x, %x : !cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xbf16> -> !cute_nvgpu.fragment<8xf16>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<4xsi8>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.fma' expected elements of f32, f64, f16, bf16, got s8; nearest legal: f32}}
  %d = cute_nvgpu.fragment.fma %a, %a, %a : !cute_nvgpu.fragment<4xsi8>
  func.return
}
