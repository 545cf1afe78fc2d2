// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

ptx.entry @f(%a: u32, %m: tensormap) {
  // expected-error @+1 {{'ptx.mbarrier.init' expected 1 to 1048575 arrivals, got 0; nearest legal: 1}}
  ptx.mbarrier.init %a, 0, 0
  ptx.ret
}

// -----

ptx.entry @f(%a: u32, %m: tensormap) {
  // expected-error @+1 {{'ptx.mbarrier.arrive' expected 1 to 1048575 arrivals, got 1048576; nearest legal: 1048575}}
  ptx.mbarrier.arrive %a, 8, 1048576
  ptx.ret
}

// -----

ptx.entry @f(%a: u32, %m: tensormap) {
  // expected-error @+1 {{'ptx.mbarrier.arrive.expect_tx' expected 0 to 1048575 bytes, got -1; nearest legal: 0}}
  ptx.mbarrier.arrive.expect_tx %a, 0, -1
  ptx.ret
}
