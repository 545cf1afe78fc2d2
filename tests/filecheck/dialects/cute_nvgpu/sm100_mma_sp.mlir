// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!sparse_d = memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>
!sparse_a = !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!sparse_b = !cute_nvgpu.smem_desc_view<16x32xbf16, tcgen05, "S<3,3,3> o 0 o (16,32):(64,1)">
!sparse_e = memref<128x16xui2, !cute.layout<"((8,2,8),(8,2)):((1048576,8,16777216),(1,8388608))">, #cute<space tmem>>
// A structured-sparse A.
// CHECK-LABEL: func.func @sparse
func.func @sparse(%d: !sparse_d, %a: !sparse_a, %b: !sparse_b, %e: !sparse_e, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[1] <128x16x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<16x32xbf16, tcgen05, "S<3,3,3> o 0 o (16,32):(64,1)">, memref<128x16xui2, !cute.layout<"((8,2,8),(8,2)):((1048576,8,16777216),(1,8388608))">, #cute<space tmem>>
  cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[1] <128x16x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : !sparse_d, !sparse_a, !sparse_b, !sparse_e
  // CHECK-NEXT: cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[1] enable_input_d %p scale_input_d 0 negate_a collector "a::discard" <128x16x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<16x32xbf16, tcgen05, "S<3,3,3> o 0 o (16,32):(64,1)">, memref<128x16xui2, !cute.layout<"((8,2,8),(8,2)):((1048576,8,16777216),(1,8388608))">, #cute<space tmem>>
  cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[1] enable_input_d %p scale_input_d 0 negate_a collector "a::discard" <128x16x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : !sparse_d, !sparse_a, !sparse_b, !sparse_e
  func.return
}

!sparse_pair_d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!sparse_pair_a = memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>
!sparse_pair_b = !cute_nvgpu.smem_desc_view<16x32xf16, tcgen05, "S<3,3,3> o 0 o (16,32):(64,1)">
!sparse_pair_e = memref<128x16xui2, !cute.layout<"((8,2,8),(8,2)):((1048576,8,16777216),(1,8388608))">, #cute<space tmem>>
// Of a pair, A in tensor memory.
// CHECK-LABEL: func.func @sparse_pair
func.func @sparse_pair(%d: !sparse_pair_d, %a: !sparse_pair_a, %b: !sparse_pair_b, %e: !sparse_pair_e, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[0] enable_input_d %p ashift <256x32x32, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ts, cta_group = 2> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<16x32xf16, tcgen05, "S<3,3,3> o 0 o (16,32):(64,1)">, memref<128x16xui2, !cute.layout<"((8,2,8),(8,2)):((1048576,8,16777216),(1,8388608))">, #cute<space tmem>>
  cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[0] enable_input_d %p ashift <256x32x32, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ts, cta_group = 2> : !sparse_pair_d, !sparse_pair_a, !sparse_pair_b, !sparse_pair_e
  func.return
}
