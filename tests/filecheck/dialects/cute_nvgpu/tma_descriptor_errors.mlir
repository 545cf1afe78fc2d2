// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

  // expected-error @+1 {{tma_descriptor expected a box of 1 to 5 dimensions, got 1x1x1x1x1x8xbf16}}
  func.func @f(%m: !cute_nvgpu.tma_descriptor<1x1x1x1x1x8xbf16>) { func.return }

// -----

  // expected-error @+1 {{tma_descriptor expected extents of 1 to 256, got 512 in 512x64xbf16; nearest legal: 256}}
  func.func @f(%m: !cute_nvgpu.tma_descriptor<512x64xbf16>) { func.return }

// -----

  // expected-error @+1 {{tma_descriptor expected extents of 1 to 256, got 0 in 0x64xbf16; nearest legal: 1}}
  func.func @f(%m: !cute_nvgpu.tma_descriptor<0x64xbf16>) { func.return }

// -----

  // expected-error @+1 {{tma_descriptor expected whole 16 bytes along the last dimension of the box, got 8 in 64x4xbf16; nearest legal: 8 elements}}
  func.func @f(%m: !cute_nvgpu.tma_descriptor<64x4xbf16>) { func.return }

// -----

  // expected-error @+1 {{tma_descriptor expected 128 bytes along the last dimension of the box, one row of its swizzle, got 256; nearest legal: 64 elements}}
  func.func @f(%m: !cute_nvgpu.tma_descriptor<64x128xbf16, swizzle = 128>) { func.return }

// -----

  // expected-error @+1 {{tma_descriptor expected 64 bytes along the last dimension of the box, one row of its swizzle, got 128; nearest legal: 32 elements}}
  func.func @f(%m: !cute_nvgpu.tma_descriptor<64x64xbf16, swizzle = 64>) { func.return }

// -----

  // expected-error @+1 {{tma_descriptor expected a swizzle of 0, 32, 64, 128 bytes, got 100; nearest legal: 128}}
  func.func @f(%m: !cute_nvgpu.tma_descriptor<64x64xbf16, swizzle = 100>) { func.return }

// -----

  // expected-error @+1 {{tma_descriptor expected a swizzle that keeps 16 bytes together, got 32; nearest legal: 16}}
  func.func @f(%m: !cute_nvgpu.tma_descriptor<64x16xf32, swizzle = 64, swizzle_atom = 32>) { func.return }

// -----

  // expected-error @+1 {{tma_descriptor expected elements of ui8, i8, si8, f8E4M3FN, f8E5M2, f8E8M0FNU, i16, ui16, si16, i32, ui32, si32, i64, ui64, si64, f16, bf16, f32, tf32, f64, got i4}}
  func.func @f(%m: !cute_nvgpu.tma_descriptor<64x64xi4>) { func.return }

// -----

  // expected-error @+1 {{tma_descriptor expected elements of ui8, i8, si8, f8E4M3FN, f8E5M2, f8E8M0FNU, i16, ui16, si16, i32, ui32, si32, i64, ui64, si64, f16, bf16, f32, tf32, f64, got index}}
  func.func @f(%m: !cute_nvgpu.tma_descriptor<64x64xindex>) { func.return }
