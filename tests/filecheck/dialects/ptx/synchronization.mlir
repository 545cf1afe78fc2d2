// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: ptx.entry @barriers() {
// CHECK-NEXT:    ptx.bar.sync 0
// CHECK-NEXT:    ptx.bar.sync 1, 64 {name = "x"}
// CHECK-NEXT:    ptx.bar.arrive 15, 1024
// CHECK-NEXT:    ptx.bar.warp.sync
// CHECK-NEXT:    ptx.fence "sc.sys"
// CHECK-NEXT:    ptx.ret
ptx.entry @barriers() {
  ptx.bar.sync 0
  ptx.bar.sync 1, 64 {name = "x"}
  ptx.bar.arrive 15, 1024
  ptx.bar.warp.sync
  ptx.fence "sc.sys"
  ptx.ret
}
