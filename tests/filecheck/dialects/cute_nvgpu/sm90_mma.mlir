// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!a16 = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b16 = !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(1,64)">
!f32 = !cute_nvgpu.fragment<16xf32>

// A and B in shared memory; scale_d; negation.
// CHECK-LABEL: func.func @both_in_shared_memory
func.func @both_in_shared_memory(%a: !a16, %b: !b16, %c: !f32, %p: i1) {
  // CHECK: %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x16xbf16, "S<3,3,3> o 0 o (32,16):(1,64)">, !cute_nvgpu.fragment<16xf32>) -> !cute_nvgpu.fragment<16xf32>
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = ss> : (!a16, !b16, !f32) -> !f32
  // CHECK: %e = cute_nvgpu.sm90.mma %a, %b, %d scale_d %p negate_a <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = ss> {name = "x"} : ({{.*}}, !cute_nvgpu.fragment<16xf32>, i1) -> !cute_nvgpu.fragment<16xf32>
  %e = cute_nvgpu.sm90.mma %a, %b, %d scale_d %p negate_a <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = ss> {name = "x"} : (!a16, !b16, !f32, i1) -> !f32
  // CHECK: %g = cute_nvgpu.sm90.mma %a, %b, %e negate_a negate_b <64x32x16,
  %g = cute_nvgpu.sm90.mma %a, %b, %e negate_a negate_b <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = ss> : (!a16, !b16, !f32) -> !f32
  func.return
}

// A in registers, with a layout or without; the largest N.
// CHECK-LABEL: func.func @registers
func.func @registers(%a: !cute_nvgpu.fragment<4xtf32>, %l: !cute_nvgpu.fragment<4xtf32, "((4,8,4),(2,2)):((64,1,16),(8,256))">, %b: !cute_nvgpu.smem_desc_view<256x8xtf32, "((8,32),(4,2)):((4,64),(1,32))">, %c: !cute_nvgpu.fragment<128xf32>) {
  // CHECK: cute_nvgpu.sm90.mma %a, %b, %c <64x256x8, elem_type = (tf32, tf32, f32), ab_major = (k, k), frag_kind = rs> : (!cute_nvgpu.fragment<4xtf32>, !cute_nvgpu.smem_desc_view<256x8xtf32, "((8,32),(4,2)):((4,64),(1,32))">, !cute_nvgpu.fragment<128xf32>) -> !cute_nvgpu.fragment<128xf32>
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x256x8, elem_type = (tf32, tf32, f32), ab_major = (k, k), frag_kind = rs> : (!cute_nvgpu.fragment<4xtf32>, !cute_nvgpu.smem_desc_view<256x8xtf32, "((8,32),(4,2)):((4,64),(1,32))">, !cute_nvgpu.fragment<128xf32>) -> !cute_nvgpu.fragment<128xf32>
  // CHECK: cute_nvgpu.sm90.mma %l, %b, %d <64x256x8, {{.*}} : (!cute_nvgpu.fragment<4xtf32, "((4,8,4),(2,2)):((64,1,16),(8,256))">,
  %e = cute_nvgpu.sm90.mma %l, %b, %d <64x256x8, elem_type = (tf32, tf32, f32), ab_major = (k, k), frag_kind = rs> : (!cute_nvgpu.fragment<4xtf32, "((4,8,4),(2,2)):((64,1,16),(8,256))">, !cute_nvgpu.smem_desc_view<256x8xtf32, "((8,32),(4,2)):((4,64),(1,32))">, !cute_nvgpu.fragment<128xf32>) -> !cute_nvgpu.fragment<128xf32>
  func.return
}

// Bytes, floats in f16, single bits.
// CHECK-LABEL: func.func @narrow
func.func @narrow(%a: !cute_nvgpu.fragment<16xsi8>, %b: !cute_nvgpu.smem_desc_view<24x32xui8, "S<1,4,3> o 0 o (24,32):(32,1)">, %c: !cute_nvgpu.fragment<12xi32>, %x: !cute_nvgpu.smem_desc_view<64x32xf8E4M3FN, "S<2,4,3> o 0 o (64,32):(64,1)">, %y: !cute_nvgpu.smem_desc_view<8x32xf8E5M2, "S<2,4,3> o 0 o (8,32):(64,1)">, %z: !cute_nvgpu.fragment<4xf16>, %p: !cute_nvgpu.smem_desc_view<64x256xui1, "S<3,7,3> o 0 o (64,256):(1024,1)">, %q: !cute_nvgpu.smem_desc_view<8x256xui1, "S<3,7,3> o 0 o (8,256):(1024,1)">, %r: !cute_nvgpu.fragment<4xi32>) {
  // CHECK: cute_nvgpu.sm90.mma %a, %b, %c <64x24x32, elem_type = (si8, ui8, i32), ab_major = (k, k), frag_kind = rs, satfinite> :
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x24x32, elem_type = (si8, ui8, i32), ab_major = (k, k), frag_kind = rs, satfinite> : (!cute_nvgpu.fragment<16xsi8>, !cute_nvgpu.smem_desc_view<24x32xui8, "S<1,4,3> o 0 o (24,32):(32,1)">, !cute_nvgpu.fragment<12xi32>) -> !cute_nvgpu.fragment<12xi32>
  // CHECK: cute_nvgpu.sm90.mma %x, %y, %z <64x8x32, elem_type = (f8E4M3FN, f8E5M2, f16), ab_major = (k, k), frag_kind = ss> :
  %e = cute_nvgpu.sm90.mma %x, %y, %z <64x8x32, elem_type = (f8E4M3FN, f8E5M2, f16), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x32xf8E4M3FN, "S<2,4,3> o 0 o (64,32):(64,1)">, !cute_nvgpu.smem_desc_view<8x32xf8E5M2, "S<2,4,3> o 0 o (8,32):(64,1)">, !cute_nvgpu.fragment<4xf16>) -> !cute_nvgpu.fragment<4xf16>
  // CHECK: cute_nvgpu.sm90.mma %p, %q, %r <64x8x256, elem_type = (ui1, ui1, i32), ab_major = (k, k), frag_kind = ss> :
  %f = cute_nvgpu.sm90.mma %p, %q, %r <64x8x256, elem_type = (ui1, ui1, i32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x256xui1, "S<3,7,3> o 0 o (64,256):(1024,1)">, !cute_nvgpu.smem_desc_view<8x256xui1, "S<3,7,3> o 0 o (8,256):(1024,1)">, !cute_nvgpu.fragment<4xi32>) -> !cute_nvgpu.fragment<4xi32>
  func.return
}
