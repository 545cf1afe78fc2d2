// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%p: i64, %a: f64) {
  // expected-error @+1 {{'cute_nvgpu.address.reduce' expected elements that one red adds (1 f16, 1 bf16, 1 f32, 1 f64, 2 f32, 4 f32, 2 f16, 4 f16, 8 f16, 2 bf16, 4 bf16, 8 bf16; of shared memory no vectors) and semantics of relaxed.cta, relaxed.cluster, relaxed.gpu, relaxed.sys, release.cta, release.cluster, release.gpu, release.sys, got 2 f64 and relaxed.gpu}}
  cute_nvgpu.address.reduce "relaxed.gpu" %a, %a to %p + 0 : i64, f64, f64
  func.return
}

// -----

func.func @f(%s: i32, %a: f32) {
  // expected-error @+1 {{got 2 f32 and relaxed.gpu}}
  cute_nvgpu.address.reduce "relaxed.gpu" %a, %a to %s + 0 : i32, f32, f32
  func.return
}

// -----

func.func @f(%p: i64, %a: f32, %h: f16) {
  // expected-error @+1 {{'cute_nvgpu.address.reduce' expected elements of one type that fill 1, 2, 4, 8 or 16 bytes, got f32, f16}}
  cute_nvgpu.address.reduce "acq_rel.gpu" %a, %h to %p + 0 : i64, f32, f16
  func.return
}
