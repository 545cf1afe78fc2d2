// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!a = !cute_nvgpu.smem_desc_view<64x16xf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x32xf16, "S<3,3,3> o 0 o (32,32):(64,1)">
!r = !cute_nvgpu.fragment<8xf16>
!c = !cute_nvgpu.fragment<16xf32>
!e = !cute_nvgpu.fragment<16xui2>

// A stored in half its K, in shared memory and in registers.
// CHECK-LABEL: func.func @sparse
func.func @sparse(%a: !a, %r: !r, %b: !b, %c: !c, %e: !e, %p: i1) {
  // CHECK: %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[0] <64x32x32, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x32xf16, "S<3,3,3> o 0 o (32,32):(64,1)">, !cute_nvgpu.fragment<16xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<16xf32>
  %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[0] <64x32x32, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c, !e) -> !c
  // CHECK: cute_nvgpu.sm90.sparse_mma %r, %b, %d, %e[1] scale_d %p negate_a negate_b <64x32x32, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = rs> : (!cute_nvgpu.fragment<8xf16>, {{.*}}, i1) -> !cute_nvgpu.fragment<16xf32>
  %f = cute_nvgpu.sm90.sparse_mma %r, %b, %d, %e[1] scale_d %p negate_a negate_b <64x32x32, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = rs> : (!r, !b, !c, !e, i1) -> !c
  func.return
}

// CHECK-LABEL: func.func @bytes
func.func @bytes(%a: !cute_nvgpu.fragment<16xui8>, %b: !cute_nvgpu.smem_desc_view<8x64xsi8, "S<2,4,3> o 0 o (8,64):(64,1)">, %c: !cute_nvgpu.fragment<4xi32>, %e: !e) {
  // CHECK: cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[0] <64x8x64, elem_type = (ui8, si8, i32), ab_major = (k, k), frag_kind = rs, satfinite> {name = "x"} :
  %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[0] <64x8x64, elem_type = (ui8, si8, i32), ab_major = (k, k), frag_kind = rs, satfinite> {name = "x"} : (!cute_nvgpu.fragment<16xui8>, !cute_nvgpu.smem_desc_view<8x64xsi8, "S<2,4,3> o 0 o (8,64):(64,1)">, !cute_nvgpu.fragment<4xi32>, !e) -> !cute_nvgpu.fragment<4xi32>
  func.return
}
