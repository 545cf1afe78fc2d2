// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a parameter type of u8, u16, u32, f32, u64, f64, tensormap, got s32}}
ptx.entry @f(%n: s32) {
  ptx.ret
}

// -----

// expected-error @+1 {{'ptx.entry' expected a name that PTX takes, under which the driver finds the kernel, got 'a-b'; nearest legal: 'a_b'}}
ptx.entry @"a-b"() {
  ptx.ret
}

// -----

// expected-error @+1 {{'ptx.entry' expected shared memory aligned to a power of two of 31 bits, got 64 bytes aligned to 48}}
ptx.entry @f() shared 64 align 48 {
  ptx.ret
}

// -----

// expected-error @+1 {{'ptx.entry' expected shared memory aligned to a power of two of 31 bits, got -64 bytes aligned to 16}}
ptx.entry @f() shared -64 align 16 {
  ptx.ret
}

// -----

// expected-error @+1 {{'ptx.entry' expected a block of positive extents, got 32x0x1}}
ptx.entry @f() reqntid(32, 0, 1) {
  ptx.ret
}

// -----

// expected-error @+1 {{'ptx.entry' expected a block of three extents, got 1x1x1x1; nearest legal: 1x1x1}}
ptx.entry @f() reqntid(1, 1, 1, 1) {
  ptx.ret
}

// -----

// expected-error @+1 {{'ptx.entry' expected parameter types of u8, u16, u32, f32, u64, f64, tensormap, got s64}}
"ptx.entry"() <{sym_name = "f", parameters = ["s64"], parameter_names = ["p"], shared = 0 : i64, align = 16 : i64}> ({^bb0(%p: !ptx.reg<b64>): "ptx.ret"() : () -> ()}) : () -> ()

// -----

// expected-error @+1 {{'ptx.entry' expected 1 parameter names, got 0}}
"ptx.entry"() <{sym_name = "f", parameters = ["u64"], parameter_names = [], shared = 0 : i64, align = 16 : i64}> ({^bb0(%p: !ptx.reg<b64>): "ptx.ret"() : () -> ()}) : () -> ()

// -----

// expected-error @+1 {{'ptx.entry' expected an entry block with one register a parameter}}
"ptx.entry"() <{sym_name = "f", parameters = ["u32"], parameter_names = ["p"], shared = 0 : i64, align = 16 : i64}> ({^bb0(%p: !ptx.reg<b64>): "ptx.ret"() : () -> ()}) : () -> ()

// -----

// expected-error @+1 {{'ptx.entry' expected an entry block with one register a parameter}}
"ptx.entry"() <{sym_name = "f", parameters = ["u64"], parameter_names = ["p"], shared = 0 : i64, align = 16 : i64}> ({}) : () -> ()

// -----

// expected-error @+1 {{'ptx.entry' expected instructions in the entry block}}
"ptx.entry"() <{sym_name = "f", parameters = ["u64"], parameter_names = ["p"], shared = 0 : i64, align = 16 : i64}> ({^bb0(%p: !ptx.reg<b64>): ^bb1: "ptx.ret"() : () -> ()}) : () -> ()

// -----

ptx.entry @f(%n: u32) {
  // expected-error @+1 {{'ptx.bra' expected arguments (!ptx.reg<f32>) for its block, got (!ptx.reg<b32>)}}
  ptx.bra ^next(%n : !ptx.reg<b32>)
^next(%x: !ptx.reg<f32>):
  ptx.ret
}

// -----

ptx.entry @f(%n: u32) {
  %p = ptx.setp ne.u32 %n, %n
  // expected-error @+1 {{'ptx.cond_bra' expected arguments () for its block, got (!ptx.reg<b32>)}}
  ptx.cond_bra %p, ^next(%n : !ptx.reg<b32>), ^next
^next:
  ptx.ret
}

// -----

ptx.entry @f(%n: u32) {
  %p = ptx.setp ne.u32 %n, %n
  // expected-error @+1 {{'ptx.cond_bra' expected arguments (!ptx.reg<b32>) for its block, got ()}}
  ptx.cond_bra %p, ^next(%n : !ptx.reg<b32>), ^next
^next(%x: !ptx.reg<b32>):
  ptx.ret
}

// -----

ptx.entry @f(%n: u32) {
  // expected-error @+1 {{operand is used with type !ptx.reg<pred>, but has been previously used or defined with type}}
  ptx.cond_bra %n, ^next, ^next
^next:
  ptx.ret
}

// -----

func.func @f() {
  // expected-error @+1 {{'ptx.ret' expects parent op to be one of 'ptx.entry', 'ptx.func'}}
  ptx.ret
}

// -----

// expected-error @+1 {{'ptx.entry' expected attributes of 1 parameters, got 2}}
"ptx.entry"() <{sym_name = "f", parameters = ["u64"], parameter_names = ["x"], shared = 0 : i64, align = 16 : i64, arg_attrs = [{}, {}]}> ({
^bb0(%x: !ptx.reg<b64>):
  ptx.ret
}) : () -> ()
