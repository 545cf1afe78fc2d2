// C = A * B^T on the tensor cores of Blackwell, in the microscaling format MXFP8: e4m3 elements with
// an e8m0 scale factor for each 32 of a row, f32 accumulation and result.
//
//   A: M x K, row-major, a tensor map with boxes of 128 x 128      B: N x K, row-major, of 128 x 128
//   SFA, SFB: their scale factors, tensor maps of rows of 16 bytes with boxes of 32 x 16
//   C: M x N, row-major, a tensor map with boxes of 128 x 32
//
// The scale factors of 128 rows and 128 elements of K, 4 a row, are a block of 512 bytes: factor s
// of row r at byte 16 * (r % 32) + 4 * (r / 32) + s. Blocks along K follow each other, then those of
// the next 128 rows; factors of rows and elements that do not exist are 0.
//
// One CTA of six warps computes a 128 x 128 tile of C, as in gemm_sm100.mlir. The thread that
// multiplies also copies the scale factors of each stage from shared memory to tensor memory, where
// its MMAs (m128n128k32, with the factors of one quarter of the stage) find them.
//
//   grid = (ceil(N / 128), ceil(M / 128), 1), block = (192, 1, 1), K > 0

!map_a = !cute_nvgpu.tma_descriptor<128x128xf8E4M3FN, swizzle = 128>
!map_b = !cute_nvgpu.tma_descriptor<128x128xf8E4M3FN, swizzle = 128>
!map_sf = !cute_nvgpu.tma_descriptor<32x16xui8>
!map_c = !cute_nvgpu.tma_descriptor<128x32xf32, swizzle = 128>
!smem_ab = memref<4x128x128xf8E4M3FN, !cute.composed_layout<"S<3,4,3> o 0 o (4,128,128):(16384,128,1)">, #cute<space smem>>
!smem_sf = memref<4x32x16xui8, !cute.layout<"(4,32,16):(512,16,1)">, #cute<space smem>>
!smem_c = memref<2x128x32xf32, !cute.composed_layout<"S<3,2,3> o 0 o (2,128,32):(4096,32,1)">, #cute<space smem>>
!desc_ab = !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">
!desc_sf = !cute_nvgpu.smem_desc_view<32x16xui8, tcgen05, "(32,16):(16,1)">
!barriers = memref<4xi64, #cute<space smem>>
!barrier = memref<1xi64, #cute<space smem>>
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
!acc = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!sf = memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>
!columns = !cute_nvgpu.fragment<32xf32>

func.func @gemm(%map_a: !map_a, %map_b: !map_b, %map_sfa: !map_sf, %map_sfb: !map_sf, %map_c: !map_c, %k32: i32)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 192, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %c127 = arith.constant 127 : index
  %c128 = arith.constant 128 : index
  %c132 = arith.constant 132 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %k = arith.index_cast %k32 : i32 to index
  %sa = memref.alloc() : !smem_ab
  %sb = memref.alloc() : !smem_ab
  %ssfa = memref.alloc() : !smem_sf
  %ssfb = memref.alloc() : !smem_sf
  %sc = memref.alloc() : !smem_c
  %full = memref.alloc() : !barriers
  %empty = memref.alloc() : !barriers
  %done = memref.alloc() : !barrier
  %slot = memref.alloc() : !slot
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %tid, %c32 : index
  %first = arith.cmpi eq, %tid, %c0 : index
  %allocates = arith.cmpi eq, %warp, %c0 : index

  // One warp allocates tensor memory; everyone finds its address behind the barrier.
  scf.if %allocates {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 256 : !slot
    cute_nvgpu.tmem.relinquish_alloc_permit
  }

  // A stage is full after one arrival and its bytes, empty after one commit of the MMAs.
  scf.if %first {
    cute_nvgpu.prefetch.tensormap %map_a : !map_a
    cute_nvgpu.prefetch.tensormap %map_b : !map_b
    cute_nvgpu.prefetch.tensormap %map_sfa : !map_sf
    cute_nvgpu.prefetch.tensormap %map_sfb : !map_sf
    scf.for %i = %c0 to %c4 step %c1 {
      cute_nvgpu.mbarrier.init %full[%i] count 1 : !barriers
      cute_nvgpu.mbarrier.init %empty[%i] count 1 : !barriers
    }
    cute_nvgpu.mbarrier.init %done[%c0] count 1 : !barrier
    cute_nvgpu.fence.mbarrier_init
  }
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  cute_nvgpu.tcgen05.fence.after_thread_sync

  // D in columns 0 to 127, behind it 4 columns of SFA and 4 of SFB for each stage.
  %cells = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %acc = cute_nvgpu.tmem.slice %cells[%c0, %c0] : !cells -> !acc

  %tile_row = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %tile_col = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %m0 = arith.muli %tile_row, %c128 : index
  %n0 = arith.muli %tile_col, %c128 : index
  %k_up = arith.addi %k, %c127 : index
  %tiles = arith.divui %k_up, %c128 : index

  // Warp 4: a stage is copied once it is empty.
  %copies = arith.cmpi eq, %warp, %c4 : index
  scf.if %copies {
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
      %blocks_a = arith.muli %tile_row, %tiles : index
      %blocks_b = arith.muli %tile_col, %tiles : index
      %w_stage, %w_parity = scf.for %tile = %c0 to %tiles step %c1 iter_args(%stage = %c0, %parity = %odd) -> (index, i32) {
        %k0 = arith.muli %tile, %c128 : index
        %block_a = arith.addi %blocks_a, %tile : index
        %block_b = arith.addi %blocks_b, %tile : index
        %row_sfa = arith.muli %block_a, %c32 : index
        %row_sfb = arith.muli %block_b, %c32 : index
        cute_nvgpu.mbarrier.wait %empty[%stage] parity %parity : !barriers
        cute_nvgpu.mbarrier.arrive.expect_tx %full[%stage] bytes 33792 : !barriers
        cute_nvgpu.tma.load %map_a[%m0, %k0] to %sa[%stage, %c0, %c0] mbarrier %full[%stage] : !map_a to !smem_ab, !barriers
        cute_nvgpu.tma.load %map_b[%n0, %k0] to %sb[%stage, %c0, %c0] mbarrier %full[%stage] : !map_b to !smem_ab, !barriers
        cute_nvgpu.tma.load %map_sfa[%row_sfa, %c0] to %ssfa[%stage, %c0, %c0] mbarrier %full[%stage] : !map_sf to !smem_sf, !barriers
        cute_nvgpu.tma.load %map_sfb[%row_sfb, %c0] to %ssfb[%stage, %c0, %c0] mbarrier %full[%stage] : !map_sf to !smem_sf, !barriers
        %up = arith.addi %stage, %c1 : index
        %wraps = arith.cmpi eq, %up, %c4 : index
        %next = arith.select %wraps, %c0, %up : index
        %other = arith.xori %parity, %odd : i32
        %next_parity = arith.select %wraps, %other, %parity : i32
        scf.yield %next, %next_parity : index, i32
      }
    }
  }

  // Warp 5: a stage is multiplied once it is full. The first MMA of all writes D, the others add. A
  // stage that is full again was empty: no MMA reads its scale factors any more.
  %multiplies = arith.cmpi eq, %warp, %c5 : index
  scf.if %multiplies {
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
      %r_stage, %r_parity = scf.for %tile = %c0 to %tiles step %c1 iter_args(%stage = %c0, %parity = %even) -> (index, i32) {
        cute_nvgpu.mbarrier.wait %full[%stage] parity %parity : !barriers
        cute_nvgpu.tcgen05.fence.after_thread_sync
        %eight = arith.muli %stage, %c8 : index
        %column_a = arith.addi %eight, %c128 : index
        %column_b = arith.addi %eight, %c132 : index
        %sfa = cute_nvgpu.tmem.slice %cells[%c0, %column_a] : !cells -> !sf
        %sfb = cute_nvgpu.tmem.slice %cells[%c0, %column_b] : !cells -> !sf
        %fa = cute_nvgpu.make_smem_desc %ssfa[%stage, %c0, %c0] : !smem_sf -> !desc_sf
        %fb = cute_nvgpu.make_smem_desc %ssfb[%stage, %c0, %c0] : !smem_sf -> !desc_sf
        cute_nvgpu.tmem.copy %fa to %sfa[%c0, %c0] shape 32x128b warpx4 : !desc_sf to !sf
        cute_nvgpu.tmem.copy %fb to %sfb[%c0, %c0] shape 32x128b warpx4 : !desc_sf to !sf
        %a0 = cute_nvgpu.make_smem_desc %sa[%stage, %c0, %c0] : !smem_ab -> !desc_ab
        %b0 = cute_nvgpu.make_smem_desc %sb[%stage, %c0, %c0] : !smem_ab -> !desc_ab
        %a1 = cute_nvgpu.make_smem_desc %sa[%stage, %c0, %c32] : !smem_ab -> !desc_ab
        %b1 = cute_nvgpu.make_smem_desc %sb[%stage, %c0, %c32] : !smem_ab -> !desc_ab
        %a2 = cute_nvgpu.make_smem_desc %sa[%stage, %c0, %c64] : !smem_ab -> !desc_ab
        %b2 = cute_nvgpu.make_smem_desc %sb[%stage, %c0, %c64] : !smem_ab -> !desc_ab
        %a3 = cute_nvgpu.make_smem_desc %sa[%stage, %c0, %c96] : !smem_ab -> !desc_ab
        %b3 = cute_nvgpu.make_smem_desc %sb[%stage, %c0, %c96] : !smem_ab -> !desc_ab
        %adds = arith.cmpi ne, %tile, %c0 : index
        cute_nvgpu.sm100.mma_bs %acc, %a0, %b0, %sfa[0], %sfb[0] enable_input_d %adds <128x128x32, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : !acc, !desc_ab, !desc_ab, !sf, !sf
        cute_nvgpu.sm100.mma_bs %acc, %a1, %b1, %sfa[1], %sfb[1] <128x128x32, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : !acc, !desc_ab, !desc_ab, !sf, !sf
        cute_nvgpu.sm100.mma_bs %acc, %a2, %b2, %sfa[2], %sfb[2] <128x128x32, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : !acc, !desc_ab, !desc_ab, !sf, !sf
        cute_nvgpu.sm100.mma_bs %acc, %a3, %b3, %sfa[3], %sfb[3] <128x128x32, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : !acc, !desc_ab, !desc_ab, !sf, !sf
        cute_nvgpu.tcgen05.commit %empty[%stage] : !barriers
        %up = arith.addi %stage, %c1 : index
        %wraps = arith.cmpi eq, %up, %c4 : index
        %next = arith.select %wraps, %c0, %up : index
        %other = arith.xori %parity, %odd : i32
        %next_parity = arith.select %wraps, %other, %parity : i32
        scf.yield %next, %next_parity : index, i32
      }
      cute_nvgpu.tcgen05.commit %done[%c0] : !barrier
    }
  }

  // Warps 0 to 3: thread t of warp w holds row 32w + t. One of two buffers is filled while the
  // other is copied: when all have filled one, the other is free.
  %carries = arith.cmpi ult, %warp, %c4 : index
  scf.if %carries {
    %row0 = arith.muli %warp, %c32 : index
    cute_nvgpu.mbarrier.wait %done[%c0] parity %even : !barrier
    cute_nvgpu.tcgen05.fence.after_thread_sync
    scf.for %chunk = %c0 to %c4 step %c1 {
      %column = arith.muli %chunk, %c32 : index
      %buffer = arith.remui %chunk, %c2 : index
      %x = cute_nvgpu.tmem.load %acc[%row0, %column] shape 32x32b : !acc -> !columns
      cute_nvgpu.tmem.wait_load
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %i2 = arith.constant 2 : index
      %i3 = arith.constant 3 : index
      %i4 = arith.constant 4 : index
      %i5 = arith.constant 5 : index
      %i6 = arith.constant 6 : index
      %i7 = arith.constant 7 : index
      %i8 = arith.constant 8 : index
      %i9 = arith.constant 9 : index
      %i10 = arith.constant 10 : index
      %i11 = arith.constant 11 : index
      %i12 = arith.constant 12 : index
      %i13 = arith.constant 13 : index
      %i14 = arith.constant 14 : index
      %i15 = arith.constant 15 : index
      %i16 = arith.constant 16 : index
      %i17 = arith.constant 17 : index
      %i18 = arith.constant 18 : index
      %i19 = arith.constant 19 : index
      %i20 = arith.constant 20 : index
      %i21 = arith.constant 21 : index
      %i22 = arith.constant 22 : index
      %i23 = arith.constant 23 : index
      %i24 = arith.constant 24 : index
      %i25 = arith.constant 25 : index
      %i26 = arith.constant 26 : index
      %i27 = arith.constant 27 : index
      %i28 = arith.constant 28 : index
      %i29 = arith.constant 29 : index
      %i30 = arith.constant 30 : index
      %i31 = arith.constant 31 : index
      %x0 = cute_nvgpu.fragment.extract %x[0] : !columns -> f32
      %x1 = cute_nvgpu.fragment.extract %x[1] : !columns -> f32
      %x2 = cute_nvgpu.fragment.extract %x[2] : !columns -> f32
      %x3 = cute_nvgpu.fragment.extract %x[3] : !columns -> f32
      %x4 = cute_nvgpu.fragment.extract %x[4] : !columns -> f32
      %x5 = cute_nvgpu.fragment.extract %x[5] : !columns -> f32
      %x6 = cute_nvgpu.fragment.extract %x[6] : !columns -> f32
      %x7 = cute_nvgpu.fragment.extract %x[7] : !columns -> f32
      %x8 = cute_nvgpu.fragment.extract %x[8] : !columns -> f32
      %x9 = cute_nvgpu.fragment.extract %x[9] : !columns -> f32
      %x10 = cute_nvgpu.fragment.extract %x[10] : !columns -> f32
      %x11 = cute_nvgpu.fragment.extract %x[11] : !columns -> f32
      %x12 = cute_nvgpu.fragment.extract %x[12] : !columns -> f32
      %x13 = cute_nvgpu.fragment.extract %x[13] : !columns -> f32
      %x14 = cute_nvgpu.fragment.extract %x[14] : !columns -> f32
      %x15 = cute_nvgpu.fragment.extract %x[15] : !columns -> f32
      %x16 = cute_nvgpu.fragment.extract %x[16] : !columns -> f32
      %x17 = cute_nvgpu.fragment.extract %x[17] : !columns -> f32
      %x18 = cute_nvgpu.fragment.extract %x[18] : !columns -> f32
      %x19 = cute_nvgpu.fragment.extract %x[19] : !columns -> f32
      %x20 = cute_nvgpu.fragment.extract %x[20] : !columns -> f32
      %x21 = cute_nvgpu.fragment.extract %x[21] : !columns -> f32
      %x22 = cute_nvgpu.fragment.extract %x[22] : !columns -> f32
      %x23 = cute_nvgpu.fragment.extract %x[23] : !columns -> f32
      %x24 = cute_nvgpu.fragment.extract %x[24] : !columns -> f32
      %x25 = cute_nvgpu.fragment.extract %x[25] : !columns -> f32
      %x26 = cute_nvgpu.fragment.extract %x[26] : !columns -> f32
      %x27 = cute_nvgpu.fragment.extract %x[27] : !columns -> f32
      %x28 = cute_nvgpu.fragment.extract %x[28] : !columns -> f32
      %x29 = cute_nvgpu.fragment.extract %x[29] : !columns -> f32
      %x30 = cute_nvgpu.fragment.extract %x[30] : !columns -> f32
      %x31 = cute_nvgpu.fragment.extract %x[31] : !columns -> f32
      memref.store %x0, %sc[%buffer, %tid, %i0] : !smem_c
      memref.store %x1, %sc[%buffer, %tid, %i1] : !smem_c
      memref.store %x2, %sc[%buffer, %tid, %i2] : !smem_c
      memref.store %x3, %sc[%buffer, %tid, %i3] : !smem_c
      memref.store %x4, %sc[%buffer, %tid, %i4] : !smem_c
      memref.store %x5, %sc[%buffer, %tid, %i5] : !smem_c
      memref.store %x6, %sc[%buffer, %tid, %i6] : !smem_c
      memref.store %x7, %sc[%buffer, %tid, %i7] : !smem_c
      memref.store %x8, %sc[%buffer, %tid, %i8] : !smem_c
      memref.store %x9, %sc[%buffer, %tid, %i9] : !smem_c
      memref.store %x10, %sc[%buffer, %tid, %i10] : !smem_c
      memref.store %x11, %sc[%buffer, %tid, %i11] : !smem_c
      memref.store %x12, %sc[%buffer, %tid, %i12] : !smem_c
      memref.store %x13, %sc[%buffer, %tid, %i13] : !smem_c
      memref.store %x14, %sc[%buffer, %tid, %i14] : !smem_c
      memref.store %x15, %sc[%buffer, %tid, %i15] : !smem_c
      memref.store %x16, %sc[%buffer, %tid, %i16] : !smem_c
      memref.store %x17, %sc[%buffer, %tid, %i17] : !smem_c
      memref.store %x18, %sc[%buffer, %tid, %i18] : !smem_c
      memref.store %x19, %sc[%buffer, %tid, %i19] : !smem_c
      memref.store %x20, %sc[%buffer, %tid, %i20] : !smem_c
      memref.store %x21, %sc[%buffer, %tid, %i21] : !smem_c
      memref.store %x22, %sc[%buffer, %tid, %i22] : !smem_c
      memref.store %x23, %sc[%buffer, %tid, %i23] : !smem_c
      memref.store %x24, %sc[%buffer, %tid, %i24] : !smem_c
      memref.store %x25, %sc[%buffer, %tid, %i25] : !smem_c
      memref.store %x26, %sc[%buffer, %tid, %i26] : !smem_c
      memref.store %x27, %sc[%buffer, %tid, %i27] : !smem_c
      memref.store %x28, %sc[%buffer, %tid, %i28] : !smem_c
      memref.store %x29, %sc[%buffer, %tid, %i29] : !smem_c
      memref.store %x30, %sc[%buffer, %tid, %i30] : !smem_c
      memref.store %x31, %sc[%buffer, %tid, %i31] : !smem_c
      cute_nvgpu.fence.proxy.async in "shared::cta"
      cute_nvgpu.bar.sync 1 threads 128
      scf.if %first {
        %cn = arith.addi %n0, %column : index
        cute_nvgpu.tma.store %sc[%buffer, %c0, %c0] to %map_c[%m0, %cn] : !smem_c to !map_c
        cute_nvgpu.cp.async.bulk.commit_group
        cute_nvgpu.cp.async.bulk.wait_group 0 read
      }
    }
    cute_nvgpu.tcgen05.fence.before_thread_sync
  }

  // The warp that has allocated tensor memory gives it back, once nobody uses it.
  "gpu.barrier"() : () -> ()
  scf.if %allocates {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %cells : !cells
  }
  func.return
}
