// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// The form.
ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' expected wgmma.mma_async{.sp}.sync.aligned.m64nNkK.DTYPE.ATYPE.BTYPE{.satfinite}{.and.popc}, got 'wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16'}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16" %x, %x, %c immediates [1, 1, 0, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' expected element types of f16, bf16, tf32, f32, f64, e4m3, e5m2, e3m2, e2m3, e2m1, s8, u8, s4, u4, b1, s32, got b17}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.b17" %x, %x, %c immediates [1, 1, 0, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' 'sm90.mma' expected a shape 64xNx16 for (bf16, bf16, f32), N 8 to 256 in steps of 8, got 64x12x16; nearest legal: 64x8x16 (PTX ISA 9.7.15.2)}}
  %d = ptx.wgmma.mma_async "m64n12k16.f32.bf16.bf16" %x, %x, %c immediates [1, 1, 0, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' 'sm90.mma' expected element types (a, b, d) that wgmma has, got (bf16, bf16, f16); nearest legal: (bf16, bf16, f32)}}
  %d = ptx.wgmma.mma_async "m64n8k16.f16.bf16.bf16" %x, %x, %c immediates [1, 1, 0, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' 'sm90.mma' expected no satfinite for (bf16, bf16, f32), got satfinite (only sums of s8 and u8 saturate)}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16.satfinite" %x, %x, %c immediates [1, 1, 0, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' 'sm90.mma' expected .and.popc for (b1, b1, s32), got 'wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc'; nearest legal: wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc}}
  %d = ptx.wgmma.mma_async "m64n8k256.s32.b1.b1.xor.popc" %x, %x, %c  : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 expected immediates imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b, got 2}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %x, %x, %c immediates [1, 1] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 expected immediates imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b, got 0}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %x, %x, %c  : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 expected immediates imm-scale-a, imm-scale-b, imm-trans-b, got 4}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %h, %x, %c immediates [1, 1, 0, 0] : !ptx.reg<b32 x 4>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 expected immediates none, got 2}}
  %d = ptx.wgmma.mma_async "m64n8k32.s32.s8.s8" %x, %x, %h immediates [1, 1] : !ptx.reg<b64>, !ptx.reg<b32 x 4> -> !ptx.reg<b32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 expected imm-scale-a 1 or -1, got 0; nearest legal: 1}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %x, %x, %c immediates [0, 1, 0, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 expected imm-scale-b 1 or -1, got -3; nearest legal: -1}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %x, %x, %c immediates [1, -3, 0, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 expected imm-trans-a 0 or 1, got 2; nearest legal: 1}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %x, %x, %c immediates [1, 1, 2, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 expected imm-trans-b 0 or 1, got -1; nearest legal: 0}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %x, %x, %c immediates [1, 1, 0, -1] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' expected scale_d or zero, got both}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %x, %x, %c scale_d %p zero immediates [1, 1, 0, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' expected metadata and a selector (wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16)}}
  %d = ptx.wgmma.mma_async "sp.m64n8k32.f32.bf16.bf16" %x, %x, %c immediates [1, 1, 0, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 expected a sparsity selector of none (it is dense), got 0}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %x, %x, %c, %n[0] immediates [1, 1, 0, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 expected a sparsity selector of 0, 1, got 2; nearest legal: 1}}
  %d = ptx.wgmma.mma_async "sp.m64n8k32.f32.bf16.bf16" %x, %x, %c, %n[2] immediates [1, 1, 0, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' operand C expected !ptx.reg<f32 x 4>, got !ptx.reg<b32 x 4> (wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16)}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %x, %x, %h immediates [1, 1, 0, 0] : !ptx.reg<b64>, !ptx.reg<b32 x 4> -> !ptx.reg<b32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' operand D expected !ptx.reg<f32 x 4>, got !ptx.reg<f32 x 8> (wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16)}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %x, %x, %c immediates [1, 1, 0, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 8>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %h = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  // expected-error @+1 {{'ptx.wgmma.mma_async' operand A expected !ptx.reg<b32 x 4>, got !ptx.reg<b32> (wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16)}}
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %n, %x, %c immediates [1, 1, 0] : !ptx.reg<b32>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  // expected-error @+1 {{'ptx.wgmma.mma_async' expected no metadata (wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16)}}
  %d = "ptx.wgmma.mma_async"(%x, %x, %c, %n) <{form = "m64n8k16.f32.bf16.bf16", immediates = array<i64: 1, 1, 0, 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (!ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<f32 x 4>, !ptx.reg<b32>) -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  // expected-error @+1 {{'ptx.wgmma.mma_async' expected metadata and a selector (wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16)}}
  %d = "ptx.wgmma.mma_async"(%x, %x, %c, %n) <{form = "sp.m64n8k32.f32.bf16.bf16", immediates = array<i64: 1, 1, 0, 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (!ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<f32 x 4>, !ptx.reg<b32>) -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  // expected-error @+1 {{'ptx.wgmma.mma_async' wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 expected a sparsity selector of none (it is dense), got 0}}
  %d = "ptx.wgmma.mma_async"(%x, %x, %c) <{form = "m64n8k16.f32.bf16.bf16", selector = 0 : i64, immediates = array<i64: 1, 1, 0, 0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (!ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<f32 x 4>) -> !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%x: u64, %n: u32) {
  // expected-error @+1 {{'ptx.wgmma.wait_group' expected 0 or more pending groups, got -1; nearest legal: 0 (PTX ISA 9.7.15.7.3)}}
  ptx.wgmma.wait_group -1
  ptx.ret
}
