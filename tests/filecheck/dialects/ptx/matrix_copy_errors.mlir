// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

ptx.entry @f(%p: u32) {
  // expected-error @+1 {{'ptx.ldmatrix' expected 1 or 2 or 4 registers b32, got !ptx.reg<b32 x 3>}}
  %a = ptx.ldmatrix %p, 0 : !ptx.reg<b32 x 3>
  ptx.ret
}

// -----

ptx.entry @f(%p: u32) {
  // expected-error @+1 {{'ptx.ldmatrix' expected 1 or 2 or 4 registers b32, got !ptx.reg<f32>}}
  %a = ptx.ldmatrix %p, 0 : !ptx.reg<f32>
  ptx.ret
}

// -----

ptx.entry @f(%p: u64) {
  // expected-error @+1 {{operand is used with type !ptx.reg<b32>, but has been previously used or defined with type}}
  %a = ptx.ldmatrix %p, 0 : !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%p: u32, %v: u64) {
  // expected-error @+1 {{'ptx.stmatrix' expected 1 or 2 or 4 registers b32, got !ptx.reg<b64>}}
  ptx.stmatrix %p, 0, %v : !ptx.reg<b64>
  ptx.ret
}

// -----

// The form is one of the lattice.
ptx.entry @f(%p: u32) {
  // expected-error @+1 {{'ptx.ldmatrix' expected a form of m8n8.b16, m16n16.b8, m8n16.b8x16.b6x16_p32, m16n16.b8x16.b6x16_p32, m8n16.b8x16.b4x16_p64, m16n16.b8x16.b4x16_p64, got m8n8.b8}}
  %a = ptx.ldmatrix "m8n8.b8" %p, 0 : !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%p: u32, %v: u32) {
  // expected-error @+1 {{'ptx.stmatrix' expected a form of m8n8.b16, m16n8.b8, got m16n16.b8}}
  ptx.stmatrix "m16n16.b8" trans %p, 0, %v : !ptx.reg<b32>
  ptx.ret
}

// -----

// .trans is mandatory, or not there at all.
ptx.entry @f(%p: u32) {
  // expected-error @+1 {{'ptx.ldmatrix' expected trans with m16n16.b8, got none (PTX has it with .trans alone); nearest legal: trans}}
  %a = ptx.ldmatrix "m16n16.b8" %p, 0 : !ptx.reg<b32 x 2>
  ptx.ret
}

// -----

ptx.entry @f(%p: u32) {
  // expected-error @+1 {{'ptx.ldmatrix' expected no trans with m8n16.b8x16.b4x16_p64, got trans (PTX has it without .trans alone); nearest legal: no trans}}
  %a = ptx.ldmatrix "m8n16.b8x16.b4x16_p64" trans %p, 0 : !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%p: u32, %v: u32) {
  // expected-error @+1 {{'ptx.stmatrix' expected trans with m16n8.b8, got none}}
  ptx.stmatrix "m16n8.b8" %p, 0, %v : !ptx.reg<b32>
  ptx.ret
}

// -----

// A matrix of m16n16 is two registers, and two matrices are the most.
ptx.entry @f(%p: u32) {
  // expected-error @+1 {{'ptx.ldmatrix' expected 2 or 4 registers b32, got !ptx.reg<b32>}}
  %a = ptx.ldmatrix "m16n16.b8" trans %p, 0 : !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%p: u32) {
  // expected-error @+1 {{'ptx.ldmatrix' expected 2 or 4 registers b32, got !ptx.reg<b32 x 8>}}
  %a = ptx.ldmatrix "m16n16.b8x16.b6x16_p32" trans %p, 0 : !ptx.reg<b32 x 8>
  ptx.ret
}

// -----

// ptxas takes movmatrix on f32 registers, which the PTX ISA does not give it.
ptx.entry @f(%x: f32) {
  // expected-error @+1 {{operand is used with type !ptx.reg<b32>, but has been previously used or defined with type !ptx.reg<f32>}}
  %a = ptx.movmatrix %x
  ptx.ret
}

// -----

ptx.entry @f() {
  %x = ptx.undef : !ptx.reg<b32 x 2>
  // expected-error @+1 {{operand is used with type !ptx.reg<b32>, but has been previously used or defined with type !ptx.reg<b32 x 2>}}
  %a = ptx.movmatrix %x
  ptx.ret
}
