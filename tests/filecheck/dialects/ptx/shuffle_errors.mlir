// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

ptx.entry @f(%x: f32) {
  // expected-error @+1 {{'ptx.shfl.sync' expected bfly or idx, got down}}
  %y = ptx.shfl.sync "down" %x, 2 : !ptx.reg<f32> -> !ptx.reg<f32>
  ptx.ret
}

// -----

ptx.entry @f(%x: f32) {
  // expected-error @+1 {{'ptx.shfl.sync' expected a lane below 32, got -1; nearest legal: 0}}
  %y = ptx.shfl.sync "idx" %x, -1 : !ptx.reg<f32> -> !ptx.reg<f32>
  ptx.ret
}

// -----

ptx.entry @f(%x: f64) {
  // expected-error @+1 {{'ptx.shfl.sync' expected one register of 32 bits, got !ptx.reg<f64> to !ptx.reg<f64>}}
  %y = ptx.shfl.sync "idx" %x, 1 : !ptx.reg<f64> -> !ptx.reg<f64>
  ptx.ret
}
