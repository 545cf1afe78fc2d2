// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: f64) {
  // expected-error @+1 {{'cute_nvgpu.libdevice' expected one of __nv_expf, __nv_exp, __nv_exp2f, }}
  %y = cute_nvgpu.libdevice "exp" %x : f64
  func.return
}

// -----

func.func @f(%x: f64) {
  // expected-error @+1 {{'cute_nvgpu.libdevice' expected 1 operands of f32 or f16 or bf16 for __nv_expf, got 1 of f64}}
  %y = cute_nvgpu.libdevice "__nv_expf" %x : f64
  func.return
}

// -----

func.func @f(%x: f64) {
  // expected-error @+1 {{'cute_nvgpu.libdevice' expected 2 operands of f64 for __nv_atan2, got 1 of f64}}
  %y = cute_nvgpu.libdevice "__nv_atan2" %x : f64
  func.return
}
