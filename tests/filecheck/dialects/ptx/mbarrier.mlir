// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: ptx.entry @mbarriers(%a: u32, %p: u32) {
// CHECK-NEXT:    ptx.mbarrier.init %a, 0, 1
// CHECK-NEXT:    ptx.fence.mbarrier_init
// CHECK-NEXT:    ptx.mbarrier.arrive %a, 8
// CHECK-NEXT:    ptx.mbarrier.arrive %a, 8, 2
// CHECK-NEXT:    ptx.mbarrier.arrive.expect_tx %a, 0, 1024
// CHECK-NEXT:    ptx.mbarrier.try_wait.parity %a, -8, %p
// CHECK-NEXT:    ptx.mbarrier.try_wait.parity %a, -8, %p cluster
// CHECK-NEXT:    ptx.mbarrier.inval %a, 0
ptx.entry @mbarriers(%a: u32, %p: u32) {
  ptx.mbarrier.init %a, 0, 1
  ptx.fence.mbarrier_init
  ptx.mbarrier.arrive %a, 8
  ptx.mbarrier.arrive %a, 8, 2
  ptx.mbarrier.arrive.expect_tx %a, 0, 1024
  ptx.mbarrier.try_wait.parity %a, -8, %p
  ptx.mbarrier.try_wait.parity %a, -8, %p cluster
  ptx.mbarrier.inval %a, 0
  ptx.ret
}
