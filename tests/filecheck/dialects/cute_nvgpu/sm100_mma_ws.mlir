// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!quarters_d = memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>
!quarters_a = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!quarters_b = !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
// Weight-stationary: M of 32 is in four quarters of the lanes.
// CHECK-LABEL: func.func @quarters
func.func @quarters(%d: !quarters_d, %a: !quarters_a, %b: !quarters_b, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma_ws %d, %a, %b <32x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  cute_nvgpu.sm100.mma_ws %d, %a, %b <32x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !quarters_d, !quarters_a, !quarters_b
  // CHECK-NEXT: cute_nvgpu.sm100.mma_ws %d, %a, %b enable_input_d %p zero_column_mask %z negate_a collector "b3::fill" <32x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  cute_nvgpu.sm100.mma_ws %d, %a, %b enable_input_d %p zero_column_mask %z negate_a collector "b3::fill" <32x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !quarters_d, !quarters_a, !quarters_b
  func.return
}

!tensor_memory_d = memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!tensor_memory_a = memref<128x32xf8E4M3FN, !cute.layout<"(128,32):(262144,1)">, #cute<space tmem>>
!tensor_memory_b = !cute_nvgpu.smem_desc_view<64x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (64,32):(128,1)">
// A in tensor memory.
// CHECK-LABEL: func.func @tensor_memory
func.func @tensor_memory(%d: !tensor_memory_d, %a: !tensor_memory_a, %b: !tensor_memory_b, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma_ws %d, %a, %b enable_input_d %p <128x64x32, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ts> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, memref<128x32xf8E4M3FN, !cute.layout<"(128,32):(262144,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<64x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (64,32):(128,1)">
  cute_nvgpu.sm100.mma_ws %d, %a, %b enable_input_d %p <128x64x32, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ts> : !tensor_memory_d, !tensor_memory_a, !tensor_memory_b
  func.return
}

!sparse_d = memref<64x64xf32, !cute.layout<"(64,(32,2)):(65536,(1,4194304))">, #cute<space tmem>>
!sparse_a = !cute_nvgpu.smem_desc_view<64x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (64,32):(128,1)">
!sparse_b = !cute_nvgpu.smem_desc_view<64x64xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (64,64):(128,1)">
!sparse_e = memref<64x32xui2, !cute.layout<"((16,4),32):((1048576,16777216),1)">, #cute<space tmem>>
// Sparse.
// CHECK-LABEL: func.func @sparse
func.func @sparse(%d: !sparse_d, %a: !sparse_a, %b: !sparse_b, %e: !sparse_e, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma_ws_sp %d, %a, %b, %e[0] enable_input_d %p zero_column_mask %z collector "b0::lastuse" <64x64x64, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss> : memref<64x64xf32, !cute.layout<"(64,(32,2)):(65536,(1,4194304))">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<64x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (64,32):(128,1)">, !cute_nvgpu.smem_desc_view<64x64xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (64,64):(128,1)">, memref<64x32xui2, !cute.layout<"((16,4),32):((1048576,16777216),1)">, #cute<space tmem>>
  cute_nvgpu.sm100.mma_ws_sp %d, %a, %b, %e[0] enable_input_d %p zero_column_mask %z collector "b0::lastuse" <64x64x64, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss> : !sparse_d, !sparse_a, !sparse_b, !sparse_e
  func.return
}
