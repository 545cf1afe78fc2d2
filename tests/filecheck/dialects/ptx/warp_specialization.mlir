// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: ptx.entry @warps() {
// CHECK-NEXT:    %leader = ptx.elect.sync
// CHECK-NEXT:    ptx.setmaxnreg "dec" 24
// CHECK-NEXT:    ptx.setmaxnreg "inc" 256
ptx.entry @warps() {
  %leader = ptx.elect.sync
  ptx.setmaxnreg "dec" 24
  ptx.setmaxnreg "inc" 256
  ptx.ret
}
