// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

ptx.entry @f() {
  // expected-error @+1 {{'ptx.stacksave' expected one of stacksave.u64, stacksave.u32, got stacksave.b64}}
  %0 = ptx.stacksave "b64" : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.stacksave' expected !ptx.reg<b32> for stacksave.u32, got !ptx.reg<b64>}}
  %0 = ptx.stacksave "u32" : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f() {
  %0 = ptx.stacksave "u64" : !ptx.reg<b64>
  // expected-error @+1 {{'ptx.stackrestore' expected !ptx.reg<b32> for stackrestore.u32, got !ptx.reg<b64>}}
  ptx.stackrestore "u32" %0 : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f() {
  %0 = ptx.const 24 : !ptx.reg<b64>
  // expected-error @+1 {{'ptx.alloca' expected an alignment to a power of two of at most 2^23, got 12}}
  %1 = ptx.alloca "u64" %0 align 12 : !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.pmevent' expected a number of 0 to 15, got 16}}
  ptx.pmevent 16
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.pmevent' expected a number of 0 to 65535, got -1}}
  ptx.pmevent mask -1
  ptx.ret
}
