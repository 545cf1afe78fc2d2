// The example round-trips in both forms, also with its layouts filled in and as ptx, and assembles
// without a warning and without spilling for every chip that has tensor memory.
// RUN: tilewright-opt %examples/gemm_sm100_2sm.mlir -o %t.custom
// RUN: tilewright-opt --print-op-generic %t.custom | tilewright-opt | diff %t.custom -
// RUN: tilewright-opt %t.custom -p 'cute-nvgpu-check-target{arch=sm_100a},cute-nvgpu-synthesize-layouts,cute-nvgpu-check-tmem,cute-nvgpu-check-hazards' -o %t.filled
// RUN: tilewright-opt --print-op-generic %t.filled | tilewright-opt | diff %t.filled -
// RUN: tilewright-opt %t.filled -p convert-cute-nvgpu-to-ptx -o %t.ptx.mlir
// RUN: tilewright-opt --print-op-generic %t.ptx.mlir | tilewright-opt | diff %t.ptx.mlir -
// RUN: tilewright-opt %t.ptx.mlir -t ptx -o %t.ptx
// RUN: filecheck %s --input-file %t.ptx
// RUN: %ptxas sm_100a %t.ptx | filecheck %s --check-prefix PTXAS
// RUN: tilewright-opt %t.ptx.mlir -t 'ptx{arch=sm_103a}' | %ptxas sm_103a | filecheck %s --check-prefix PTXAS
// RUN: tilewright-opt %t.ptx.mlir -t 'ptx{arch=sm_110a}' | %ptxas sm_110a | filecheck %s --check-prefix PTXAS

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
