// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>

// What wmma loads, another chip may hold elsewhere.
func.func @mixed(%s: memref<64x64xbf16>, %b: !cute_nvgpu.fragment<4xbf16>, %c: !c, %i: index) {
  %a = cute_nvgpu.wmma.load %s[%i, %i] <16x16x16, operand = b, elem_type = bf16, layout = row> : memref<64x64xbf16> -> !f
  // expected-error @+1 {{'cute_nvgpu.sm80.mma' expected operand A from another instruction than wmma, got that of 'cute_nvgpu.wmma.load' (which thread holds what of a fragment of wmma PTX leaves to the chip, PTX ISA 9.7.14.4.1); nearest legal: through shared memory}}
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!f, !cute_nvgpu.fragment<4xbf16>, !c) -> !c
  func.return
}

// -----

// What was loaded as A is no B.
func.func @a_is_no_b(%s: memref<64x64xbf16>, %c: !cute_nvgpu.fragment<8xf32>, %i: index) {
  %a = cute_nvgpu.wmma.load %s[%i, %i] <16x16x16, operand = a, elem_type = bf16, layout = row> : memref<64x64xbf16> -> !cute_nvgpu.fragment<8xbf16>
  // expected-error @+1 {{'cute_nvgpu.wmma.mma' expected operand B of wmma.load.b.sync.aligned.row.m16n16k16.bf16, got that of wmma.load.a.sync.aligned.row.m16n16k16.bf16 (wmma.mma.sync.aligned.row.row.m16n16k16.f32.bf16.bf16.f32, PTX ISA 9.7.14.4.5)}}
  %d = cute_nvgpu.wmma.mma %a, %a, %c <16x16x16, elem_type = (bf16, bf16, f32), layouts = (row, row)> : (!cute_nvgpu.fragment<8xbf16>, !cute_nvgpu.fragment<8xbf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}

// -----

!a = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<8xf32>

// Through a loop: from its second round on A was loaded by columns.
func.func @carried(%s: memref<64x64xbf16>, %t: memref<64x64xbf16, strided<[1, 64]>>, %c: !c, %i: index, %n: index) {
  %one = arith.constant 1 : index
  %first = cute_nvgpu.wmma.load %s[%i, %i] <16x16x16, operand = a, elem_type = bf16, layout = row> : memref<64x64xbf16> -> !a
  %b = cute_nvgpu.wmma.load %s[%i, %i] <16x16x16, operand = b, elem_type = bf16, layout = row> : memref<64x64xbf16> -> !a
  %d, %last = scf.for %k = %i to %n step %one iter_args(%x = %c, %a = %first) -> (!c, !a) {
    // expected-error @+1 {{'cute_nvgpu.wmma.mma' expected operand A of wmma.load.a.sync.aligned.row.m16n16k16.bf16, got that of wmma.load.a.sync.aligned.col.m16n16k16.bf16}}
    %y = cute_nvgpu.wmma.mma %a, %b, %x <16x16x16, elem_type = (bf16, bf16, f32), layouts = (row, row)> : (!a, !a, !c) -> !c
    %next = cute_nvgpu.wmma.load %t[%k, %i] <16x16x16, operand = a, elem_type = bf16, layout = col> : memref<64x64xbf16, strided<[1, 64]>> -> !a
    scf.yield %y, %next : !c, !a
  }
  func.return
}

// -----

!a = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<8xf32>

// Through block arguments, branches, selects and loops that test first.
func.func @blocks(%s: memref<64x64xbf16>, %u: memref<64x64xbf16, strided<[1, 64]>>, %b: !a, %c: !c, %i: index, %t: i1) {
  %row = cute_nvgpu.wmma.load %s[%i, %i] <16x16x16, operand = a, elem_type = bf16, layout = row> : memref<64x64xbf16> -> !a
  %col = cute_nvgpu.wmma.load %u[%i, %i] <16x16x16, operand = a, elem_type = bf16, layout = col> : memref<64x64xbf16, strided<[1, 64]>> -> !a
  cf.cond_br %t, ^one(%row : !a), ^one(%col : !a)
^one(%a: !a):
  %x = scf.if %t -> (!a) {
    scf.yield %a : !a
  } else {
    scf.yield %a : !a
  }
  %w = scf.while (%v = %x) : (!a) -> !a {
    scf.condition(%t) %v : !a
  } do {
  ^bb0(%v: !a):
    scf.yield %v : !a
  }
  %z = arith.select %t, %w, %b : !a
  // expected-error @+1 {{'cute_nvgpu.wmma.mma' expected operand A of wmma.load.a.sync.aligned.row.m16n16k16.bf16, got that of wmma.load.a.sync.aligned.col.m16n16k16.bf16}}
  %d = cute_nvgpu.wmma.mma %z, %b, %c <16x16x16, elem_type = (bf16, bf16, f32), layouts = (row, row)> : (!a, !a, !c) -> !c
  func.return
}

// -----

// What another instruction has laid out is no fragment of wmma.
func.func @ldmatrix(%s: memref<64x64xbf16, #cute<space smem>>, %g: memref<64x64xf32>, %b: !cute_nvgpu.fragment<8xbf16>, %c: !cute_nvgpu.fragment<8xf32>, %i: index) {
  %a = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x64xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16>
  // expected-error @+1 {{'cute_nvgpu.wmma.mma' expected operand A from wmma, got that of 'cute_nvgpu.ldmatrix' (which thread holds what of a fragment of wmma PTX leaves to the chip}}
  %d = cute_nvgpu.wmma.mma %a, %b, %c <16x16x16, elem_type = (bf16, bf16, f32), layouts = (row, row)> : (!cute_nvgpu.fragment<8xbf16>, !cute_nvgpu.fragment<8xbf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}
