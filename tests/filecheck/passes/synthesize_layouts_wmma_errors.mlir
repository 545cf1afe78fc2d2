// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p cute-nvgpu-synthesize-layouts

!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>

// B of a wmma holds as many elements as A of this mma.sync, others of them.
func.func @mixed(%s: memref<64x64xbf16>, %b: !cute_nvgpu.fragment<4xbf16>, %c: !c, %i: index) {
  %a = cute_nvgpu.wmma.load %s[%i, %i] <16x16x16, operand = b, elem_type = bf16, layout = row> : memref<64x64xbf16> -> !f
  // expected-error @+1 {{'cute_nvgpu.sm80.mma' expected a fragment with layout ((4,8),(2,2,2)):((32,1),(16,8,128)), got ((4,8),(2,2,2)):((32,1),(16,128,8)), which 'cute_nvgpu.wmma.load' gives it; a fragment has one layout}}
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!f, !cute_nvgpu.fragment<4xbf16>, !c) -> !c
  func.return
}

// -----

// What was loaded as A is no B.
func.func @a_is_no_b(%s: memref<64x64xbf16>, %c: !cute_nvgpu.fragment<8xf32>, %i: index) {
  %a = cute_nvgpu.wmma.load %s[%i, %i] <16x16x16, operand = a, elem_type = bf16, layout = row> : memref<64x64xbf16> -> !cute_nvgpu.fragment<8xbf16>
  // expected-error @+1 {{'cute_nvgpu.wmma.mma' expected a fragment with layout ((4,8),(2,2,2)):((32,1),(16,128,8)), got ((4,8),(2,2,2)):((32,1),(16,8,128)), which 'cute_nvgpu.wmma.load' gives it; a fragment has one layout}}
  %d = cute_nvgpu.wmma.mma %a, %a, %c <16x16x16, elem_type = (bf16, bf16, f32), layouts = (row, row)> : (!cute_nvgpu.fragment<8xbf16>, !cute_nvgpu.fragment<8xbf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}
