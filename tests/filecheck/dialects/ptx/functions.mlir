// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -t ptx | filecheck %s --check-prefix=PTX

// CHECK-LABEL: ptx.func @first ["bytes16_8 f64+0 b32+8"] -> ["b32"] linkage ".weak" local 24 align 8 {
// CHECK-NEXT:  ^{{.*}}(%x: !ptx.reg<f64>, %y: !ptx.reg<b32>):
// CHECK-NEXT:    ptx.ret %y : !ptx.reg<b32>
// PTX: .version 6.4
// PTX: .func (.param .b32 same_result0) same(.param .b32 same_0);
// PTX: .global .align 8 .u64 table[2] = {same, 0};
// PTX: .weak .func (.param .b32 first_result0) first(.param .align 8 .b8 first_0[16])
// PTX: ld.param.b32 [[y:%r1]], [first_0+8];
// PTX: st.param.b32 [first_result0+0], [[y]];
// PTX-NEXT: ret;
ptx.func @first ["bytes16_8 f64+0 b32+8"] -> ["b32"] linkage ".weak" local 24 align 8 {
^entry(%x: !ptx.reg<f64>, %y: !ptx.reg<b32>):
  ptx.ret %y : !ptx.reg<b32>
}

// CHECK-LABEL: ptx.func @stop [] -> [] linkage ".extern" noreturn {
// PTX: .extern .func stop() .noreturn;
ptx.func @stop [] -> [] linkage ".extern" noreturn {
}

// CHECK-LABEL: ptx.func @leave [] -> [] {
// CHECK-NEXT:    ptx.exit
// PTX: .func leave()
// PTX: exit;
ptx.func @leave [] -> [] {
  ptx.exit
}

// CHECK-LABEL: ptx.entry @k(%p: u64) {
// CHECK:         %b = ptx.call @first(%d, %a) uniform : (!ptx.reg<f64>, !ptx.reg<b32>) -> !ptx.reg<b32>
// CHECK:         ptx.call @stop() : () -> ()
// PTX: { .param .align 8 .b8 first_given0[16]; .param .b32 first_result0;
// PTX-NEXT: st.param.f64 [first_given0+0], [[d:.*]];
// PTX-NEXT: st.param.b32 [first_given0+8], [[a:.*]];
// PTX-NEXT: call.uni (first_result0), first, (first_given0);
// PTX-NEXT: ld.param.b32 [[b:.*]], [first_result0+0];
// PTX-NEXT: }
// PTX: {
// PTX-NEXT: call stop;
// PTX-NEXT: }
// PTX: call leave;
ptx.entry @k(%p: u64) {
  %a = ptx.ld "global" "b32" %p, 0 : !ptx.reg<b64> -> !ptx.reg<b32>
  %d = ptx.mov %p : !ptx.reg<b64> -> !ptx.reg<f64>
  %b = ptx.call @first(%d, %a) uniform : (!ptx.reg<f64>, !ptx.reg<b32>) -> !ptx.reg<b32>
  ptx.st "global" "b32" %p, 0, %b : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.call @stop() : () -> ()
  ptx.call @leave() : () -> ()
  ptx.ret
}

// The address of a function: its name in the text, a number where it runs.
// CHECK-LABEL: ptx.global @table align 8 dense<{{.*}}> : tensor<16xi8> {ptx.functions = {"0" = "same"}}
// CHECK-LABEL: ptx.func @same ["b32"] -> ["b32"] address 7 {
ptx.global @table align 8 dense<[7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<16xi8> {"ptx.functions" = {"0" = "same"}}
ptx.func @same ["b32"] -> ["b32"] address 7 {
^entry(%x: !ptx.reg<b32>):
  ptx.ret %x : !ptx.reg<b32>
}

// CHECK-LABEL: ptx.entry @indirect(%n: u32) {
// CHECK:         ptx.call indirect @same(%f, %n) : (!ptx.reg<b64>, !ptx.reg<b32>) -> !ptx.reg<b32>
// PTX-LABEL: .entry indirect(
// PTX: mov.b64 [[f:%rd.*]], same;
// PTX: called: .callprototype (.param .b32 _) _ (.param .b32 _);
// PTX: call (same_result0), [[f]], (same_given0), called;
ptx.entry @indirect(%n: u32) {
  %f = ptx.global_address "same"
  %x = ptx.call indirect @same(%f, %n) : (!ptx.reg<b64>, !ptx.reg<b32>) -> !ptx.reg<b32>
  ptx.ret
}
