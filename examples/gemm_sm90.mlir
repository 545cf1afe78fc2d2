// C = A * B on the tensor cores of Hopper: bf16 inputs, f32 accumulation and result.
//
//   A: M x K, row-major, a tensor map with boxes of 128 x 64      B: K x N, row-major, of 64 x 64
//   C: M x N, row-major, a tensor map with boxes of 64 x 32
//
// One CTA of three warpgroups computes a 128 x 256 tile of C. The first warpgroup only copies: one
// of its threads keeps four stages of A and B on their way (TMA, swizzled over rows of 128 bytes).
// The two others multiply, 64 x 256 of the tile each: m64n256k16, 128 accumulators a thread. A stage
// is full when its bytes have landed, and empty when every warp that read it has said so. Results
// go to C through shared memory, 32 columns at a time. What lies outside of A and B is zeros, and
// what lies outside of C is not written.
//
//   grid = (ceil(N / 256), ceil(M / 128), 1), block = (384, 1, 1)

!map_a = !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>
!map_b = !cute_nvgpu.tma_descriptor<64x64xbf16, swizzle = 128>
!smem_a = memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>
!smem_b = memref<4x64x256xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,64,(64,4)):(16384,64,(1,4096))">, #cute<space smem>>
!desc_a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!desc_b = !cute_nvgpu.smem_desc_view<256x16xbf16, "S<3,3,3> o 0 o ((64,4),16):((1,4096),64)">
!barriers = memref<4xi64, #cute<space smem>>
!acc = !cute_nvgpu.fragment<128xf32>
!map_c = !cute_nvgpu.tma_descriptor<64x32xf32, swizzle = 128>
!smem_c = memref<2x2x64x32xf32, !cute.composed_layout<"S<3,2,3> o 0 o (2,2,64,32):(4096,2048,32,1)">, #cute<space smem>>

func.func @gemm(%map_a: !map_a, %map_b: !map_b, %map_c: !map_c, %k32: i32)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c192 = arith.constant 192 : index
  %c256 = arith.constant 256 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %k = arith.index_cast %k32 : i32 to index
  %sa = memref.alloc() : !smem_a
  %sb = memref.alloc() : !smem_b
  %sc = memref.alloc() : !smem_c
  %full = memref.alloc() : !barriers
  %empty = memref.alloc() : !barriers
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %lane = arith.remui %tid, %c32 : index
  %warpgroup = arith.divui %tid, %c128 : index

  // A stage is full after one arrival and its bytes, empty after one arrival of each reading warp.
  %first = arith.cmpi eq, %tid, %c0 : index
  scf.if %first {
    cute_nvgpu.prefetch.tensormap %map_a : !map_a
    cute_nvgpu.prefetch.tensormap %map_b : !map_b
    scf.for %i = %c0 to %c4 step %c1 {
      cute_nvgpu.mbarrier.init %full[%i] count 1 : !barriers
      cute_nvgpu.mbarrier.init %empty[%i] count 8 : !barriers
    }
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()

  // The tile of this CTA: columns of 16 tiles each, so that CTAs that run together share A and B.
  %bx = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %by = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %gx = "gpu.grid_dim"() <{dimension = #gpu<dim x>}> : () -> index
  %gy = "gpu.grid_dim"() <{dimension = #gpu<dim y>}> : () -> index
  %by_gx = arith.muli %by, %gx : index
  %number = arith.addi %by_gx, %bx : index
  %band_size = arith.muli %gx, %c16 : index
  %band = arith.divui %number, %band_size : index
  %in_band = arith.remui %number, %band_size : index
  %band_row = arith.muli %band, %c16 : index
  %rows_left = arith.subi %gy, %band_row : index
  %rows = arith.minui %rows_left, %c16 : index
  %row_in_band = arith.remui %in_band, %rows : index
  %tile_row = arith.addi %band_row, %row_in_band : index
  %tile_col = arith.divui %in_band, %rows : index
  %m0 = arith.muli %tile_row, %c128 : index
  %n0 = arith.muli %tile_col, %c256 : index
  %k_up = arith.addi %k, %c63 : index
  %tiles = arith.divui %k_up, %c64 : index

  %copies = arith.cmpi eq, %warpgroup, %c0 : index
  scf.if %copies {
    cute_nvgpu.setmaxnreg dec 40
    scf.if %first {
      %n1 = arith.addi %n0, %c64 : index
      %n2 = arith.addi %n0, %c128 : index
      %n3 = arith.addi %n0, %c192 : index
      %w_stage, %w_parity = scf.for %tile = %c0 to %tiles step %c1 iter_args(%stage = %c0, %parity = %odd) -> (index, i32) {
        %k0 = arith.muli %tile, %c64 : index
        cute_nvgpu.mbarrier.wait %empty[%stage] parity %parity : !barriers
        cute_nvgpu.mbarrier.arrive.expect_tx %full[%stage] bytes 49152 : !barriers
        cute_nvgpu.tma.load %map_a[%m0, %k0] to %sa[%stage, %c0, %c0] mbarrier %full[%stage] : !map_a to !smem_a, !barriers
        cute_nvgpu.tma.load %map_b[%k0, %n0] to %sb[%stage, %c0, %c0] mbarrier %full[%stage] : !map_b to !smem_b, !barriers
        cute_nvgpu.tma.load %map_b[%k0, %n1] to %sb[%stage, %c0, %c64] mbarrier %full[%stage] : !map_b to !smem_b, !barriers
        cute_nvgpu.tma.load %map_b[%k0, %n2] to %sb[%stage, %c0, %c128] mbarrier %full[%stage] : !map_b to !smem_b, !barriers
        cute_nvgpu.tma.load %map_b[%k0, %n3] to %sb[%stage, %c0, %c192] mbarrier %full[%stage] : !map_b to !smem_b, !barriers
        %up = arith.addi %stage, %c1 : index
        %wraps = arith.cmpi eq, %up, %c4 : index
        %next = arith.select %wraps, %c0, %up : index
        %other = arith.xori %parity, %odd : i32
        %next_parity = arith.select %wraps, %other, %parity : i32
        scf.yield %next, %next_parity : index, i32
      }
    }
  } else {
    cute_nvgpu.setmaxnreg inc 232
    %reader = arith.subi %warpgroup, %c1 : index
    %wm = arith.muli %reader, %c64 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %start = cute_nvgpu.fragment.splat %zero : f32 -> !acc
    %d, %r_stage, %r_parity = scf.for %tile = %c0 to %tiles step %c1
        iter_args(%acc = %start, %stage = %c0, %parity = %even) -> (!acc, index, i32) {
      cute_nvgpu.mbarrier.wait %full[%stage] parity %parity : !barriers
      %a0 = cute_nvgpu.make_smem_desc %sa[%stage, %wm, %c0] : !smem_a -> !desc_a
      %b0 = cute_nvgpu.make_smem_desc %sb[%stage, %c0, %c0] modes [2, 1] : !smem_b -> !desc_b
      %a1 = cute_nvgpu.make_smem_desc %sa[%stage, %wm, %c16] : !smem_a -> !desc_a
      %b1 = cute_nvgpu.make_smem_desc %sb[%stage, %c16, %c0] modes [2, 1] : !smem_b -> !desc_b
      %a2 = cute_nvgpu.make_smem_desc %sa[%stage, %wm, %c32] : !smem_a -> !desc_a
      %b2 = cute_nvgpu.make_smem_desc %sb[%stage, %c32, %c0] modes [2, 1] : !smem_b -> !desc_b
      %a3 = cute_nvgpu.make_smem_desc %sa[%stage, %wm, %c48] : !smem_a -> !desc_a
      %b3 = cute_nvgpu.make_smem_desc %sb[%stage, %c48, %c0] modes [2, 1] : !smem_b -> !desc_b
      cute_nvgpu.wgmma.fence
      %d0 = cute_nvgpu.sm90.mma %a0, %b0, %acc <64x256x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = ss> : (!desc_a, !desc_b, !acc) -> !acc
      %d1 = cute_nvgpu.sm90.mma %a1, %b1, %d0 <64x256x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = ss> : (!desc_a, !desc_b, !acc) -> !acc
      %d2 = cute_nvgpu.sm90.mma %a2, %b2, %d1 <64x256x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = ss> : (!desc_a, !desc_b, !acc) -> !acc
      %d3 = cute_nvgpu.sm90.mma %a3, %b3, %d2 <64x256x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = ss> : (!desc_a, !desc_b, !acc) -> !acc
      cute_nvgpu.wgmma.commit_group
      cute_nvgpu.wgmma.wait_group 0
      scf.if %leads {
        cute_nvgpu.mbarrier.arrive %empty[%stage] : !barriers
      }
      %up = arith.addi %stage, %c1 : index
      %wraps = arith.cmpi eq, %up, %c4 : index
      %next = arith.select %wraps, %c0, %up : index
      %other = arith.xori %parity, %odd : i32
      %next_parity = arith.select %wraps, %other, %parity : i32
      scf.yield %d3, %next, %next_parity : !acc, index, i32
    }

    // Lane 4 * g + t of warp w holds columns 8j + 2t and 8j + 2t + 1 of rows 16w + g and 16w + g + 8.
    // One of two buffers is filled while the other is copied: when all have filled one, the other is free.
    %warp = arith.divui %tid, %c32 : index
    %quarter = arith.remui %warp, %c4 : index
    %g = arith.divui %lane, %c4 : index
    %t = arith.remui %lane, %c4 : index
    %warp_row = arith.muli %quarter, %c16 : index
    %row0 = arith.addi %warp_row, %g : index
    %row1 = arith.addi %row0, %c8 : index
    %column0 = arith.muli %t, %c2 : index
    %column1 = arith.addi %column0, %c1 : index
    %column2 = arith.addi %column0, %c8 : index
    %column3 = arith.addi %column2, %c1 : index
    %column4 = arith.addi %column2, %c8 : index
    %column5 = arith.addi %column4, %c1 : index
    %column6 = arith.addi %column4, %c8 : index
    %column7 = arith.addi %column6, %c1 : index
    %cm = arith.addi %m0, %wm : index
    %in_warpgroup = arith.remui %tid, %c128 : index
    %stores = arith.cmpi eq, %in_warpgroup, %c0 : index

    // Columns 0 to 31.
    %x0 = cute_nvgpu.fragment.extract %d[0] : !acc -> f32
    %x1 = cute_nvgpu.fragment.extract %d[1] : !acc -> f32
    %x2 = cute_nvgpu.fragment.extract %d[2] : !acc -> f32
    %x3 = cute_nvgpu.fragment.extract %d[3] : !acc -> f32
    %x4 = cute_nvgpu.fragment.extract %d[4] : !acc -> f32
    %x5 = cute_nvgpu.fragment.extract %d[5] : !acc -> f32
    %x6 = cute_nvgpu.fragment.extract %d[6] : !acc -> f32
    %x7 = cute_nvgpu.fragment.extract %d[7] : !acc -> f32
    %x8 = cute_nvgpu.fragment.extract %d[8] : !acc -> f32
    %x9 = cute_nvgpu.fragment.extract %d[9] : !acc -> f32
    %x10 = cute_nvgpu.fragment.extract %d[10] : !acc -> f32
    %x11 = cute_nvgpu.fragment.extract %d[11] : !acc -> f32
    %x12 = cute_nvgpu.fragment.extract %d[12] : !acc -> f32
    %x13 = cute_nvgpu.fragment.extract %d[13] : !acc -> f32
    %x14 = cute_nvgpu.fragment.extract %d[14] : !acc -> f32
    %x15 = cute_nvgpu.fragment.extract %d[15] : !acc -> f32
    memref.store %x0, %sc[%c0, %reader, %row0, %column0] : !smem_c
    memref.store %x1, %sc[%c0, %reader, %row0, %column1] : !smem_c
    memref.store %x2, %sc[%c0, %reader, %row1, %column0] : !smem_c
    memref.store %x3, %sc[%c0, %reader, %row1, %column1] : !smem_c
    memref.store %x4, %sc[%c0, %reader, %row0, %column2] : !smem_c
    memref.store %x5, %sc[%c0, %reader, %row0, %column3] : !smem_c
    memref.store %x6, %sc[%c0, %reader, %row1, %column2] : !smem_c
    memref.store %x7, %sc[%c0, %reader, %row1, %column3] : !smem_c
    memref.store %x8, %sc[%c0, %reader, %row0, %column4] : !smem_c
    memref.store %x9, %sc[%c0, %reader, %row0, %column5] : !smem_c
    memref.store %x10, %sc[%c0, %reader, %row1, %column4] : !smem_c
    memref.store %x11, %sc[%c0, %reader, %row1, %column5] : !smem_c
    memref.store %x12, %sc[%c0, %reader, %row0, %column6] : !smem_c
    memref.store %x13, %sc[%c0, %reader, %row0, %column7] : !smem_c
    memref.store %x14, %sc[%c0, %reader, %row1, %column6] : !smem_c
    memref.store %x15, %sc[%c0, %reader, %row1, %column7] : !smem_c
    cute_nvgpu.fence.proxy.async in "shared::cta"
    cute_nvgpu.bar.sync 1 threads 256
    scf.if %stores {
      cute_nvgpu.tma.store %sc[%c0, %reader, %c0, %c0] to %map_c[%cm, %n0] : !smem_c to !map_c
      cute_nvgpu.cp.async.bulk.commit_group
      cute_nvgpu.cp.async.bulk.wait_group 0 read
    }

    // Columns 32 to 63.
    %cn1 = arith.addi %n0, %c32 : index
    %x16 = cute_nvgpu.fragment.extract %d[16] : !acc -> f32
    %x17 = cute_nvgpu.fragment.extract %d[17] : !acc -> f32
    %x18 = cute_nvgpu.fragment.extract %d[18] : !acc -> f32
    %x19 = cute_nvgpu.fragment.extract %d[19] : !acc -> f32
    %x20 = cute_nvgpu.fragment.extract %d[20] : !acc -> f32
    %x21 = cute_nvgpu.fragment.extract %d[21] : !acc -> f32
    %x22 = cute_nvgpu.fragment.extract %d[22] : !acc -> f32
    %x23 = cute_nvgpu.fragment.extract %d[23] : !acc -> f32
    %x24 = cute_nvgpu.fragment.extract %d[24] : !acc -> f32
    %x25 = cute_nvgpu.fragment.extract %d[25] : !acc -> f32
    %x26 = cute_nvgpu.fragment.extract %d[26] : !acc -> f32
    %x27 = cute_nvgpu.fragment.extract %d[27] : !acc -> f32
    %x28 = cute_nvgpu.fragment.extract %d[28] : !acc -> f32
    %x29 = cute_nvgpu.fragment.extract %d[29] : !acc -> f32
    %x30 = cute_nvgpu.fragment.extract %d[30] : !acc -> f32
    %x31 = cute_nvgpu.fragment.extract %d[31] : !acc -> f32
    memref.store %x16, %sc[%c1, %reader, %row0, %column0] : !smem_c
    memref.store %x17, %sc[%c1, %reader, %row0, %column1] : !smem_c
    memref.store %x18, %sc[%c1, %reader, %row1, %column0] : !smem_c
    memref.store %x19, %sc[%c1, %reader, %row1, %column1] : !smem_c
    memref.store %x20, %sc[%c1, %reader, %row0, %column2] : !smem_c
    memref.store %x21, %sc[%c1, %reader, %row0, %column3] : !smem_c
    memref.store %x22, %sc[%c1, %reader, %row1, %column2] : !smem_c
    memref.store %x23, %sc[%c1, %reader, %row1, %column3] : !smem_c
    memref.store %x24, %sc[%c1, %reader, %row0, %column4] : !smem_c
    memref.store %x25, %sc[%c1, %reader, %row0, %column5] : !smem_c
    memref.store %x26, %sc[%c1, %reader, %row1, %column4] : !smem_c
    memref.store %x27, %sc[%c1, %reader, %row1, %column5] : !smem_c
    memref.store %x28, %sc[%c1, %reader, %row0, %column6] : !smem_c
    memref.store %x29, %sc[%c1, %reader, %row0, %column7] : !smem_c
    memref.store %x30, %sc[%c1, %reader, %row1, %column6] : !smem_c
    memref.store %x31, %sc[%c1, %reader, %row1, %column7] : !smem_c
    cute_nvgpu.fence.proxy.async in "shared::cta"
    cute_nvgpu.bar.sync 1 threads 256
    scf.if %stores {
      cute_nvgpu.tma.store %sc[%c1, %reader, %c0, %c0] to %map_c[%cm, %cn1] : !smem_c to !map_c
      cute_nvgpu.cp.async.bulk.commit_group
      cute_nvgpu.cp.async.bulk.wait_group 0 read
    }

    // Columns 64 to 95.
    %cn2 = arith.addi %cn1, %c32 : index
    %x32 = cute_nvgpu.fragment.extract %d[32] : !acc -> f32
    %x33 = cute_nvgpu.fragment.extract %d[33] : !acc -> f32
    %x34 = cute_nvgpu.fragment.extract %d[34] : !acc -> f32
    %x35 = cute_nvgpu.fragment.extract %d[35] : !acc -> f32
    %x36 = cute_nvgpu.fragment.extract %d[36] : !acc -> f32
    %x37 = cute_nvgpu.fragment.extract %d[37] : !acc -> f32
    %x38 = cute_nvgpu.fragment.extract %d[38] : !acc -> f32
    %x39 = cute_nvgpu.fragment.extract %d[39] : !acc -> f32
    %x40 = cute_nvgpu.fragment.extract %d[40] : !acc -> f32
    %x41 = cute_nvgpu.fragment.extract %d[41] : !acc -> f32
    %x42 = cute_nvgpu.fragment.extract %d[42] : !acc -> f32
    %x43 = cute_nvgpu.fragment.extract %d[43] : !acc -> f32
    %x44 = cute_nvgpu.fragment.extract %d[44] : !acc -> f32
    %x45 = cute_nvgpu.fragment.extract %d[45] : !acc -> f32
    %x46 = cute_nvgpu.fragment.extract %d[46] : !acc -> f32
    %x47 = cute_nvgpu.fragment.extract %d[47] : !acc -> f32
    memref.store %x32, %sc[%c0, %reader, %row0, %column0] : !smem_c
    memref.store %x33, %sc[%c0, %reader, %row0, %column1] : !smem_c
    memref.store %x34, %sc[%c0, %reader, %row1, %column0] : !smem_c
    memref.store %x35, %sc[%c0, %reader, %row1, %column1] : !smem_c
    memref.store %x36, %sc[%c0, %reader, %row0, %column2] : !smem_c
    memref.store %x37, %sc[%c0, %reader, %row0, %column3] : !smem_c
    memref.store %x38, %sc[%c0, %reader, %row1, %column2] : !smem_c
    memref.store %x39, %sc[%c0, %reader, %row1, %column3] : !smem_c
    memref.store %x40, %sc[%c0, %reader, %row0, %column4] : !smem_c
    memref.store %x41, %sc[%c0, %reader, %row0, %column5] : !smem_c
    memref.store %x42, %sc[%c0, %reader, %row1, %column4] : !smem_c
    memref.store %x43, %sc[%c0, %reader, %row1, %column5] : !smem_c
    memref.store %x44, %sc[%c0, %reader, %row0, %column6] : !smem_c
    memref.store %x45, %sc[%c0, %reader, %row0, %column7] : !smem_c
    memref.store %x46, %sc[%c0, %reader, %row1, %column6] : !smem_c
    memref.store %x47, %sc[%c0, %reader, %row1, %column7] : !smem_c
    cute_nvgpu.fence.proxy.async in "shared::cta"
    cute_nvgpu.bar.sync 1 threads 256
    scf.if %stores {
      cute_nvgpu.tma.store %sc[%c0, %reader, %c0, %c0] to %map_c[%cm, %cn2] : !smem_c to !map_c
      cute_nvgpu.cp.async.bulk.commit_group
      cute_nvgpu.cp.async.bulk.wait_group 0 read
    }

    // Columns 96 to 127.
    %cn3 = arith.addi %cn2, %c32 : index
    %x48 = cute_nvgpu.fragment.extract %d[48] : !acc -> f32
    %x49 = cute_nvgpu.fragment.extract %d[49] : !acc -> f32
    %x50 = cute_nvgpu.fragment.extract %d[50] : !acc -> f32
    %x51 = cute_nvgpu.fragment.extract %d[51] : !acc -> f32
    %x52 = cute_nvgpu.fragment.extract %d[52] : !acc -> f32
    %x53 = cute_nvgpu.fragment.extract %d[53] : !acc -> f32
    %x54 = cute_nvgpu.fragment.extract %d[54] : !acc -> f32
    %x55 = cute_nvgpu.fragment.extract %d[55] : !acc -> f32
    %x56 = cute_nvgpu.fragment.extract %d[56] : !acc -> f32
    %x57 = cute_nvgpu.fragment.extract %d[57] : !acc -> f32
    %x58 = cute_nvgpu.fragment.extract %d[58] : !acc -> f32
    %x59 = cute_nvgpu.fragment.extract %d[59] : !acc -> f32
    %x60 = cute_nvgpu.fragment.extract %d[60] : !acc -> f32
    %x61 = cute_nvgpu.fragment.extract %d[61] : !acc -> f32
    %x62 = cute_nvgpu.fragment.extract %d[62] : !acc -> f32
    %x63 = cute_nvgpu.fragment.extract %d[63] : !acc -> f32
    memref.store %x48, %sc[%c1, %reader, %row0, %column0] : !smem_c
    memref.store %x49, %sc[%c1, %reader, %row0, %column1] : !smem_c
    memref.store %x50, %sc[%c1, %reader, %row1, %column0] : !smem_c
    memref.store %x51, %sc[%c1, %reader, %row1, %column1] : !smem_c
    memref.store %x52, %sc[%c1, %reader, %row0, %column2] : !smem_c
    memref.store %x53, %sc[%c1, %reader, %row0, %column3] : !smem_c
    memref.store %x54, %sc[%c1, %reader, %row1, %column2] : !smem_c
    memref.store %x55, %sc[%c1, %reader, %row1, %column3] : !smem_c
    memref.store %x56, %sc[%c1, %reader, %row0, %column4] : !smem_c
    memref.store %x57, %sc[%c1, %reader, %row0, %column5] : !smem_c
    memref.store %x58, %sc[%c1, %reader, %row1, %column4] : !smem_c
    memref.store %x59, %sc[%c1, %reader, %row1, %column5] : !smem_c
    memref.store %x60, %sc[%c1, %reader, %row0, %column6] : !smem_c
    memref.store %x61, %sc[%c1, %reader, %row0, %column7] : !smem_c
    memref.store %x62, %sc[%c1, %reader, %row1, %column6] : !smem_c
    memref.store %x63, %sc[%c1, %reader, %row1, %column7] : !smem_c
    cute_nvgpu.fence.proxy.async in "shared::cta"
    cute_nvgpu.bar.sync 1 threads 256
    scf.if %stores {
      cute_nvgpu.tma.store %sc[%c1, %reader, %c0, %c0] to %map_c[%cm, %cn3] : !smem_c to !map_c
      cute_nvgpu.cp.async.bulk.commit_group
      cute_nvgpu.cp.async.bulk.wait_group 0 read
    }

    // Columns 128 to 159.
    %cn4 = arith.addi %cn3, %c32 : index
    %x64 = cute_nvgpu.fragment.extract %d[64] : !acc -> f32
    %x65 = cute_nvgpu.fragment.extract %d[65] : !acc -> f32
    %x66 = cute_nvgpu.fragment.extract %d[66] : !acc -> f32
    %x67 = cute_nvgpu.fragment.extract %d[67] : !acc -> f32
    %x68 = cute_nvgpu.fragment.extract %d[68] : !acc -> f32
    %x69 = cute_nvgpu.fragment.extract %d[69] : !acc -> f32
    %x70 = cute_nvgpu.fragment.extract %d[70] : !acc -> f32
    %x71 = cute_nvgpu.fragment.extract %d[71] : !acc -> f32
    %x72 = cute_nvgpu.fragment.extract %d[72] : !acc -> f32
    %x73 = cute_nvgpu.fragment.extract %d[73] : !acc -> f32
    %x74 = cute_nvgpu.fragment.extract %d[74] : !acc -> f32
    %x75 = cute_nvgpu.fragment.extract %d[75] : !acc -> f32
    %x76 = cute_nvgpu.fragment.extract %d[76] : !acc -> f32
    %x77 = cute_nvgpu.fragment.extract %d[77] : !acc -> f32
    %x78 = cute_nvgpu.fragment.extract %d[78] : !acc -> f32
    %x79 = cute_nvgpu.fragment.extract %d[79] : !acc -> f32
    memref.store %x64, %sc[%c0, %reader, %row0, %column0] : !smem_c
    memref.store %x65, %sc[%c0, %reader, %row0, %column1] : !smem_c
    memref.store %x66, %sc[%c0, %reader, %row1, %column0] : !smem_c
    memref.store %x67, %sc[%c0, %reader, %row1, %column1] : !smem_c
    memref.store %x68, %sc[%c0, %reader, %row0, %column2] : !smem_c
    memref.store %x69, %sc[%c0, %reader, %row0, %column3] : !smem_c
    memref.store %x70, %sc[%c0, %reader, %row1, %column2] : !smem_c
    memref.store %x71, %sc[%c0, %reader, %row1, %column3] : !smem_c
    memref.store %x72, %sc[%c0, %reader, %row0, %column4] : !smem_c
    memref.store %x73, %sc[%c0, %reader, %row0, %column5] : !smem_c
    memref.store %x74, %sc[%c0, %reader, %row1, %column4] : !smem_c
    memref.store %x75, %sc[%c0, %reader, %row1, %column5] : !smem_c
    memref.store %x76, %sc[%c0, %reader, %row0, %column6] : !smem_c
    memref.store %x77, %sc[%c0, %reader, %row0, %column7] : !smem_c
    memref.store %x78, %sc[%c0, %reader, %row1, %column6] : !smem_c
    memref.store %x79, %sc[%c0, %reader, %row1, %column7] : !smem_c
    cute_nvgpu.fence.proxy.async in "shared::cta"
    cute_nvgpu.bar.sync 1 threads 256
    scf.if %stores {
      cute_nvgpu.tma.store %sc[%c0, %reader, %c0, %c0] to %map_c[%cm, %cn4] : !smem_c to !map_c
      cute_nvgpu.cp.async.bulk.commit_group
      cute_nvgpu.cp.async.bulk.wait_group 0 read
    }

    // Columns 160 to 191.
    %cn5 = arith.addi %cn4, %c32 : index
    %x80 = cute_nvgpu.fragment.extract %d[80] : !acc -> f32
    %x81 = cute_nvgpu.fragment.extract %d[81] : !acc -> f32
    %x82 = cute_nvgpu.fragment.extract %d[82] : !acc -> f32
    %x83 = cute_nvgpu.fragment.extract %d[83] : !acc -> f32
    %x84 = cute_nvgpu.fragment.extract %d[84] : !acc -> f32
    %x85 = cute_nvgpu.fragment.extract %d[85] : !acc -> f32
    %x86 = cute_nvgpu.fragment.extract %d[86] : !acc -> f32
    %x87 = cute_nvgpu.fragment.extract %d[87] : !acc -> f32
    %x88 = cute_nvgpu.fragment.extract %d[88] : !acc -> f32
    %x89 = cute_nvgpu.fragment.extract %d[89] : !acc -> f32
    %x90 = cute_nvgpu.fragment.extract %d[90] : !acc -> f32
    %x91 = cute_nvgpu.fragment.extract %d[91] : !acc -> f32
    %x92 = cute_nvgpu.fragment.extract %d[92] : !acc -> f32
    %x93 = cute_nvgpu.fragment.extract %d[93] : !acc -> f32
    %x94 = cute_nvgpu.fragment.extract %d[94] : !acc -> f32
    %x95 = cute_nvgpu.fragment.extract %d[95] : !acc -> f32
    memref.store %x80, %sc[%c1, %reader, %row0, %column0] : !smem_c
    memref.store %x81, %sc[%c1, %reader, %row0, %column1] : !smem_c
    memref.store %x82, %sc[%c1, %reader, %row1, %column0] : !smem_c
    memref.store %x83, %sc[%c1, %reader, %row1, %column1] : !smem_c
    memref.store %x84, %sc[%c1, %reader, %row0, %column2] : !smem_c
    memref.store %x85, %sc[%c1, %reader, %row0, %column3] : !smem_c
    memref.store %x86, %sc[%c1, %reader, %row1, %column2] : !smem_c
    memref.store %x87, %sc[%c1, %reader, %row1, %column3] : !smem_c
    memref.store %x88, %sc[%c1, %reader, %row0, %column4] : !smem_c
    memref.store %x89, %sc[%c1, %reader, %row0, %column5] : !smem_c
    memref.store %x90, %sc[%c1, %reader, %row1, %column4] : !smem_c
    memref.store %x91, %sc[%c1, %reader, %row1, %column5] : !smem_c
    memref.store %x92, %sc[%c1, %reader, %row0, %column6] : !smem_c
    memref.store %x93, %sc[%c1, %reader, %row0, %column7] : !smem_c
    memref.store %x94, %sc[%c1, %reader, %row1, %column6] : !smem_c
    memref.store %x95, %sc[%c1, %reader, %row1, %column7] : !smem_c
    cute_nvgpu.fence.proxy.async in "shared::cta"
    cute_nvgpu.bar.sync 1 threads 256
    scf.if %stores {
      cute_nvgpu.tma.store %sc[%c1, %reader, %c0, %c0] to %map_c[%cm, %cn5] : !smem_c to !map_c
      cute_nvgpu.cp.async.bulk.commit_group
      cute_nvgpu.cp.async.bulk.wait_group 0 read
    }

    // Columns 192 to 223.
    %cn6 = arith.addi %cn5, %c32 : index
    %x96 = cute_nvgpu.fragment.extract %d[96] : !acc -> f32
    %x97 = cute_nvgpu.fragment.extract %d[97] : !acc -> f32
    %x98 = cute_nvgpu.fragment.extract %d[98] : !acc -> f32
    %x99 = cute_nvgpu.fragment.extract %d[99] : !acc -> f32
    %x100 = cute_nvgpu.fragment.extract %d[100] : !acc -> f32
    %x101 = cute_nvgpu.fragment.extract %d[101] : !acc -> f32
    %x102 = cute_nvgpu.fragment.extract %d[102] : !acc -> f32
    %x103 = cute_nvgpu.fragment.extract %d[103] : !acc -> f32
    %x104 = cute_nvgpu.fragment.extract %d[104] : !acc -> f32
    %x105 = cute_nvgpu.fragment.extract %d[105] : !acc -> f32
    %x106 = cute_nvgpu.fragment.extract %d[106] : !acc -> f32
    %x107 = cute_nvgpu.fragment.extract %d[107] : !acc -> f32
    %x108 = cute_nvgpu.fragment.extract %d[108] : !acc -> f32
    %x109 = cute_nvgpu.fragment.extract %d[109] : !acc -> f32
    %x110 = cute_nvgpu.fragment.extract %d[110] : !acc -> f32
    %x111 = cute_nvgpu.fragment.extract %d[111] : !acc -> f32
    memref.store %x96, %sc[%c0, %reader, %row0, %column0] : !smem_c
    memref.store %x97, %sc[%c0, %reader, %row0, %column1] : !smem_c
    memref.store %x98, %sc[%c0, %reader, %row1, %column0] : !smem_c
    memref.store %x99, %sc[%c0, %reader, %row1, %column1] : !smem_c
    memref.store %x100, %sc[%c0, %reader, %row0, %column2] : !smem_c
    memref.store %x101, %sc[%c0, %reader, %row0, %column3] : !smem_c
    memref.store %x102, %sc[%c0, %reader, %row1, %column2] : !smem_c
    memref.store %x103, %sc[%c0, %reader, %row1, %column3] : !smem_c
    memref.store %x104, %sc[%c0, %reader, %row0, %column4] : !smem_c
    memref.store %x105, %sc[%c0, %reader, %row0, %column5] : !smem_c
    memref.store %x106, %sc[%c0, %reader, %row1, %column4] : !smem_c
    memref.store %x107, %sc[%c0, %reader, %row1, %column5] : !smem_c
    memref.store %x108, %sc[%c0, %reader, %row0, %column6] : !smem_c
    memref.store %x109, %sc[%c0, %reader, %row0, %column7] : !smem_c
    memref.store %x110, %sc[%c0, %reader, %row1, %column6] : !smem_c
    memref.store %x111, %sc[%c0, %reader, %row1, %column7] : !smem_c
    cute_nvgpu.fence.proxy.async in "shared::cta"
    cute_nvgpu.bar.sync 1 threads 256
    scf.if %stores {
      cute_nvgpu.tma.store %sc[%c0, %reader, %c0, %c0] to %map_c[%cm, %cn6] : !smem_c to !map_c
      cute_nvgpu.cp.async.bulk.commit_group
      cute_nvgpu.cp.async.bulk.wait_group 0 read
    }

    // Columns 224 to 255.
    %cn7 = arith.addi %cn6, %c32 : index
    %x112 = cute_nvgpu.fragment.extract %d[112] : !acc -> f32
    %x113 = cute_nvgpu.fragment.extract %d[113] : !acc -> f32
    %x114 = cute_nvgpu.fragment.extract %d[114] : !acc -> f32
    %x115 = cute_nvgpu.fragment.extract %d[115] : !acc -> f32
    %x116 = cute_nvgpu.fragment.extract %d[116] : !acc -> f32
    %x117 = cute_nvgpu.fragment.extract %d[117] : !acc -> f32
    %x118 = cute_nvgpu.fragment.extract %d[118] : !acc -> f32
    %x119 = cute_nvgpu.fragment.extract %d[119] : !acc -> f32
    %x120 = cute_nvgpu.fragment.extract %d[120] : !acc -> f32
    %x121 = cute_nvgpu.fragment.extract %d[121] : !acc -> f32
    %x122 = cute_nvgpu.fragment.extract %d[122] : !acc -> f32
    %x123 = cute_nvgpu.fragment.extract %d[123] : !acc -> f32
    %x124 = cute_nvgpu.fragment.extract %d[124] : !acc -> f32
    %x125 = cute_nvgpu.fragment.extract %d[125] : !acc -> f32
    %x126 = cute_nvgpu.fragment.extract %d[126] : !acc -> f32
    %x127 = cute_nvgpu.fragment.extract %d[127] : !acc -> f32
    memref.store %x112, %sc[%c1, %reader, %row0, %column0] : !smem_c
    memref.store %x113, %sc[%c1, %reader, %row0, %column1] : !smem_c
    memref.store %x114, %sc[%c1, %reader, %row1, %column0] : !smem_c
    memref.store %x115, %sc[%c1, %reader, %row1, %column1] : !smem_c
    memref.store %x116, %sc[%c1, %reader, %row0, %column2] : !smem_c
    memref.store %x117, %sc[%c1, %reader, %row0, %column3] : !smem_c
    memref.store %x118, %sc[%c1, %reader, %row1, %column2] : !smem_c
    memref.store %x119, %sc[%c1, %reader, %row1, %column3] : !smem_c
    memref.store %x120, %sc[%c1, %reader, %row0, %column4] : !smem_c
    memref.store %x121, %sc[%c1, %reader, %row0, %column5] : !smem_c
    memref.store %x122, %sc[%c1, %reader, %row1, %column4] : !smem_c
    memref.store %x123, %sc[%c1, %reader, %row1, %column5] : !smem_c
    memref.store %x124, %sc[%c1, %reader, %row0, %column6] : !smem_c
    memref.store %x125, %sc[%c1, %reader, %row0, %column7] : !smem_c
    memref.store %x126, %sc[%c1, %reader, %row1, %column6] : !smem_c
    memref.store %x127, %sc[%c1, %reader, %row1, %column7] : !smem_c
    cute_nvgpu.fence.proxy.async in "shared::cta"
    cute_nvgpu.bar.sync 1 threads 256
    scf.if %stores {
      cute_nvgpu.tma.store %sc[%c1, %reader, %c0, %c0] to %map_c[%cm, %cn7] : !smem_c to !map_c
      cute_nvgpu.cp.async.bulk.commit_group
      cute_nvgpu.cp.async.bulk.wait_group 0 read
    }
  }
  func.return
}
