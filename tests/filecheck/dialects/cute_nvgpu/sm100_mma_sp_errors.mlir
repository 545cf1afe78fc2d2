// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// The selector.
func.func @f(%d: memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<16x32xbf16, tcgen05, "S<3,3,3> o 0 o (16,32):(64,1)">, %e: memref<128x16xui2, !cute.layout<"((8,2,8),(8,2)):((1048576,8,16777216),(1,8388608))">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_sp' tcgen05.mma.sp.cta_group::1.kind::f16 expected a sparsity selector of 0, 1, got 2; nearest legal: 1}}
  cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[2] <128x16x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<16x32xbf16, tcgen05, "S<3,3,3> o 0 o (16,32):(64,1)">, memref<128x16xui2, !cute.layout<"((8,2,8),(8,2)):((1048576,8,16777216),(1,8388608))">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, %b: !cute_nvgpu.smem_desc_view<16x64xf4E2M1FN, unpacked, tcgen05, "S<3,4,3> o 0 o (16,64):(128,1)">, %e: memref<128x32xui2, !cute.layout<"((16,8),32):((1048576,16777216),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_sp' tcgen05.mma.sp.cta_group::1.kind::f8f6f4 expected a sparsity selector of 0, got 1; nearest legal: 0}}
  cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[1] <128x16x64, elem_type = (f8E4M3FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<16x64xf4E2M1FN, unpacked, tcgen05, "S<3,4,3> o 0 o (16,64):(128,1)">, memref<128x32xui2, !cute.layout<"((16,8),32):((1048576,16777216),1)">, #cute<space tmem>>
  func.return
}

// -----

// The metadata.
func.func @f(%d: memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<16x32xbf16, tcgen05, "S<3,3,3> o 0 o (16,32):(64,1)">, %e: memref<128x16xui2, !cute.layout<"(128,16):(1048576,1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_sp' operand E expected layout ((8,2,8),(8,2)):((1048576,8,16777216),(1,8388608)), got memref<128x16xui2, !cute.layout<"(128,16):(1048576,1)">, #cute<space tmem>> (tcgen05.mma.sp.cta_group::1.kind::f16, M = 128, data path D); nearest legal: memref<128x16xui2, !cute.layout<"((8,2,8),(8,2)):((1048576,8,16777216),(1,8388608))">, #cute<space tmem>>}}
  cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[1] <128x16x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<16x32xbf16, tcgen05, "S<3,3,3> o 0 o (16,32):(64,1)">, memref<128x16xui2, !cute.layout<"(128,16):(1048576,1)">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<16x32xbf16, tcgen05, "S<3,3,3> o 0 o (16,32):(64,1)">, %e: memref<128x16xi32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_sp' operand E expected elements of ui2, got memref<128x16xi32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>> (tcgen05.mma.sp.cta_group::1.kind::f16: ui2); nearest legal: memref<128x16xui2, !cute.layout<"((8,2,8),(8,2)):((1048576,8,16777216),(1,8388608))">, #cute<space tmem>>}}
  cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[1] <128x16x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<16x32xbf16, tcgen05, "S<3,3,3> o 0 o (16,32):(64,1)">, memref<128x16xi32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>
  func.return
}

// -----

// A stores half of K.
func.func @f(%d: memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x32xbf16, tcgen05, "S<3,3,3> o 0 o (128,32):(64,1)">, %b: !cute_nvgpu.smem_desc_view<16x32xbf16, tcgen05, "S<3,3,3> o 0 o (16,32):(64,1)">, %e: memref<128x16xui2, !cute.layout<"((8,2,8),(8,2)):((1048576,8,16777216),(1,8388608))">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_sp' operand A expected 128x16xbf16, got 128x32xbf16 (tcgen05.mma.sp.cta_group::1.kind::f16, cta_group 1); nearest legal: !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, ...>}}
  cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[1] <128x16x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xbf16, tcgen05, "S<3,3,3> o 0 o (128,32):(64,1)">, !cute_nvgpu.smem_desc_view<16x32xbf16, tcgen05, "S<3,3,3> o 0 o (16,32):(64,1)">, memref<128x16xui2, !cute.layout<"((8,2,8),(8,2)):((1048576,8,16777216),(1,8388608))">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%d: memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, %b: !cute_nvgpu.smem_desc_view<16x64xf4E2M1FN, unpacked, tcgen05, "S<3,4,3> o 0 o (16,64):(128,1)">, %e: memref<128x32xui2, !cute.layout<"((16,8),32):((1048576,16777216),1)">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma_sp' expected M of 64 or 128 and N of 16 to 256 in steps of 16 for M = 128 (cta_group 1, (e4m3, e2m1, f32)), got 128x8x64; nearest legal: 128x16x64 (PTX ISA 9.7.16.2.1)}}
  cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[0] <128x8x64, elem_type = (f8E4M3FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<16x64xf4E2M1FN, unpacked, tcgen05, "S<3,4,3> o 0 o (16,64):(128,1)">, memref<128x32xui2, !cute.layout<"((16,8),32):((1048576,16777216),1)">, #cute<space tmem>>
  func.return
}
