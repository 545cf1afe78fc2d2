// The example round-trips in both forms and assembles as README says.
// RUN: tilewright-opt %examples/axpy.mlir -o %t.custom
// RUN: tilewright-opt --print-op-generic %t.custom | tilewright-opt | diff %t.custom -
// RUN: tilewright-opt %examples/axpy.mlir -p convert-cute-nvgpu-to-ptx -o %t.ptx.mlir
// RUN: tilewright-opt --print-op-generic %t.ptx.mlir | tilewright-opt | diff %t.ptx.mlir -
// RUN: tilewright-opt %t.ptx.mlir -t ptx -o %t.ptx
// RUN: filecheck %s --input-file %t.ptx
// RUN: %ptxas sm_75 %t.ptx

// CHECK:      .version 6.0
// CHECK-NEXT: .target sm_70
// CHECK-NEXT: .address_size 64
// CHECK:      .visible .entry axpy(
// CHECK:      ret;
