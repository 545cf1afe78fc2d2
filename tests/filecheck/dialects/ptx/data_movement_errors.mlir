// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

ptx.entry @f() {
  // expected-error @+1 {{expected a register kind of pred, b8, b16, b32, f32, b64, f64, got s32}}
  %x = ptx.undef : !ptx.reg<s32>
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{expected at least one register, got 0}}
  %x = ptx.undef : !ptx.reg<b32 x 0>
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.const' expected a constant of one register, got 65536 for !ptx.reg<b16>}}
  %x = ptx.const 65536 : !ptx.reg<b16>
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.const' expected a constant of one register, got -2147483649 for !ptx.reg<b32>}}
  %x = ptx.const -2147483649 : !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.const' expected a constant of one register, got 0 for !ptx.reg<b32 x 2>}}
  %x = ptx.const 0 : !ptx.reg<b32 x 2>
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.sreg' expected one of tid.x, tid.y, tid.z, ntid.x}}
  %x = ptx.sreg "warpsize"
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.shared_address' expected an offset of 32 bits from 0 on, got -4}}
  %x = ptx.shared_address -4
  ptx.ret
}

// -----

ptx.entry @f(%p: u64) {
  // expected-error @+1 {{'ptx.mov' expected single registers of one width, got !ptx.reg<b64> and !ptx.reg<b32>}}
  %x = ptx.mov %p : !ptx.reg<b64> -> !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f() {
  %x = ptx.undef : !ptx.reg<b32 x 2>
  // expected-error @+1 {{'ptx.mov' expected single registers of one width, got !ptx.reg<b32 x 2> and !ptx.reg<b32 x 2>}}
  %y = ptx.mov %x : !ptx.reg<b32 x 2> -> !ptx.reg<b32 x 2>
  ptx.ret
}

// -----

ptx.entry @f(%n: u32) {
  // expected-error @+1 {{operand is used with type !ptx.reg<b16>, but has been previously used or defined with type}}
  %x = ptx.pack b32 %n, %n
  ptx.ret
}

// -----

ptx.entry @f(%p: u64) {
  // expected-error @+1 {{operand is used with type !ptx.reg<b32>, but has been previously used or defined with type}}
  %x = ptx.unpack %p
  ptx.ret
}

// -----

ptx.entry @f(%n: u32) {
  // expected-error @+1 {{'ptx.list.make' expected 3 registers, got 2}}
  %x = ptx.list.make %n, %n : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32 x 3>
  ptx.ret
}

// -----

ptx.entry @f(%n: u32, %x: f32) {
  // expected-error @+1 {{'ptx.list.make' expected registers b32, got !ptx.reg<b32>, !ptx.reg<f32>}}
  %l = ptx.list.make %n, %x : !ptx.reg<b32>, !ptx.reg<f32> -> !ptx.reg<b32 x 2>
  ptx.ret
}

// -----

ptx.entry @f(%n: u32) {
  // expected-error @+1 {{'ptx.list.get' expected a position below 1, got 1}}
  %x = ptx.list.get %n[1] : !ptx.reg<b32> -> !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%n: u32) {
  // expected-error @+1 {{'ptx.list.get' expected 1 to 1 registers, got 2}}
  %x, %y = ptx.list.get %n[0] : !ptx.reg<b32> -> !ptx.reg<b32>, !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%n: u32) {
  // expected-error @+1 {{'ptx.list.get' expected a position below 1, got -1}}
  %x = ptx.list.get %n[-1] : !ptx.reg<b32> -> !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%n: u32) {
  // expected-error @+1 {{'ptx.list.get' expected result !ptx.reg<b32>, got !ptx.reg<f32>}}
  %x = ptx.list.get %n[0] : !ptx.reg<b32> -> !ptx.reg<f32>
  ptx.ret
}

// -----

ptx.entry @f(%p: u64) {
  // expected-error @+1 {{'ptx.ld' expected a space of global, shared, shared::cluster, generic, local, const, param and a type of b8, b16, b32, b64, f32, f64, got heap.b32}}
  %x = ptx.ld "heap" "b32" %p, 0 : !ptx.reg<b64> -> !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%p: u64) {
  // expected-error @+1 {{'ptx.ld' expected a space of global, shared, shared::cluster, generic, local, const, param and a type of b8, b16, b32, b64, f32, f64, got global.u32}}
  %x = ptx.ld "global" "u32" %p, 0 : !ptx.reg<b64> -> !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%p: u64) {
  // expected-error @+1 {{'ptx.ld' expected a shared address in !ptx.reg<b32>, got !ptx.reg<b64>}}
  %x = ptx.ld "shared" "b32" %p, 0 : !ptx.reg<b64> -> !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%p: u32) {
  // expected-error @+1 {{'ptx.ld' expected a global address in !ptx.reg<b64>, got !ptx.reg<b32>}}
  %x = ptx.ld "global" "b32" %p, 0 : !ptx.reg<b32> -> !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%p: u64) {
  // expected-error @+1 {{'ptx.ld' expected 1 or 2 or 4 or 8 registers b32 for b32, got !ptx.reg<f32>}}
  %x = ptx.ld "global" "b32" %p, 0 : !ptx.reg<b64> -> !ptx.reg<f32>
  ptx.ret
}

// -----

ptx.entry @f(%p: u64) {
  // expected-error @+1 {{'ptx.ld' expected 1 or 2 or 4 or 8 registers b32 for b32, got !ptx.reg<b32 x 3>}}
  %x = ptx.ld "global" "b32" %p, 0 : !ptx.reg<b64> -> !ptx.reg<b32 x 3>
  ptx.ret
}

// -----

ptx.entry @f(%p: u64) {
  // expected-error @+1 {{'ptx.ld' expected 1 or 2 or 4 registers b64 for b64, got !ptx.reg<b64 x 8>}}
  %x = ptx.ld "global" "b64" %p, 0 : !ptx.reg<b64> -> !ptx.reg<b64 x 8>
  ptx.ret
}

// -----

ptx.entry @f(%p: u64, %v: f64) {
  // expected-error @+1 {{'ptx.st' expected a shared address in !ptx.reg<b32>, got !ptx.reg<b64>}}
  ptx.st "shared" "f64" %p, 0, %v : !ptx.reg<b64>, !ptx.reg<f64>
  ptx.ret
}

// -----

ptx.entry @f(%p: u64, %v: f64) {
  // expected-error @+1 {{'ptx.st' expected 1 or 2 or 4 registers f64 for f64, got !ptx.reg<b64>}}
  ptx.st "global" "f64" %p, 0, %p : !ptx.reg<b64>, !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f(%p: u64, %s: u32) {
  // expected-error @+1 {{'ptx.cp.async' expected cache ca with size 4, 8 or 16, or cg with 16, got cg with 8}}
  ptx.cp.async "cg" %s, %p, 8
  ptx.ret
}

// -----

ptx.entry @f(%p: u64, %s: u32) {
  // expected-error @+1 {{'ptx.cp.async' expected cache ca with size 4, 8 or 16, or cg with 16, got cv with 16}}
  ptx.cp.async "cv" %s, %p, 16
  ptx.ret
}

// -----

ptx.entry @f(%p: u64, %s: u32) {
  %n = ptx.const 17 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.cp.async' expected a source size of at most 16, got 17}}
  ptx.cp.async "cg" %s, %p, 16, %n
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.cp.async.wait_group' expected a count of groups, got -1; nearest legal: 0}}
  ptx.cp.async.wait_group -1
  ptx.ret
}

// In generic form the verifier says the same.

// -----

ptx.entry @f(%n: u32) {
  // expected-error @+1 {{'ptx.pack' expected two halves of a b16, b32 or b64 register, got !ptx.reg<b32>, !ptx.reg<b32> for !ptx.reg<b32>}}
  %x = "ptx.pack"(%n, %n) : (!ptx.reg<b32>, !ptx.reg<b32>) -> !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%n: u32) {
  // expected-error @+1 {{'ptx.unpack' expected the halves of a b32 register, got !ptx.reg<b16> of !ptx.reg<b32>}}
  %x = "ptx.unpack"(%n) : (!ptx.reg<b32>) -> !ptx.reg<b16>
  ptx.ret
}

// -----

ptx.entry @f() {
  // expected-error @+1 {{'ptx.sreg' result 'result' at position 0 does not verify}}
  %x = "ptx.sreg"() <{register = "tid.x"}> : () -> !ptx.reg<b64>
  ptx.ret
}

// -----

ptx.entry @f() shared 16 align 16 {
  // expected-error @+1 {{'ptx.shared_address' expected an offset of 32 bits from 0 on, got -1}}
  %x = "ptx.shared_address"() <{offset = -1 : i64}> : () -> !ptx.reg<b32>
  ptx.ret
}
