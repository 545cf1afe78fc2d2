// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p 'cute-nvgpu-check-target{arch=sm_90}'

!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!c = !cute_nvgpu.fragment<4xf32>
func.func @mma(%a: !a, %b: !b, %c: !c) {
  cute_nvgpu.fence.proxy.async
  // expected-error @+1 {{wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 requires sm_90a, got target sm_90}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  func.return
}

// -----

func.func @fence() {
  // expected-error @+1 {{'cute_nvgpu.wgmma.fence' requires sm_90a, got target sm_90}}
  cute_nvgpu.wgmma.fence
  func.return
}

// -----

func.func @commit() {
  // expected-error @+1 {{'cute_nvgpu.wgmma.commit_group' requires sm_90a, got target sm_90}}
  cute_nvgpu.wgmma.commit_group
  func.return
}

// -----

func.func @wait() {
  // expected-error @+1 {{'cute_nvgpu.wgmma.wait_group' requires sm_90a, got target sm_90}}
  cute_nvgpu.wgmma.wait_group 0
  func.return
}
