// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: ptx.entry @values(%p: u64) {
// CHECK-NEXT:    %c = ptx.const 16 {name = "x"} : !ptx.reg<b32>
// CHECK-NEXT:    %negative = ptx.const -1 : !ptx.reg<b64>
// CHECK-NEXT:    %float = ptx.const 1065353216 : !ptx.reg<f32>
// CHECK-NEXT:    %undef = ptx.undef : !ptx.reg<b32 x 4>
// CHECK-NEXT:    %tid = ptx.sreg "tid.x" {name = "x"}
// CHECK-NEXT:    %shared = ptx.shared_address 256 {name = "x"}
// CHECK-NEXT:    %moved = ptx.mov %float : !ptx.reg<f32> -> !ptx.reg<b32>
// CHECK-NEXT:    %halves = ptx.unpack %moved {name = "x"}
// CHECK-NEXT:    %low, %upper = ptx.list.get %halves[0] : !ptx.reg<b16 x 2> -> !ptx.reg<b16>, !ptx.reg<b16>
// CHECK-NEXT:    %high = ptx.list.get %halves[1] {name = "x"} : !ptx.reg<b16 x 2> -> !ptx.reg<b16>
// CHECK-NEXT:    %packed = ptx.pack b32 %high, %low {name = "x"}
// CHECK-NEXT:    %list = ptx.list.make %packed, %c, %undef : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32 x 4> -> !ptx.reg<b32 x 6>
// CHECK-NEXT:    ptx.ret
ptx.entry @values(%p: u64) {
  %c = ptx.const 16 {name = "x"} : !ptx.reg<b32>
  %negative = ptx.const -1 : !ptx.reg<b64>
  %float = ptx.const 1065353216 : !ptx.reg<f32>
  %undef = ptx.undef : !ptx.reg<b32 x 4>
  %tid = ptx.sreg "tid.x" {name = "x"}
  %shared = ptx.shared_address 256 {name = "x"}
  %moved = ptx.mov %float : !ptx.reg<f32> -> !ptx.reg<b32>
  %halves = ptx.unpack %moved {name = "x"}
  %low, %upper = ptx.list.get %halves[0] : !ptx.reg<b16 x 2> -> !ptx.reg<b16>, !ptx.reg<b16>
  %high = ptx.list.get %halves[1] {name = "x"} : !ptx.reg<b16 x 2> -> !ptx.reg<b16>
  %packed = ptx.pack b32 %high, %low {name = "x"}
  %list = ptx.list.make %packed, %c, %undef : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32 x 4> -> !ptx.reg<b32 x 6>
  ptx.ret
}

// CHECK-LABEL: ptx.entry @memory(%p: u64) shared 4096 align 128 {
// CHECK-NEXT:    %global = ptx.cvta to.global.u64 %p
// CHECK-NEXT:    %x = ptx.ld "global" "f32" %global, 16 : !ptx.reg<b64> -> !ptx.reg<f32>
// CHECK-NEXT:    %four = ptx.ld "global" "b32" %global, -16 {name = "x"} : !ptx.reg<b64> -> !ptx.reg<b32 x 4>
// CHECK-NEXT:    %s = ptx.shared_address 0
// CHECK-NEXT:    ptx.st "shared" "b32" %s, 0, %four : !ptx.reg<b32>, !ptx.reg<b32 x 4>
// CHECK-NEXT:    ptx.st "global" "f32" %global, 4, %x {name = "x"} : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.cp.async "cg" %s, %global, 16
// CHECK-NEXT:    %n = ptx.const 4 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.cp.async "ca" %s, %global, 8, %n {name = "x"}
// CHECK-NEXT:    ptx.cp.async.commit_group
// CHECK-NEXT:    ptx.cp.async.wait_group 0
// CHECK-NEXT:    ptx.ret
ptx.entry @memory(%p: u64) shared 4096 align 128 {
  %global = ptx.cvta to.global.u64 %p
  %x = ptx.ld "global" "f32" %global, 16 : !ptx.reg<b64> -> !ptx.reg<f32>
  %four = ptx.ld "global" "b32" %global, -16 {name = "x"} : !ptx.reg<b64> -> !ptx.reg<b32 x 4>
  %s = ptx.shared_address 0
  ptx.st "shared" "b32" %s, 0, %four : !ptx.reg<b32>, !ptx.reg<b32 x 4>
  ptx.st "global" "f32" %global, 4, %x {name = "x"} : !ptx.reg<b64>, !ptx.reg<f32>
  ptx.cp.async "cg" %s, %global, 16
  %n = ptx.const 4 : !ptx.reg<b32>
  ptx.cp.async "ca" %s, %global, 8, %n {name = "x"}
  ptx.cp.async.commit_group
  ptx.cp.async.wait_group 0
  ptx.ret
}
