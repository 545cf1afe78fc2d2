// RUN: tilewright-opt %s -p 'cute-nvgpu-select-atom{arch=sm_80 families=mma}' | filecheck %s
// RUN: tilewright-opt %s -p 'cute-nvgpu-select-atom{arch=sm_80 families=mma}' | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p 'cute-nvgpu-select-atom{arch=sm_80 families=mma explain=true}' | filecheck %s --check-prefix EXPLAIN
// RUN: tilewright-opt %s -p 'cute-nvgpu-select-atom{arch=sm_90a}' | tilewright-opt | filecheck %s --check-prefix HOPPER
// RUN: tilewright-opt %s -p 'cute-nvgpu-select-atom{arch=sm_100a families=tcgen05,wmma}' | tilewright-opt | filecheck %s --check-prefix BLACKWELL

// The larger K first; the atom of sm_70, which sm_80 emulates, last.
// CHECK-LABEL: func.func @matmul
// CHECK-NEXT:    linalg.matmul {cute_nvgpu.atoms = [!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f16)>, !cute_nvgpu.sm80.mma<16x8x8, elem_type = (f16, f16, f16)>, !cute_nvgpu.sm70.mma<8x8x4, elem_type = (f16, f16, f16), layouts = (row, col)>]} ins
// EXPLAIN-LABEL: func.func @matmul
// EXPLAIN:       cute_nvgpu.reasons = ["fewer instructions than 16x8x8: 48, not 96", "more instructions than 16x8x16: 96, not 48", "more emulated than 16x8x8: a subroutine of shuffles and scalar f32 arithmetic, not one machine instruction"]
// Of all instructions that of a warpgroup is first where the tile is large enough.
// HOPPER-LABEL: func.func @matmul
// HOPPER:        cute_nvgpu.atoms = [!cute_nvgpu.sm90.mma<64x48x16, elem_type = (f16, f16, f16), ab_major = (k, k), frag_kind = ss>, !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f16)>
// BLACKWELL-LABEL: func.func @matmul
// BLACKWELL:        cute_nvgpu.atoms = [!cute_nvgpu.sm100.mma<64x48x16, elem_type = (f16, f16, f16), ab_major = (k, k), frag_kind = ss>
// BLACKWELL-SAME:   !cute_nvgpu.wmma.mma<16x16x16, elem_type = (f16, f16, f16), layouts = (row, col)>
func.func @matmul(%a: tensor<64x32xf16>, %b: tensor<32x48xf16>, %c: tensor<64x48xf16>) -> tensor<64x48xf16> {
  %d = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>) outs(%c : tensor<64x48xf16>) -> tensor<64x48xf16>
  func.return %d : tensor<64x48xf16>
}

// CHECK-LABEL: func.func @matmul_memref
// CHECK-NEXT:    linalg.matmul {cute_nvgpu.atoms = [!cute_nvgpu.sm80.mma<8x8x4, elem_type = (f64, f64, f64)>]} ins
// EXPLAIN-LABEL: func.func @matmul_memref
// EXPLAIN:       cute_nvgpu.reasons = ["the only legal atom"]
func.func @matmul_memref(%a: memref<8x4xf64>, %b: memref<4x8xf64>, %c: memref<8x8xf64>) {
  linalg.matmul ins(%a, %b : memref<8x4xf64>, memref<4x8xf64>) outs(%c : memref<8x8xf64>)
  func.return
}

// A K of 8 has no room for the larger atom.
// CHECK-LABEL: func.func @extended_floats
// CHECK:         cute_nvgpu.atoms = [!cute_nvgpu.sm80.mma<16x8x8, elem_type = (bf16, bf16, f32)>, !cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32)>]
// EXPLAIN-LABEL: func.func @extended_floats
// EXPLAIN:       cute_nvgpu.reasons = ["fewer multiply-adds, padding included, than 16x8x16: 1024, not 2048", "more multiply-adds, padding included, than 16x8x8: 2048, not 1024"]
func.func @extended_floats(%a: memref<16x8xbf16>, %b: memref<8x8xbf16>, %c: memref<16x8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<16x8xbf16>, memref<8x8xbf16>) outs(%c : memref<16x8xf32>) {
  ^bb0(%x: bf16, %y: bf16, %z: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %2, %z : f32
    linalg.yield %3 : f32
  }
  func.return
}

// The body says which factor is unsigned, whatever the order of loops, dimensions and terms.
// CHECK-LABEL: func.func @mixed_signs
// CHECK:         cute_nvgpu.atoms = [!cute_nvgpu.sm80.mma<16x8x32, elem_type = (si8, ui8, i32)>, !cute_nvgpu.sm80.mma<16x8x16, elem_type = (si8, ui8, i32)>, !cute_nvgpu.sm80.mma<8x8x16, elem_type = (si8, ui8, i32)>]
// EXPLAIN-LABEL: func.func @mixed_signs
// EXPLAIN:       cute_nvgpu.reasons = ["fewer instructions than 16x8x16: 24, not 48"
func.func @mixed_signs(%a: memref<32x64xi8>, %b: memref<48x32xi8>, %c: memref<48x64xi32>) {
  linalg.generic {indexing_maps = [affine_map<(k, m, n) -> (k, m)>, affine_map<(k, m, n) -> (n, k)>, affine_map<(k, m, n) -> (n, m)>], iterator_types = ["reduction", "parallel", "parallel"]} ins(%a, %b : memref<32x64xi8>, memref<48x32xi8>) outs(%c : memref<48x64xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.extui %y : i8 to i32
    %2 = arith.muli %1, %0 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  func.return
}

// A product of single bits is their conjunction.
// CHECK-LABEL: func.func @bits
// CHECK:         cute_nvgpu.atoms = [!cute_nvgpu.sm80.mma<16x8x256, elem_type = (ui1, ui1, i32), bit_op = and>, !cute_nvgpu.sm80.mma<16x8x128, elem_type = (ui1, ui1, i32), bit_op = and>, !cute_nvgpu.sm80.mma<8x8x128, elem_type = (ui1, ui1, i32), bit_op = and>]
func.func @bits(%a: memref<64x256xi1>, %b: memref<256x48xi1>, %c: memref<64x48xi32>) {
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

// No contractions: a sum of elements, a difference of products, a squared A, a factor that is both
// signed and not, a reduction of one operand.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     cute_nvgpu
// EXPLAIN-LABEL: func.func @others
// EXPLAIN-NOT:   cute_nvgpu
func.func @others(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf16>, %i: memref<16x16xi8>, %j: memref<16x16xi32>) {
  linalg.add ins(%a, %b : memref<16x16xf16>, memref<16x16xf16>) outs(%c : memref<16x16xf16>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<16x16xf16>) outs(%c : memref<16x16xf16>) {
  ^bb0(%x: f16, %z: f16):
    %0 = arith.addf %x, %z : f16
    linalg.yield %0 : f16
  }
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<16x16xf16>, memref<16x16xf16>) outs(%c : memref<16x16xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %0 = arith.mulf %x, %y : f16
    %1 = arith.subf %z, %0 : f16
    linalg.yield %1 : f16
  }
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<16x16xf16>, memref<16x16xf16>) outs(%c : memref<16x16xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %0 = arith.mulf %x, %x : f16
    %1 = arith.addf %z, %0 : f16
    linalg.yield %1 : f16
  }
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%i, %i : memref<16x16xi8>, memref<16x16xi8>) outs(%j : memref<16x16xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i16
    %1 = arith.extsi %0 : i16 to i32
    %2 = arith.extsi %y : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %z, %3 : i32
    linalg.yield %4 : i32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (n, m)>, affine_map<(m, n, k) -> (m, k)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<16x16xf16>, memref<16x16xf16>) outs(%c : memref<16x16xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %0 = arith.mulf %x, %y : f16
    %1 = arith.addf %z, %0 : f16
    linalg.yield %1 : f16
  }
  func.return
}
