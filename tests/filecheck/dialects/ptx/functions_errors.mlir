// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'ptx.func' expected a name that PTX takes, got 'a-b'; nearest legal: 'a_b'}}
ptx.func @"a-b" [] -> [] {
}

// -----

// expected-error @+1 {{'ptx.func' expected variables of b8, b16, b32, b64, f32, f64 or as bytes16_8 f64+0 b32+8, got s32}}
ptx.func @f ["s32"] -> [] {
}

// -----

// expected-error @+1 {{'ptx.func' expected .visible, .weak or .extern, got .common}}
ptx.func @f [] -> [] linkage ".common" {
}

// -----

// expected-error @+1 {{'ptx.func' expected an entry block with one register a value that is passed}}
ptx.func @f ["b32"] -> [] {
^entry(%x: !ptx.reg<b64>):
  ptx.ret
}

// -----

ptx.func @f [] -> ["b32"] {
  // expected-error @+1 {{'ptx.ret' expected registers (!ptx.reg<b32>), got ()}}
  ptx.ret
}

// -----

ptx.entry @k(%n: u32) {
  // expected-error @+1 {{'ptx.ret' expected registers (), got (!ptx.reg<b32>)}}
  ptx.ret %n : !ptx.reg<b32>
}

// -----

ptx.entry @k() {
  // expected-error @+1 {{'ptx.call' expected a ptx.func of the module, got @f}}
  ptx.call @f() : () -> ()
  ptx.ret
}

// -----

ptx.func @f ["b32"] -> [] linkage ".extern" {
}

ptx.entry @k() {
  // expected-error @+1 {{'ptx.call' expected registers (!ptx.reg<b32>) of @f, got ()}}
  ptx.call @f() : () -> ()
  ptx.ret
}
