// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p cute-nvgpu-synthesize-layouts

// One fragment as B and as the accumulator of an MMA.
!a = !cute_nvgpu.fragment<8xf16>
!f = !cute_nvgpu.fragment<4xf16>
func.func @two_roles(%a: !a, %f: !f) {
  // expected-error @+1 {{'cute_nvgpu.sm80.mma' expected a fragment with layout ((4,8),(2,2)):((32,1),(16,8)), got ((4,8),(2,2)):((16,1),(8,64)), which 'cute_nvgpu.sm80.mma' gives it; a fragment has one layout (nearest legal: cute_nvgpu.fragment.cast between them)}}
  %d = cute_nvgpu.sm80.mma %a, %f, %f <16x8x16, elem_type = (f16, f16, f16)> : (!a, !f, !f) -> !f
  func.return
}

// -----

// The A of a 16x8x8 MMA and its f16 accumulator are one layout: no conflict.
!f = !cute_nvgpu.fragment<4xf16>
!b = !cute_nvgpu.fragment<2xf16>
func.func @chained(%f: !f, %b: !b) {
  %d = cute_nvgpu.sm80.mma %f, %b, %f <16x8x8, elem_type = (f16, f16, f16)> : (!f, !b, !f) -> !f
  %e = cute_nvgpu.sm80.mma %d, %b, %d <16x8x8, elem_type = (f16, f16, f16)> : (!f, !b, !f) -> !f
  func.return
}

// -----

// The result of one MMA as B of the next, around a loop.
!a = !cute_nvgpu.fragment<8xf16>
!f = !cute_nvgpu.fragment<4xf16>
func.func @through_for(%a: !a, %b: !f, %c: !f, %n: index) {
  %e = scf.for %i = %n to %n step %n iter_args(%x = %b) -> (!f) {
    // expected-error @+1 {{expected a fragment with layout ((4,8),(2,2)):((16,1),(8,64)), got ((4,8),(2,2)):((32,1),(16,8))}}
    %d = cute_nvgpu.sm80.mma %a, %x, %c <16x8x16, elem_type = (f16, f16, f16)> : (!a, !f, !f) -> !f
    scf.yield %d : !f
  }
  func.return
}

// -----

!a = !cute_nvgpu.fragment<8xf16>
!f = !cute_nvgpu.fragment<4xf16>
func.func @through_if(%a: !a, %b: !f, %c: !f, %p: i1) {
  %d = scf.if %p -> (!f) {
    scf.yield %b : !f
  } else {
    scf.yield %c : !f
  }
  // expected-error @+1 {{a fragment has one layout}}
  %e = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (f16, f16, f16)> : (!a, !f, !f) -> !f
  func.return
}

// -----

!a = !cute_nvgpu.fragment<8xf16>
!f = !cute_nvgpu.fragment<4xf16>
func.func @through_select(%a: !a, %b: !f, %c: !f, %p: i1) {
  %d = arith.select %p, %b, %c : !f
  // expected-error @+1 {{a fragment has one layout}}
  %e = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (f16, f16, f16)> : (!a, !f, !f) -> !f
  func.return
}

// -----

// A cast has a layout on each side.
!a = !cute_nvgpu.fragment<8xf16>
!f = !cute_nvgpu.fragment<4xf16>
func.func @cast(%a: !a, %f: !f) {
  %c = cute_nvgpu.fragment.cast %f : !f -> !f
  %d = cute_nvgpu.sm80.mma %a, %f, %c <16x8x16, elem_type = (f16, f16, f16)> : (!a, !f, !f) -> !f
  func.return
}

// -----

// A declared layout that its MMA does not take is the verifier's error, before the pass.
!a = !cute_nvgpu.fragment<8xf16>
!f = !cute_nvgpu.fragment<4xf16>
func.func @declared(%a: !a, %f: !f, %c: !cute_nvgpu.fragment<4xf16, "(32,4):(1,32)">) {
  // expected-error @+1 {{'cute_nvgpu.sm80.mma' operand C expected layout ((4,8),(2,2)):((32,1),(16,8)), got (32,4):(1,32)}}
  %d = cute_nvgpu.sm80.mma %a, %f, %c <16x8x16, elem_type = (f16, f16, f16)> : (!a, !f, !cute_nvgpu.fragment<4xf16, "(32,4):(1,32)">) -> !f
  func.return
}
