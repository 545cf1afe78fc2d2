// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @types(%a: !cute_nvgpu.fragment<16xf8E4M3FN>, %b: !cute_nvgpu.fragment<8xf8E4M3FN>, %c: !cute_nvgpu.fragment<4xf32>) {
  // expected-error @+1 {{'sm89.mma' expected element types (a, b, c, d) of the lattice, got (bf16, bf16, f32, f32); nearest legal: (e4m3, e4m3, f32, f32)}}
  %d = cute_nvgpu.sm89.mma %a, %b, %c <16x8x32, elem_type = (bf16, bf16, f32)> : (!cute_nvgpu.fragment<16xf8E4M3FN>, !cute_nvgpu.fragment<8xf8E4M3FN>, !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

func.func @count(%a: !cute_nvgpu.fragment<16xf8E4M3FN>, %b: !cute_nvgpu.fragment<8xf8E4M3FN>, %c: !cute_nvgpu.fragment<4xf32>) {
  // expected-error @+1 {{'cute_nvgpu.sm89.mma' operand A expected 8 elements a thread, got 16 (mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32); nearest legal: !cute_nvgpu.fragment<8xf8E4M3FN>}}
  %d = cute_nvgpu.sm89.mma %a, %b, %c <16x8x16, elem_type = (f8E4M3FN, f8E4M3FN, f32)> : (!cute_nvgpu.fragment<16xf8E4M3FN>, !cute_nvgpu.fragment<8xf8E4M3FN>, !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

func.func @bit_op(%a: !cute_nvgpu.fragment<32xui1>, %c: !cute_nvgpu.fragment<2xi32>) {
  // expected-error @+1 {{'sm80.mma' expected a bit operation that (b1, b1, s32, s32) has, got none; legal: xor or and}}
  %d = cute_nvgpu.sm80.mma %a, %a, %c <8x8x128, elem_type = (ui1, ui1, i32)> : (!cute_nvgpu.fragment<32xui1>, !cute_nvgpu.fragment<32xui1>, !cute_nvgpu.fragment<2xi32>) -> !cute_nvgpu.fragment<2xi32>
  func.return
}

