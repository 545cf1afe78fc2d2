// The example round-trips in both forms, passes the check, and assembles for Hopper.
// RUN: tilewright-opt %examples/wgmma_sm90.mlir -o %t.custom
// RUN: tilewright-opt --print-op-generic %t.custom | tilewright-opt | diff %t.custom -
// RUN: tilewright-opt %examples/wgmma_sm90.mlir -p cute-nvgpu-synthesize-layouts,cute-nvgpu-check-hazards,convert-cute-nvgpu-to-ptx -o %t.ptx.mlir
// RUN: tilewright-opt --print-op-generic %t.ptx.mlir | tilewright-opt | diff %t.ptx.mlir -
// RUN: tilewright-opt %t.ptx.mlir -t ptx -o %t.ptx
// RUN: filecheck %s --input-file %t.ptx
// RUN: %ptxas sm_90a %t.ptx

// Without its order it is refused, and can be put in order.
// RUN: grep -v -e 'wgmma\.' -e fence.proxy %examples/wgmma_sm90.mlir > %t.bare
// RUN: tilewright-opt %t.bare -p cute-nvgpu-insert-wgmma-sync,cute-nvgpu-check-hazards | filecheck %s --check-prefix ORDER

// CHECK:      .version 8.0
// CHECK-NEXT: .target sm_90a
// CHECK-NEXT: .address_size 64
// CHECK:      .visible .entry gemm(
// CHECK:      wgmma.fence.sync.aligned;
// CHECK:      wgmma.wait_group.sync.aligned 0;
// CHECK:      fence.proxy.async.shared::cta;
// CHECK:      bar.sync 0;
// CHECK:      wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK-NOT:  mov.f32
// CHECK:      wgmma.commit_group.sync.aligned;
// CHECK:      wgmma.wait_group.sync.aligned 0;
// CHECK:      ret;

// ORDER:      cute_nvgpu.wgmma.fence
// ORDER-NEXT: scf.for
// ORDER-NEXT: cute_nvgpu.wgmma.wait_group 0
// ORDER-NEXT: scf.for
// ORDER-NOT:  wgmma
// ORDER:      cute_nvgpu.fence.proxy.async
// ORDER-NEXT: gpu.barrier
// ORDER-NEXT: cute_nvgpu.sm90.mma
// ORDER-NEXT: cute_nvgpu.sm90.mma
// ORDER-NEXT: cute_nvgpu.sm90.mma
// ORDER-NEXT: cute_nvgpu.sm90.mma
// ORDER-NEXT: cute_nvgpu.wgmma.commit_group
// ORDER-NEXT: scf.yield
// ORDER:      cute_nvgpu.wgmma.wait_group 0
// ORDER-NEXT: cute_nvgpu.fragment.extract
