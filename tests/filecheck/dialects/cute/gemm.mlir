// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

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

!sparse = !cute.tiled_mma<!cute_nvgpu.sm80.sparse_mma<16x8x32, elem_type = (f16, f16, f32)>>
!scaled = !cute.tiled_mma<!cute_nvgpu.SM120.mma_bs<16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32), kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU>>
!fma = !cute.tiled_mma<!cute_nvgpu.universal_fma<2x1x1, elem_type = (f16, f16, f16)>, atom_layout_MNK = "(16,16,1):(1,16,0)">
!s = !cute.memref<f32, rmem, "((2,2),1,1):((1,2),0,0)">

// CHECK-LABEL: func.func @metadata
func.func @metadata(%mma: !sparse, %a: !cute.memref<f16, rmem, "((2,2,2),1,1):((1,2,4),0,0)">, %b: !cute.memref<f16, rmem, "((2,4),1,1):((1,2),0,0)">, %c: !s, %from: !cute.memref<ui2, gmem, align<4>, "((8,2),(8,2)):((64,8),(1,16))">, %t: i32) {
  // CHECK-NEXT: %p = cute.tiled.mma.partition E (%mma, %from, %t){{.*}} -> !cute.memref<ui2, gmem, align<4>, "((8,2),1,1):((1,8),16,32)">
  %p = cute.tiled.mma.partition E (%mma, %from, %t)
  // CHECK-NEXT: %e = {{.*}} -> !cute.memref<ui2, rmem, "((8,2),1,1):((1,8),0,0)">
  %e = cute.mma.make_fragment E (%mma, %p)
  // CHECK-NEXT: cute.gemm(%mma, %c, %a, %b, %c, E = %e) : {{.*}}, !cute.memref<ui2, rmem, "((8,2),1,1):((1,8),0,0)">
  cute.gemm(%mma, %c, %a, %b, %c, E = %e)
  func.return
}

// CHECK-LABEL: func.func @factors
func.func @factors(%mma: !scaled, %a: !cute.memref<f8E4M3FN, rmem, "(16,1,4):(1,0,16)">, %b: !cute.memref<f8E5M2, rmem, "(8,1,4):(1,0,8)">, %c: !s, %x: !cute.memref<f8E8M0FNU, smem, "((32,4),4):((16,4),1)">, %t: i32) {
  // CHECK-NEXT: %p = {{.*}} -> !cute.memref<f8E8M0FNU, smem, "(1,(2,4),4):(0,(256,4),1)">
  %p = cute.tiled.mma.partition SFA (%mma, %x, %t)
  // The factors of four MMAs along K share a register.
  // CHECK-NEXT: %all = {{.*}} -> !cute.memref<f8E8M0FNU, rmem, "(1,8,4):(0,4,1)">
  %all = cute.mma.make_fragment SFA (%mma, %p)
  %y = cute.memref.alloca() : !cute.memref<f8E8M0FNU, rmem, "(1,1,4):(0,0,1)">
  // CHECK: cute.gemm(%mma, %c, %a, %b, %c, SFA = %y, SFB = %y) :
  cute.gemm(%mma, %c, %a, %b, %c, SFA = %y, SFB = %y)
  func.return
}

// CHECK-LABEL: func.func @fma
func.func @fma(%mma: !fma, %a: !cute.memref<f16, rmem, "(2,4,8):(1,2,8)">, %b: !cute.memref<f16, rmem, "(1,4,8):(0,1,4)">, %c: !cute.memref<f16, rmem, "(2,4,4):(1,2,8)">) {
  // CHECK-NEXT: cute.gemm(%mma, %c, %a, %b, %c) : !cute.tiled_mma<!cute_nvgpu.universal_fma<2x1x1, elem_type = (f16, f16, f16)>, atom_layout_MNK = "(16,16,1):(1,16,0)">,
  cute.gemm(%mma, %c, %a, %b, %c)
  func.return
}
