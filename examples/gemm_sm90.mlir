// C = A * B on the tensor cores of Hopper: bf16 inputs, f32 accumulation and result.
//
//   A: M x K, row-major, a tensor map with boxes of 128 x 64      B: K x N, row-major, of 64 x 64
//   C: M x N, row-major, leading dimension ldc; N and ldc are even
//
// One CTA of three warpgroups computes a 128 x 256 tile of C. The first warpgroup only copies: one
// of its threads keeps four stages of A and B on their way (TMA, swizzled over rows of 128 bytes).
// The two others multiply, 64 x 256 of the tile each: m64n256k16, 128 accumulators a thread. A stage
// is full when its bytes have landed, and empty when every warp that read it has said so. What lies
// outside of A and B is zeros; stores outside of C are left out.
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
// Pairs of columns: a thread holds two neighbours.
!gmem_c = memref<?x?x2xf32, strided<[?, 2, 1], offset: ?>>

func.func @gemm(%map_a: !map_a, %map_b: !map_b, %c_ptr: memref<?xf32>, %m32: i32, %n32: i32, %k32: i32, %ldc32: i32)
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
  %m = arith.index_cast %m32 : i32 to index
  %n = arith.index_cast %n32 : i32 to index
  %k = arith.index_cast %k32 : i32 to index
  %ldc = arith.index_cast %ldc32 : i32 to index
  %pairs = arith.divui %n, %c2 : index
  %c = memref.reinterpret_cast %c_ptr to offset: [0], sizes: [%m, %pairs, 2], strides: [%ldc, 2, 1] : memref<?xf32> to !gmem_c
  %sa = memref.alloc() : !smem_a
  %sb = memref.alloc() : !smem_b
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
    %warp = arith.divui %tid, %c32 : index
    %quarter = arith.remui %warp, %c4 : index
    %g = arith.divui %lane, %c4 : index
    %t = arith.remui %lane, %c4 : index
    %warp_row = arith.muli %quarter, %c16 : index
    %row_in_half = arith.addi %warp_row, %g : index
    %row_in_tile = arith.addi %row_in_half, %wm : index
    %row0 = arith.addi %row_in_tile, %m0 : index
    %row1 = arith.addi %row0, %c8 : index
    %row0_in = arith.cmpi slt, %row0, %m : index
    %row1_in = arith.cmpi slt, %row1, %m : index
    %first_pair = arith.divui %n0, %c2 : index
    %p0 = arith.addi %first_pair, %t : index
    %p1 = arith.addi %p0, %c4 : index
    %p2 = arith.addi %p1, %c4 : index
    %p3 = arith.addi %p2, %c4 : index
    %p4 = arith.addi %p3, %c4 : index
    %p5 = arith.addi %p4, %c4 : index
    %p6 = arith.addi %p5, %c4 : index
    %p7 = arith.addi %p6, %c4 : index
    %p8 = arith.addi %p7, %c4 : index
    %p9 = arith.addi %p8, %c4 : index
    %p10 = arith.addi %p9, %c4 : index
    %p11 = arith.addi %p10, %c4 : index
    %p12 = arith.addi %p11, %c4 : index
    %p13 = arith.addi %p12, %c4 : index
    %p14 = arith.addi %p13, %c4 : index
    %p15 = arith.addi %p14, %c4 : index
    %p16 = arith.addi %p15, %c4 : index
    %p17 = arith.addi %p16, %c4 : index
    %p18 = arith.addi %p17, %c4 : index
    %p19 = arith.addi %p18, %c4 : index
    %p20 = arith.addi %p19, %c4 : index
    %p21 = arith.addi %p20, %c4 : index
    %p22 = arith.addi %p21, %c4 : index
    %p23 = arith.addi %p22, %c4 : index
    %p24 = arith.addi %p23, %c4 : index
    %p25 = arith.addi %p24, %c4 : index
    %p26 = arith.addi %p25, %c4 : index
    %p27 = arith.addi %p26, %c4 : index
    %p28 = arith.addi %p27, %c4 : index
    %p29 = arith.addi %p28, %c4 : index
    %p30 = arith.addi %p29, %c4 : index
    %p31 = arith.addi %p30, %c4 : index
    %p0_in = arith.cmpi slt, %p0, %pairs : index
    %p1_in = arith.cmpi slt, %p1, %pairs : index
    %p2_in = arith.cmpi slt, %p2, %pairs : index
    %p3_in = arith.cmpi slt, %p3, %pairs : index
    %p4_in = arith.cmpi slt, %p4, %pairs : index
    %p5_in = arith.cmpi slt, %p5, %pairs : index
    %p6_in = arith.cmpi slt, %p6, %pairs : index
    %p7_in = arith.cmpi slt, %p7, %pairs : index
    %p8_in = arith.cmpi slt, %p8, %pairs : index
    %p9_in = arith.cmpi slt, %p9, %pairs : index
    %p10_in = arith.cmpi slt, %p10, %pairs : index
    %p11_in = arith.cmpi slt, %p11, %pairs : index
    %p12_in = arith.cmpi slt, %p12, %pairs : index
    %p13_in = arith.cmpi slt, %p13, %pairs : index
    %p14_in = arith.cmpi slt, %p14, %pairs : index
    %p15_in = arith.cmpi slt, %p15, %pairs : index
    %p16_in = arith.cmpi slt, %p16, %pairs : index
    %p17_in = arith.cmpi slt, %p17, %pairs : index
    %p18_in = arith.cmpi slt, %p18, %pairs : index
    %p19_in = arith.cmpi slt, %p19, %pairs : index
    %p20_in = arith.cmpi slt, %p20, %pairs : index
    %p21_in = arith.cmpi slt, %p21, %pairs : index
    %p22_in = arith.cmpi slt, %p22, %pairs : index
    %p23_in = arith.cmpi slt, %p23, %pairs : index
    %p24_in = arith.cmpi slt, %p24, %pairs : index
    %p25_in = arith.cmpi slt, %p25, %pairs : index
    %p26_in = arith.cmpi slt, %p26, %pairs : index
    %p27_in = arith.cmpi slt, %p27, %pairs : index
    %p28_in = arith.cmpi slt, %p28, %pairs : index
    %p29_in = arith.cmpi slt, %p29, %pairs : index
    %p30_in = arith.cmpi slt, %p30, %pairs : index
    %p31_in = arith.cmpi slt, %p31, %pairs : index
    scf.if %row0_in {
      scf.if %p0_in {
        %x0 = cute_nvgpu.fragment.extract %d[0] : !acc -> f32
        %x1 = cute_nvgpu.fragment.extract %d[1] : !acc -> f32
        memref.store %x0, %c[%row0, %p0, %c0] : !gmem_c
        memref.store %x1, %c[%row0, %p0, %c1] : !gmem_c
      }
      scf.if %p1_in {
        %x4 = cute_nvgpu.fragment.extract %d[4] : !acc -> f32
        %x5 = cute_nvgpu.fragment.extract %d[5] : !acc -> f32
        memref.store %x4, %c[%row0, %p1, %c0] : !gmem_c
        memref.store %x5, %c[%row0, %p1, %c1] : !gmem_c
      }
      scf.if %p2_in {
        %x8 = cute_nvgpu.fragment.extract %d[8] : !acc -> f32
        %x9 = cute_nvgpu.fragment.extract %d[9] : !acc -> f32
        memref.store %x8, %c[%row0, %p2, %c0] : !gmem_c
        memref.store %x9, %c[%row0, %p2, %c1] : !gmem_c
      }
      scf.if %p3_in {
        %x12 = cute_nvgpu.fragment.extract %d[12] : !acc -> f32
        %x13 = cute_nvgpu.fragment.extract %d[13] : !acc -> f32
        memref.store %x12, %c[%row0, %p3, %c0] : !gmem_c
        memref.store %x13, %c[%row0, %p3, %c1] : !gmem_c
      }
      scf.if %p4_in {
        %x16 = cute_nvgpu.fragment.extract %d[16] : !acc -> f32
        %x17 = cute_nvgpu.fragment.extract %d[17] : !acc -> f32
        memref.store %x16, %c[%row0, %p4, %c0] : !gmem_c
        memref.store %x17, %c[%row0, %p4, %c1] : !gmem_c
      }
      scf.if %p5_in {
        %x20 = cute_nvgpu.fragment.extract %d[20] : !acc -> f32
        %x21 = cute_nvgpu.fragment.extract %d[21] : !acc -> f32
        memref.store %x20, %c[%row0, %p5, %c0] : !gmem_c
        memref.store %x21, %c[%row0, %p5, %c1] : !gmem_c
      }
      scf.if %p6_in {
        %x24 = cute_nvgpu.fragment.extract %d[24] : !acc -> f32
        %x25 = cute_nvgpu.fragment.extract %d[25] : !acc -> f32
        memref.store %x24, %c[%row0, %p6, %c0] : !gmem_c
        memref.store %x25, %c[%row0, %p6, %c1] : !gmem_c
      }
      scf.if %p7_in {
        %x28 = cute_nvgpu.fragment.extract %d[28] : !acc -> f32
        %x29 = cute_nvgpu.fragment.extract %d[29] : !acc -> f32
        memref.store %x28, %c[%row0, %p7, %c0] : !gmem_c
        memref.store %x29, %c[%row0, %p7, %c1] : !gmem_c
      }
      scf.if %p8_in {
        %x32 = cute_nvgpu.fragment.extract %d[32] : !acc -> f32
        %x33 = cute_nvgpu.fragment.extract %d[33] : !acc -> f32
        memref.store %x32, %c[%row0, %p8, %c0] : !gmem_c
        memref.store %x33, %c[%row0, %p8, %c1] : !gmem_c
      }
      scf.if %p9_in {
        %x36 = cute_nvgpu.fragment.extract %d[36] : !acc -> f32
        %x37 = cute_nvgpu.fragment.extract %d[37] : !acc -> f32
        memref.store %x36, %c[%row0, %p9, %c0] : !gmem_c
        memref.store %x37, %c[%row0, %p9, %c1] : !gmem_c
      }
      scf.if %p10_in {
        %x40 = cute_nvgpu.fragment.extract %d[40] : !acc -> f32
        %x41 = cute_nvgpu.fragment.extract %d[41] : !acc -> f32
        memref.store %x40, %c[%row0, %p10, %c0] : !gmem_c
        memref.store %x41, %c[%row0, %p10, %c1] : !gmem_c
      }
      scf.if %p11_in {
        %x44 = cute_nvgpu.fragment.extract %d[44] : !acc -> f32
        %x45 = cute_nvgpu.fragment.extract %d[45] : !acc -> f32
        memref.store %x44, %c[%row0, %p11, %c0] : !gmem_c
        memref.store %x45, %c[%row0, %p11, %c1] : !gmem_c
      }
      scf.if %p12_in {
        %x48 = cute_nvgpu.fragment.extract %d[48] : !acc -> f32
        %x49 = cute_nvgpu.fragment.extract %d[49] : !acc -> f32
        memref.store %x48, %c[%row0, %p12, %c0] : !gmem_c
        memref.store %x49, %c[%row0, %p12, %c1] : !gmem_c
      }
      scf.if %p13_in {
        %x52 = cute_nvgpu.fragment.extract %d[52] : !acc -> f32
        %x53 = cute_nvgpu.fragment.extract %d[53] : !acc -> f32
        memref.store %x52, %c[%row0, %p13, %c0] : !gmem_c
        memref.store %x53, %c[%row0, %p13, %c1] : !gmem_c
      }
      scf.if %p14_in {
        %x56 = cute_nvgpu.fragment.extract %d[56] : !acc -> f32
        %x57 = cute_nvgpu.fragment.extract %d[57] : !acc -> f32
        memref.store %x56, %c[%row0, %p14, %c0] : !gmem_c
        memref.store %x57, %c[%row0, %p14, %c1] : !gmem_c
      }
      scf.if %p15_in {
        %x60 = cute_nvgpu.fragment.extract %d[60] : !acc -> f32
        %x61 = cute_nvgpu.fragment.extract %d[61] : !acc -> f32
        memref.store %x60, %c[%row0, %p15, %c0] : !gmem_c
        memref.store %x61, %c[%row0, %p15, %c1] : !gmem_c
      }
      scf.if %p16_in {
        %x64 = cute_nvgpu.fragment.extract %d[64] : !acc -> f32
        %x65 = cute_nvgpu.fragment.extract %d[65] : !acc -> f32
        memref.store %x64, %c[%row0, %p16, %c0] : !gmem_c
        memref.store %x65, %c[%row0, %p16, %c1] : !gmem_c
      }
      scf.if %p17_in {
        %x68 = cute_nvgpu.fragment.extract %d[68] : !acc -> f32
        %x69 = cute_nvgpu.fragment.extract %d[69] : !acc -> f32
        memref.store %x68, %c[%row0, %p17, %c0] : !gmem_c
        memref.store %x69, %c[%row0, %p17, %c1] : !gmem_c
      }
      scf.if %p18_in {
        %x72 = cute_nvgpu.fragment.extract %d[72] : !acc -> f32
        %x73 = cute_nvgpu.fragment.extract %d[73] : !acc -> f32
        memref.store %x72, %c[%row0, %p18, %c0] : !gmem_c
        memref.store %x73, %c[%row0, %p18, %c1] : !gmem_c
      }
      scf.if %p19_in {
        %x76 = cute_nvgpu.fragment.extract %d[76] : !acc -> f32
        %x77 = cute_nvgpu.fragment.extract %d[77] : !acc -> f32
        memref.store %x76, %c[%row0, %p19, %c0] : !gmem_c
        memref.store %x77, %c[%row0, %p19, %c1] : !gmem_c
      }
      scf.if %p20_in {
        %x80 = cute_nvgpu.fragment.extract %d[80] : !acc -> f32
        %x81 = cute_nvgpu.fragment.extract %d[81] : !acc -> f32
        memref.store %x80, %c[%row0, %p20, %c0] : !gmem_c
        memref.store %x81, %c[%row0, %p20, %c1] : !gmem_c
      }
      scf.if %p21_in {
        %x84 = cute_nvgpu.fragment.extract %d[84] : !acc -> f32
        %x85 = cute_nvgpu.fragment.extract %d[85] : !acc -> f32
        memref.store %x84, %c[%row0, %p21, %c0] : !gmem_c
        memref.store %x85, %c[%row0, %p21, %c1] : !gmem_c
      }
      scf.if %p22_in {
        %x88 = cute_nvgpu.fragment.extract %d[88] : !acc -> f32
        %x89 = cute_nvgpu.fragment.extract %d[89] : !acc -> f32
        memref.store %x88, %c[%row0, %p22, %c0] : !gmem_c
        memref.store %x89, %c[%row0, %p22, %c1] : !gmem_c
      }
      scf.if %p23_in {
        %x92 = cute_nvgpu.fragment.extract %d[92] : !acc -> f32
        %x93 = cute_nvgpu.fragment.extract %d[93] : !acc -> f32
        memref.store %x92, %c[%row0, %p23, %c0] : !gmem_c
        memref.store %x93, %c[%row0, %p23, %c1] : !gmem_c
      }
      scf.if %p24_in {
        %x96 = cute_nvgpu.fragment.extract %d[96] : !acc -> f32
        %x97 = cute_nvgpu.fragment.extract %d[97] : !acc -> f32
        memref.store %x96, %c[%row0, %p24, %c0] : !gmem_c
        memref.store %x97, %c[%row0, %p24, %c1] : !gmem_c
      }
      scf.if %p25_in {
        %x100 = cute_nvgpu.fragment.extract %d[100] : !acc -> f32
        %x101 = cute_nvgpu.fragment.extract %d[101] : !acc -> f32
        memref.store %x100, %c[%row0, %p25, %c0] : !gmem_c
        memref.store %x101, %c[%row0, %p25, %c1] : !gmem_c
      }
      scf.if %p26_in {
        %x104 = cute_nvgpu.fragment.extract %d[104] : !acc -> f32
        %x105 = cute_nvgpu.fragment.extract %d[105] : !acc -> f32
        memref.store %x104, %c[%row0, %p26, %c0] : !gmem_c
        memref.store %x105, %c[%row0, %p26, %c1] : !gmem_c
      }
      scf.if %p27_in {
        %x108 = cute_nvgpu.fragment.extract %d[108] : !acc -> f32
        %x109 = cute_nvgpu.fragment.extract %d[109] : !acc -> f32
        memref.store %x108, %c[%row0, %p27, %c0] : !gmem_c
        memref.store %x109, %c[%row0, %p27, %c1] : !gmem_c
      }
      scf.if %p28_in {
        %x112 = cute_nvgpu.fragment.extract %d[112] : !acc -> f32
        %x113 = cute_nvgpu.fragment.extract %d[113] : !acc -> f32
        memref.store %x112, %c[%row0, %p28, %c0] : !gmem_c
        memref.store %x113, %c[%row0, %p28, %c1] : !gmem_c
      }
      scf.if %p29_in {
        %x116 = cute_nvgpu.fragment.extract %d[116] : !acc -> f32
        %x117 = cute_nvgpu.fragment.extract %d[117] : !acc -> f32
        memref.store %x116, %c[%row0, %p29, %c0] : !gmem_c
        memref.store %x117, %c[%row0, %p29, %c1] : !gmem_c
      }
      scf.if %p30_in {
        %x120 = cute_nvgpu.fragment.extract %d[120] : !acc -> f32
        %x121 = cute_nvgpu.fragment.extract %d[121] : !acc -> f32
        memref.store %x120, %c[%row0, %p30, %c0] : !gmem_c
        memref.store %x121, %c[%row0, %p30, %c1] : !gmem_c
      }
      scf.if %p31_in {
        %x124 = cute_nvgpu.fragment.extract %d[124] : !acc -> f32
        %x125 = cute_nvgpu.fragment.extract %d[125] : !acc -> f32
        memref.store %x124, %c[%row0, %p31, %c0] : !gmem_c
        memref.store %x125, %c[%row0, %p31, %c1] : !gmem_c
      }
    }
    scf.if %row1_in {
      scf.if %p0_in {
        %x2 = cute_nvgpu.fragment.extract %d[2] : !acc -> f32
        %x3 = cute_nvgpu.fragment.extract %d[3] : !acc -> f32
        memref.store %x2, %c[%row1, %p0, %c0] : !gmem_c
        memref.store %x3, %c[%row1, %p0, %c1] : !gmem_c
      }
      scf.if %p1_in {
        %x6 = cute_nvgpu.fragment.extract %d[6] : !acc -> f32
        %x7 = cute_nvgpu.fragment.extract %d[7] : !acc -> f32
        memref.store %x6, %c[%row1, %p1, %c0] : !gmem_c
        memref.store %x7, %c[%row1, %p1, %c1] : !gmem_c
      }
      scf.if %p2_in {
        %x10 = cute_nvgpu.fragment.extract %d[10] : !acc -> f32
        %x11 = cute_nvgpu.fragment.extract %d[11] : !acc -> f32
        memref.store %x10, %c[%row1, %p2, %c0] : !gmem_c
        memref.store %x11, %c[%row1, %p2, %c1] : !gmem_c
      }
      scf.if %p3_in {
        %x14 = cute_nvgpu.fragment.extract %d[14] : !acc -> f32
        %x15 = cute_nvgpu.fragment.extract %d[15] : !acc -> f32
        memref.store %x14, %c[%row1, %p3, %c0] : !gmem_c
        memref.store %x15, %c[%row1, %p3, %c1] : !gmem_c
      }
      scf.if %p4_in {
        %x18 = cute_nvgpu.fragment.extract %d[18] : !acc -> f32
        %x19 = cute_nvgpu.fragment.extract %d[19] : !acc -> f32
        memref.store %x18, %c[%row1, %p4, %c0] : !gmem_c
        memref.store %x19, %c[%row1, %p4, %c1] : !gmem_c
      }
      scf.if %p5_in {
        %x22 = cute_nvgpu.fragment.extract %d[22] : !acc -> f32
        %x23 = cute_nvgpu.fragment.extract %d[23] : !acc -> f32
        memref.store %x22, %c[%row1, %p5, %c0] : !gmem_c
        memref.store %x23, %c[%row1, %p5, %c1] : !gmem_c
      }
      scf.if %p6_in {
        %x26 = cute_nvgpu.fragment.extract %d[26] : !acc -> f32
        %x27 = cute_nvgpu.fragment.extract %d[27] : !acc -> f32
        memref.store %x26, %c[%row1, %p6, %c0] : !gmem_c
        memref.store %x27, %c[%row1, %p6, %c1] : !gmem_c
      }
      scf.if %p7_in {
        %x30 = cute_nvgpu.fragment.extract %d[30] : !acc -> f32
        %x31 = cute_nvgpu.fragment.extract %d[31] : !acc -> f32
        memref.store %x30, %c[%row1, %p7, %c0] : !gmem_c
        memref.store %x31, %c[%row1, %p7, %c1] : !gmem_c
      }
      scf.if %p8_in {
        %x34 = cute_nvgpu.fragment.extract %d[34] : !acc -> f32
        %x35 = cute_nvgpu.fragment.extract %d[35] : !acc -> f32
        memref.store %x34, %c[%row1, %p8, %c0] : !gmem_c
        memref.store %x35, %c[%row1, %p8, %c1] : !gmem_c
      }
      scf.if %p9_in {
        %x38 = cute_nvgpu.fragment.extract %d[38] : !acc -> f32
        %x39 = cute_nvgpu.fragment.extract %d[39] : !acc -> f32
        memref.store %x38, %c[%row1, %p9, %c0] : !gmem_c
        memref.store %x39, %c[%row1, %p9, %c1] : !gmem_c
      }
      scf.if %p10_in {
        %x42 = cute_nvgpu.fragment.extract %d[42] : !acc -> f32
        %x43 = cute_nvgpu.fragment.extract %d[43] : !acc -> f32
        memref.store %x42, %c[%row1, %p10, %c0] : !gmem_c
        memref.store %x43, %c[%row1, %p10, %c1] : !gmem_c
      }
      scf.if %p11_in {
        %x46 = cute_nvgpu.fragment.extract %d[46] : !acc -> f32
        %x47 = cute_nvgpu.fragment.extract %d[47] : !acc -> f32
        memref.store %x46, %c[%row1, %p11, %c0] : !gmem_c
        memref.store %x47, %c[%row1, %p11, %c1] : !gmem_c
      }
      scf.if %p12_in {
        %x50 = cute_nvgpu.fragment.extract %d[50] : !acc -> f32
        %x51 = cute_nvgpu.fragment.extract %d[51] : !acc -> f32
        memref.store %x50, %c[%row1, %p12, %c0] : !gmem_c
        memref.store %x51, %c[%row1, %p12, %c1] : !gmem_c
      }
      scf.if %p13_in {
        %x54 = cute_nvgpu.fragment.extract %d[54] : !acc -> f32
        %x55 = cute_nvgpu.fragment.extract %d[55] : !acc -> f32
        memref.store %x54, %c[%row1, %p13, %c0] : !gmem_c
        memref.store %x55, %c[%row1, %p13, %c1] : !gmem_c
      }
      scf.if %p14_in {
        %x58 = cute_nvgpu.fragment.extract %d[58] : !acc -> f32
        %x59 = cute_nvgpu.fragment.extract %d[59] : !acc -> f32
        memref.store %x58, %c[%row1, %p14, %c0] : !gmem_c
        memref.store %x59, %c[%row1, %p14, %c1] : !gmem_c
      }
      scf.if %p15_in {
        %x62 = cute_nvgpu.fragment.extract %d[62] : !acc -> f32
        %x63 = cute_nvgpu.fragment.extract %d[63] : !acc -> f32
        memref.store %x62, %c[%row1, %p15, %c0] : !gmem_c
        memref.store %x63, %c[%row1, %p15, %c1] : !gmem_c
      }
      scf.if %p16_in {
        %x66 = cute_nvgpu.fragment.extract %d[66] : !acc -> f32
        %x67 = cute_nvgpu.fragment.extract %d[67] : !acc -> f32
        memref.store %x66, %c[%row1, %p16, %c0] : !gmem_c
        memref.store %x67, %c[%row1, %p16, %c1] : !gmem_c
      }
      scf.if %p17_in {
        %x70 = cute_nvgpu.fragment.extract %d[70] : !acc -> f32
        %x71 = cute_nvgpu.fragment.extract %d[71] : !acc -> f32
        memref.store %x70, %c[%row1, %p17, %c0] : !gmem_c
        memref.store %x71, %c[%row1, %p17, %c1] : !gmem_c
      }
      scf.if %p18_in {
        %x74 = cute_nvgpu.fragment.extract %d[74] : !acc -> f32
        %x75 = cute_nvgpu.fragment.extract %d[75] : !acc -> f32
        memref.store %x74, %c[%row1, %p18, %c0] : !gmem_c
        memref.store %x75, %c[%row1, %p18, %c1] : !gmem_c
      }
      scf.if %p19_in {
        %x78 = cute_nvgpu.fragment.extract %d[78] : !acc -> f32
        %x79 = cute_nvgpu.fragment.extract %d[79] : !acc -> f32
        memref.store %x78, %c[%row1, %p19, %c0] : !gmem_c
        memref.store %x79, %c[%row1, %p19, %c1] : !gmem_c
      }
      scf.if %p20_in {
        %x82 = cute_nvgpu.fragment.extract %d[82] : !acc -> f32
        %x83 = cute_nvgpu.fragment.extract %d[83] : !acc -> f32
        memref.store %x82, %c[%row1, %p20, %c0] : !gmem_c
        memref.store %x83, %c[%row1, %p20, %c1] : !gmem_c
      }
      scf.if %p21_in {
        %x86 = cute_nvgpu.fragment.extract %d[86] : !acc -> f32
        %x87 = cute_nvgpu.fragment.extract %d[87] : !acc -> f32
        memref.store %x86, %c[%row1, %p21, %c0] : !gmem_c
        memref.store %x87, %c[%row1, %p21, %c1] : !gmem_c
      }
      scf.if %p22_in {
        %x90 = cute_nvgpu.fragment.extract %d[90] : !acc -> f32
        %x91 = cute_nvgpu.fragment.extract %d[91] : !acc -> f32
        memref.store %x90, %c[%row1, %p22, %c0] : !gmem_c
        memref.store %x91, %c[%row1, %p22, %c1] : !gmem_c
      }
      scf.if %p23_in {
        %x94 = cute_nvgpu.fragment.extract %d[94] : !acc -> f32
        %x95 = cute_nvgpu.fragment.extract %d[95] : !acc -> f32
        memref.store %x94, %c[%row1, %p23, %c0] : !gmem_c
        memref.store %x95, %c[%row1, %p23, %c1] : !gmem_c
      }
      scf.if %p24_in {
        %x98 = cute_nvgpu.fragment.extract %d[98] : !acc -> f32
        %x99 = cute_nvgpu.fragment.extract %d[99] : !acc -> f32
        memref.store %x98, %c[%row1, %p24, %c0] : !gmem_c
        memref.store %x99, %c[%row1, %p24, %c1] : !gmem_c
      }
      scf.if %p25_in {
        %x102 = cute_nvgpu.fragment.extract %d[102] : !acc -> f32
        %x103 = cute_nvgpu.fragment.extract %d[103] : !acc -> f32
        memref.store %x102, %c[%row1, %p25, %c0] : !gmem_c
        memref.store %x103, %c[%row1, %p25, %c1] : !gmem_c
      }
      scf.if %p26_in {
        %x106 = cute_nvgpu.fragment.extract %d[106] : !acc -> f32
        %x107 = cute_nvgpu.fragment.extract %d[107] : !acc -> f32
        memref.store %x106, %c[%row1, %p26, %c0] : !gmem_c
        memref.store %x107, %c[%row1, %p26, %c1] : !gmem_c
      }
      scf.if %p27_in {
        %x110 = cute_nvgpu.fragment.extract %d[110] : !acc -> f32
        %x111 = cute_nvgpu.fragment.extract %d[111] : !acc -> f32
        memref.store %x110, %c[%row1, %p27, %c0] : !gmem_c
        memref.store %x111, %c[%row1, %p27, %c1] : !gmem_c
      }
      scf.if %p28_in {
        %x114 = cute_nvgpu.fragment.extract %d[114] : !acc -> f32
        %x115 = cute_nvgpu.fragment.extract %d[115] : !acc -> f32
        memref.store %x114, %c[%row1, %p28, %c0] : !gmem_c
        memref.store %x115, %c[%row1, %p28, %c1] : !gmem_c
      }
      scf.if %p29_in {
        %x118 = cute_nvgpu.fragment.extract %d[118] : !acc -> f32
        %x119 = cute_nvgpu.fragment.extract %d[119] : !acc -> f32
        memref.store %x118, %c[%row1, %p29, %c0] : !gmem_c
        memref.store %x119, %c[%row1, %p29, %c1] : !gmem_c
      }
      scf.if %p30_in {
        %x122 = cute_nvgpu.fragment.extract %d[122] : !acc -> f32
        %x123 = cute_nvgpu.fragment.extract %d[123] : !acc -> f32
        memref.store %x122, %c[%row1, %p30, %c0] : !gmem_c
        memref.store %x123, %c[%row1, %p30, %c1] : !gmem_c
      }
      scf.if %p31_in {
        %x126 = cute_nvgpu.fragment.extract %d[126] : !acc -> f32
        %x127 = cute_nvgpu.fragment.extract %d[127] : !acc -> f32
        memref.store %x126, %c[%row1, %p31, %c0] : !gmem_c
        memref.store %x127, %c[%row1, %p31, %c1] : !gmem_c
      }
    }
  }
  func.return
}
