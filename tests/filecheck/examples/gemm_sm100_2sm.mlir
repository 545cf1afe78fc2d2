// The example round-trips in both forms, and assembles without a warning and without spilling; as
// ptx, and for the other chips that have tensor memory, in gemm_sm100_mxf8.mlir.
// RUN: tilewright-opt %examples/gemm_sm100_2sm.mlir -o %t.custom
// RUN: tilewright-opt --print-op-generic %t.custom | tilewright-opt | diff %t.custom -
// RUN: tilewright-opt %t.custom -p 'cute-nvgpu-check-target{arch=sm_100a},cute-nvgpu-synthesize-layouts,cute-nvgpu-check-tmem,cute-nvgpu-check-hazards,convert-cute-nvgpu-to-ptx' -t ptx -o %t.ptx
// RUN: filecheck %s --input-file %t.ptx
// RUN: %ptxas sm_100a %t.ptx | filecheck %s --check-prefix PTXAS

// CHECK:      .version 8.6
// CHECK-NEXT: .target sm_100a
// CHECK:      .reqnctapercluster 2, 1, 1
// CHECK:      tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r{{[0-9]+}}], 256;
// CHECK:      barrier.cluster.wait.aligned;
// CHECK:      mbarrier.arrive.expect_tx.shared.b64 _, [%r{{[0-9]+}}], 32768;
// CHECK:      tcgen05.mma.cta_group::2.kind::f16 [%r[[D:[0-9]+]]], %rd{{[0-9]+}}, %rd{{[0-9]+}}, 0x10410010, %p{{[0-9]+}};
// CHECK:      tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r{{[0-9]+}}], %h{{[0-9]+}};
// CHECK:      mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r{{[0-9]+}}];
// CHECK:      tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r{{[0-9]+}}, 256;
// PTXAS-NOT: warning
// PTXAS:     gemm: {{[0-9]+}} registers, 0 bytes shared, 0 bytes spill stores, 0 bytes spill loads
