// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected MNxKxTYPE, such as 64x16xbf16}}
func.func @f(%d: !cute_nvgpu.smem_desc_view<64xbf16, "(64,16):(64,1)">) {
  func.return
}

// -----

// expected-error @+1 {{expected ',' or ')', got ':' at position 6 of '(64,16:(64,1)'}}
func.func @f(%d: !cute_nvgpu.smem_desc_view<64x16xbf16, "(64,16:(64,1)">) {
  func.return
}

// -----

// expected-error @+1 {{Expected shape type.}}
func.func @f(%d: !cute_nvgpu.smem_desc_view<64x16xf33, "(64,16):(64,1)">) {
  func.return
}

// -----

// expected-error @+1 {{smem_desc_view expected an element type of f16, bf16, tf32, f32, f64, f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN, f4E2M1FN, si8, ui8, si4, ui4, ui1, i32, f8E8M0FNU, ui2, got i64}}
func.func @f(%d: !cute_nvgpu.smem_desc_view<64x16xi64, "(64,16):(64,1)">) {
  func.return
}

// -----

// expected-error @+1 {{smem_desc_view expected a layout of shape 64x32, got S<3,3,3> o 0 o (64,16):(64,1)}}
func.func @f(%d: !cute_nvgpu.smem_desc_view<64x32xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">) {
  func.return
}

// -----

// expected-error @+1 {{smem_desc_view: no descriptor expresses (64,16):(64,1); K-major: expected mode mn of (8,i):(8,SBO), got 64:64; MN-major: expected mode mn of (8,i):(1,SBO), got 64:64}}
func.func @f(%d: !cute_nvgpu.smem_desc_view<64x16xbf16, "(64,16):(64,1)">) {
  func.return
}

// -----

// expected-error @+1 {{smem_desc_view: expected a swizzle of 32, 64 or 128 bytes, S<b,4,3> on bytes, got S<3,4,3> on elements of 16 bits; nearest legal: S<3,3,3>}}
func.func @f(%d: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,4,3> o 0 o (64,16):(64,1)">) {
  func.return
}

// -----

// expected-error @+1 {{smem_desc_view: expected a tile that starts at a multiple of 8 elements, got one at 4 (a start address counts 16 bytes)}}
func.func @f(%d: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 4 o (64,16):(64,1)">) {
  func.return
}

// -----

// expected-error @+1 {{smem_desc_view: no descriptor expresses S<3,3,3> o 0 o (64,16):(2,128); K-major: expected mode k of (16,i):(1,LBO), got 16:128; MN-major: expected mode mn of (64,i):(1,LBO), got 64:2}}
func.func @f(%d: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(2,128)">) {
  func.return
}

// -----

// expected-error @+1 {{smem_desc_view: expected a multiple of 16 below 0x40000 for the stride dimension byte offset (SBO), got 0x40000; nearest legal: 0x3fff0 (PTX ISA 9.7.15.5.1.2.2)}}
func.func @f(%d: !cute_nvgpu.smem_desc_view<64x16xbf16, "((8,8),(8,2)):((8,131072),(1,64))">) {
  func.return
}

// -----

// expected-error @+1 {{smem_desc_view: expected a layout of offsets, got (64,16):(1@0,1@1)}}
func.func @f(%d: !cute_nvgpu.smem_desc_view<64x16xbf16, "(64,16):(1@0,1@1)">) {
  func.return
}

// -----

// expected-error @+1 {{smem_desc_view: expected a swizzle before the layout, got (1024):(1) o 0 o (64,16):(64,1)}}
func.func @f(%d: !cute_nvgpu.smem_desc_view<64x16xbf16, "(1024):(1) o 0 o (64,16):(64,1)">) {
  func.return
}

// -----

// expected-error @+1 {{smem_desc_view expected a layout of shape 64x16, got S<3,3,3> o 0 o (32,16):(64,1)}}
func.func @f(%d: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">) {
  func.return
}

// -----

// expected-error @+1 {{expected MNxKxTYPE, such as 64x16xbf16}}
func.func @f(%d: !cute_nvgpu.smem_desc_view<64x16x2xbf16, "(64,16,2):(64,1,2)">) {
  func.return
}
