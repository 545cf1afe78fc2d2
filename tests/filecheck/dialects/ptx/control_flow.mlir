// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: ptx.entry @branches(%p: u64, %n: u32, %h: u16, %b: u8, %x: f32, %y: f64) shared 1024 align 256 reqntid(128, 1, 1) {
// CHECK-NEXT:    ptx.bra ^loop(%n, %x : !ptx.reg<b32>, !ptx.reg<f32>)
// CHECK-NEXT:  ^loop(%i: !ptx.reg<b32>, %sum: !ptx.reg<f32>):
// CHECK-NEXT:    %c = ptx.setp ne.u32 %i, %n
// CHECK-NEXT:    ptx.cond_bra %c, ^loop(%i, %sum : !ptx.reg<b32>, !ptx.reg<f32>), ^end {name = "x"}
// CHECK-NEXT:  ^end:
// CHECK-NEXT:    ptx.ret
ptx.entry @branches(%p: u64, %n: u32, %h: u16, %b: u8, %x: f32, %y: f64) shared 1024 align 256 reqntid(128, 1, 1) {
  ptx.bra ^loop(%n, %x : !ptx.reg<b32>, !ptx.reg<f32>)
^loop(%i: !ptx.reg<b32>, %sum: !ptx.reg<f32>):
  %c = ptx.setp ne.u32 %i, %n
  ptx.cond_bra %c, ^loop(%i, %sum : !ptx.reg<b32>, !ptx.reg<f32>), ^end {name = "x"}
^end:
  ptx.ret
}

// CHECK-LABEL: ptx.entry @together(%n: u32) {
// CHECK-NEXT:    %c = ptx.setp ne.u32 %n, %n
// CHECK-NEXT:    ptx.label
// CHECK-NEXT:    ptx.cond_bra %c uniform, ^first(%n : !ptx.reg<b32>), ^end
ptx.entry @together(%n: u32) {
  %c = ptx.setp ne.u32 %n, %n
  ptx.label
  ptx.cond_bra %c uniform, ^first(%n : !ptx.reg<b32>), ^end
^first(%m: !ptx.reg<b32>):
  ptx.bra ^end
^end:
  ptx.ret
}

// CHECK-LABEL: ptx.entry @empty() {
// CHECK-NEXT:    ptx.ret
ptx.entry @empty() {
  ptx.ret
}
