// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: f64) {
  // expected-error @+1 {{'cute_nvgpu.libdevice' expected a function of libdevice that is known, got exp; nearest legal: __nv_exp}}
  %y = cute_nvgpu.libdevice "exp" %x : (f64) -> f64
  func.return
}

// -----

func.func @f(%x: f64) {
  // expected-error @+1 {{'cute_nvgpu.libdevice' expected (f32) -> f32, or f16 or bf16 alone for __nv_expf, got (f64) -> f64}}
  %y = cute_nvgpu.libdevice "__nv_expf" %x : (f64) -> f64
  func.return
}

// -----

func.func @f(%x: f64) {
  // expected-error @+1 {{'cute_nvgpu.libdevice' expected (f64, f64) -> f64 for __nv_atan2, got (f64) -> f64}}
  %y = cute_nvgpu.libdevice "__nv_atan2" %x : (f64) -> f64
  func.return
}
