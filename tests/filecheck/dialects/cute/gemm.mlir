// RUN: tilewright-opt %s | tilewright-opt | filecheck %s
// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | filecheck %s

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32;32;16]">
!wgmma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "(2,1,1):(1,0,0)">
!a = !cute.memref<f16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">
!b = !cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">
!c = !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">

// CHECK-LABEL: func.func @registers
func.func @registers(%mma: !mma, %a: !a, %b: !b, %c: !c, %d: !c, %flag: i1, %k: !cute.coord<"(_,_,1)">) {
  // CHECK-NEXT: cute.gemm(%mma, %c, %a, %b, %c) : !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">, !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">, !cute.memref<f16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">, !cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">, !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
  cute.gemm(%mma, %c, %a, %b, %c)
  // CHECK-NEXT: cute.gemm(%mma, %d, %a, %b, %c) accumulate %flag : !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">, !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">, !cute.memref<f16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">, !cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">, !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
  cute.gemm(%mma, %d, %a, %b, %c) accumulate %flag
  // CHECK-NEXT: %a1 = cute.slice(%a, %k) : !cute.memref<f16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">, !cute.coord<"(_,_,1)">
  %a1 = cute.slice(%a, %k)
  // CHECK-NEXT: %b1 = cute.slice(%b, %k) : !cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">, !cute.coord<"(_,_,1)">
  %b1 = cute.slice(%b, %k)
  // CHECK-NEXT: cute.gemm(%mma, %c, %a1, %b1, %c) : !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">, !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">, !cute.memref<f16, rmem, "((2,2,2),4):((1,2,4),8)">, !cute.memref<f16, rmem, "((2,2),8):((1,2),4)">, !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
  cute.gemm(%mma, %c, %a1, %b1, %c) : !mma, !c, !cute.memref<f16, rmem, "((2,2,2),4):((1,2,4),8)">, !cute.memref<f16, rmem, "((2,2),8):((1,2),4)">, !c
  func.return
}

// CHECK-LABEL: func.func @shared
func.func @shared(%mma: !wgmma, %a: !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=4096} o ((64,16),1,4):((64,1),8192,16)">, %b: !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=8192} o ((128,16),1,4):((64,1),8192,16)">, %c: !cute.memref<f32, rmem, "((2,2,16),1,1):((1,2,4),0,0)">) {
  // CHECK-NEXT: cute.gemm(%mma, %c, %a, %b, %c) : !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "(2,1,1):(1,0,0)">, !cute.memref<f32, rmem, "((2,2,16),1,1):((1,2,4),0,0)">, !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=4096} o ((64,16),1,4):((64,1),8192,16)">, !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=8192} o ((128,16),1,4):((64,1),8192,16)">, !cute.memref<f32, rmem, "((2,2,16),1,1):((1,2,4),0,0)">
  cute.gemm(%mma, %c, %a, %b, %c)
  func.return
}
