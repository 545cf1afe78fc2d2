// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: f32) {
  // expected-error @+1 {{'cute_nvgpu.shfl.sync' expected bfly or idx, got up}}
  %y = cute_nvgpu.shfl.sync up %x, 2 : f32
  func.return
}

// -----

func.func @f(%x: f32) {
  // expected-error @+1 {{'cute_nvgpu.shfl.sync' expected a lane below 32, got 32; nearest legal: 31}}
  %y = cute_nvgpu.shfl.sync bfly %x, 32 : f32
  func.return
}

// -----

func.func @f(%x: f16) {
  // expected-error @+1 {{'cute_nvgpu.shfl.sync' expected f32 or i32, got f16 (a lane gives 32 bits)}}
  %y = cute_nvgpu.shfl.sync bfly %x, 1 : f16
  func.return
}
