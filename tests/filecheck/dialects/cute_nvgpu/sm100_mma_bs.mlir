// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!mxf8f6f4_d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!mxf8f6f4_a = !cute_nvgpu.smem_desc_view<128x32xf8E5M2, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">
!mxf8f6f4_b = !cute_nvgpu.smem_desc_view<32x32xf4E2M1FN, unpacked, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">
!mxf8f6f4_sfa = memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>
!mxf8f6f4_sfb = memref<32x4xf8E8M0FNU, !cute.layout<"(32,4):(262144,1)">, #cute<space tmem>>
// One scale factor a row.
// CHECK-LABEL: func.func @mxf8f6f4
func.func @mxf8f6f4(%d: !mxf8f6f4_d, %a: !mxf8f6f4_a, %b: !mxf8f6f4_b, %sfa: !mxf8f6f4_sfa, %sfb: !mxf8f6f4_sfb, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[3], %sfb[2] <128x32x32, elem_type = (f8E5M2, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xf8E5M2, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<32x32xf4E2M1FN, unpacked, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<32x4xf8E8M0FNU, !cute.layout<"(32,4):(262144,1)">, #cute<space tmem>>
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[3], %sfb[2] <128x32x32, elem_type = (f8E5M2, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : !mxf8f6f4_d, !mxf8f6f4_a, !mxf8f6f4_b, !mxf8f6f4_sfa, !mxf8f6f4_sfb
  // CHECK-NEXT: cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[3], %sfb[2] enable_input_d %p negate_a negate_b collector "a::use" <128x32x32, elem_type = (f8E5M2, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xf8E5M2, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<32x32xf4E2M1FN, unpacked, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<32x4xf8E8M0FNU, !cute.layout<"(32,4):(262144,1)">, #cute<space tmem>>
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[3], %sfb[2] enable_input_d %p negate_a negate_b collector "a::use" <128x32x32, elem_type = (f8E5M2, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : !mxf8f6f4_d, !mxf8f6f4_a, !mxf8f6f4_b, !mxf8f6f4_sfa, !mxf8f6f4_sfb
  func.return
}

!mxf4_d = memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!mxf4_a = !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">
!mxf4_b = !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">
!mxf4_sfa = memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>
!mxf4_sfb = memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
// Two.
// CHECK-LABEL: func.func @mxf4
func.func @mxf4(%d: !mxf4_d, %a: !mxf4_a, %b: !mxf4_b, %sfa: !mxf4_sfa, %sfb: !mxf4_sfb, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] enable_input_d %p <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<64x4xf8E8M0FNU, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] enable_input_d %p <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU> : !mxf4_d, !mxf4_a, !mxf4_b, !mxf4_sfa, !mxf4_sfb
  func.return
}

!mxf4nvf4_d = memref<64x64xf32, !cute.layout<"(64,(32,2)):(65536,(1,4194304))">, #cute<space tmem>>
!mxf4nvf4_a = !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">
!mxf4nvf4_b = !cute_nvgpu.smem_desc_view<32x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (32,64):(256,1)">
!mxf4nvf4_sfa = memref<64x4xf8E4M3FN, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>
!mxf4nvf4_sfb = memref<64x4xf8E4M3FN, !cute.layout<"((32,2),4):((262144,16777216),1)">, #cute<space tmem>>
// Four; of a pair with M = 128, each half of the columns has its own.
// CHECK-LABEL: func.func @mxf4nvf4
func.func @mxf4nvf4(%d: !mxf4nvf4_d, %a: !mxf4nvf4_a, %b: !mxf4nvf4_b, %sfa: !mxf4nvf4_sfa, %sfb: !mxf4nvf4_sfb, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[0], %sfb[0] enable_input_d %p <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, cta_group = 2, kind = mxf4nvf4, scale_vec = 4, scale_type = f8E4M3FN> : memref<64x64xf32, !cute.layout<"(64,(32,2)):(65536,(1,4194304))">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<64x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (64,64):(256,1)">, !cute_nvgpu.smem_desc_view<32x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (32,64):(256,1)">, memref<64x4xf8E4M3FN, !cute.layout<"((32,2),4):((262144,4),1)">, #cute<space tmem>>, memref<64x4xf8E4M3FN, !cute.layout<"((32,2),4):((262144,16777216),1)">, #cute<space tmem>>
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[0], %sfb[0] enable_input_d %p <128x64x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, cta_group = 2, kind = mxf4nvf4, scale_vec = 4, scale_type = f8E4M3FN> : !mxf4nvf4_d, !mxf4nvf4_a, !mxf4nvf4_b, !mxf4nvf4_sfa, !mxf4nvf4_sfb
  func.return
}

!long_d = memref<128x160xf32, !cute.layout<"(128,160):(65536,1)">, #cute<space tmem>>
!long_a = !cute_nvgpu.smem_desc_view<128x96xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,96):(256,1)">
!long_b = !cute_nvgpu.smem_desc_view<80x96xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (80,96):(256,1)">
!long_sfa = memref<128x8xf8E4M3FN, !cute.layout<"((32,4),(4,2)):((262144,4),(1,16))">, #cute<space tmem>>
!long_sfb = memref<160x8xf8E4M3FN, !cute.layout<"((32,5),(4,2)):((262144,4),(1,32))">, #cute<space tmem>>
// K = 96 has factors in two words.
// CHECK-LABEL: func.func @long
func.func @long(%d: !long_d, %a: !long_a, %b: !long_b, %sfa: !long_sfa, %sfb: !long_sfb, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] enable_input_d %p <256x160x96, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, cta_group = 2, kind = mxf4nvf4, scale_vec = 6, scale_type = f8E4M3FN> : memref<128x160xf32, !cute.layout<"(128,160):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x96xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,96):(256,1)">, !cute_nvgpu.smem_desc_view<80x96xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (80,96):(256,1)">, memref<128x8xf8E4M3FN, !cute.layout<"((32,4),(4,2)):((262144,4),(1,16))">, #cute<space tmem>>, memref<160x8xf8E4M3FN, !cute.layout<"((32,5),(4,2)):((262144,4),(1,32))">, #cute<space tmem>>
  cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[0] enable_input_d %p <256x160x96, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, cta_group = 2, kind = mxf4nvf4, scale_vec = 6, scale_type = f8E4M3FN> : !long_d, !long_a, !long_b, !long_sfa, !long_sfb
  func.return
}

!sparse_d = memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>
!sparse_a = !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">
!sparse_b = !cute_nvgpu.smem_desc_view<16x64xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (16,64):(128,1)">
!sparse_e = memref<128x32xui2, !cute.layout<"((16,8),32):((1048576,16777216),1)">, #cute<space tmem>>
!sparse_sfa = memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>
!sparse_sfb = memref<16x4xf8E8M0FNU, !cute.layout<"(16,4):(262144,1)">, #cute<space tmem>>
// Sparse too.
// CHECK-LABEL: func.func @sparse
func.func @sparse(%d: !sparse_d, %a: !sparse_a, %b: !sparse_b, %e: !sparse_e, %sfa: !sparse_sfa, %sfb: !sparse_sfb, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma_bs_sp %d, %a, %b, %e[0], %sfa[0], %sfb[0] enable_input_d %p <128x16x64, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<16x64xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (16,64):(128,1)">, memref<128x32xui2, !cute.layout<"((16,8),32):((1048576,16777216),1)">, #cute<space tmem>>, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<16x4xf8E8M0FNU, !cute.layout<"(16,4):(262144,1)">, #cute<space tmem>>
  cute_nvgpu.sm100.mma_bs_sp %d, %a, %b, %e[0], %sfa[0], %sfb[0] enable_input_d %p <128x16x64, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : !sparse_d, !sparse_a, !sparse_b, !sparse_e, !sparse_sfa, !sparse_sfb
  // CHECK-NEXT: cute_nvgpu.sm100.mma_bs_sp %d, %a, %b, %e[0], %sfa[0], %sfb[0] enable_input_d %p idesc %m <128x16x64, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<16x64xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (16,64):(128,1)">, memref<128x32xui2, !cute.layout<"((16,8),32):((1048576,16777216),1)">, #cute<space tmem>>, memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>, memref<16x4xf8E8M0FNU, !cute.layout<"(16,4):(262144,1)">, #cute<space tmem>>
  cute_nvgpu.sm100.mma_bs_sp %d, %a, %b, %e[0], %sfa[0], %sfb[0] enable_input_d %p idesc %m <128x16x64, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : !sparse_d, !sparse_a, !sparse_b, !sparse_e, !sparse_sfa, !sparse_sfb
  func.return
}
