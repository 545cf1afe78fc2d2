// The example round-trips in both forms and assembles for every generation.
// RUN: tilewright-opt %examples/gemm_wmma.mlir -o %t.custom
// RUN: tilewright-opt --print-op-generic %t.custom | tilewright-opt | diff %t.custom -
// RUN: tilewright-opt %examples/gemm_wmma.mlir -p cute-nvgpu-synthesize-layouts,convert-cute-nvgpu-to-ptx -o %t.ptx.mlir
// RUN: tilewright-opt --print-op-generic %t.ptx.mlir | tilewright-opt | diff %t.ptx.mlir -
// RUN: tilewright-opt %t.ptx.mlir -t ptx -o %t.ptx
// RUN: filecheck %s --input-file %t.ptx
// RUN: %ptxas sm_75 %t.ptx
// RUN: %ptxas sm_80 %t.ptx
// RUN: %ptxas sm_89 %t.ptx
// RUN: %ptxas sm_90a %t.ptx
// RUN: %ptxas sm_100a %t.ptx
// RUN: %ptxas sm_120a %t.ptx

// CHECK:      .version 6.3
// CHECK-NEXT: .target sm_70
// CHECK-NEXT: .address_size 64
// CHECK:      .visible .entry gemm(
// CHECK:      wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {{.*}}, 80;
// CHECK:      wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 {{.*}}, 80;
// CHECK:      wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32
// CHECK:      wmma.store.d.sync.aligned.row.m16n16k16.global.f32 {{.*}}, 64;
// CHECK:      ret;
