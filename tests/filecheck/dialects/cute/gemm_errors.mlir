// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// Swapped: B has half as many values.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
!a = !cute.memref<f16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">
!b = !cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">
!c = !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute.gemm' expected a partition of operand A, (V,...) with V the 8 values of (thread, value) ((4,8),(2,2,2)):((32,1),(16,8,128)) of the atom in '!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>', got '!cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">'}}
  cute.gemm(%mma, %c, %b, %a, %c)
  func.return
}

// -----

// A has the atoms of another M.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
!a = !cute.memref<f16, rmem, "((2,2,2),2,2):((1,2,4),8,16)">
!b = !cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">
!c = !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute.gemm' expected a with mode 1 of d, 4 atoms along M, got 2: '!cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">' and '!cute.memref<f16, rmem, "((2,2,2),2,2):((1,2,4),8,16)">'}}
  cute.gemm(%mma, %c, %a, %b, %c)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
!a = !cute.memref<f16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">
!b = !cute.memref<f16, rmem, "((2,2),4,2):((1,2),4,16)">
!c = !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute.gemm' expected b with mode 2 of d, 8 atoms along N, got 4: '!cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">' and '!cute.memref<f16, rmem, "((2,2),4,2):((1,2),4,16)">'}}
  cute.gemm(%mma, %c, %a, %b, %c)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
!a = !cute.memref<f16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">
!b = !cute.memref<f16, rmem, "((2,2),8,4):((1,2),4,32)">
!c = !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute.gemm' expected a and b with the same atoms along K, got '!cute.memref<f16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">' and '!cute.memref<f16, rmem, "((2,2),8,4):((1,2),4,32)">'}}
  cute.gemm(%mma, %c, %a, %b, %c)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
!a = !cute.memref<f16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">
!b = !cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">
!c = !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
!d = !cute.memref<f32, rmem, "((2,2),8,4):((1,2),4,32)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c, %d: !d) {
  // expected-error @+1 {{'cute.gemm' expected c of the shape of d, got '!cute.memref<f32, rmem, "((2,2),8,4):((1,2),4,32)">' and '!cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">'}}
  cute.gemm(%mma, %d, %a, %b, %c)
  func.return
}

// -----

// Element types: bf16 for f16, and an accumulator of f16.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
!a = !cute.memref<bf16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">
!b = !cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">
!c = !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute.gemm' expected operand A of f16, as the atom of '!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>' has it, got '!cute.memref<bf16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">'}}
  cute.gemm(%mma, %c, %a, %b, %c)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
!a = !cute.memref<f16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">
!b = !cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">
!c = !cute.memref<f16, rmem, "((2,2),4,8):((1,2),4,16)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute.gemm' expected operand C of f32, as the atom of '!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>' has it, got '!cute.memref<f16, rmem, "((2,2),4,8):((1,2),4,16)">'}}
  cute.gemm(%mma, %c, %a, %b, %c)
  func.return
}

// -----

// A fragment that is still in shared memory.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
!a = !cute.memref<f16, smem, "((2,2,2),4,2):((1,2,4),8,32)">
!b = !cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">
!c = !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute.gemm' expected operand A in rmem, as the atom of '!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>' has it, got '!cute.memref<f16, smem, "((2,2,2),4,2):((1,2,4),8,32)">'}}
  cute.gemm(%mma, %c, %a, %b, %c)
  func.return
}

// -----

// The registers of an atom are not side by side.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
!a = !cute.memref<f16, rmem, "((2,2,2),4,2):((4,2,1),8,32)">
!b = !cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">
!c = !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute.gemm' expected operand A with the values of an atom side by side, as cute.mma.make_fragment gives them, got '!cute.memref<f16, rmem, "((2,2,2),4,2):((4,2,1),8,32)">'}}
  cute.gemm(%mma, %c, %a, %b, %c)
  func.return
}

// -----

// A whole tensor, stages included.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
!a = !cute.memref<f16, rmem, "((2,2,2),4,2,3):((1,2,4),8,32,64)">
!b = !cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">
!c = !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute.gemm' expected operand A to have 2 or 3 modes of static shape, got '!cute.memref<f16, rmem, "((2,2,2),4,2,3):((1,2,4),8,32,64)">'}}
  cute.gemm(%mma, %c, %a, %b, %c)
  func.return
}

// -----

// A wgmma on A in registers, where the atom reads shared memory.
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss>>
!a = !cute.memref<f16, rmem, "((2,2,2),1,4):((1,2,4),0,8)">
!b = !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o ((64,16),1,4):((64,1),0,16)">
!c = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute.gemm' expected operand A in smem, as the atom of '!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss>>' has it, got '!cute.memref<f16, rmem, "((2,2,2),1,4):((1,2,4),0,8)">'}}
  cute.gemm(%mma, %c, %a, %b, %c)
  func.return
}

// -----

// K-major memory for an MN-major atom.
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (f16, f16, f32), ab_major = (k, mn), frag_kind = ss>>
!a = !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o ((64,16),1,4):((64,1),0,16)">
!b = !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o ((64,16),1,4):((64,1),0,16)">
!c = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute.gemm' expected operand B as the atom of '!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (f16, f16, f32), ab_major = (k, mn), frag_kind = ss>>' reads it, got '!cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o ((64,16),1,4):((64,1),0,16)">' (no descriptor expresses S<3,3,3> o 0 o (64,16):(64,1); MN-major: expected mode mn of (64,i):(1,LBO), got 64:64)}}
  cute.gemm(%mma, %c, %a, %b, %c)
  func.return
}

// -----

func.func @f(%mma: !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>, %a: !cute.memref<f16, rmem, "8:1">) {
  // expected-error @+1 {{expected (mma, d, a, b, c), then E = e, SFA = sfa, SFB = sfb}}
  cute.gemm(%mma, %a, %a)
  func.return
}

// -----

func.func @f(%mma: !cute.layout<"4:1">, %a: !cute.memref<f16, rmem, "8:1">) {
  // expected-error @+1 {{'cute.gemm' op operand #0 must be !cute.tiled_mma, but got '!cute.layout<"4:1">'}}
  cute.gemm(%mma, %a, %a, %a, %a)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.sparse_mma<16x8x32, elem_type = (f16, f16, f32)>>
!a = !cute.memref<f16, rmem, "((2,2,2),1,1):((1,2,4),0,0)">
!b = !cute.memref<f16, rmem, "((2,4),1,1):((1,2),0,0)">
!c = !cute.memref<f32, rmem, "((2,2),1,1):((1,2),0,0)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute.gemm' expected operands A, B, C, E, those of the atom of '!cute.tiled_mma<!cute_nvgpu.sm80.sparse_mma<16x8x32, elem_type = (f16, f16, f32)>>', got A, B, C}}
  cute.gemm(%mma, %c, %a, %b, %c)
  func.return
}

// -----

// The factors of one atom lie in two registers.
!mma = !cute.tiled_mma<!cute_nvgpu.SM120.mma_bs<16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU>>
!a = !cute.memref<f4E2M1FN, rmem, "(32,1,2):(1,0,32)">
!b = !cute.memref<f4E2M1FN, rmem, "(16,1,2):(1,0,16)">
!c = !cute.memref<f32, rmem, "(4,1,1):(1,0,0)">
!x = !cute.memref<f8E8M0FNU, rmem, "(2,1,2):(1,0,3)">
!y = !cute.memref<f8E8M0FNU, rmem, "(2,1,2):(1,0,2)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c, %x: !x, %y: !y) {
  // expected-error @+1 {{'cute.gemm' expected operand SFA with the values of an atom side by side, as cute.mma.make_fragment gives them, got '!cute.memref<f8E8M0FNU, rmem, "(2,1,2):(1,0,3)">'}}
  cute.gemm(%mma, %c, %a, %b, %c, SFA = %x, SFB = %y)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
func.func @f(%mma: !mma) {
  // expected-error @+1 {{expected (mma, d, a, b, c), then E = e, SFA = sfa, SFB = sfb}}
  cute.gemm(%mma, E = %mma, %mma, %mma, %mma, %mma)
  func.return
}

// -----

// Two atoms along N have one sum.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
!a = !cute.memref<f16, rmem, "(8,1,1):(1,0,0)">
!b = !cute.memref<f16, rmem, "(4,2,1):(1,4,0)">
!c = !cute.memref<f32, rmem, "(4,1,2):(1,0,0)">
func.func @f(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute.gemm' expected d whose elements lie apart, got '!cute.memref<f32, rmem, "(4,1,2):(1,0,0)">' (elements (0, 4) lie in one place; each MMA of a K adds to sums of its own); nearest legal: strides that step over one another}}
  cute.gemm(%mma, %c, %a, %b, %c)
  func.return
}
