// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'ptx.entry' expected a cluster of three extents, at most 8 CTAs in all, got (4, 4, 1)}}
ptx.entry @f() cluster(4, 4, 1) {
  ptx.ret
}

// -----

// expected-error @+1 {{'ptx.entry' expected a cluster of three extents, at most 8 CTAs in all, got (2, 0, 1)}}
ptx.entry @f() cluster(2, 0, 1) {
  ptx.ret
}

// -----

// expected-error @+1 {{'ptx.entry' expected a cluster of three extents, at most 8 CTAs in all, got (2,)}}
ptx.entry @f() cluster(2) {
  ptx.ret
}
