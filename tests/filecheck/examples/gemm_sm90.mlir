// The example round-trips in both forms, also with its layouts filled in and as ptx, and assembles
// without a warning and without spilling; the accumulators stay where they are through the K loop.
// RUN: tilewright-opt %examples/gemm_sm90.mlir -o %t.custom
// RUN: tilewright-opt --print-op-generic %t.custom | tilewright-opt | diff %t.custom -
// RUN: tilewright-opt %t.custom -p 'cute-nvgpu-check-target{arch=sm_90a},cute-nvgpu-synthesize-layouts' -o %t.filled
// RUN: tilewright-opt --print-op-generic %t.filled | tilewright-opt | diff %t.filled -
// RUN: tilewright-opt %t.filled -p convert-cute-nvgpu-to-ptx -o %t.ptx.mlir
// RUN: tilewright-opt --print-op-generic %t.ptx.mlir | tilewright-opt | diff %t.ptx.mlir -
// RUN: tilewright-opt %t.ptx.mlir -t ptx -o %t.ptx
// RUN: filecheck %s --input-file %t.ptx
// RUN: %ptxas sm_90a %t.ptx | filecheck %s --check-prefix PTXAS

// CHECK:      .version 8.0
// CHECK-NEXT: .target sm_90a
// CHECK:      setmaxnreg.dec.sync.aligned.u32 40;
// CHECK:      mbarrier.arrive.expect_tx.shared.b64 _, [%r{{[0-9]+}}], 49152;
// CHECK:      setmaxnreg.inc.sync.aligned.u32 232;
// CHECK:      $for{{[0-9]+}}_body:
// CHECK-NOT:  mov.f32
// CHECK:      wgmma.fence.sync.aligned;
// CHECK-NOT:  mov.f32
// CHECK:      wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// CHECK-NOT:  mov.f32
// CHECK:      wgmma.wait_group.sync.aligned 0;
// CHECK-NOT:  mov.f32
// CHECK:      $for{{[0-9]+}}_end:
// PTXAS-NOT: warning
// PTXAS-NOT: C75
// PTXAS:     gemm: 168 registers, 0 bytes shared, 0 bytes spill stores, 0 bytes spill loads
