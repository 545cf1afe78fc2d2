// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// The atom.
func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{expected MxNxK, elem_type = (a, b, d), ab_major = (a, b)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{expected k or mn, got n}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, n), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{expected ss or ts, got rs}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = rs> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{expected a modifier of cta_group, kind, scale_vec, scale_type, satfinite, got scale}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss, scale = 2> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma' expected M of 64 or 128 and N of 8 to 256 in steps of 8 for M = 128 (cta_group 1, (f16, f16, f32)), got 128x60x16; nearest legal: 128x56x16 (PTX ISA 9.7.16.2.1)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x60x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma' expected M of 64 or 128 and N of 8 to 256 in steps of 8 for M = 64 (cta_group 1, (f16, f16, f32)), got 96x64x16; nearest legal: 64x64x16 (PTX ISA 9.7.16.2.1)}}
  cute_nvgpu.sm100.mma %d, %a, %b <96x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma' expected K of 16 for (f16, f16, f32), got 8; nearest legal: 16 (PTX ISA 9.7.16.2.1)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x8, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma' expected element types (a, b, d) that tcgen05.mma has, got (f16, bf16, f32); nearest legal: (f16, f16, f32)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, bf16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma' expected no satfinite for (f16, f16, f32), got satfinite (only sums of s8 and u8 saturate)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss, satfinite> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma' expected cta_group 1 or 2, got 3; nearest legal: 2}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss, cta_group = 3> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

// Integers take N in steps of 16; what transposes 8-bit columns too.
func.func @f(%d: memref<128x32xi32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x32xsi8, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, %b: !cute_nvgpu.smem_desc_view<32x32xui8, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma' expected M of 64 or 128 and N of 8, then 16 to 256 in steps of 16 for M = 128 (cta_group 1, (s8, u8, s32)), got 128x24x32; nearest legal: 128x16x32 (PTX ISA 9.7.16.2.1)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x24x32, elem_type = (si8, ui8, i32), ab_major = (k, k), frag_kind = ss> : memref<128x32xi32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xsi8, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<32x32xui8, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, %b: !cute_nvgpu.smem_desc_view<32x32xf8E5M2, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma' expected M of 64 or 128 and N of 16 to 256 in steps of 16 for M = 128 (cta_group 1, (e4m3, e5m2, f32), B N-major), got 128x24x32; nearest legal: 128x16x32 (PTX ISA 9.7.16.2.1)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x24x32, elem_type = (f8E4M3FN, f8E5M2, f32), ab_major = (k, mn), frag_kind = ss> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<32x32xf8E5M2, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x32xf6E2M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, %b: !cute_nvgpu.smem_desc_view<16x32xf6E3M2FN, tcgen05, "S<3,4,3> o 0 o (16,32):(128,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma' expected a K-major A, got mn (elements of 6 and 4 bits lie K-major; PTX ISA, tcgen05 major-ness)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x16x32, elem_type = (f6E2M3FN, f6E3M2FN, f32), ab_major = (mn, k), frag_kind = ss> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xf6E2M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<16x32xf6E3M2FN, tcgen05, "S<3,4,3> o 0 o (16,32):(128,1)">
  func.return
}

// -----

// A in tensor memory.
func.func @f(%d: memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, %a: memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>, %b: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma' expected ab_major = (k, k) for an A in tensor memory, got mn (PTX ISA, tcgen05 major-ness)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (mn, k), frag_kind = ts> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, %a: memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>, %b: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma' expected M of 64 or 128 and N of 16 to 256 in steps of 16 for M = 128 (cta_group 1, (f16, f16, f32), A in tensor memory), got 128x24x16; nearest legal: 128x16x16 (PTX ISA 9.7.16.2.1)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x24x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ts> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, %a: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %b: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand A expected elements of f16, got memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>> (tcgen05.mma.cta_group::1.kind::f16: f16); nearest legal: memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ts> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, %a: memref<128x16xf16, !cute.layout<"(128,16):(131072,2)">, #cute<space tmem>>, %b: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand A expected layout (128,16):(131072,1), got memref<128x16xf16, !cute.layout<"(128,16):(131072,2)">, #cute<space tmem>> (tcgen05.mma.cta_group::1.kind::f16, M = 128, data path D); nearest legal: memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ts> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, memref<128x16xf16, !cute.layout<"(128,16):(131072,2)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, %a: memref<128x32xf4E2M1FN, !cute.layout<"(128,32):(524288,1)">, #cute<space tmem>>, %b: !cute_nvgpu.smem_desc_view<32x32xf6E3M2FN, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand A expected elements of i8 or ui8, got memref<128x32xf4E2M1FN, !cute.layout<"(128,32):(524288,1)">, #cute<space tmem>> (tcgen05.mma.cta_group::1.kind::f8f6f4: f4E2M1FN); nearest legal: memref<128x32xi8, !cute.layout<"(128,32):(262144,1)">, #cute<space tmem>>}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x32, elem_type = (f4E2M1FN, f6E3M2FN, f32), ab_major = (k, k), frag_kind = ts> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, memref<128x32xf4E2M1FN, !cute.layout<"(128,32):(524288,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x32xf6E3M2FN, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand A expected a memref, got !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ts> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, %a: memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>, %b: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand A expected a matrix in shared memory, got memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>> (frag_kind = ss); nearest legal: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, ...>}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
  func.return
}

// -----

// The accumulator.
func.func @f(%d: memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand D expected elements of f32, got memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>> (tcgen05.mma.cta_group::1.kind::f16: f32); nearest legal: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand D expected layout (128,64):(65536,1), got memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>> (tcgen05.mma.cta_group::1.kind::f16, M = 128, data path D); nearest legal: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space smem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand D expected memory space tmem, got memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space smem>> (PTX takes a tmem address here)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space smem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<64x24xf16, !cute.layout<"((16,4),24):((131072,4194304),1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<24x16xf16, tcgen05, "S<3,3,3> o 0 o (24,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand D expected layout ((16,4),24):((131072,4194304),2), got memref<64x24xf16, !cute.layout<"((16,4),24):((131072,4194304),1)">, #cute<space tmem>> (tcgen05.mma.cta_group::1.kind::f16, M = 64, data path F); nearest legal: memref<64x24xf16, !cute.layout<"((16,4),24):((131072,4194304),2)">, #cute<space tmem>>}}
  cute_nvgpu.sm100.mma %d, %a, %b <64x24x16, elem_type = (f16, f16, f16), ab_major = (k, k), frag_kind = ss> : memref<64x24xf16, !cute.layout<"((16,4),24):((131072,4194304),1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<24x16xf16, tcgen05, "S<3,3,3> o 0 o (24,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<64x24xf16, !cute.layout<"(64,24):(131072,2)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<24x16xf16, tcgen05, "S<3,3,3> o 0 o (24,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand D expected layout ((16,4),24):((131072,4194304),2), got memref<64x24xf16, !cute.layout<"(64,24):(131072,2)">, #cute<space tmem>> (tcgen05.mma.cta_group::1.kind::f16, M = 64, data path F); nearest legal: memref<64x24xf16, !cute.layout<"((16,4),24):((131072,4194304),2)">, #cute<space tmem>>}}
  cute_nvgpu.sm100.mma %d, %a, %b <64x24x16, elem_type = (f16, f16, f16), ab_major = (k, k), frag_kind = ss> : memref<64x24xf16, !cute.layout<"(64,24):(131072,2)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<24x16xf16, tcgen05, "S<3,3,3> o 0 o (24,16):(64,1)">
  func.return
}

// -----

// Matrices in shared memory.
func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand B expected a descriptor of tcgen05, got one of wgmma (tcgen05.mma.cta_group::1.kind::f16); nearest legal: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, ...>}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand B expected 64x16xf16, got 128x16xf16 (tcgen05.mma.cta_group::1.kind::f16, cta_group 1); nearest legal: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, ...>}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand A expected 128x16xf16, got 128x16xbf16 (tcgen05.mma.cta_group::1.kind::f16, cta_group 1); nearest legal: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, ...>}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand B expected an MN-major matrix, as ab_major says, got K-major layout S<3,3,3> o 0 o (64,16):(64,1); nearest legal: ab_major = k (PTX ISA, tcgen05 major-ness)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, mn), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand B expected 16x16xf16, got 32x16xf16 (tcgen05.mma.cta_group::2.kind::f16, cta_group 2); nearest legal: !cute_nvgpu.smem_desc_view<16x16xf16, tcgen05, ...>}}
  cute_nvgpu.sm100.mma %d, %a, %b <256x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss, cta_group = 2> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
  func.return
}

// -----

// expected-error @+1 {{smem_desc_view: expected a swizzle of 32, 64 or 128 bytes, S<b,4,3> or S<2,5,2> on bytes, got S<2,4,3> on elements of 32 bits; nearest legal: S<2,2,3>}}
func.func @f(%d: memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x8xtf32, tcgen05, "S<3,2,3> o 0 o (128,8):(32,1)">, %b: !cute_nvgpu.smem_desc_view<16x8xtf32, tcgen05, "S<2,4,3> o 0 o ((16,1),8):((1,0),16)">, %p: i1, %m: i32, %z: i64) {
  cute_nvgpu.sm100.mma %d, %a, %b <128x16x8, elem_type = (tf32, tf32, f32), ab_major = (k, mn), frag_kind = ss> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x8xtf32, tcgen05, "S<3,2,3> o 0 o (128,8):(32,1)">, !cute_nvgpu.smem_desc_view<16x8xtf32, tcgen05, "S<2,4,3> o 0 o ((16,1),8):((1,0),16)">
  func.return
}

// -----

func.func @f(%d: memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x8xtf32, tcgen05, "S<3,2,3> o 0 o (128,8):(32,1)">, %b: !cute_nvgpu.smem_desc_view<16x8xtf32, tcgen05, "S<3,2,3> o 0 o (16,8):(1,32)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand B expected a swizzle of 128 bytes in atoms of 32 for MN-major tf32, got layout S<3,2,3> o 0 o (16,8):(1,32) (PTX ISA, tcgen05 major-ness)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x16x8, elem_type = (tf32, tf32, f32), ab_major = (k, mn), frag_kind = ss> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x8xtf32, tcgen05, "S<3,2,3> o 0 o (128,8):(32,1)">, !cute_nvgpu.smem_desc_view<16x8xtf32, tcgen05, "S<3,2,3> o 0 o (16,8):(1,32)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<2,4,2> o 0 o (64,16):(1,64)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand B expected a swizzle of none, 32, 64 or 128 bytes for MN-major f16, got layout S<2,4,2> o 0 o (64,16):(1,64) (PTX ISA, tcgen05 major-ness)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, mn), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<2,4,2> o 0 o (64,16):(1,64)">
  func.return
}

// -----

func.func @f(%d: memref<128x16xf16, !cute.layout<"(128,16):(131072,2)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x32xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,32):(256,1)">, %b: !cute_nvgpu.smem_desc_view<16x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (16,32):(128,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' operand A expected 128x32xf4E2M1FN, unpacked, got 128x32xf4E2M1FN (tcgen05.mma.cta_group::1.kind::f8f6f4, cta_group 1); nearest legal: !cute_nvgpu.smem_desc_view<128x32xf4E2M1FN, unpacked, tcgen05, ...>}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x16x32, elem_type = (f4E2M1FN, f8E4M3FN, f16), ab_major = (k, k), frag_kind = ss> : memref<128x16xf16, !cute.layout<"(128,16):(131072,2)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,32):(256,1)">, !cute_nvgpu.smem_desc_view<16x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (16,32):(128,1)">
  func.return
}

// -----

// Modifiers.
func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' expected scale_input_d of 0 to 15, got 16; nearest legal: 15 (PTX ISA, tcgen05.mma)}}
  cute_nvgpu.sm100.mma %d, %a, %b scale_input_d 16 <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' expected scale_input_d of 0 to 15, got -1; nearest legal: 0 (PTX ISA, tcgen05.mma)}}
  cute_nvgpu.sm100.mma %d, %a, %b scale_input_d -1 <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, %b: !cute_nvgpu.smem_desc_view<32x32xf8E5M2, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' expected no scale_input_d, got 1 (kind::f16 and kind::tf32 alone scale D; tcgen05.mma.cta_group::1.kind::f8f6f4)}}
  cute_nvgpu.sm100.mma %d, %a, %b scale_input_d 1 <128x32x32, elem_type = (f8E4M3FN, f8E5M2, f32), ab_major = (k, k), frag_kind = ss> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<32x32xf8E5M2, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' expected 4 words of lanes not to write with cta_group 1, got 2}}
  cute_nvgpu.sm100.mma %d, %a, %b disable_output_lane (%m, %m) <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' expected an A in tensor memory to shift, got frag_kind = ss (PTX ISA, tcgen05.mma); nearest legal: no ashift}}
  cute_nvgpu.sm100.mma %d, %a, %b ashift <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<64x16xf32, !cute.layout<"((16,4),16):((65536,2097152),1)">, #cute<space tmem>>, %a: memref<64x8xtf32, !cute.layout<"((16,4),8):((65536,2097152),1)">, #cute<space tmem>>, %b: !cute_nvgpu.smem_desc_view<16x8xtf32, tcgen05, "S<3,2,3> o 0 o (16,8):(32,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' expected M of 128 to shift A, got 64 (PTX ISA, tcgen05.mma); nearest legal: no ashift}}
  cute_nvgpu.sm100.mma %d, %a, %b ashift <64x16x8, elem_type = (tf32, tf32, f32), ab_major = (k, k), frag_kind = ts> : memref<64x16xf32, !cute.layout<"((16,4),16):((65536,2097152),1)">, #cute<space tmem>>, memref<64x8xtf32, !cute.layout<"((16,4),8):((65536,2097152),1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<16x8xtf32, tcgen05, "S<3,2,3> o 0 o (16,8):(32,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, %a: memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>, %b: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' expected a collector of a::lastuse|discard, got a::use in 'tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::use'; nearest legal: a::lastuse}}
  cute_nvgpu.sm100.mma %d, %a, %b ashift collector "a::use" <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ts> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' expected a collector of a::fill|use|lastuse|discard, got b0::use in 'tcgen05.mma.cta_group::1.kind::f16.collector::b0::use'; nearest legal: a::use}}
  cute_nvgpu.sm100.mma %d, %a, %b collector "b0::use" <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<128x32xi32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x32xsi8, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, %b: !cute_nvgpu.smem_desc_view<32x32xui8, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' expected no negate_a or negate_b, got one (only floating-point multiplicands are negated; tcgen05.mma.cta_group::1.kind::i8)}}
  cute_nvgpu.sm100.mma %d, %a, %b negate_a <128x32x32, elem_type = (si8, ui8, i32), ab_major = (k, k), frag_kind = ss> : memref<128x32xi32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xsi8, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<32x32xui8, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">
  func.return
}
