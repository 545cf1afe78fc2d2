// C = A * B on the tensor cores of sm_80: bf16 inputs, f32 accumulation and result.
//
//   A: M x K, row-major, leading dimension lda      B: K x N, row-major, leading dimension ldb
//   C: M x N, row-major, leading dimension ldc      lda and ldb are multiples of 8 (16 bytes)
//
// One CTA of 4 warps computes a 64 x 64 tile of C, each warp 32 x 32 of it, with three stages of
// 64 x 32 (A) and 32 x 64 (B) tiles in swizzled shared memory. Tiles that reach over an edge of A
// or B are filled with zeros by cp.async; stores outside of C are left out.
//
//   grid = (ceil(N / 64), ceil(M / 64), 1), block = (128, 1, 1)

!smem_a = memref<3x64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (3,64,32):(2048,32,1)">, #cute<space smem>>
!smem_b = memref<3x32x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (3,32,64):(2048,64,1)">, #cute<space smem>>
!gmem = memref<?x?xbf16, strided<[?, 1], offset: ?>>
!gmem_c = memref<?x?xf32, strided<[?, 1], offset: ?>>
!frag_a = !cute_nvgpu.fragment<8xbf16>
!frag_b = !cute_nvgpu.fragment<4xbf16>
!frag_bb = !cute_nvgpu.fragment<8xbf16>
!frag_c = !cute_nvgpu.fragment<4xf32>

func.func @gemm(%a_ptr: memref<?xbf16>, %b_ptr: memref<?xbf16>, %c_ptr: memref<?xf32>,
                %m32: i32, %n32: i32, %k32: i32, %lda32: i32, %ldb32: i32, %ldc32: i32)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32

  // The matrices, with the extents and leading dimensions of the kernel's arguments.
  %m = arith.index_cast %m32 : i32 to index
  %n = arith.index_cast %n32 : i32 to index
  %k = arith.index_cast %k32 : i32 to index
  %lda = arith.index_cast %lda32 : i32 to index
  %ldb = arith.index_cast %ldb32 : i32 to index
  %ldc = arith.index_cast %ldc32 : i32 to index
  %a = memref.reinterpret_cast %a_ptr to offset: [0], sizes: [%m, %k], strides: [%lda, 1] : memref<?xbf16> to !gmem
  %b = memref.reinterpret_cast %b_ptr to offset: [0], sizes: [%k, %n], strides: [%ldb, 1] : memref<?xbf16> to !gmem
  %c = memref.reinterpret_cast %c_ptr to offset: [0], sizes: [%m, %n], strides: [%ldc, 1] : memref<?xf32> to !gmem_c
  %sa = memref.alloc() : !smem_a
  %sb = memref.alloc() : !smem_b

  // Where this CTA, warp and lane work.
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bx = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %by = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %m0 = arith.muli %by, %c64 : index
  %n0 = arith.muli %bx, %c64 : index
  %lane = arith.remui %tid, %c32 : index
  %warp = arith.divui %tid, %c32 : index
  %warp_row = arith.divui %warp, %c2 : index
  %warp_col = arith.remui %warp, %c2 : index
  %wm = arith.muli %warp_row, %c32 : index
  %wn = arith.muli %warp_col, %c32 : index

  // What this thread copies: 16 bytes of two rows of the A tile and of two rows of the B tile.
  %a_row0 = arith.divui %tid, %c4 : index
  %a_row1 = arith.addi %a_row0, %c32 : index
  %a_chunk = arith.remui %tid, %c4 : index
  %a_col = arith.muli %a_chunk, %c8 : index
  %b_row0 = arith.divui %tid, %c8 : index
  %b_row1 = arith.addi %b_row0, %c16 : index
  %b_chunk = arith.remui %tid, %c8 : index
  %b_col = arith.muli %b_chunk, %c8 : index
  %a_m0 = arith.addi %m0, %a_row0 : index
  %a_m1 = arith.addi %m0, %a_row1 : index
  %b_n = arith.addi %n0, %b_col : index
  %a_in0 = arith.cmpi slt, %a_m0, %m : index
  %a_in1 = arith.cmpi slt, %a_m1, %m : index
  // Bytes of B's 16 that lie inside the matrix.
  %zero32 = arith.constant 0 : i32
  %two32 = arith.constant 2 : i32
  %sixteen32 = arith.constant 16 : i32
  %b_left = arith.subi %n, %b_n : index
  %b_left32 = arith.index_cast %b_left : index to i32
  %b_bytes = arith.muli %b_left32, %two32 : i32
  %b_capped = arith.minsi %b_bytes, %sixteen32 : i32
  %b_fill = arith.maxsi %b_capped, %zero32 : i32

  // Which rows of 16 bytes this lane names for ldmatrix.
  %lane_row = arith.remui %lane, %c16 : index
  %lane_half = arith.divui %lane, %c16 : index
  %lane_col = arith.muli %lane_half, %c8 : index
  %lda_row0 = arith.addi %wm, %lane_row : index
  %lda_row1 = arith.addi %lda_row0, %c16 : index
  %ldb_col0 = arith.addi %wn, %lane_col : index
  %ldb_col1 = arith.addi %ldb_col0, %c16 : index
  %lda_col1 = arith.addi %lane_col, %c16 : index
  %ldb_row1 = arith.addi %lane_row, %c16 : index

  // Tiles of K, and the first two of them on their way.
  %k_up = arith.addi %k, %c31 : index
  %tiles = arith.divui %k_up, %c32 : index
  scf.for %stage = %c0 to %c2 step %c1 {
    %p_k0 = arith.muli %stage, %c32 : index
    %p_ak = arith.addi %p_k0, %a_col : index
    %p_left = arith.subi %k, %p_ak : index
    %p_left32 = arith.index_cast %p_left : index to i32
    %p_bytes = arith.muli %p_left32, %two32 : i32
    %p_capped = arith.minsi %p_bytes, %sixteen32 : i32
    %p_a_fill = arith.maxsi %p_capped, %zero32 : i32
    %p_a_fill0 = arith.select %a_in0, %p_a_fill, %zero32 : i32
    %p_a_fill1 = arith.select %a_in1, %p_a_fill, %zero32 : i32
    %p_bk0 = arith.addi %p_k0, %b_row0 : index
    %p_bk1 = arith.addi %p_k0, %b_row1 : index
    %p_b_in0 = arith.cmpi slt, %p_bk0, %k : index
    %p_b_in1 = arith.cmpi slt, %p_bk1, %k : index
    %p_b_fill0 = arith.select %p_b_in0, %b_fill, %zero32 : i32
    %p_b_fill1 = arith.select %p_b_in1, %b_fill, %zero32 : i32
    cute_nvgpu.cp.async %a[%a_m0, %p_ak] to %sa[%stage, %a_row0, %a_col] size 16 cache cg fill %p_a_fill0 : !gmem to !smem_a
    cute_nvgpu.cp.async %a[%a_m1, %p_ak] to %sa[%stage, %a_row1, %a_col] size 16 cache cg fill %p_a_fill1 : !gmem to !smem_a
    cute_nvgpu.cp.async %b[%p_bk0, %b_n] to %sb[%stage, %b_row0, %b_col] size 16 cache cg fill %p_b_fill0 : !gmem to !smem_b
    cute_nvgpu.cp.async %b[%p_bk1, %b_n] to %sb[%stage, %b_row1, %b_col] size 16 cache cg fill %p_b_fill1 : !gmem to !smem_b
    cute_nvgpu.cp.async.commit_group
  }

  // The K loop: 2 x 4 accumulators of 16 x 8 a warp.
  %acc = cute_nvgpu.fragment.splat %zero : f32 -> !frag_c
  %d00, %d01, %d02, %d03, %d10, %d11, %d12, %d13, %last_read, %last_write = scf.for %tile = %c0 to %tiles step %c1
      iter_args(%s00 = %acc, %s01 = %acc, %s02 = %acc, %s03 = %acc, %s10 = %acc, %s11 = %acc, %s12 = %acc, %s13 = %acc,
                %read = %c0, %write = %c2)
      -> (!frag_c, !frag_c, !frag_c, !frag_c, !frag_c, !frag_c, !frag_c, !frag_c, index, index) {
    // The tile that the MMAs read has landed, and all warps are done with the one before it.
    cute_nvgpu.cp.async.wait_group 1
    "gpu.barrier"() : () -> ()
    %next = arith.addi %tile, %c2 : index
    %n_k0 = arith.muli %next, %c32 : index
    %n_ak = arith.addi %n_k0, %a_col : index
    %n_left = arith.subi %k, %n_ak : index
    %n_left32 = arith.index_cast %n_left : index to i32
    %n_bytes = arith.muli %n_left32, %two32 : i32
    %n_capped = arith.minsi %n_bytes, %sixteen32 : i32
    %n_a_fill = arith.maxsi %n_capped, %zero32 : i32
    %n_a_fill0 = arith.select %a_in0, %n_a_fill, %zero32 : i32
    %n_a_fill1 = arith.select %a_in1, %n_a_fill, %zero32 : i32
    %n_bk0 = arith.addi %n_k0, %b_row0 : index
    %n_bk1 = arith.addi %n_k0, %b_row1 : index
    %n_b_in0 = arith.cmpi slt, %n_bk0, %k : index
    %n_b_in1 = arith.cmpi slt, %n_bk1, %k : index
    %n_b_fill0 = arith.select %n_b_in0, %b_fill, %zero32 : i32
    %n_b_fill1 = arith.select %n_b_in1, %b_fill, %zero32 : i32
    cute_nvgpu.cp.async %a[%a_m0, %n_ak] to %sa[%write, %a_row0, %a_col] size 16 cache cg fill %n_a_fill0 : !gmem to !smem_a
    cute_nvgpu.cp.async %a[%a_m1, %n_ak] to %sa[%write, %a_row1, %a_col] size 16 cache cg fill %n_a_fill1 : !gmem to !smem_a
    cute_nvgpu.cp.async %b[%n_bk0, %b_n] to %sb[%write, %b_row0, %b_col] size 16 cache cg fill %n_b_fill0 : !gmem to !smem_b
    cute_nvgpu.cp.async %b[%n_bk1, %b_n] to %sb[%write, %b_row1, %b_col] size 16 cache cg fill %n_b_fill1 : !gmem to !smem_b
    cute_nvgpu.cp.async.commit_group

    // k = 0 to 15 of the tile.
    %a00 = cute_nvgpu.ldmatrix %sa[%read, %lda_row0, %lane_col] : !smem_a -> !frag_a
    %a01 = cute_nvgpu.ldmatrix %sa[%read, %lda_row1, %lane_col] : !smem_a -> !frag_a
    %bb00 = cute_nvgpu.ldmatrix %sb[%read, %lane_row, %ldb_col0] trans : !smem_b -> !frag_bb
    %bb01 = cute_nvgpu.ldmatrix %sb[%read, %lane_row, %ldb_col1] trans : !smem_b -> !frag_bb
    %b00 = cute_nvgpu.fragment.slice %bb00[0] : !frag_bb -> !frag_b
    %b01 = cute_nvgpu.fragment.slice %bb00[4] : !frag_bb -> !frag_b
    %b02 = cute_nvgpu.fragment.slice %bb01[0] : !frag_bb -> !frag_b
    %b03 = cute_nvgpu.fragment.slice %bb01[4] : !frag_bb -> !frag_b
    %t00 = cute_nvgpu.sm80.mma %a00, %b00, %s00 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %t01 = cute_nvgpu.sm80.mma %a00, %b01, %s01 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %t02 = cute_nvgpu.sm80.mma %a00, %b02, %s02 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %t03 = cute_nvgpu.sm80.mma %a00, %b03, %s03 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %t10 = cute_nvgpu.sm80.mma %a01, %b00, %s10 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %t11 = cute_nvgpu.sm80.mma %a01, %b01, %s11 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %t12 = cute_nvgpu.sm80.mma %a01, %b02, %s12 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %t13 = cute_nvgpu.sm80.mma %a01, %b03, %s13 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c

    // k = 16 to 31 of the tile.
    %a10 = cute_nvgpu.ldmatrix %sa[%read, %lda_row0, %lda_col1] : !smem_a -> !frag_a
    %a11 = cute_nvgpu.ldmatrix %sa[%read, %lda_row1, %lda_col1] : !smem_a -> !frag_a
    %bb10 = cute_nvgpu.ldmatrix %sb[%read, %ldb_row1, %ldb_col0] trans : !smem_b -> !frag_bb
    %bb11 = cute_nvgpu.ldmatrix %sb[%read, %ldb_row1, %ldb_col1] trans : !smem_b -> !frag_bb
    %b10 = cute_nvgpu.fragment.slice %bb10[0] : !frag_bb -> !frag_b
    %b11 = cute_nvgpu.fragment.slice %bb10[4] : !frag_bb -> !frag_b
    %b12 = cute_nvgpu.fragment.slice %bb11[0] : !frag_bb -> !frag_b
    %b13 = cute_nvgpu.fragment.slice %bb11[4] : !frag_bb -> !frag_b
    %u00 = cute_nvgpu.sm80.mma %a10, %b10, %t00 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %u01 = cute_nvgpu.sm80.mma %a10, %b11, %t01 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %u02 = cute_nvgpu.sm80.mma %a10, %b12, %t02 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %u03 = cute_nvgpu.sm80.mma %a10, %b13, %t03 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %u10 = cute_nvgpu.sm80.mma %a11, %b10, %t10 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %u11 = cute_nvgpu.sm80.mma %a11, %b11, %t11 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %u12 = cute_nvgpu.sm80.mma %a11, %b12, %t12 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %u13 = cute_nvgpu.sm80.mma %a11, %b13, %t13 <16x8x16, elem_type = (bf16, bf16, f32)> : (!frag_a, !frag_b, !frag_c) -> !frag_c

    %read_up = arith.addi %read, %c1 : index
    %read_wraps = arith.cmpi eq, %read_up, %c3 : index
    %read_next = arith.select %read_wraps, %c0, %read_up : index
    %write_up = arith.addi %write, %c1 : index
    %write_wraps = arith.cmpi eq, %write_up, %c3 : index
    %write_next = arith.select %write_wraps, %c0, %write_up : index
    scf.yield %u00, %u01, %u02, %u03, %u10, %u11, %u12, %u13, %read_next, %write_next
      : !frag_c, !frag_c, !frag_c, !frag_c, !frag_c, !frag_c, !frag_c, !frag_c, index, index
  }
  cute_nvgpu.cp.async.wait_group 0

  // The accumulators to C: lane 4 * g + t holds columns 2t and 2t + 1 of rows g and g + 8.
  %g = arith.divui %lane, %c4 : index
  %t = arith.remui %lane, %c4 : index
  %t2 = arith.muli %t, %c2 : index
  %cm_warp = arith.addi %m0, %wm : index
  %cn_warp = arith.addi %n0, %wn : index
  %cn0 = arith.addi %cn_warp, %t2 : index
  %cn1 = arith.addi %cn0, %c1 : index
  %cn2 = arith.addi %cn0, %c8 : index
  %cn3 = arith.addi %cn2, %c1 : index
  %cn4 = arith.addi %cn2, %c8 : index
  %cn5 = arith.addi %cn4, %c1 : index
  %cn6 = arith.addi %cn4, %c8 : index
  %cn7 = arith.addi %cn6, %c1 : index
  %in0 = arith.cmpi slt, %cn0, %n : index
  %in1 = arith.cmpi slt, %cn1, %n : index
  %in2 = arith.cmpi slt, %cn2, %n : index
  %in3 = arith.cmpi slt, %cn3, %n : index
  %in4 = arith.cmpi slt, %cn4, %n : index
  %in5 = arith.cmpi slt, %cn5, %n : index
  %in6 = arith.cmpi slt, %cn6, %n : index
  %in7 = arith.cmpi slt, %cn7, %n : index
  %cm0 = arith.addi %cm_warp, %g : index
  %cm1 = arith.addi %cm0, %c8 : index
  %cm2 = arith.addi %cm1, %c8 : index
  %cm3 = arith.addi %cm2, %c8 : index
  %row_in0 = arith.cmpi slt, %cm0, %m : index
  scf.if %row_in0 {
    %x00 = cute_nvgpu.fragment.extract %d00[0] : !frag_c -> f32
    scf.if %in0 {
      memref.store %x00, %c[%cm0, %cn0] : !gmem_c
    }
    %x01 = cute_nvgpu.fragment.extract %d00[1] : !frag_c -> f32
    scf.if %in1 {
      memref.store %x01, %c[%cm0, %cn1] : !gmem_c
    }
    %x02 = cute_nvgpu.fragment.extract %d01[0] : !frag_c -> f32
    scf.if %in2 {
      memref.store %x02, %c[%cm0, %cn2] : !gmem_c
    }
    %x03 = cute_nvgpu.fragment.extract %d01[1] : !frag_c -> f32
    scf.if %in3 {
      memref.store %x03, %c[%cm0, %cn3] : !gmem_c
    }
    %x04 = cute_nvgpu.fragment.extract %d02[0] : !frag_c -> f32
    scf.if %in4 {
      memref.store %x04, %c[%cm0, %cn4] : !gmem_c
    }
    %x05 = cute_nvgpu.fragment.extract %d02[1] : !frag_c -> f32
    scf.if %in5 {
      memref.store %x05, %c[%cm0, %cn5] : !gmem_c
    }
    %x06 = cute_nvgpu.fragment.extract %d03[0] : !frag_c -> f32
    scf.if %in6 {
      memref.store %x06, %c[%cm0, %cn6] : !gmem_c
    }
    %x07 = cute_nvgpu.fragment.extract %d03[1] : !frag_c -> f32
    scf.if %in7 {
      memref.store %x07, %c[%cm0, %cn7] : !gmem_c
    }
  }
  %row_in1 = arith.cmpi slt, %cm1, %m : index
  scf.if %row_in1 {
    %x10 = cute_nvgpu.fragment.extract %d00[2] : !frag_c -> f32
    scf.if %in0 {
      memref.store %x10, %c[%cm1, %cn0] : !gmem_c
    }
    %x11 = cute_nvgpu.fragment.extract %d00[3] : !frag_c -> f32
    scf.if %in1 {
      memref.store %x11, %c[%cm1, %cn1] : !gmem_c
    }
    %x12 = cute_nvgpu.fragment.extract %d01[2] : !frag_c -> f32
    scf.if %in2 {
      memref.store %x12, %c[%cm1, %cn2] : !gmem_c
    }
    %x13 = cute_nvgpu.fragment.extract %d01[3] : !frag_c -> f32
    scf.if %in3 {
      memref.store %x13, %c[%cm1, %cn3] : !gmem_c
    }
    %x14 = cute_nvgpu.fragment.extract %d02[2] : !frag_c -> f32
    scf.if %in4 {
      memref.store %x14, %c[%cm1, %cn4] : !gmem_c
    }
    %x15 = cute_nvgpu.fragment.extract %d02[3] : !frag_c -> f32
    scf.if %in5 {
      memref.store %x15, %c[%cm1, %cn5] : !gmem_c
    }
    %x16 = cute_nvgpu.fragment.extract %d03[2] : !frag_c -> f32
    scf.if %in6 {
      memref.store %x16, %c[%cm1, %cn6] : !gmem_c
    }
    %x17 = cute_nvgpu.fragment.extract %d03[3] : !frag_c -> f32
    scf.if %in7 {
      memref.store %x17, %c[%cm1, %cn7] : !gmem_c
    }
  }
  %row_in2 = arith.cmpi slt, %cm2, %m : index
  scf.if %row_in2 {
    %x20 = cute_nvgpu.fragment.extract %d10[0] : !frag_c -> f32
    scf.if %in0 {
      memref.store %x20, %c[%cm2, %cn0] : !gmem_c
    }
    %x21 = cute_nvgpu.fragment.extract %d10[1] : !frag_c -> f32
    scf.if %in1 {
      memref.store %x21, %c[%cm2, %cn1] : !gmem_c
    }
    %x22 = cute_nvgpu.fragment.extract %d11[0] : !frag_c -> f32
    scf.if %in2 {
      memref.store %x22, %c[%cm2, %cn2] : !gmem_c
    }
    %x23 = cute_nvgpu.fragment.extract %d11[1] : !frag_c -> f32
    scf.if %in3 {
      memref.store %x23, %c[%cm2, %cn3] : !gmem_c
    }
    %x24 = cute_nvgpu.fragment.extract %d12[0] : !frag_c -> f32
    scf.if %in4 {
      memref.store %x24, %c[%cm2, %cn4] : !gmem_c
    }
    %x25 = cute_nvgpu.fragment.extract %d12[1] : !frag_c -> f32
    scf.if %in5 {
      memref.store %x25, %c[%cm2, %cn5] : !gmem_c
    }
    %x26 = cute_nvgpu.fragment.extract %d13[0] : !frag_c -> f32
    scf.if %in6 {
      memref.store %x26, %c[%cm2, %cn6] : !gmem_c
    }
    %x27 = cute_nvgpu.fragment.extract %d13[1] : !frag_c -> f32
    scf.if %in7 {
      memref.store %x27, %c[%cm2, %cn7] : !gmem_c
    }
  }
  %row_in3 = arith.cmpi slt, %cm3, %m : index
  scf.if %row_in3 {
    %x30 = cute_nvgpu.fragment.extract %d10[2] : !frag_c -> f32
    scf.if %in0 {
      memref.store %x30, %c[%cm3, %cn0] : !gmem_c
    }
    %x31 = cute_nvgpu.fragment.extract %d10[3] : !frag_c -> f32
    scf.if %in1 {
      memref.store %x31, %c[%cm3, %cn1] : !gmem_c
    }
    %x32 = cute_nvgpu.fragment.extract %d11[2] : !frag_c -> f32
    scf.if %in2 {
      memref.store %x32, %c[%cm3, %cn2] : !gmem_c
    }
    %x33 = cute_nvgpu.fragment.extract %d11[3] : !frag_c -> f32
    scf.if %in3 {
      memref.store %x33, %c[%cm3, %cn3] : !gmem_c
    }
    %x34 = cute_nvgpu.fragment.extract %d12[2] : !frag_c -> f32
    scf.if %in4 {
      memref.store %x34, %c[%cm3, %cn4] : !gmem_c
    }
    %x35 = cute_nvgpu.fragment.extract %d12[3] : !frag_c -> f32
    scf.if %in5 {
      memref.store %x35, %c[%cm3, %cn5] : !gmem_c
    }
    %x36 = cute_nvgpu.fragment.extract %d13[2] : !frag_c -> f32
    scf.if %in6 {
      memref.store %x36, %c[%cm3, %cn6] : !gmem_c
    }
    %x37 = cute_nvgpu.fragment.extract %d13[3] : !frag_c -> f32
    scf.if %in7 {
      memref.store %x37, %c[%cm3, %cn7] : !gmem_c
    }
  }
  func.return
}
