// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: f64) {
  // expected-error @+1 {{'cute_nvgpu.rounded' expected one of add.rz.f64, add.rm.f64, }}
  %y = cute_nvgpu.rounded "add.rn.f64" %x, %x : f64
  func.return
}

// -----

func.func @f(%x: f32) {
  // expected-error @+1 {{'cute_nvgpu.rounded' expected 2 operands of f64 for add.rz.f64, got 2 of f32}}
  %y = cute_nvgpu.rounded "add.rz.f64" %x, %x : f32
  func.return
}

// -----

func.func @f(%x: f32) {
  // expected-error @+1 {{'cute_nvgpu.rounded' expected 1 operands of f32 for sqrt.rp.f32, got 2 of f32}}
  %y = cute_nvgpu.rounded "sqrt.rp.f32" %x, %x : f32
  func.return
}
