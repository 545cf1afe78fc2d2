// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p 'cute-nvgpu-select-atom{arch=sm_75}'
// RUN: not tilewright-opt %s --split-input-file -p 'cute-nvgpu-select-atom{arch=sm_76}' 2>&1 | filecheck %s
// CHECK: error: unknown target 'sm_76'; nearest legal: sm_87

func.func @bf16(%a: memref<16x16xbf16>, %b: memref<16x16xbf16>, %c: memref<16x16xbf16>) {
  // expected-error @+1 {{'linalg.matmul' expected element types (a, b, c, d) of a dense MMA on sm_75, got (bf16, bf16, bf16, bf16) (no target has them); nearest legal: (f16, f16, f16, f16)}}
  linalg.matmul ins(%a, %b : memref<16x16xbf16>, memref<16x16xbf16>) outs(%c : memref<16x16xbf16>)
  func.return
}

// -----

func.func @f64(%a: memref<16x16xf64>, %b: memref<16x16xf64>, %c: memref<16x16xf64>) {
  // expected-error @+1 {{got (f64, f64, f64, f64) (they require sm_80 or later); nearest legal: (f16, f16, f32, f32)}}
  linalg.matmul ins(%a, %b : memref<16x16xf64>, memref<16x16xf64>) outs(%c : memref<16x16xf64>)
  func.return
}

// -----

func.func @dynamic(%a: memref<16x?xf16>, %b: memref<?x16xf16>, %c: memref<16x16xf16>) {
  // expected-error @+1 {{'linalg.matmul' expected a tile with static extents, got memref<16x?xf16>, memref<?x16xf16>, memref<16x16xf16> (atoms cover a tile of known size)}}
  linalg.matmul ins(%a, %b : memref<16x?xf16>, memref<?x16xf16>) outs(%c : memref<16x16xf16>)
  func.return
}

// -----

func.func @empty(%a: memref<16x0xf16>, %b: memref<0x16xf16>, %c: memref<16x16xf16>) {
  // expected-error @+1 {{'linalg.matmul' expected a tile of one element or more, got 16x16x0; nearest legal: 16x16x1}}
  linalg.matmul ins(%a, %b : memref<16x0xf16>, memref<0x16xf16>) outs(%c : memref<16x16xf16>)
  func.return
}

// -----

func.func @element(%a: memref<16x16xi16>, %b: memref<16x16xi16>, %c: memref<16x16xi16>) {
  // expected-error @+1 {{'linalg.matmul' expected element types of f16, bf16, tf32, f32, f64, f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN, f4E2M1FN, i8, i4, i1, i32, got i16; nearest legal: i1}}
  linalg.matmul ins(%a, %b : memref<16x16xi16>, memref<16x16xi16>) outs(%c : memref<16x16xi16>)
  func.return
}

// -----

func.func @bits(%a: memref<64x256xi1>, %b: memref<256x48xi1>, %c: memref<64x48xi32>) {
  // expected-error @+1 {{'linalg.generic' expected bit operation xor on sm_75, got and (requires sm_80 or later); nearest legal: xor}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<64x256xi1>, memref<256x48xi1>) outs(%c : memref<64x48xi32>) {
  ^bb0(%x: i1, %y: i1, %z: i32):
    %0 = arith.extui %x : i1 to i32
    %1 = arith.extui %y : i1 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  func.return
}
