// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -t ptx

// expected-error @+1 {{the ptx target expected ptx.entry, got 'func.func'; run convert-cute-nvgpu-to-ptx first}}
func.func @f() {
  func.return
}

// -----

// Blocks of ptx ops may only hold ptx ops.
ptx.entry @f() {
  // expected-error @+1 {{'arith.constant' has no PTX text}}
  %c = arith.constant 1 : i32
  ptx.ret
}

// -----

// expected-error @+1 {{a block argument of i32 has no PTX text}}
ptx.entry @f() {
  ptx.ret
^unreached(%x: i32):
  ptx.ret
}
