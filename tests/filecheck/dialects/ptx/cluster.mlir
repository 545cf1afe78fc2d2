// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: ptx.entry @f(%a: u32) cluster(2, 1, 1) {
// CHECK-NEXT:    %0 = ptx.cluster_ctarank
// CHECK-NEXT:    ptx.barrier.cluster.arrive
// CHECK-NEXT:    ptx.barrier.cluster.wait
// CHECK-NEXT:    %1 = ptx.mapa %a, %0
// CHECK-NEXT:    %2 = ptx.mapa.leader %1, -16777217
// CHECK-NEXT:    ptx.mbarrier.arrive.cluster %2, 8
ptx.entry @f(%a: u32) cluster(2, 1, 1) {
  %0 = ptx.cluster_ctarank
  ptx.barrier.cluster.arrive
  ptx.barrier.cluster.wait
  %1 = ptx.mapa %a, %0
  %2 = ptx.mapa.leader %1, -16777217
  ptx.mbarrier.arrive.cluster %2, 8
  ptx.ret
}

// CHECK-LABEL: ptx.entry @g() shared 64 align 16 reqntid(128, 1, 1) cluster(4, 2, 1) {
ptx.entry @g() shared 64 align 16 reqntid(128, 1, 1) cluster(4, 2, 1) {
  ptx.ret
}
