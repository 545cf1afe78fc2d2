// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

ptx.entry @f(%a: u32, %m: tensormap) {
  // expected-error @+1 {{'ptx.setmaxnreg' expected inc or dec, got up}}
  ptx.setmaxnreg "up" 40
  ptx.ret
}

// -----

ptx.entry @f(%a: u32, %m: tensormap) {
  // expected-error @+1 {{'ptx.setmaxnreg' expected a multiple of 8 from 24 to 256 registers, got 20; nearest legal: 24}}
  ptx.setmaxnreg "dec" 20
  ptx.ret
}
