// RUN: tilewright-opt %s | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | tilewright-opt | filecheck %s --check-prefix PTX
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx --print-op-generic | tilewright-opt | filecheck %s --check-prefix PTX

// Where kernel arguments come from is kept down to ptx.

// CHECK:      func.func @k(%a: memref<?xf16> {cute.from = #cute.argument<0, pointer>},
// CHECK-SAME: %rows: i32 {cute.from = #cute.argument<0, shape<1>>},
// CHECK-SAME: %step: i64 {cute.from = #cute.argument<0, stride<0>>},
// CHECK-SAME: %map: !cute_nvgpu.tma_descriptor<64x32xf16> {cute.from = #cute.argument<0, tensor_map<1, 0>, !cute_nvgpu.tma_descriptor<64x32xf16>>},
// CHECK-SAME: %n: i32 {cute.from = #cute.argument<1, value>}) attributes {gpu.kernel, cute.arguments = [index, i32]}

// PTX:      ptx.entry @k(%a: u64 {cute.from = #cute.argument<0, pointer>},
// PTX-SAME: %rows: u32 {cute.from = #cute.argument<0, shape<1>>},
// PTX-SAME: %step: u64 {cute.from = #cute.argument<0, stride<0>>},
// PTX-SAME: %map: tensormap {cute.from = #cute.argument<0, tensor_map<1, 0>, !cute_nvgpu.tma_descriptor<64x32xf16>>},
// PTX-SAME: %n: u32 {cute.from = #cute.argument<1, value>}) attributes {cute.arguments = [index, i32]} {
!map = !cute_nvgpu.tma_descriptor<64x32xf16>
func.func @k(
    %a: memref<?xf16> {cute.from = #cute.argument<0, pointer>},
    %rows: i32 {cute.from = #cute.argument<0, shape<1>>},
    %step: i64 {cute.from = #cute.argument<0, stride<0>>},
    %map: !map {cute.from = #cute.argument<0, tensor_map<1, 0>, !map>},
    %n: i32 {cute.from = #cute.argument<1, value>})
    attributes {gpu.kernel, cute.arguments = [index, i32]} {
  func.return
}
