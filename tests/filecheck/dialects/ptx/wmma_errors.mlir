// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// Loads.
ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  // expected-error @+1 {{'ptx.wmma.load' expected a generic address in !ptx.reg<b64>, got !ptx.reg<b32>}}
  %a = ptx.wmma.load "a.row.m16n16k16.f16" %s, 0, %n : !ptx.reg<b32> -> !ptx.reg<b32 x 8>
  ptx.ret
}

// -----

ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  // expected-error @+1 {{'ptx.wmma.load' 'wmma.load' expected a state space of global, shared or none, got param; nearest legal: wmma.load.a.sync.aligned.row.m16n16k16.global.f16}}
  %a = ptx.wmma.load "a.row.m16n16k16.param.f16" %g, 0, %n : !ptx.reg<b64> -> !ptx.reg<b32 x 8>
  ptx.ret
}

// -----

ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  // expected-error @+1 {{'ptx.wmma.load' 'wmma.load' expected an operand, got d; nearest legal: a, b, c}}
  %a = ptx.wmma.load "d.row.m16n16k16.global.f16" %g, 0, %n : !ptx.reg<b64> -> !ptx.reg<b32 x 8>
  ptx.ret
}

// -----

ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  // expected-error @+1 {{'ptx.wmma.load' expected wmma.load.{a,b,c}.sync.aligned.LAYOUT.SHAPE{.SPACE}.TYPE or wmma.store.d.sync.aligned.LAYOUT.SHAPE{.SPACE}.TYPE, got 'wmma.load.a.sync.aligned.m16n16k16.global.f16'}}
  %a = ptx.wmma.load "a.m16n16k16.global.f16" %g, 0, %n : !ptx.reg<b64> -> !ptx.reg<b32 x 8>
  ptx.ret
}

// -----

ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  // expected-error @+1 {{'ptx.wmma.load' expected an element type of f16, f32, bf16, tf32, f64, s8, s32, u8, s4, u4, b1, got f17}}
  %a = ptx.wmma.load "a.row.m16n16k16.global.f17" %g, 0, %n : !ptx.reg<b64> -> !ptx.reg<b32 x 8>
  ptx.ret
}

// -----

ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  // expected-error @+1 {{'ptx.wmma.load' 'wmma.load' expected a shape that a of f16 has, got 16x16x8; nearest legal: 16x16x16, 8x32x16, 32x8x16}}
  %a = ptx.wmma.load "a.row.m16n16k8.global.f16" %g, 0, %n : !ptx.reg<b64> -> !ptx.reg<b32 x 8>
  ptx.ret
}

// -----

ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  // expected-error @+1 {{'ptx.wmma.load' expected a global address in !ptx.reg<b64>, got !ptx.reg<b32>}}
  %a = ptx.wmma.load "a.row.m16n16k16.global.f16" %s, 0, %n : !ptx.reg<b32> -> !ptx.reg<b32 x 8>
  ptx.ret
}

// -----

ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  // expected-error @+1 {{'ptx.wmma.load' expected a shared address in !ptx.reg<b32>, got !ptx.reg<b64>}}
  %a = ptx.wmma.load "a.row.m16n16k16.shared.f16" %g, 0, %n : !ptx.reg<b64> -> !ptx.reg<b32 x 8>
  ptx.ret
}

// -----

ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  // expected-error @+1 {{'ptx.wmma.load' expected !ptx.reg<b32 x 8> for wmma.load.a.sync.aligned.row.m16n16k16.shared.f16, got !ptx.reg<b32 x 4>}}
  %a = ptx.wmma.load "a.row.m16n16k16.shared.f16" %s, 0, %n : !ptx.reg<b32> -> !ptx.reg<b32 x 4>
  ptx.ret
}

// -----

// A stride that is known.
ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  %c = ptx.const 20 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.wmma.load' expected a stride of at least 16 and a multiple of 8 (a row on 16 bytes), got 20; nearest legal: 24 (wmma.load.a.sync.aligned.row.m16n16k16.f16, PTX ISA 9.7.14.4.2)}}
  %a = ptx.wmma.load "a.row.m16n16k16.shared.f16" %s, 0, %c : !ptx.reg<b32> -> !ptx.reg<b32 x 8>
  ptx.ret
}

// -----

ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  %c = ptx.const 8 : !ptx.reg<b32>
  %v = ptx.undef : !ptx.reg<f32 x 8>
  // expected-error @+1 {{'ptx.wmma.store' expected a stride of at least 16 and a multiple of 4 (a column on 16 bytes), got 8; nearest legal: 16 (wmma.store.d.sync.aligned.col.m16n16k16.f32, PTX ISA 9.7.14.4.2)}}
  ptx.wmma.store "d.col.m16n16k16.shared.f32" %s, 0, %v, %c : !ptx.reg<b32>, !ptx.reg<f32 x 8>
  ptx.ret
}

// -----

// Stores.
ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  %v = ptx.undef : !ptx.reg<f32 x 4>
  // expected-error @+1 {{'ptx.wmma.store' expected !ptx.reg<f32 x 8> for wmma.store.d.sync.aligned.col.m16n16k16.shared.f32, got !ptx.reg<f32 x 4>}}
  ptx.wmma.store "d.col.m16n16k16.shared.f32" %s, 0, %v, %n : !ptx.reg<b32>, !ptx.reg<f32 x 4>
  ptx.ret
}

// -----

ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  %v = ptx.undef : !ptx.reg<f32 x 8>
  // expected-error @+1 {{'ptx.wmma.store' 'wmma.store' expected an operand, got c; nearest legal: d}}
  ptx.wmma.store "c.col.m16n16k16.shared.f32" %s, 0, %v, %n : !ptx.reg<b32>, !ptx.reg<f32 x 8>
  ptx.ret
}

// -----

// MMAs.
ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  %a = ptx.undef : !ptx.reg<b32 x 8>
  %c = ptx.undef : !ptx.reg<f32 x 8>
  // expected-error @+1 {{'ptx.wmma.mma' operand C expected !ptx.reg<f32 x 8>, got !ptx.reg<b32 x 8> (wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32)}}
  %d = ptx.wmma.mma "row.col.m16n16k16.f32.f32" %a, %a, %a : (!ptx.reg<b32 x 8>, !ptx.reg<b32 x 8>, !ptx.reg<b32 x 8>) -> !ptx.reg<f32 x 8>
  ptx.ret
}

// -----

ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  %a = ptx.undef : !ptx.reg<b32 x 8>
  %c = ptx.undef : !ptx.reg<f32 x 8>
  // expected-error @+1 {{'ptx.wmma.mma' 'wmma.mma' expected no .ATYPE.BTYPE for f16, got 'wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32' (without them both are f16); nearest legal: wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32}}
  %d = ptx.wmma.mma "row.col.m16n16k16.f32.f16.f16.f32" %a, %a, %c : (!ptx.reg<b32 x 8>, !ptx.reg<b32 x 8>, !ptx.reg<f32 x 8>) -> !ptx.reg<f32 x 8>
  ptx.ret
}

// -----

ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  %a = ptx.undef : !ptx.reg<b32 x 8>
  %c = ptx.undef : !ptx.reg<f32 x 8>
  // expected-error @+1 {{'ptx.wmma.mma' 'wmma.mma' expected a shape that (f16, f16, f32, f32) has, got 16x16x32; nearest legal: 16x16x16, 8x32x16, 32x8x16}}
  %d = ptx.wmma.mma "row.col.m16n16k32.f32.f32" %a, %a, %c : (!ptx.reg<b32 x 8>, !ptx.reg<b32 x 8>, !ptx.reg<f32 x 8>) -> !ptx.reg<f32 x 8>
  ptx.ret
}

// -----

ptx.entry @f(%s: u32, %g: u64, %n: u32) {
  %a = ptx.undef : !ptx.reg<b32 x 8>
  %c = ptx.undef : !ptx.reg<f32 x 8>
  // expected-error @+1 {{'ptx.wmma.mma' 'wmma.mma' expected a shape that (f16, f16, f32, f32) has, got 16x8x16; nearest legal: 16x16x16, 32x8x16, 8x32x16}}
  %d = ptx.wmma.mma "m16n8k16.row.col.f32.f16.f16.f32" %a, %a, %c : (!ptx.reg<b32 x 8>, !ptx.reg<b32 x 8>, !ptx.reg<f32 x 8>) -> !ptx.reg<f32 x 8>
  ptx.ret
}

// -----

// Through a block's argument.
ptx.entry @f(%g: u64, %n: u32, %b: u32) {
  %p = ptx.undef : !ptx.reg<b64>
  %a = ptx.wmma.load "a.row.m8n8k128.global.b1" %g, 0, %n : !ptx.reg<b64> -> !ptx.reg<b32>
  %c = ptx.wmma.load "c.row.m8n8k128.global.s32" %g, 0, %n : !ptx.reg<b64> -> !ptx.reg<b32 x 2>
  ptx.bra ^next(%a : !ptx.reg<b32>)
^next(%x: !ptx.reg<b32>):
  // expected-error @+1 {{'ptx.wmma.mma' expected operand B of wmma.load.b.sync.aligned.col.m8n8k128.b1, got that of wmma.load.a.sync.aligned.row.m8n8k128.b1}}
  %z = ptx.wmma.mma "xor.popc.row.col.m8n8k128.s32.b1.b1.s32" %a, %x, %c : (!ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32 x 2>) -> !ptx.reg<b32 x 2>
  ptx.ret
}
