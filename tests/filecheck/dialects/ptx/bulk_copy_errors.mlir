// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

ptx.entry @f(%a: u32, %m: tensormap) {
  // expected-error @+1 {{'ptx.cp.async.bulk.tensor.load' expected 1 to 5 coordinates, got 6; nearest legal: 5}}
  ptx.cp.async.bulk.tensor.load %a, %m, [%a, %a, %a, %a, %a, %a], %a
  ptx.ret
}

// -----

ptx.entry @f(%a: u32, %m: tensormap) {
  // expected-error @+1 {{'ptx.cp.async.bulk.tensor.store' expected 1 to 5 coordinates, got 0; nearest legal: 1}}
  ptx.cp.async.bulk.tensor.store %m, [], %a
  ptx.ret
}

// -----

ptx.entry @f(%a: u32, %m: tensormap) {
  // expected-error @+1 {{'ptx.cp.async.bulk.wait_group' expected a count of groups, got -1; nearest legal: 0}}
  ptx.cp.async.bulk.wait_group -1
  ptx.ret
}

// -----

ptx.entry @f(%a: u32, %m: tensormap) {
  // expected-error @+1 {{'ptx.cp.reduce.async.bulk.tensor' expected add, min, max, inc, dec, and, or, xor, got mul}}
  ptx.cp.reduce.async.bulk.tensor "mul" %m, [%a], %a
  ptx.ret
}

// -----

ptx.entry @f(%a: u32, %m: tensormap) {
  // expected-error @+1 {{'ptx.cp.reduce.async.bulk.tensor' expected 1 to 5 coordinates, got 6; nearest legal: 5}}
  ptx.cp.reduce.async.bulk.tensor "add" %m, [%a, %a, %a, %a, %a, %a], %a
  ptx.ret
}
