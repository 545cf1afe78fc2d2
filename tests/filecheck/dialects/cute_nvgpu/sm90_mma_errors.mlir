// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// The atom.
func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{expected MxNxK, elem_type = (a, b, d), ab_major = (a, b)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{expected MxNxK, elem_type = (a, b, d), ab_major = (a, b)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{expected MxNxK, elem_type = (a, b, d), ab_major = (a, b)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{expected k or mn, got n}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, n), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{expected ss or rs, got sr}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = sr> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'sm90.mma' expected element types (a, b, d) that wgmma has, got (bf16, f16, f32); nearest legal: (f16, f16, f32)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, f16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'sm90.mma' expected a shape 64xNx16 for (bf16, bf16, f32), N 8 to 256 in steps of 8, got 64x36x16; nearest legal: 64x32x16 (PTX ISA 9.7.15.2)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x36x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'sm90.mma' expected a shape 64xNx32 for (s8, s8, s32), N 8, 16, 24, 32, then 48 to 256 in steps of 16, got 64x40x32; nearest legal: 64x32x32 (PTX ISA 9.7.15.2)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x40x32, elem_type = (si8, si8, i32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'sm90.mma' expected no satfinite for (bf16, bf16, f32), got satfinite (only sums of s8 and u8 saturate)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss, satfinite> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'sm90.mma' expected a K-major B, got mn (only f16 and bf16 lie MN-major; PTX ISA 9.7.15.5.2)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x8, elem_type = (tf32, tf32, f32), ab_major = (k, mn), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'sm90.mma' expected ab_major = (k, k) for an A in registers, got mn (PTX ISA 9.7.15.5.2)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (mn, k), frag_kind = rs> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<8xbf16>, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' operand A expected a matrix in shared memory, got !cute_nvgpu.fragment<8xbf16> (frag_kind = ss); nearest legal: !cute_nvgpu.smem_desc_view<64x16xbf16, ...>}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.fragment<8xbf16>, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' operand B expected 32x16xbf16, got 64x16xbf16 (wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16); nearest legal: !cute_nvgpu.smem_desc_view<32x16xbf16, ...>}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' operand A expected 64x16xbf16, got 64x16xf16 (wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16); nearest legal: !cute_nvgpu.smem_desc_view<64x16xbf16, ...>}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(1,64)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' operand A expected a K-major matrix, as ab_major says, got MN-major layout S<3,3,3> o 0 o (64,16):(1,64); nearest legal: ab_major = mn (PTX ISA 9.7.15.5.1.2)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(1,64)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' operand B expected an MN-major matrix, as ab_major says, got K-major layout S<3,3,3> o 0 o (32,16):(64,1); nearest legal: ab_major = k (PTX ISA 9.7.15.5.1.2)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' operand A expected a register fragment, got !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)"> (wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 takes registers); nearest legal: !cute_nvgpu.fragment<8xbf16>}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = rs> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<4xbf16>, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' operand A expected 8 elements a thread, got 4 (wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16); nearest legal: !cute_nvgpu.fragment<8xbf16>}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = rs> : (!cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<8xf16>, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' operand A expected element type bf16, got f16 (wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16); nearest legal: !cute_nvgpu.fragment<8xbf16>}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = rs> : (!cute_nvgpu.fragment<8xf16>, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xi32>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' operand C expected element type f32, got i32 (wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16); nearest legal: !cute_nvgpu.fragment<16xf32>}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xi32>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<32xf32>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' operand C expected 16 elements a thread, got 32 (wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16); nearest legal: !cute_nvgpu.fragment<16xf32>}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<32xf32>) -> !cute_nvgpu.fragment<32xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' result D expected 16 elements a thread, got 8 (wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16); nearest legal: !cute_nvgpu.fragment<16xf32>}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32, "((4,8,4),(2,2,4)):((128,1,16),(8,64,512))">) {
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' operand C expected layout ((4,8,4),(2,2,4)):((128,1,16),(64,8,512)), got ((4,8,4),(2,2,4)):((128,1,16),(8,64,512)) (wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16, PTX ISA 9.7.15.5.2)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32, "((4,8,4),(2,2,4)):((128,1,16),(8,64,512))">) -> !cute_nvgpu.fragment<16xf32, "((4,8,4),(2,2,4)):((128,1,16),(8,64,512))">
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x32xsi8, "(64,(16,2)):(16,(1,1024))">, %b: !cute_nvgpu.smem_desc_view<32x32xsi8, "(32,(16,2)):(16,(1,512))">, %c: !cute_nvgpu.fragment<16xi32>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' expected no negate_a or negate_b, got one (only floating-point multiplicands are negated; wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.s8, PTX ISA 9.7.15.5.2)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c negate_a <64x32x32, elem_type = (si8, si8, i32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x32xsi8, "(64,(16,2)):(16,(1,1024))">, !cute_nvgpu.smem_desc_view<32x32xsi8, "(32,(16,2)):(16,(1,512))">, !cute_nvgpu.fragment<16xi32>) -> !cute_nvgpu.fragment<16xi32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>, %p: i32) {
  // expected-error @+1 {{Expected attribute i1 but got i32}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c scale_d %p <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.fragment<16xf32>, i32) -> !cute_nvgpu.fragment<16xf32>
  func.return
}
