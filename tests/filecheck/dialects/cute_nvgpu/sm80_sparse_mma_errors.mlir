// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: !cute_nvgpu.fragment<4xbf16>, %b: !cute_nvgpu.fragment<4xbf16>, %c: !cute_nvgpu.fragment<4xf32>, %e: !cute_nvgpu.fragment<16xui2>) {
  // expected-error @+1 {{expected a sparsity selector of 0, 1, 2, 3, got 4; nearest legal: 3}}
  %d = cute_nvgpu.sm80.sparse_mma %a, %b, %c, %e[4] <16x8x16, elem_type = (bf16, bf16, f32)> : (!cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<4xbf16>, %b: !cute_nvgpu.fragment<4xbf16>, %c: !cute_nvgpu.fragment<4xf32>, %e: !cute_nvgpu.fragment<8xui4>) {
  // expected-error @+1 {{operand E expected element type ui2, got ui4}}
  %d = cute_nvgpu.sm80.sparse_mma %a, %b, %c, %e[0] <16x8x16, elem_type = (bf16, bf16, f32)> : (!cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<8xui4>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<4xbf16>, %b: !cute_nvgpu.fragment<4xbf16>, %c: !cute_nvgpu.fragment<4xf32>, %e: !cute_nvgpu.fragment<32xui2>) {
  // expected-error @+1 {{operand E expected 16 elements a thread, got 32}}
  %d = cute_nvgpu.sm80.sparse_mma %a, %b, %c, %e[0] <16x8x16, elem_type = (bf16, bf16, f32)> : (!cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<32xui2>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<4xbf16>, %b: !cute_nvgpu.fragment<4xbf16>, %c: !cute_nvgpu.fragment<4xf32>, %e: !cute_nvgpu.fragment<16xui2, "((4,8),(8,2)):((0,1),(8,64))">) {
  // expected-error @+1 {{operand E expected layout ((4,8),(8,2)):((0,1),(16,8)), got ((4,8),(8,2)):((0,1),(8,64))}}
  %d = cute_nvgpu.sm80.sparse_mma %a, %b, %c, %e[0] <16x8x16, elem_type = (bf16, bf16, f32)> : (!cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2, "((4,8),(8,2)):((0,1),(8,64))">) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

// expected-error @+1 {{'sm80.sparse_mma' expected a shape that (s8, s8, s32, s32) has, got 16x8x16; nearest legal: 16x8x32, 16x8x64}}
func.func @f(%x: !cute_nvgpu.sm80.sparse_mma<16x8x16, elem_type = (si8, si8, i32)>)
