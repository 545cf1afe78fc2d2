// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p cute-nvgpu-synthesize-layouts

!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<8xf32>

// What is filled as A is no B.
func.func @a_is_no_b(%x: bf16, %c: !c) {
  %a = cute_nvgpu.fragment.splat %x : bf16 -> !f
  // expected-error @+1 {{'cute_nvgpu.wmma.mma' expected a fragment with layout ((4,8),(2,2,2)):((32,1),(16,128,8)), got ((4,8),(2,2,2)):((32,1),(16,8,128)), which 'cute_nvgpu.wmma.mma' gives it; a fragment has one layout}}
  %d = cute_nvgpu.wmma.mma %a, %a, %c <16x16x16, elem_type = (bf16, bf16, f32), layouts = (row, row)> : (!f, !f, !c) -> !c
  func.return
}
