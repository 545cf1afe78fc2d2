// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// The atom: the accumulator, the triple of K, size and scale type.
func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, %b: !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, %sfa: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma_bs' expects c type to be Float32, got f16; nearest legal: (e2m1, e2m1, f32)}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f16), ab_major = (k, k), frag_kind = ss, kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, %b: !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, %sfa: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma_bs' expected a kind, scale_vec and scale_type that (e2m1, e2m1, f32) has, got mxf4, 2, ue4m3; nearest legal: mxf4, 2, ue8m0}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf4, scale_vec = 2, scale_type = f8E4M3FN> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, %b: !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, %sfa: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma_bs' expected a kind, scale_vec and scale_type that (e2m1, e2m1, f32) has, got mxf4, 4, ue8m0; nearest legal: mxf4, 2, ue8m0}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf4, scale_vec = 4, scale_type = f8E8M0FNU> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, %b: !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, %sfa: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{expected scale factors of type f8E8M0FNU, f8E4M3FN, got f8E5M2}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf4, scale_vec = 2, scale_type = f8E5M2> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, %b: !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, %sfa: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{expected f16 or tf32 or f8f6f4 or i8 or mxf8f6f4 or mxf4 or mxf4nvf4, got nvf4}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = nvf4, scale_vec = 2, scale_type = f8E8M0FNU> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, %b: !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, %sfa: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma_bs' expected K of 64 for (e2m1, e2m1, f32), got 32; nearest legal: 64 (PTX ISA 9.7.16.2.1)}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] <128x64x32, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, %b: !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, %sfa: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma_bs' expected M of 128 and N of 8 to 256 in steps of 8 for M = 128 (cta_group 1, (e2m1, e2m1, f32)), got 64x64x64; nearest legal: 128x64x64 (PTX ISA 9.7.16.2.1)}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] <64x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x32xf8E5M2, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, %b: !cute_nvgpu.smem_desc_view<32x32xf4E2M1FN, unpacked, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">, %sfa: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<32x4xf8E8M0FNU, !cute.layout<"(32,4):(262144,1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma_bs' expected M of 256 and N of 16 to 256 in steps of 16 for M = 256 (cta_group 2, (e5m2, e2m1, f32)), got 128x32x32; nearest legal: 256x32x32 (PTX ISA 9.7.16.2.1)}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[3], %sfb[2] <128x32x32, elem_type = (f8E5M2, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, cta_group = 2, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xf8E5M2, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<32x32xf4E2M1FN, unpacked, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<32x4xf8E8M0FNU, !cute.layout<"(32,4):(262144,1)">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, %b: !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, %sfa: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma_bs' expected a K-major B, got mn (elements of 6 and 4 bits lie K-major; PTX ISA, tcgen05 major-ness)}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, mn), frag_kind = ss, kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
  func.return
}

// -----

// The scale factors.
func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, %b: !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, %sfa: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<128x4xf8E4M3FN, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_bs' expects sfa/sfb element types to be the same, got f8E8M0FNU and f8E4M3FN; nearest legal: f8E8M0FNU}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<128x4xf8E4M3FN, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, %b: !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, %sfa: memref<128x4xf8E4M3FN, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<128x4xf8E4M3FN, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_bs' operand SFA expected elements of f8E8M0FNU, got memref<128x4xf8E4M3FN, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>> (tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32: f8E8M0FNU); nearest legal: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, memref<128x4xf8E4M3FN, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<128x4xf8E4M3FN, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, %b: !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, %sfa: memref<128x2xf8E8M0FNU, !cute.layout<"((32,4),2):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_bs' operand SFA expected layout ((32,4),4):((262144,4),1), got memref<128x2xf8E8M0FNU, !cute.layout<"((32,4),2):((262144,4),1)">, #cute<space tmem>> (tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32, M = 128, data path D); nearest legal: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, memref<128x2xf8E8M0FNU, !cute.layout<"((32,4),2):((262144,4),1)">, #cute<space tmem>>, memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
  func.return
}

// -----

// Where in a word they start.
func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, %b: !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, %sfa: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_bs' tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32 expected sfa_id of 0, 2, got 1; nearest legal: 0}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[1], %sfb[0] <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, %b: !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, %sfa: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_bs' tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32 expected sfb_id of 0, 2, got 4; nearest legal: 2}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[4] <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x48xf32, !cute.layout<"(128,48):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, %b: !cute_nvgpu.smem_desc_view<48x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (48,64):(256,1)">, %sfa: memref<128x4xf8E4M3FN, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<64x4xf8E4M3FN, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_bs' tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 expected sfb_id of 0, got 2; nearest legal: 0}}
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[0], %sfb[2] <128x48x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf4nvf4, scale_vec = 4, scale_type = f8E4M3FN> : memref<128x48xf32, !cute.layout<"(128,48):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<48x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (48,64):(256,1)">, memref<128x4xf8E4M3FN, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<64x4xf8E4M3FN, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
  func.return
}

// -----

// Sparse ones.
func.func @f(%d: memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, %b: !cute_nvgpu.smem_desc_view<16x64xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (16,64):(128,1)">, %e: memref<128x32xui2, !cute.layout<"((16,8),32):((1048576,16777216),1)">, #cute<space tmem>>, %sfa: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<16x4xf8E8M0FNU, !cute.layout<"(16,4):(262144,1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_bs_sp' tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale.block32 expected a sparsity selector of 0, got 1; nearest legal: 0}}
  cute_nvgpu.sm100.mma_bs_sp %d, %a, %b, %e[1], %sfa[0], %sfb[0] <128x16x64, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<16x64xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (16,64):(128,1)">, memref<128x32xui2, !cute.layout<"((16,8),32):((1048576,16777216),1)">, #cute<space tmem>>, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<16x4xf8E8M0FNU, !cute.layout<"(16,4):(262144,1)">, #cute<space tmem>>
  func.return
}

// -----

// Ids twice.
func.func @f(%d: memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, %b: !cute_nvgpu.smem_desc_view<16x64xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (16,64):(128,1)">, %e: memref<128x32xui2, !cute.layout<"((16,8),32):((1048576,16777216),1)">, #cute<space tmem>>, %sfa: memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, %sfb: memref<16x4xf8E8M0FNU, !cute.layout<"(16,4):(262144,1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_bs_sp' expected ids of 0 beside idesc, which has them}}
  cute_nvgpu.sm100.mma_bs_sp %d, %a, %b, %e[0], %sfa[1], %sfb[0] idesc %m <128x16x64, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<16x64xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (16,64):(128,1)">, memref<128x32xui2, !cute.layout<"((16,8),32):((1048576,16777216),1)">, #cute<space tmem>>, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<16x4xf8E8M0FNU, !cute.layout<"(16,4):(262144,1)">, #cute<space tmem>>
  func.return
}
