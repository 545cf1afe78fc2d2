// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!both_in_shared_memory_d = memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!both_in_shared_memory_a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!both_in_shared_memory_b = !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
// A and B in shared memory, with every modifier.
// CHECK-LABEL: func.func @both_in_shared_memory
func.func @both_in_shared_memory(%d: !both_in_shared_memory_d, %a: !both_in_shared_memory_a, %b: !both_in_shared_memory_b, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  cute_nvgpu.sm100.mma %d, %a, %b <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !both_in_shared_memory_d, !both_in_shared_memory_a, !both_in_shared_memory_b
  // CHECK-NEXT: cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !both_in_shared_memory_d, !both_in_shared_memory_a, !both_in_shared_memory_b
  // CHECK-NEXT: cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p scale_input_d 3 disable_output_lane(%m, %m, %m, %m) negate_a negate_b collector "a::fill" <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p scale_input_d 3 disable_output_lane (%m, %m, %m, %m) negate_a negate_b collector "a::fill" <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !both_in_shared_memory_d, !both_in_shared_memory_a, !both_in_shared_memory_b
  func.return
}

!a_in_tensor_memory_d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!a_in_tensor_memory_a = memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>
!a_in_tensor_memory_b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
// A in tensor memory, its rows moved.
// CHECK-LABEL: func.func @a_in_tensor_memory
func.func @a_in_tensor_memory(%d: !a_in_tensor_memory_d, %a: !a_in_tensor_memory_a, %b: !a_in_tensor_memory_b, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p ashift collector "a::lastuse" <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ts> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
  cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p ashift collector "a::lastuse" <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ts> : !a_in_tensor_memory_d, !a_in_tensor_memory_a, !a_in_tensor_memory_b
  func.return
}

!halves_d = memref<64x24xf16, !cute.layout<"((16,4),24):((131072,4194304),2)">, #cute<space tmem>>
!halves_a = !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
!halves_b = !cute_nvgpu.smem_desc_view<24x16xf16, tcgen05, "S<3,3,3> o 0 o (24,16):(64,1)">
// The accumulator in f16: a cell for each element; M = 64 is in every other 16 lanes.
// CHECK-LABEL: func.func @halves
func.func @halves(%d: !halves_d, %a: !halves_a, %b: !halves_b, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p <64x24x16, elem_type = (f16, f16, f16), ab_major = (k, k), frag_kind = ss> : memref<64x24xf16, !cute.layout<"((16,4),24):((131072,4194304),2)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<24x16xf16, tcgen05, "S<3,3,3> o 0 o (24,16):(64,1)">
  cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p <64x24x16, elem_type = (f16, f16, f16), ab_major = (k, k), frag_kind = ss> : !halves_d, !halves_a, !halves_b
  func.return
}

!pair_d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!pair_a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!pair_b = !cute_nvgpu.smem_desc_view<16x16xf16, tcgen05, "S<3,3,3> o 0 o (16,16):(64,1)">
// A pair of CTAs: half of A's rows and of B's columns each.
// CHECK-LABEL: func.func @pair
func.func @pair(%d: !pair_d, %a: !pair_a, %b: !pair_b, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p disable_output_lane(%m, %m, %m, %m, %m, %m, %m, %m) <256x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss, cta_group = 2> : memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">, !cute_nvgpu.smem_desc_view<16x16xf16, tcgen05, "S<3,3,3> o 0 o (16,16):(64,1)">
  cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p disable_output_lane (%m, %m, %m, %m, %m, %m, %m, %m) <256x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss, cta_group = 2> : !pair_d, !pair_a, !pair_b
  func.return
}

!unpacked_d = memref<128x16xf16, !cute.layout<"(128,16):(131072,2)">, #cute<space tmem>>
!unpacked_a = !cute_nvgpu.smem_desc_view<128x32xf4E2M1FN, unpacked, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">
!unpacked_b = !cute_nvgpu.smem_desc_view<16x32xf6E3M2FN, tcgen05, "S<3,4,3> o 0 o (16,32):(128,1)">
// Six bits and four bits: sixteen in 16 bytes.
// CHECK-LABEL: func.func @unpacked
func.func @unpacked(%d: !unpacked_d, %a: !unpacked_a, %b: !unpacked_b, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p <128x16x32, elem_type = (f4E2M1FN, f6E3M2FN, f16), ab_major = (k, k), frag_kind = ss> : memref<128x16xf16, !cute.layout<"(128,16):(131072,2)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xf4E2M1FN, unpacked, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<16x32xf6E3M2FN, tcgen05, "S<3,4,3> o 0 o (16,32):(128,1)">
  cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p <128x16x32, elem_type = (f4E2M1FN, f6E3M2FN, f16), ab_major = (k, k), frag_kind = ss> : !unpacked_d, !unpacked_a, !unpacked_b
  func.return
}

!bytes_d = memref<128x32xi32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!bytes_a = !cute_nvgpu.smem_desc_view<128x32xsi8, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">
!bytes_b = !cute_nvgpu.smem_desc_view<32x32xui8, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">
// Bytes.
// CHECK-LABEL: func.func @bytes
func.func @bytes(%d: !bytes_d, %a: !bytes_a, %b: !bytes_b, %p: i1, %m: i32, %z: i64) {
  // CHECK-NEXT: cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p <128x32x32, elem_type = (si8, ui8, i32), ab_major = (k, k), frag_kind = ss> : memref<128x32xi32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<128x32xsi8, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">, !cute_nvgpu.smem_desc_view<32x32xui8, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">
  cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p <128x32x32, elem_type = (si8, ui8, i32), ab_major = (k, k), frag_kind = ss> : !bytes_d, !bytes_a, !bytes_b
  func.return
}
