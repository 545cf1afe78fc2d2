// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

ptx.entry @f(%n: u32) {
  // expected-error @+1 {{'ptx.add' expected a form of s16, s32, s64, u16, u32, u64, f64, rn.f64, rz.f64, }}
  %x = ptx.add f8 %n, %n
  ptx.ret
}

// -----

ptx.entry @f(%n: u32, %d: u64) {
  // expected-error @+1 {{operand is used with type !ptx.reg<b32>, but has been previously used or defined with type}}
  %x = ptx.add s32 %n, %d
  ptx.ret
}

// -----

ptx.entry @f(%n: u32) {
  // expected-error @+1 {{expected 2 operand types but had 1}}
  %x = ptx.add s32 %n
  ptx.ret
}

// -----

// In generic form the verifier says the same.
ptx.entry @f(%n: u32) {
  // expected-error @+1 {{'ptx.add' expected a form of s16, s32, s64}}
  %x = "ptx.add"(%n, %n) <{form = "s8"}> : (!ptx.reg<b32>, !ptx.reg<b32>) -> !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%n: u32) {
  // expected-error @+1 {{'ptx.add' s32 expected registers !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, got !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<f32>}}
  %x = "ptx.add"(%n, %n) <{form = "s32"}> : (!ptx.reg<b32>, !ptx.reg<b32>) -> !ptx.reg<f32>
  ptx.ret
}

// -----

ptx.entry @f(%n: u32) {
  // expected-error @+1 {{'ptx.mad' lo.s32 expected registers !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, got !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>}}
  %x = "ptx.mad"(%n, %n) <{form = "lo.s32"}> : (!ptx.reg<b32>, !ptx.reg<b32>) -> !ptx.reg<b32>
  ptx.ret
}
