// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// The form.
ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected a kind of f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4, got bf16}}
  ptx.tcgen05.mma "cta_group::1.kind::bf16" %d, %a, %a, %idesc : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected tcgen05.mma{.ws}{.sp}.cta_group::1|2.kind::KIND{.block_scale{.block16|32}}{.ashift}{.collector::BUFFER::OP}, got 'tcgen05.mma.cta_group::1.f16'}}
  ptx.tcgen05.mma "cta_group::1.f16" %d, %a, %a, %idesc : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected no block scaling for kind::f16, got .block_scale}}
  ptx.tcgen05.mma "cta_group::1.kind::f16.block_scale" %d, %a, %a, %idesc : !ptx.reg<b64>
  ptx.ret
}

// -----

// The instruction descriptor, where it is known.
ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected zeros outside the fields, got 0x08200050 with bits 6 set; nearest legal: 0x08200010}}
  ptx.tcgen05.mma "cta_group::1.kind::f16" %d, %a, %a, %bad : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' tcgen05.mma.cta_group::1.kind::f16 expected 0 in bit 2 (sparsity) of its instruction descriptor, got 0x08200014}}
  ptx.tcgen05.mma "cta_group::1.kind::f16" %d, %a, %a, %sp : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 67633168 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' 'sm100.mma' expected M of 128 or 256 and N of 16 to 256 in steps of 16 for M = 128 (cta_group 2, (f16, f16, f32)), got 64x32x16; nearest legal: 128x32x16 (PTX ISA 9.7.16.2.1)}}
  ptx.tcgen05.mma "cta_group::2.kind::f16" %d, %a, %a, %idesc : !ptx.reg<b64>
  ptx.ret
}

// -----

// Operands.
ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' operand A expected !ptx.reg<b64> (a descriptor) or !ptx.reg<b32> (an address), got !ptx.reg<f32>}}
  ptx.tcgen05.mma "cta_group::1.kind::f16" %d, %f, %a, %d : !ptx.reg<f32>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected metadata (tcgen05.mma.sp.cta_group::1.kind::f16)}}
  ptx.tcgen05.mma "sp.cta_group::1.kind::f16" %d, %a, %a, %d : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected no metadata (tcgen05.mma.cta_group::1.kind::f16)}}
  ptx.tcgen05.mma "cta_group::1.kind::f16" %d, %a, %a, %d metadata %e : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected scale factors of A (tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32)}}
  ptx.tcgen05.mma "cta_group::1.kind::mxf4.block_scale.block32" %d, %a, %a, %d : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected no scale factors of A (tcgen05.mma.cta_group::1.kind::f16)}}
  ptx.tcgen05.mma "cta_group::1.kind::f16" %d, %a, %a, %d scales %e, %e : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected enable_input_d or zero, got both}}
  ptx.tcgen05.mma "cta_group::1.kind::f16" %d, %a, %a, %d enable_input_d %p zero : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected no zero-column mask (tcgen05.mma.cta_group::1.kind::f16 is not weight-stationary)}}
  ptx.tcgen05.mma "cta_group::1.kind::f16" %d, %a, %a, %d zero_column_mask %a : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected no scale_input_d, got 1 (tcgen05.mma.cta_group::1.kind::i8)}}
  ptx.tcgen05.mma "cta_group::1.kind::i8" %d, %a, %a, %d scale_input_d 1 : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected scale_input_d of 0 to 15, got 16; nearest legal: 15}}
  ptx.tcgen05.mma "cta_group::1.kind::f16" %d, %a, %a, %d scale_input_d 16 : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected lanes of !ptx.reg<b32 x 8>, got !ptx.reg<b32 x 4> (tcgen05.mma.cta_group::2.kind::f16)}}
  ptx.tcgen05.mma "cta_group::2.kind::f16" %d, %a, %a, %d lanes %l : !ptx.reg<b32 x 4> : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected no lanes, got !ptx.reg<b32 x 4> (tcgen05.mma.ws.cta_group::1.kind::f16)}}
  ptx.tcgen05.mma "ws.cta_group::1.kind::f16" %d, %a, %a, %d lanes %l : !ptx.reg<b32 x 4> : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected the address of an A in tensor memory to shift, got !ptx.reg<b64>; nearest legal: !ptx.reg<b32>}}
  ptx.tcgen05.mma "cta_group::1.kind::f16.ashift" %d, %a, %a, %d : !ptx.reg<b64>
  ptx.ret
}

// -----

// One CTA group a kernel.
ptx.entry @f(%d: u32, %a: u64, %e: u32) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %f = ptx.undef : !ptx.reg<f32>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %bad = ptx.const 136314960 : !ptx.reg<b32>
  %sp = ptx.const 136314900 : !ptx.reg<b32>
  ptx.tcgen05.mma "cta_group::1.kind::f16" %d, %a, %a, %d : !ptx.reg<b64>
  // expected-error @+1 {{'ptx.tcgen05.mma' expected cta_group 1, got 2 ('ptx.tcgen05.mma' of the same kernel has it, and a kernel has one alone); nearest legal: 1}}
  ptx.tcgen05.mma "cta_group::2.kind::f16" %d, %a, %a, %d : !ptx.reg<b64>
  ptx.ret
}
