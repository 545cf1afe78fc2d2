// C = A * B^T on the tensor cores of Hopper, fed by stores: no TMA, no pipeline, the rules of wgmma.
//
//   A: M x K, B: N x K, bf16, row-major      C: M x N, f32, row-major
//   M is a multiple of 64, N of 128, K of 64
//
// One warpgroup computes a 64 x 128 tile of C. For every 64 columns its threads store a slice of A
// and of B to shared memory, swizzled over rows of 128 bytes, and multiply them with m64n128k16.
//
//   grid = (N / 128, M / 64, 1), block = (128, 1, 1)

!smem_a = memref<64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (64,64):(64,1)">, #cute<space smem>>
!smem_b = memref<128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (128,64):(64,1)">, #cute<space smem>>
!desc_a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!desc_b = !cute_nvgpu.smem_desc_view<128x16xbf16, "S<3,3,3> o 0 o (128,16):(64,1)">
!acc = !cute_nvgpu.fragment<64xf32>
!gmem = memref<?x?xbf16, strided<[?, 1], offset: ?>>
!gmem_c = memref<?x?xf32, strided<[?, 1], offset: ?>>

func.func @gemm(%a_ptr: memref<?xbf16>, %b_ptr: memref<?xbf16>, %c_ptr: memref<?xf32>, %m32: i32, %n32: i32, %k32: i32)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %m = arith.index_cast %m32 : i32 to index
  %n = arith.index_cast %n32 : i32 to index
  %k = arith.index_cast %k32 : i32 to index
  %a = memref.reinterpret_cast %a_ptr to offset: [0], sizes: [%m, %k], strides: [%k, 1] : memref<?xbf16> to !gmem
  %b = memref.reinterpret_cast %b_ptr to offset: [0], sizes: [%n, %k], strides: [%k, 1] : memref<?xbf16> to !gmem
  %c = memref.reinterpret_cast %c_ptr to offset: [0], sizes: [%m, %n], strides: [%n, 1] : memref<?xf32> to !gmem_c
  %sa = memref.alloc() : !smem_a
  %sb = memref.alloc() : !smem_b
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bx = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %by = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %n0 = arith.muli %bx, %c128 : index
  %m0 = arith.muli %by, %c64 : index

  // Two threads store a row at a time, every other column each.
  %low = arith.remui %tid, %c2 : index
  %row = arith.divui %tid, %c2 : index
  %row_b = arith.addi %row, %c64 : index
  %ga_row = arith.addi %m0, %row : index
  %gb_row = arith.addi %n0, %row : index
  %gb_row_b = arith.addi %n0, %row_b : index

  %a0 = cute_nvgpu.make_smem_desc %sa[%c0, %c0] : !smem_a -> !desc_a
  %a1 = cute_nvgpu.make_smem_desc %sa[%c0, %c16] : !smem_a -> !desc_a
  %a2 = cute_nvgpu.make_smem_desc %sa[%c0, %c32] : !smem_a -> !desc_a
  %a3 = cute_nvgpu.make_smem_desc %sa[%c0, %c48] : !smem_a -> !desc_a
  %b0 = cute_nvgpu.make_smem_desc %sb[%c0, %c0] : !smem_b -> !desc_b
  %b1 = cute_nvgpu.make_smem_desc %sb[%c0, %c16] : !smem_b -> !desc_b
  %b2 = cute_nvgpu.make_smem_desc %sb[%c0, %c32] : !smem_b -> !desc_b
  %b3 = cute_nvgpu.make_smem_desc %sb[%c0, %c48] : !smem_b -> !desc_b
  %start = cute_nvgpu.fragment.splat %zero : f32 -> !acc

  // Before the loop: the zeros in the accumulator's registers are before what wgmma does to them.
  cute_nvgpu.wgmma.fence
  %d = scf.for %k0 = %c0 to %k step %c64 iter_args(%acc = %start) -> (!acc) {
    // The memory is free: the wgmmas of the last slice are complete.
    cute_nvgpu.wgmma.wait_group 0
    scf.for %i = %low to %c64 step %c2 {
      %col = arith.addi %k0, %i : index
      %va = memref.load %a[%ga_row, %col] : !gmem
      %vb = memref.load %b[%gb_row, %col] : !gmem
      %vc = memref.load %b[%gb_row_b, %col] : !gmem
      memref.store %va, %sa[%row, %i] : !smem_a
      memref.store %vb, %sb[%row, %i] : !smem_b
      memref.store %vc, %sb[%row_b, %i] : !smem_b
    }
    // Each thread makes its stores visible to the async proxy, then all meet.
    cute_nvgpu.fence.proxy.async in "shared::cta"
    "gpu.barrier"() : () -> ()
    %d0 = cute_nvgpu.sm90.mma %a0, %b0, %acc <64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!desc_a, !desc_b, !acc) -> !acc
    %d1 = cute_nvgpu.sm90.mma %a1, %b1, %d0 <64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!desc_a, !desc_b, !acc) -> !acc
    %d2 = cute_nvgpu.sm90.mma %a2, %b2, %d1 <64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!desc_a, !desc_b, !acc) -> !acc
    %d3 = cute_nvgpu.sm90.mma %a3, %b3, %d2 <64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!desc_a, !desc_b, !acc) -> !acc
    cute_nvgpu.wgmma.commit_group
    scf.yield %d3 : !acc
  }
  cute_nvgpu.wgmma.wait_group 0

  // D: warp w has rows 16w to 16w + 15; a thread has columns 2t and 2t + 1 of every eight, of two
  // rows eight apart.
  %lane = arith.remui %tid, %c32 : index
  %warp = arith.divui %tid, %c32 : index
  %group = arith.divui %lane, %c4 : index
  %pair = arith.remui %lane, %c4 : index
  %warp_row = arith.muli %warp, %c16 : index
  %upper = arith.addi %warp_row, %group : index
  %c_row = arith.addi %m0, %upper : index
  %c_row8 = arith.addi %c_row, %c8 : index
  %pair_col = arith.muli %pair, %c2 : index
  %c_col0 = arith.addi %n0, %pair_col : index
  %c_col1 = arith.addi %c_col0, %c1 : index
  %x0 = cute_nvgpu.fragment.extract %d[0] : !acc -> f32
  memref.store %x0, %c[%c_row, %c_col0] : !gmem_c
  %x1 = cute_nvgpu.fragment.extract %d[1] : !acc -> f32
  memref.store %x1, %c[%c_row, %c_col1] : !gmem_c
  %x2 = cute_nvgpu.fragment.extract %d[2] : !acc -> f32
  memref.store %x2, %c[%c_row8, %c_col0] : !gmem_c
  %x3 = cute_nvgpu.fragment.extract %d[3] : !acc -> f32
  memref.store %x3, %c[%c_row8, %c_col1] : !gmem_c
  %c8_col = arith.constant 8 : index
  %c_col8 = arith.addi %c_col0, %c8_col : index
  %c_col9 = arith.addi %c_col8, %c1 : index
  %x4 = cute_nvgpu.fragment.extract %d[4] : !acc -> f32
  memref.store %x4, %c[%c_row, %c_col8] : !gmem_c
  %x5 = cute_nvgpu.fragment.extract %d[5] : !acc -> f32
  memref.store %x5, %c[%c_row, %c_col9] : !gmem_c
  %x6 = cute_nvgpu.fragment.extract %d[6] : !acc -> f32
  memref.store %x6, %c[%c_row8, %c_col8] : !gmem_c
  %x7 = cute_nvgpu.fragment.extract %d[7] : !acc -> f32
  memref.store %x7, %c[%c_row8, %c_col9] : !gmem_c
  %c16_col = arith.constant 16 : index
  %c_col16 = arith.addi %c_col0, %c16_col : index
  %c_col17 = arith.addi %c_col16, %c1 : index
  %x8 = cute_nvgpu.fragment.extract %d[8] : !acc -> f32
  memref.store %x8, %c[%c_row, %c_col16] : !gmem_c
  %x9 = cute_nvgpu.fragment.extract %d[9] : !acc -> f32
  memref.store %x9, %c[%c_row, %c_col17] : !gmem_c
  %x10 = cute_nvgpu.fragment.extract %d[10] : !acc -> f32
  memref.store %x10, %c[%c_row8, %c_col16] : !gmem_c
  %x11 = cute_nvgpu.fragment.extract %d[11] : !acc -> f32
  memref.store %x11, %c[%c_row8, %c_col17] : !gmem_c
  %c24_col = arith.constant 24 : index
  %c_col24 = arith.addi %c_col0, %c24_col : index
  %c_col25 = arith.addi %c_col24, %c1 : index
  %x12 = cute_nvgpu.fragment.extract %d[12] : !acc -> f32
  memref.store %x12, %c[%c_row, %c_col24] : !gmem_c
  %x13 = cute_nvgpu.fragment.extract %d[13] : !acc -> f32
  memref.store %x13, %c[%c_row, %c_col25] : !gmem_c
  %x14 = cute_nvgpu.fragment.extract %d[14] : !acc -> f32
  memref.store %x14, %c[%c_row8, %c_col24] : !gmem_c
  %x15 = cute_nvgpu.fragment.extract %d[15] : !acc -> f32
  memref.store %x15, %c[%c_row8, %c_col25] : !gmem_c
  %c32_col = arith.constant 32 : index
  %c_col32 = arith.addi %c_col0, %c32_col : index
  %c_col33 = arith.addi %c_col32, %c1 : index
  %x16 = cute_nvgpu.fragment.extract %d[16] : !acc -> f32
  memref.store %x16, %c[%c_row, %c_col32] : !gmem_c
  %x17 = cute_nvgpu.fragment.extract %d[17] : !acc -> f32
  memref.store %x17, %c[%c_row, %c_col33] : !gmem_c
  %x18 = cute_nvgpu.fragment.extract %d[18] : !acc -> f32
  memref.store %x18, %c[%c_row8, %c_col32] : !gmem_c
  %x19 = cute_nvgpu.fragment.extract %d[19] : !acc -> f32
  memref.store %x19, %c[%c_row8, %c_col33] : !gmem_c
  %c40_col = arith.constant 40 : index
  %c_col40 = arith.addi %c_col0, %c40_col : index
  %c_col41 = arith.addi %c_col40, %c1 : index
  %x20 = cute_nvgpu.fragment.extract %d[20] : !acc -> f32
  memref.store %x20, %c[%c_row, %c_col40] : !gmem_c
  %x21 = cute_nvgpu.fragment.extract %d[21] : !acc -> f32
  memref.store %x21, %c[%c_row, %c_col41] : !gmem_c
  %x22 = cute_nvgpu.fragment.extract %d[22] : !acc -> f32
  memref.store %x22, %c[%c_row8, %c_col40] : !gmem_c
  %x23 = cute_nvgpu.fragment.extract %d[23] : !acc -> f32
  memref.store %x23, %c[%c_row8, %c_col41] : !gmem_c
  %c48_col = arith.constant 48 : index
  %c_col48 = arith.addi %c_col0, %c48_col : index
  %c_col49 = arith.addi %c_col48, %c1 : index
  %x24 = cute_nvgpu.fragment.extract %d[24] : !acc -> f32
  memref.store %x24, %c[%c_row, %c_col48] : !gmem_c
  %x25 = cute_nvgpu.fragment.extract %d[25] : !acc -> f32
  memref.store %x25, %c[%c_row, %c_col49] : !gmem_c
  %x26 = cute_nvgpu.fragment.extract %d[26] : !acc -> f32
  memref.store %x26, %c[%c_row8, %c_col48] : !gmem_c
  %x27 = cute_nvgpu.fragment.extract %d[27] : !acc -> f32
  memref.store %x27, %c[%c_row8, %c_col49] : !gmem_c
  %c56_col = arith.constant 56 : index
  %c_col56 = arith.addi %c_col0, %c56_col : index
  %c_col57 = arith.addi %c_col56, %c1 : index
  %x28 = cute_nvgpu.fragment.extract %d[28] : !acc -> f32
  memref.store %x28, %c[%c_row, %c_col56] : !gmem_c
  %x29 = cute_nvgpu.fragment.extract %d[29] : !acc -> f32
  memref.store %x29, %c[%c_row, %c_col57] : !gmem_c
  %x30 = cute_nvgpu.fragment.extract %d[30] : !acc -> f32
  memref.store %x30, %c[%c_row8, %c_col56] : !gmem_c
  %x31 = cute_nvgpu.fragment.extract %d[31] : !acc -> f32
  memref.store %x31, %c[%c_row8, %c_col57] : !gmem_c
  %c64_col = arith.constant 64 : index
  %c_col64 = arith.addi %c_col0, %c64_col : index
  %c_col65 = arith.addi %c_col64, %c1 : index
  %x32 = cute_nvgpu.fragment.extract %d[32] : !acc -> f32
  memref.store %x32, %c[%c_row, %c_col64] : !gmem_c
  %x33 = cute_nvgpu.fragment.extract %d[33] : !acc -> f32
  memref.store %x33, %c[%c_row, %c_col65] : !gmem_c
  %x34 = cute_nvgpu.fragment.extract %d[34] : !acc -> f32
  memref.store %x34, %c[%c_row8, %c_col64] : !gmem_c
  %x35 = cute_nvgpu.fragment.extract %d[35] : !acc -> f32
  memref.store %x35, %c[%c_row8, %c_col65] : !gmem_c
  %c72_col = arith.constant 72 : index
  %c_col72 = arith.addi %c_col0, %c72_col : index
  %c_col73 = arith.addi %c_col72, %c1 : index
  %x36 = cute_nvgpu.fragment.extract %d[36] : !acc -> f32
  memref.store %x36, %c[%c_row, %c_col72] : !gmem_c
  %x37 = cute_nvgpu.fragment.extract %d[37] : !acc -> f32
  memref.store %x37, %c[%c_row, %c_col73] : !gmem_c
  %x38 = cute_nvgpu.fragment.extract %d[38] : !acc -> f32
  memref.store %x38, %c[%c_row8, %c_col72] : !gmem_c
  %x39 = cute_nvgpu.fragment.extract %d[39] : !acc -> f32
  memref.store %x39, %c[%c_row8, %c_col73] : !gmem_c
  %c80_col = arith.constant 80 : index
  %c_col80 = arith.addi %c_col0, %c80_col : index
  %c_col81 = arith.addi %c_col80, %c1 : index
  %x40 = cute_nvgpu.fragment.extract %d[40] : !acc -> f32
  memref.store %x40, %c[%c_row, %c_col80] : !gmem_c
  %x41 = cute_nvgpu.fragment.extract %d[41] : !acc -> f32
  memref.store %x41, %c[%c_row, %c_col81] : !gmem_c
  %x42 = cute_nvgpu.fragment.extract %d[42] : !acc -> f32
  memref.store %x42, %c[%c_row8, %c_col80] : !gmem_c
  %x43 = cute_nvgpu.fragment.extract %d[43] : !acc -> f32
  memref.store %x43, %c[%c_row8, %c_col81] : !gmem_c
  %c88_col = arith.constant 88 : index
  %c_col88 = arith.addi %c_col0, %c88_col : index
  %c_col89 = arith.addi %c_col88, %c1 : index
  %x44 = cute_nvgpu.fragment.extract %d[44] : !acc -> f32
  memref.store %x44, %c[%c_row, %c_col88] : !gmem_c
  %x45 = cute_nvgpu.fragment.extract %d[45] : !acc -> f32
  memref.store %x45, %c[%c_row, %c_col89] : !gmem_c
  %x46 = cute_nvgpu.fragment.extract %d[46] : !acc -> f32
  memref.store %x46, %c[%c_row8, %c_col88] : !gmem_c
  %x47 = cute_nvgpu.fragment.extract %d[47] : !acc -> f32
  memref.store %x47, %c[%c_row8, %c_col89] : !gmem_c
  %c96_col = arith.constant 96 : index
  %c_col96 = arith.addi %c_col0, %c96_col : index
  %c_col97 = arith.addi %c_col96, %c1 : index
  %x48 = cute_nvgpu.fragment.extract %d[48] : !acc -> f32
  memref.store %x48, %c[%c_row, %c_col96] : !gmem_c
  %x49 = cute_nvgpu.fragment.extract %d[49] : !acc -> f32
  memref.store %x49, %c[%c_row, %c_col97] : !gmem_c
  %x50 = cute_nvgpu.fragment.extract %d[50] : !acc -> f32
  memref.store %x50, %c[%c_row8, %c_col96] : !gmem_c
  %x51 = cute_nvgpu.fragment.extract %d[51] : !acc -> f32
  memref.store %x51, %c[%c_row8, %c_col97] : !gmem_c
  %c104_col = arith.constant 104 : index
  %c_col104 = arith.addi %c_col0, %c104_col : index
  %c_col105 = arith.addi %c_col104, %c1 : index
  %x52 = cute_nvgpu.fragment.extract %d[52] : !acc -> f32
  memref.store %x52, %c[%c_row, %c_col104] : !gmem_c
  %x53 = cute_nvgpu.fragment.extract %d[53] : !acc -> f32
  memref.store %x53, %c[%c_row, %c_col105] : !gmem_c
  %x54 = cute_nvgpu.fragment.extract %d[54] : !acc -> f32
  memref.store %x54, %c[%c_row8, %c_col104] : !gmem_c
  %x55 = cute_nvgpu.fragment.extract %d[55] : !acc -> f32
  memref.store %x55, %c[%c_row8, %c_col105] : !gmem_c
  %c112_col = arith.constant 112 : index
  %c_col112 = arith.addi %c_col0, %c112_col : index
  %c_col113 = arith.addi %c_col112, %c1 : index
  %x56 = cute_nvgpu.fragment.extract %d[56] : !acc -> f32
  memref.store %x56, %c[%c_row, %c_col112] : !gmem_c
  %x57 = cute_nvgpu.fragment.extract %d[57] : !acc -> f32
  memref.store %x57, %c[%c_row, %c_col113] : !gmem_c
  %x58 = cute_nvgpu.fragment.extract %d[58] : !acc -> f32
  memref.store %x58, %c[%c_row8, %c_col112] : !gmem_c
  %x59 = cute_nvgpu.fragment.extract %d[59] : !acc -> f32
  memref.store %x59, %c[%c_row8, %c_col113] : !gmem_c
  %c120_col = arith.constant 120 : index
  %c_col120 = arith.addi %c_col0, %c120_col : index
  %c_col121 = arith.addi %c_col120, %c1 : index
  %x60 = cute_nvgpu.fragment.extract %d[60] : !acc -> f32
  memref.store %x60, %c[%c_row, %c_col120] : !gmem_c
  %x61 = cute_nvgpu.fragment.extract %d[61] : !acc -> f32
  memref.store %x61, %c[%c_row, %c_col121] : !gmem_c
  %x62 = cute_nvgpu.fragment.extract %d[62] : !acc -> f32
  memref.store %x62, %c[%c_row8, %c_col120] : !gmem_c
  %x63 = cute_nvgpu.fragment.extract %d[63] : !acc -> f32
  memref.store %x63, %c[%c_row8, %c_col121] : !gmem_c
  func.return
}
