// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%p: i64, %a: f16) {
  // expected-error @+1 {{'cute_nvgpu.multimem.store' expected 1, 2 or 4 f32, 2, 4 or 8 f16 or bf16, or one i32, i64 or f64, in a form of multimem.st (PTX ISA 9.7.9.14), got weak .f16x2 of f16}}
  cute_nvgpu.multimem.store "weak" %a to %p + 0 : f16
  func.return
}

// -----

func.func @f(%p: i64, %a: f32) {
  // expected-error @+1 {{'cute_nvgpu.multimem.reduce' expected 1, 2 or 4 f32, 2, 4 or 8 f16 or bf16, or one i32, i64 or f64, in a form of multimem.red (PTX ISA 9.7.9.14), got weak add.f32 of f32}}
  cute_nvgpu.multimem.reduce "weak" "add.f32" %a to %p + 0 : f32
  func.return
}

// -----

func.func @f(%p: i64, %a: f32, %b: i32) {
  // expected-error @+1 {{'cute_nvgpu.multimem.store' expected elements of one type}}
  cute_nvgpu.multimem.store "weak" %a, %b to %p + 0 : f32, i32
  func.return
}

// -----

func.func @f(%p: i64, %m: i1) {
  // expected-error @+1 {{'cute_nvgpu.multimem.load_reduce' expected as many elements where the predicate does not hold}}
  %a = cute_nvgpu.multimem.load_reduce "weak" "add.f32" %p + 0 if %m -> f32
  func.return
}
