// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p cute-nvgpu-check-hazards

// A result that is read too early.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%a: !a, %b: !b, %c: !c) {
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  // expected-error @+1 {{'cute_nvgpu.fragment.extract' expected an accumulator that is complete, got that of 'cute_nvgpu.sm90.mma' at line 11, which no wgmma.wait_group has completed; nearest legal: cute_nvgpu.wgmma.wait_group 0 before it (PTX ISA 9.7.15.7.3)}}
  %x = cute_nvgpu.fragment.extract %d[0] : !c -> f32
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// A wait for another group.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%a: !a, %b: !b, %c: !c, %c2: !c) {
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  %e = cute_nvgpu.sm90.mma %a, %b, %c2 <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 1
  %x = cute_nvgpu.fragment.extract %d[0] : !c -> f32
  // expected-error @+1 {{expected an accumulator that is complete, got that of 'cute_nvgpu.sm90.mma' at line 31}}
  %y = cute_nvgpu.fragment.extract %e[0] : !c -> f32
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// As A of another wgmma.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%a: !a, %b: !b, %c: !c, %f: !f) {
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  // expected-error @+1 {{'cute_nvgpu.fragment.slice' expected an accumulator that is complete}}
  %h = cute_nvgpu.fragment.slice %d[0] : !c -> !cute_nvgpu.fragment<2xf32>
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// On one of two paths only.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%a: !a, %b: !b, %c: !c, %p: i1) {
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  scf.if %p {
    cute_nvgpu.wgmma.wait_group 0
  }
  // expected-error @+1 {{expected an accumulator that is complete, got that of 'cute_nvgpu.sm90.mma' at line 69}}
  %x = cute_nvgpu.fragment.extract %d[0] : !c -> f32
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// Around a loop.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%a: !a, %b: !b, %c: !c, %n: index) {
  cute_nvgpu.wgmma.fence
  %r = scf.for %k = %n to %n step %n iter_args(%acc = %c) -> (!c) {
  // expected-error @+1 {{expected an accumulator that is complete, got that of 'cute_nvgpu.sm90.mma' at line 93}}
  %x = cute_nvgpu.fragment.extract %acc[0] : !c -> f32
  %d = cute_nvgpu.sm90.mma %a, %b, %acc <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
    scf.yield %d : !c
  }
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// Between blocks.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%a: !a, %b: !b, %c: !c, %p: i1) {
  cute_nvgpu.wgmma.fence
  cf.br ^loop(%c : !c)
^loop(%acc: !c):
  %d = cute_nvgpu.sm90.mma %a, %b, %acc <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cf.cond_br %p, ^loop(%d : !c), ^end
^end:
  // expected-error @+1 {{expected an accumulator that is complete, got that of 'cute_nvgpu.sm90.mma' at line 113}}
  %x = cute_nvgpu.fragment.extract %d[0] : !c -> f32
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// A result whose registers are another's.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%a: !a, %b: !b, %c: !c) {
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  %e = cute_nvgpu.sm90.mma %a, %b, %d <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 0
  // expected-error @+1 {{'cute_nvgpu.fragment.extract' expected an accumulator of its own, got one that 'cute_nvgpu.sm90.mma' at line 134 has overwritten; nearest legal: a wgmma.wait_group before that}}
  %x = cute_nvgpu.fragment.extract %d[0] : !c -> f32
  func.return
}

// -----

// An accumulator of another shape.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%a: !a, %b: !b, %c: !c, %b2: !cute_nvgpu.smem_desc_view<8x32xbf16, "S<3,3,3> o 0 o (8,32):(64,1)">, %e: !cute_nvgpu.fragment<16xui2>) {
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  // expected-error @+1 {{'cute_nvgpu.sm90.sparse_mma' expected an accumulator of the same shape, or complete, got that of 'cute_nvgpu.sm90.mma' at line 152, which no wgmma.wait_group has completed; nearest legal: cute_nvgpu.wgmma.wait_group 0 before it (PTX ISA 9.7.15.7.3)}}
  %q = cute_nvgpu.sm90.sparse_mma %a, %b2, %d, %e[0] <64x8x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !cute_nvgpu.smem_desc_view<8x32xbf16, "S<3,3,3> o 0 o (8,32):(64,1)">, !c, !cute_nvgpu.fragment<16xui2>) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// Memory that is still read.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%s: !s, %b: !b, %c: !c, %v: bf16, %i: index) {
  %c0 = arith.constant 0 : index
  %a = cute_nvgpu.make_smem_desc %s[%i, %c0, %c0] : !s -> !a
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  // expected-error @+1 {{'memref.store' expected memory that no wgmma reads, got that of 'cute_nvgpu.sm90.mma' at line 172, which no wgmma.wait_group has completed; nearest legal: cute_nvgpu.wgmma.wait_group 0 before it (PTX ISA 9.7.15.7.3)}}
  memref.store %v, %s[%i, %c0, %i] : !s
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// Memory that is still read, by cp.async.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%s: !s, %b: !b, %c: !c, %v: bf16, %i: index, %g: memref<64xbf16>) {
  %c0 = arith.constant 0 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  // expected-error @+1 {{'cute_nvgpu.cp.async' expected memory that no wgmma reads}}
  cute_nvgpu.cp.async %g[%c0] to %s[%c0, %i, %c0] size 16 cache cg : memref<64xbf16> to !s
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// Memory that is still read, by stmatrix.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%s: !s, %b: !b, %c: !c, %v: bf16, %i: index, %t: !cute_nvgpu.fragment<2xbf16>) {
  %c0 = arith.constant 0 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  // expected-error @+1 {{'cute_nvgpu.stmatrix' expected memory that no wgmma reads}}
  cute_nvgpu.stmatrix %t, %s[%c0, %i, %c0] : !cute_nvgpu.fragment<2xbf16>, !s
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// Memory that the last round still reads.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%s: !s, %b: !b, %c: !c, %v: bf16, %i: index) {
  %c0 = arith.constant 0 : index
  %r = scf.for %k = %c0 to %i step %i iter_args(%acc = %c) -> (!c) {
  // expected-error @+1 {{'memref.store' expected memory that no wgmma reads, got that of 'cute_nvgpu.sm90.mma' at line 236}}
  memref.store %v, %s[%c0, %k, %k] : !s
  cute_nvgpu.fence.proxy.async
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %acc <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 1
    scf.yield %d : !c
  }
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// A fragment that is loaded again is another value: PTX has registers of their own for as many
// rounds as are in flight.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%s: !s, %b: !b, %c: !c, %n: index) {
  %c0 = arith.constant 0 : index
  %r = scf.for %k = %c0 to %n step %n iter_args(%acc = %c) -> (!c) {
  %w = cute_nvgpu.ldmatrix %s[%c0, %k, %c0] : !s -> !f
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %w, %b, %acc <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = rs> : (!f, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 1
    scf.yield %d : !c
  }
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// A fragment that the loop replaces is one too; PTX has no registers for rounds without end, the
// conversion says so.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%s: !s, %b: !b, %c: !c, %n: index, %w0: !f) {
  %c0 = arith.constant 0 : index
  %r, %q = scf.for %k = %c0 to %n step %n iter_args(%acc = %c, %w = %w0) -> (!c, !f) {
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %w, %b, %acc <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = rs> : (!f, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  %w1 = cute_nvgpu.ldmatrix %s[%c0, %k, %c0] : !s -> !f
    scf.yield %d, %w1 : !c, !f
  }
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// The end.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%a: !a, %b: !b, %c: !c) {
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  // expected-error @+1 {{'func.return' expected every wgmma to be complete, got 'cute_nvgpu.sm90.mma' at line 300, which no wgmma.wait_group has completed; nearest legal: cute_nvgpu.wgmma.wait_group 0 before it (PTX ISA 9.7.15.7.3)}}
  func.return
}

// -----

// A wait without a commit.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%a: !a, %b: !b, %c: !c) {
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.wait_group 0
  // expected-error @+1 {{'func.return' expected every wgmma to be complete}}
  func.return
}

// -----

// No fence.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' expected a wgmma.fence before the first wgmma, got none; nearest legal: cute_nvgpu.wgmma.fence before it (PTX ISA 9.7.15.7.1)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// No fence on one of two paths.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%a: !a, %b: !b, %c: !c, %p: i1) {
  scf.if %p {
    cute_nvgpu.wgmma.fence
  }
  // expected-error @+1 {{expected a wgmma.fence before the first wgmma, got none}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// Registers written since the fence.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%a: !a, %b: !b, %c: !c, %x: f32) {
  cute_nvgpu.wgmma.fence
  %z = cute_nvgpu.fragment.splat %x : f32 -> !c
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' expected registers that were not written since the last wgmma.fence, got those that 'cute_nvgpu.fragment.splat' at line 367 wrote; nearest legal: cute_nvgpu.wgmma.fence before it (PTX ISA 9.7.15.7.1)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %z <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// Registers of A written since the fence, in a loop.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%s: !s, %b: !b, %c: !c, %n: index) {
  %c0 = arith.constant 0 : index
  cute_nvgpu.wgmma.fence
  %r = scf.for %k = %c0 to %n step %n iter_args(%acc = %c) -> (!c) {
  %w = cute_nvgpu.ldmatrix %s[%c0, %k, %c0] : !s -> !f
  // expected-error @+1 {{expected registers that were not written since the last wgmma.fence, got those that 'cute_nvgpu.ldmatrix' at line 387 wrote}}
  %d = cute_nvgpu.sm90.mma %w, %b, %acc <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = rs> : (!f, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 0
    scf.yield %d : !c
  }
  func.return
}

// -----

// Stores that the async proxy does not see.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%s: !s, %b: !b, %c: !c, %v: bf16, %i: index) {
  %c0 = arith.constant 0 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  memref.store %v, %s[%c0, %i, %i] : !s
  "gpu.barrier"() : () -> ()
  cute_nvgpu.wgmma.fence
  // expected-error @+1 {{'cute_nvgpu.sm90.mma' expected memory that the async proxy sees, got what 'memref.store' at line 408 wrote; nearest legal: cute_nvgpu.fence.proxy.async after it, in the thread that wrote (PTX ISA 9.7.15.7.1)}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// Copies that the async proxy does not see.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @k(%s: !s, %b: !b, %c: !c, %v: bf16, %i: index, %g: memref<64xbf16>) {
  %c0 = arith.constant 0 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.fence.proxy.async
  cute_nvgpu.cp.async %g[%c0] to %s[%c0, %i, %c0] size 16 cache cg : memref<64xbf16> to !s
  cute_nvgpu.wgmma.fence
  // expected-error @+1 {{expected memory that the async proxy sees, got what 'cute_nvgpu.cp.async'}}
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// Memory that is still read, by TMA. What it writes needs no proxy fence.
!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!c = !cute_nvgpu.fragment<4xf32>
!map = !cute_nvgpu.tma_descriptor<64x64xbf16, swizzle = 128>
func.func @k(%s: !s, %b: !b, %c: !c, %m: !map, %bar: memref<1xi64, 3>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.tma.load %m[%c0, %c0] to %s[%c0, %c0, %c0] mbarrier %bar[%c0] : !map to !s, memref<1xi64, 3>
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.tma.load %m[%c0, %c0] to %s[%c1, %c0, %c0] mbarrier %bar[%c0] : !map to !s, memref<1xi64, 3>
  // expected-error @+1 {{'cute_nvgpu.tma.load' expected memory that no wgmma reads}}
  cute_nvgpu.tma.load %m[%c0, %c0] to %s[%c0, %c0, %c0] mbarrier %bar[%c0] : !map to !s, memref<1xi64, 3>
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// Memory that is still read, by a vector store.
!s = memref<8192xbf16, !cute.composed_layout<"S<3,3,3> o 0 o 8192:1">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!c = !cute_nvgpu.fragment<4xf32>
!t = !cute_nvgpu.fragment<8xbf16>
func.func @k(%s: !s, %b: !b, %c: !c, %i: index, %t: !t) {
  %a = cute_nvgpu.make_smem_desc %s[%i] : !s -> !a
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  // expected-error @+1 {{'cute_nvgpu.fragment.store' expected memory that no wgmma reads}}
  cute_nvgpu.fragment.store %t, %s[%i] : !t, !s
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// -----

// In a line of memory: a box that ends before the matrix is another one, one that does not is not.
!s = memref<16384xbf16, !cute.composed_layout<"S<3,3,3> o 0 o 16384:1">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!c = !cute_nvgpu.fragment<4xf32>
!map = !cute_nvgpu.tma_descriptor<64x64xbf16, swizzle = 128>
!bar = memref<1xi64, 3>
func.func @k(%s: !s, %b: !b, %c: !c, %map: !map, %bar: !bar) {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %c4096 = arith.constant 4096 : index
  %a = cute_nvgpu.make_smem_desc %s[%c4096] : !s -> !a
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.tma.load %map[%c0, %c0] to %s[%c0] mbarrier %bar[%c0] : !map to !s, !bar
  // expected-error @+1 {{'cute_nvgpu.tma.load' expected memory that no wgmma reads}}
  cute_nvgpu.tma.load %map[%c0, %c0] to %s[%c1024] mbarrier %bar[%c0] : !map to !s, !bar
  cute_nvgpu.wgmma.wait_group 0
  func.return
}
