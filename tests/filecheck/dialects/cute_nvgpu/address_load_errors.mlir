// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%p: i64) {
  // expected-error @+1 {{'cute_nvgpu.address.load' expected a cache of L1::evict_normal, L1::evict_unchanged, L1::evict_first, L1::evict_last, L1::no_allocate of global memory, got wb of global}}
  %x = cute_nvgpu.address.load cache "wb" %p + 0 : i64 -> f32
  func.return
}

// -----

func.func @f(%s: i32) {
  // expected-error @+1 {{of global memory, got L1::no_allocate of shared}}
  %x = cute_nvgpu.address.load cache "L1::no_allocate" %s + 0 : i32 -> f32
  func.return
}
