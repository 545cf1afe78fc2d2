// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p cute-nvgpu-insert-wgmma-sync

!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!c = !cute_nvgpu.fragment<4xf32>
func.func @fence(%a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{cute-nvgpu-insert-wgmma-sync expected wgmmas that nothing orders, got 'cute_nvgpu.wgmma.fence'; nearest legal: a function without it, or no such pass}}
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  func.return
}

// -----

!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!c = !cute_nvgpu.fragment<4xf32>
func.func @wait(%a: !a, %b: !b, %c: !c) {
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  // expected-error @+1 {{got 'cute_nvgpu.wgmma.wait_group'}}
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// Without a wgmma there is nothing to insert, and nothing to refuse.
func.func @none() {
  cute_nvgpu.wgmma.fence
  func.return
}
