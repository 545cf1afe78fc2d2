// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{tiled_mma expected an MMA atom, got f16}}
!t = !cute.tiled_mma<f16>
func.func @f(%a: !t) {
  func.return
}

// -----

// expected-error @+1 {{tiled_mma expected threads of their own for each atom, got (2,2,1):(1,1,0) (complement: expected an injective layout of positive strides, got (32,2,2,1):(1,32,32,0), whose mode 2:32 falls among the 64 indices below it)}}
!t = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,1,0)">
func.func @f(%a: !t) {
  func.return
}

// -----

// expected-error @+1 {{tiled_mma expected atom_layout_MNK to be a static layout of M, N and K, got (2,?,1):(1,2,0)}}
!t = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,?,1):(1,2,0)">
func.func @f(%a: !t) {
  func.return
}

// -----

// expected-error @+1 {{tiled_mma expected the permutation of M to hold whole atoms of 32, got 48; nearest legal: 64}}
!t = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[48;32;16]">
func.func @f(%a: !t) {
  func.return
}

// -----

// expected-error @+1 {{tiled_mma expected the permutation of M to reach each of its 16 places once, got (8,2):(1,16)}}
!t = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, permutation_MNK = "[(8,2):(1,16);_;_]">
func.func @f(%a: !t) {
  func.return
}

// -----

// expected-error @+1 {{tiled_mma expected permutation_MNK to have three modes, got [16:1;8:1]}}
!t = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, permutation_MNK = "[16;8]">
func.func @f(%a: !t) {
  func.return
}

// -----

// expected-error @+1 {{tiled_mma expected the permutation of K to be none (A, B and what belongs to them have [16, 32] elements an atom there), got (16,2):(2,1); nearest legal: _}}
!t = !cute.tiled_mma<!cute_nvgpu.sm80.sparse_mma<16x8x32, elem_type = (f16, f16, f32)>, permutation_MNK = "[_;_;(16,2):(2,1)]">
func.func @f(%a: !t) {
  func.return
}

// -----

// expected-error @+1 {{tiled_mma expected whole groups of 32 threads, which execute the instruction together, got 16; nearest legal: an atom_layout_MNK of 4 atoms or a multiple of that}}
!t = !cute.tiled_mma<!cute_nvgpu.sm70.mma<8x8x4, elem_type = (f16, f16, f32), layouts = (row, col)>, atom_layout_MNK = "(2,1,1)">
func.func @f(%a: !t) {
  func.return
}

// -----

// expected-error @+1 {{tiled_mma expected an atom with C and D of one type, got mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16 (each step along K adds to the D of the one before)}}
!t = !cute.tiled_mma<!cute_nvgpu.sm70.mma<8x8x4, elem_type = (f16, f16, f16, f32), layouts = (row, col)>, atom_layout_MNK = "(2,2,1)">
func.func @f(%a: !t) {
  func.return
}

// -----

// expected-error @+1 {{tiled_copy expected a copy atom, got f16}}
!t = !cute.tiled_copy<f16, layout_tv = "(32,4):(4,1)", tiler_mn = "[128]">
func.func @f(%a: !t) {
  func.return
}

// -----

// Two threads copy element 0.
// expected-error @+1 {{tiled_copy expected layout_tv to cover the tile of 128 elements, each once, got (32,4):(3,1) on a tile of 128}}
!t = !cute.tiled_copy<#cute_nvgpu.copy<universal, f16, 64>, layout_tv = "(32,4):(3,1)", tiler_mn = "[128]">
func.func @f(%a: !t) {
  func.return
}

// -----

// Half of the tile is nobody's.
// expected-error @+1 {{tiled_copy expected layout_tv to cover the tile of 256 elements, each once, got (32,4):(4,1) on a tile of 256}}
!t = !cute.tiled_copy<#cute_nvgpu.copy<universal, f16, 64>, layout_tv = "(32,4):(4,1)", tiler_mn = "[256]">
func.func @f(%a: !t) {
  func.return
}

// -----

// expected-error @+1 {{tiled_copy expected threads for whole atoms of 32, got 16 in (16,8):(8,1); nearest legal: 32}}
!t = !cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "(16,8):(8,1)", tiler_mn = "[128]">
func.func @f(%a: !t) {
  func.return
}

// -----

// expected-error @+1 {{copy expected x1 or x2 or x4, got x3; nearest legal: x2}}
!t = !cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x3>, layout_tv = "(16,8):(8,1)", tiler_mn = "[128]">
func.func @f(%a: !t) {
  func.return
}

// -----

// expected-error @+1 {{expected universal, cp_async, ldmatrix, stmatrix, tmem_load, tmem_store, tmem_copy, got bulk}}
!t = !cute.tiled_copy<#cute_nvgpu.copy<bulk, f16, 128>, layout_tv = "(16,8):(8,1)", tiler_mn = "[128]">
func.func @f(%a: !t) {
  func.return
}

// -----

// expected-error @+1 {{copy expected 128 bits of f16, got 64; nearest legal: 128}}
!t = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 64, cache = cg>, layout_tv = "(16,8):(8,1)", tiler_mn = "[128]">
func.func @f(%a: !t) {
  func.return
}

// -----

// The tensor is no whole number of tiles: part of it would be nobody's.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32;32;16]">
func.func @f(%mma: !mma, %a: !cute.memref<f16, smem, "(72,32):(32,1)">, %t: i32) {
  // expected-error @+1 {{'cute.tiled.mma.partition' op failed to infer returned types: expected mode 0 of the tensor to be whole tiles of 32x16, those of operand A of '!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">', got 72 in '!cute.memref<f16, smem, "(72,32):(32,1)">'; nearest legal: 64}}
  %r = cute.tiled.mma.partition A (%mma, %a, %t)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
func.func @f(%mma: !mma, %a: !cute.memref<f16, smem, "64:1">, %t: i32) {
  // expected-error @+1 {{'cute.tiled.mma.partition' op failed to infer returned types: expected a tensor whose first 2 modes are whole tiles of 16x16, those of operand A of '!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>', got '!cute.memref<f16, smem, "64:1">'}}
  %r = cute.tiled.mma.partition A (%mma, %a, %t)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
func.func @f(%mma: !mma, %a: !cute.memref<f16, gmem, "(?,16):(16,1)">, %t: i32) {
  // expected-error @+1 {{'cute.tiled.mma.partition' op failed to infer returned types: expected a tensor whose first 2 modes are whole tiles of 16x16, those of operand A of '!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>', got '!cute.memref<f16, gmem, "(?,16):(16,1)">'}}
  %r = cute.tiled.mma.partition A (%mma, %a, %t)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
func.func @f(%mma: !mma, %a: !cute.memref<f16, smem, "(16,16):(16,1)">, %t: i32) {
  // expected-error @+1 {{expected one of A, B, C, E, SFA, SFB, got D}}
  %r = cute.tiled.mma.partition D (%mma, %a, %t)
  func.return
}

// -----

!cp = !cute.tiled_copy<#cute_nvgpu.copy<universal, f16, 128>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32;32]">
func.func @f(%cp: !cp, %a: !cute.memref<f16, gmem, "(64,48):(48,1)">, %t: i32) {
  // expected-error @+1 {{'cute.tiled.copy.partition_S' op failed to infer returned types: expected mode 1 of the tensor to be whole tiles of 32x32, those of '!cute.tiled_copy<#cute_nvgpu.copy<universal, f16, 128>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32:1;32:1]">', got 48 in '!cute.memref<f16, gmem, "(64,48):(48,1)">'; nearest legal: 64}}
  %r = cute.tiled.copy.partition_S(%cp, %a, %t)
  func.return
}

// -----

!cp = !cute.tiled_copy<#cute_nvgpu.copy<universal, f16, 128>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32;32]">
func.func @f(%cp: !cp, %a: !cute.memref<f16, gmem, "(64,64):(64,1)">, %t: index) {
  // expected-error @+1 {{'cute.tiled.copy.partition_D' op failed to infer returned types: expects CuTe values, but got 'index'}}
  %r = cute.tiled.copy.partition_D(%cp, %a, %t)
  func.return
}

// -----

// A fragment for a partition of another operand.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
func.func @f(%mma: !mma, %a: !cute.memref<f16, smem, "(16,16):(16,1)">, %t: i32) {
  %p = cute.tiled.mma.partition A (%mma, %a, %t)
  // expected-error @+1 {{'cute.mma.make_fragment' op failed to infer returned types: expected a partition of operand B, (V,...) with V the 4 values of (thread, value) ((4,8),(2,2)):((16,1),(8,64)) of the atom in '!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>', got '!cute.memref<f16, smem, "((2,2,2),1,1):((1,128,8),256,16)">'}}
  %r = cute.mma.make_fragment B (%mma, %p)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
func.func @f(%mma: !mma, %a: !cute.memref<bf16, smem, "(16,16):(16,1)">, %t: i32) {
  %p = cute.tiled.mma.partition A (%mma, %a, %t)
  // expected-error @+1 {{'cute.mma.make_fragment' op failed to infer returned types: expected operand A of f16, as the atom of '!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>' has it, got '!cute.memref<bf16, smem, "((2,2,2),1,1):((1,128,8),256,16)">'}}
  %r = cute.mma.make_fragment A (%mma, %p)
  func.return
}

// -----

// A wgmma reads shared memory in rows of one of the swizzles.
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss>>
func.func @f(%mma: !mma, %a: !cute.memref<f16, smem, "(64,64):(64,1)">, %t: i32) {
  %p = cute.tiled.mma.partition A (%mma, %a, %t)
  // expected-error @+1 {{'cute.mma.make_fragment' op failed to infer returned types: expected operand A as the atom of '!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss>>' reads it, got '!cute.memref<f16, smem, "((64,16),1,4):((64,1),4096,16)">' (no descriptor expresses (64,16):(64,1); K-major: expected mode mn of (8,i):(8,SBO), got 64:64)}}
  %r = cute.mma.make_fragment A (%mma, %p)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss>>
func.func @f(%mma: !mma, %a: !cute.memref<f16, gmem, "(64,64):(64,1)">, %t: i32) {
  %p = cute.tiled.mma.partition A (%mma, %a, %t)
  // expected-error @+1 {{'cute.mma.make_fragment' op failed to infer returned types: expected operand A in smem, as the atom of '!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss>>' reads it, got '!cute.memref<f16, gmem, "((64,16),1,4):((64,1),4096,16)">'}}
  %r = cute.mma.make_fragment A (%mma, %p)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, permutation_MNK = "[16;16;16]">
func.func @f(%mma: !mma, %b: !cute.memref<f16, rmem, "((2,2),3,2):((1,2),4,12)">) {
  %c = cute.make_tiled_copy_B<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma)
  // expected-error @+1 {{'cute.tiled.copy.retile' op failed to infer returned types: expected a fragment of whole tiles of '!cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8),((2,2),(2,1))):((32,1),((16,128),(8,256)))", tiler_mn = "[16:1;16:1]">', 8 values each, got '!cute.memref<f16, rmem, "((2,2),3,2):((1,2),4,12)">' (expected a fragment with a multiple of 2 in mode 1)}}
  %r = cute.tiled.copy.retile(%c, %b)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, permutation_MNK = "[16;16;16]">
func.func @f(%mma: !mma, %b: !cute.memref<f16, smem, "((2,2),2,2):((1,2),4,12)">) {
  %c = cute.make_tiled_copy_B<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma)
  // expected-error @+1 {{'cute.tiled.copy.retile' op failed to infer returned types: expected a fragment of whole tiles of '!cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8),((2,2),(2,1))):((32,1),((16,128),(8,256)))", tiler_mn = "[16:1;16:1]">', 8 values each, got '!cute.memref<f16, smem, "((2,2),2,2):((1,2),4,12)">'}}
  %r = cute.tiled.copy.retile(%c, %b)
  func.return
}

// -----

// ldmatrix.x4 brings eight values, B of one atom has four.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
func.func @f(%mma: !mma) {
  // expected-error @+1 {{'cute.make_tiled_copy_B' op failed to infer returned types: tiled_copy expected values for whole atoms of 8, got 4 in ((4,8),((2,2),(1,1))):((16,1),((8,64),(8,128))); nearest legal: 8}}
  %c = cute.make_tiled_copy_B<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
func.func @f(%mma: !mma) {
  // expected-error @+1 {{expected a copy atom, got f16}}
  %c = cute.make_tiled_copy_B<f16> (%mma)
  func.return
}

// -----

// Which thread holds what of its fragments, wmma leaves to the chip.
// expected-error @+1 {{tiled_mma expected an atom whose threads hold known elements, got wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32 (the chip chooses, PTX ISA 9.7.14.4.1); nearest legal: an atom of mma.sync}}
func.func @f(%m: !cute.tiled_mma<!cute_nvgpu.wmma.mma<16x16x16, elem_type = (bf16, bf16, f32)>>) {
  func.return
}

// -----

// No thread has the numbers between.
// expected-error @+1 {{tiled_mma expected atom_layout_MNK to number its 2 atoms from 0 on, each once, got (2,1,1):(2,0,0); nearest legal: (2,1,1):(1,0,0)}}
func.func @f(%m: !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,1,1):(2,0,0)">) {
  func.return
}

// -----

// Two atoms of the same threads.
// expected-error @+1 {{tiled_mma expected atom_layout_MNK to number its 4 atoms from 0 on, each once, got (2,2,1):(1,0,0); nearest legal: (2,2,1):(1,2,0)}}
func.func @f(%m: !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,0,0)">) {
  func.return
}

// -----

// expected-error @+1 {{'universal_fma' expected <1x1x1, elem_type = (f32, f32, f32)>, <1x1x1, elem_type = (f64, f64, f64)>, <2x1x1, elem_type = (f16, f16, f16)>, <2x1x1, elem_type = (bf16, bf16, bf16)>, got 1x1x1 on (f16, f16, f16); nearest legal: <2x1x1, elem_type = (f16, f16, f16)>}}
func.func @f(%m: !cute.tiled_mma<!cute_nvgpu.universal_fma<1x1x1, elem_type = (f16, f16, f16)>>) {
  func.return
}

// -----

func.func @f(%m: !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>, %a: !cute.memref<f16, gmem, "(16,16):(16,1)">, %t: i32) {
  // expected-error @+1 {{expected an operand of A, B, C, those of the atom, got E}}
  %p = cute.tiled.mma.partition E (%m, %a, %t)
  func.return
}
