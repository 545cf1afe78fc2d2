// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p cute-nvgpu-synthesize-layouts

// The accumulator of a warp is not that of a warpgroup.
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!a = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @both(%a: !a, %b: !b, %b2: !cute_nvgpu.fragment<4xbf16>, %c: !c) {
  %d = cute_nvgpu.sm80.mma %a, %b2, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !cute_nvgpu.fragment<4xbf16>, !c) -> !c
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' expected a fragment with layout ((4,8,4),(2,2,2)):((128,1,16),(64,8,512)), got ((4,8),(2,2,2)):((32,1),(16,8,128)), which 'cute_nvgpu.sm80.mma' gives it}}
  %e = cute_nvgpu.sm90.mma %a, %b, %d <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = rs> : (!a, !b, !c) -> !c
  func.return
}
