// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

ptx.entry @f(%r: u32, %f: f32) {
  // expected-error @+1 {{'ptx.mma' operand A expected !ptx.reg<b32 x 4>, got !ptx.reg<b32> (mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32)}}
  %d = ptx.mma "m16n8k16.row.col.f32.bf16.bf16.f32" %r, %r, %f : (!ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<f32>) -> !ptx.reg<f32>
  ptx.ret
}

// -----

ptx.entry @f() {
  %a = ptx.undef : !ptx.reg<b32 x 4>
  %b = ptx.undef : !ptx.reg<b32 x 2>
  %c = ptx.undef : !ptx.reg<f32 x 4>
  // expected-error @+1 {{'ptx.mma' operand D expected !ptx.reg<f32 x 4>, got !ptx.reg<b32 x 4>}}
  %d = ptx.mma "m16n8k16.row.col.f32.bf16.bf16.f32" %a, %b, %c : (!ptx.reg<b32 x 4>, !ptx.reg<b32 x 2>, !ptx.reg<f32 x 4>) -> !ptx.reg<b32 x 4>
  ptx.ret
}
