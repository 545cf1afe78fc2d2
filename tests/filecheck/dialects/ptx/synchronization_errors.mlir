// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

ptx.entry @f() {
  // expected-error @+1 {{'ptx.bar.sync' expected a barrier below 16, got 16; nearest legal: 15}}
  ptx.bar.sync 16
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.bar.sync' expected a barrier below 16, got -1; nearest legal: 0}}
  ptx.bar.sync -1
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.bar.sync' expected a count of threads that is whole warps, at most 1024, got 33}}
  ptx.bar.sync 0, 33
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.bar.arrive' expected a count of threads that is whole warps, at most 1024, got 0}}
  ptx.bar.arrive 0, 0
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.bar.arrive' expected a count of threads (bar.arrive a, b)}}
  ptx.bar.arrive 1
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.fence' expected semantics acq_rel.cta or acq_rel.gpu or acq_rel.sys or sc.cta or sc.gpu or sc.sys or acq_rel.cluster or sc.cluster, got sc.cgpu; nearest legal: acq_rel.gpu}}
  ptx.fence "sc.cgpu"
  ptx.ret
}
