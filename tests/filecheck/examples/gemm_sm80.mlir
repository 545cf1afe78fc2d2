// The example round-trips in both forms, also with its layouts filled in and as ptx, and assembles
// without spilling.
// RUN: tilewright-opt %examples/gemm_sm80.mlir -o %t.custom
// RUN: tilewright-opt --print-op-generic %t.custom | tilewright-opt | diff %t.custom -
// RUN: tilewright-opt %t.custom -p 'cute-nvgpu-check-target{arch=sm_80},cute-nvgpu-synthesize-layouts' -o %t.filled
// RUN: tilewright-opt --print-op-generic %t.filled | tilewright-opt | diff %t.filled -
// RUN: tilewright-opt %t.filled -p convert-cute-nvgpu-to-ptx -o %t.ptx.mlir
// RUN: tilewright-opt --print-op-generic %t.ptx.mlir | tilewright-opt | diff %t.ptx.mlir -
// RUN: tilewright-opt %t.ptx.mlir -t ptx -o %t.ptx
// RUN: filecheck %s --input-file %t.ptx
// RUN: %ptxas sm_80 %t.ptx | filecheck %s --check-prefix PTXAS
// RUN: %ptxas sm_86 %t.ptx
// RUN: %ptxas sm_89 %t.ptx
// RUN: %ptxas sm_90a %t.ptx
// RUN: %ptxas sm_100a %t.ptx
// RUN: %ptxas sm_120a %t.ptx

// CHECK:      .version 7.0
// CHECK-NEXT: .target sm_80
// CHECK:      .shared .align 1024 .b8 gemm_shared[24576];
// CHECK:      .reqntid 128, 1, 1
// CHECK:      $for2:
// The accumulators stay in place: no move in the K loop but for the stage counters.
// CHECK-NOT:  mov.f32
// CHECK:      $for2_end:

// PTXAS: gemm: {{[0-9]+}} registers, 24576 bytes shared, 0 bytes spill stores, 0 bytes spill loads
