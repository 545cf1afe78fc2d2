// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'ptx.entry' expected a cluster of at most 8 CTAs, got 16: 4x4x1}}
ptx.entry @f() cluster(4, 4, 1) {
  ptx.ret
}

// -----

// expected-error @+1 {{'ptx.entry' expected a cluster of positive extents, got 2x0x1}}
ptx.entry @f() cluster(2, 0, 1) {
  ptx.ret
}

// -----

// expected-error @+1 {{'ptx.entry' expected a cluster of three extents, got 2; nearest legal: 2x1x1}}
ptx.entry @f() cluster(2) {
  ptx.ret
}
