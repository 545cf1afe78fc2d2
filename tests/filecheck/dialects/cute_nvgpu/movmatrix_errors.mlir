// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// One register of 16-bit elements is one matrix.
func.func @f(%f: !cute_nvgpu.fragment<4xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.movmatrix' expected a fragment of 2 16-bit elements a thread (one 8x8 matrix), got !cute_nvgpu.fragment<4xbf16>; nearest legal: !cute_nvgpu.fragment<2xbf16>}}
  %0 = cute_nvgpu.movmatrix %f : !cute_nvgpu.fragment<4xbf16> -> !cute_nvgpu.fragment<4xbf16>
  func.return
}

// -----

func.func @f(%f: !cute_nvgpu.fragment<4xsi8>) {
  // expected-error @+1 {{'cute_nvgpu.movmatrix' expected a fragment of 2 16-bit elements a thread (one 8x8 matrix), got !cute_nvgpu.fragment<4xsi8>; nearest legal: !cute_nvgpu.fragment<2xf16>}}
  %0 = cute_nvgpu.movmatrix %f : !cute_nvgpu.fragment<4xsi8> -> !cute_nvgpu.fragment<4xsi8>
  func.return
}

// -----

func.func @f(%f: !cute_nvgpu.fragment<1xf32>) {
  // expected-error @+1 {{'cute_nvgpu.movmatrix' expected a fragment of 2 16-bit elements a thread}}
  %0 = cute_nvgpu.movmatrix %f : !cute_nvgpu.fragment<1xf32> -> !cute_nvgpu.fragment<1xf32>
  func.return
}

// -----

func.func @f(%f: !cute_nvgpu.fragment<2xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.movmatrix' expected a result of 2xbf16, got !cute_nvgpu.fragment<2xf16>}}
  %0 = cute_nvgpu.movmatrix %f : !cute_nvgpu.fragment<2xbf16> -> !cute_nvgpu.fragment<2xf16>
  func.return
}

// -----

func.func @f(%f: !cute_nvgpu.fragment<2xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.movmatrix' expected a result of 2xbf16, got !cute_nvgpu.fragment<4xbf16>}}
  %0 = cute_nvgpu.movmatrix %f : !cute_nvgpu.fragment<2xbf16> -> !cute_nvgpu.fragment<4xbf16>
  func.return
}

// -----

func.func @f(%f: !cute_nvgpu.fragment<2xbf16, "64:1">) {
  // expected-error @+1 {{'cute_nvgpu.movmatrix' expected a layout in which threads 0 to 3 hold 8 neighbouring columns of one row, got 64:1}}
  %0 = cute_nvgpu.movmatrix %f : !cute_nvgpu.fragment<2xbf16, "64:1"> -> !cute_nvgpu.fragment<2xbf16>
  func.return
}

// -----

func.func @f(%f: i32) {
  // expected-error @+1 {{i32}}
  %0 = cute_nvgpu.movmatrix %f : i32 -> !cute_nvgpu.fragment<2xbf16>
  func.return
}
