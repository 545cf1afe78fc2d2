// C = A * B on the tensor cores of Blackwell, two SMs together: f16 inputs, f32 accumulation and
// result.
//
//   A: M x K, row-major, a tensor map with boxes of 128 x 64      B: K x N, row-major, of 64 x 64
//   C: M x N, row-major, a tensor map with boxes of 128 x 32
//
// A pair of CTAs computes a 256 x 256 tile of C with m256n256k16, which reads the shared memory of
// both: each CTA copies its 128 rows of A and its 128 columns of B, and gets its 128 rows of the
// tile in its own tensor memory. The CTA of even rank issues the MMAs; the other one tells it
// through the mbarriers %theirs that its half of a stage is full. An MMA's commit reaches both. The
// rest is as in gemm_sm100.mlir.
//
//   grid = (2 * ceil(M / 256), ceil(N / 256), 1), block = (192, 1, 1), clusters of (2, 1, 1), K > 0

!map_a = !cute_nvgpu.tma_descriptor<128x64xf16, swizzle = 128>
!map_b = !cute_nvgpu.tma_descriptor<64x64xf16, swizzle = 128>
!map_c = !cute_nvgpu.tma_descriptor<128x32xf32, swizzle = 128>
!smem_a = memref<4x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>
!smem_b = memref<4x64x128xf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,64,(64,2)):(8192,64,(1,4096))">, #cute<space smem>>
!smem_c = memref<2x128x32xf32, !cute.composed_layout<"S<3,2,3> o 0 o (2,128,32):(4096,32,1)">, #cute<space smem>>
!desc_a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!desc_b = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o ((64,2),16):((1,4096),64)">
!barriers = memref<4xi64, #cute<space smem>>
!barrier = memref<1xi64, #cute<space smem>>
!slot = memref<1xi32, #cute<space smem>>
!acc = memref<128x256xf32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
!columns = !cute_nvgpu.fragment<32xf32>

func.func @gemm(%map_a: !map_a, %map_b: !map_b, %map_c: !map_c, %k32: i32)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 192, 1, 1>, "gpu.known_cluster_size" = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %both = arith.constant 3 : i16
  %k = arith.index_cast %k32 : i32 to index
  %sa = memref.alloc() : !smem_a
  %sb = memref.alloc() : !smem_b
  %sc = memref.alloc() : !smem_c
  %full = memref.alloc() : !barriers
  %theirs = memref.alloc() : !barriers
  %empty = memref.alloc() : !barriers
  %done = memref.alloc() : !barrier
  %slot = memref.alloc() : !slot
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %tid, %c32 : index
  %first = arith.cmpi eq, %tid, %c0 : index
  %allocates = arith.cmpi eq, %warp, %c0 : index

  %rank = cute_nvgpu.cluster.rank
  %issues = arith.cmpi eq, %rank, %even : i32

  // One warp allocates tensor memory; everyone finds its address behind the barrier.
  scf.if %allocates {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 256 cta_group 2 : !slot
    cute_nvgpu.tmem.relinquish_alloc_permit cta_group 2
  }

  // A stage is full after one arrival and its bytes, empty after one commit of the MMAs.
  scf.if %first {
    cute_nvgpu.prefetch.tensormap %map_a : !map_a
    cute_nvgpu.prefetch.tensormap %map_b : !map_b
    scf.for %i = %c0 to %c4 step %c1 {
      cute_nvgpu.mbarrier.init %full[%i] count 1 : !barriers
      cute_nvgpu.mbarrier.init %theirs[%i] count 1 : !barriers
      cute_nvgpu.mbarrier.init %empty[%i] count 1 : !barriers
    }
    cute_nvgpu.mbarrier.init %done[%c0] count 1 : !barrier
    cute_nvgpu.fence.mbarrier_init
  }
  cute_nvgpu.tcgen05.fence.before_thread_sync
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  cute_nvgpu.tcgen05.fence.after_thread_sync
  %acc = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !acc

  // CTA 2i + r has the rows of tile i from 128r on.
  %bx = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %by = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %m0 = arith.muli %bx, %c128 : index
  %n0 = arith.muli %by, %c256 : index
  %k_up = arith.addi %k, %c63 : index
  %tiles = arith.divui %k_up, %c64 : index

  // Warp 4: a stage is copied once it is empty.
  %copies = arith.cmpi eq, %warp, %c4 : index
  scf.if %copies {
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
      %half = arith.index_cast %rank : i32 to index
      %half_columns = arith.muli %half, %c128 : index
      %nb0 = arith.addi %n0, %half_columns : index
      %nb1 = arith.addi %nb0, %c64 : index
      %w_stage, %w_parity = scf.for %tile = %c0 to %tiles step %c1 iter_args(%stage = %c0, %parity = %odd) -> (index, i32) {
        %k0 = arith.muli %tile, %c64 : index
        cute_nvgpu.mbarrier.wait %empty[%stage] parity %parity : !barriers
        cute_nvgpu.mbarrier.arrive.expect_tx %full[%stage] bytes 32768 : !barriers
        cute_nvgpu.tma.load %map_a[%m0, %k0] to %sa[%stage, %c0, %c0] mbarrier %full[%stage] : !map_a to !smem_a, !barriers
        cute_nvgpu.tma.load %map_b[%k0, %nb0] to %sb[%stage, %c0, %c0] mbarrier %full[%stage] : !map_b to !smem_b, !barriers
        cute_nvgpu.tma.load %map_b[%k0, %nb1] to %sb[%stage, %c0, %c64] mbarrier %full[%stage] : !map_b to !smem_b, !barriers
        %up = arith.addi %stage, %c1 : index
        %wraps = arith.cmpi eq, %up, %c4 : index
        %next = arith.select %wraps, %c0, %up : index
        %other = arith.xori %parity, %odd : i32
        %next_parity = arith.select %wraps, %other, %parity : i32
        scf.yield %next, %next_parity : index, i32
      }
      // No CTA ends before all that the other one's commits signal here has come.
      %t_stage, %t_parity = scf.for %tail = %c0 to %c4 step %c1 iter_args(%stage = %w_stage, %parity = %w_parity) -> (index, i32) {
        cute_nvgpu.mbarrier.wait %empty[%stage] parity %parity : !barriers
        %up = arith.addi %stage, %c1 : index
        %wraps = arith.cmpi eq, %up, %c4 : index
        %next = arith.select %wraps, %c0, %up : index
        %other = arith.xori %parity, %odd : i32
        %next_parity = arith.select %wraps, %other, %parity : i32
        scf.yield %next, %next_parity : index, i32
      }
    }
  }

  // Warp 5: a stage is multiplied once both halves of it are full. The first MMA of all writes D,
  // the others add.
  %multiplies = arith.cmpi eq, %warp, %c5 : index
  scf.if %multiplies {
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
      %r_stage, %r_parity = scf.for %tile = %c0 to %tiles step %c1 iter_args(%stage = %c0, %parity = %even) -> (index, i32) {
        cute_nvgpu.mbarrier.wait %full[%stage] parity %parity : !barriers
        scf.if %issues {
          cute_nvgpu.mbarrier.wait %theirs[%stage] parity %parity cluster : !barriers
          cute_nvgpu.tcgen05.fence.after_thread_sync
          %a0 = cute_nvgpu.make_smem_desc %sa[%stage, %c0, %c0] : !smem_a -> !desc_a
          %b0 = cute_nvgpu.make_smem_desc %sb[%stage, %c0, %c0] modes [2, 1] : !smem_b -> !desc_b
          %a1 = cute_nvgpu.make_smem_desc %sa[%stage, %c0, %c16] : !smem_a -> !desc_a
          %b1 = cute_nvgpu.make_smem_desc %sb[%stage, %c16, %c0] modes [2, 1] : !smem_b -> !desc_b
          %a2 = cute_nvgpu.make_smem_desc %sa[%stage, %c0, %c32] : !smem_a -> !desc_a
          %b2 = cute_nvgpu.make_smem_desc %sb[%stage, %c32, %c0] modes [2, 1] : !smem_b -> !desc_b
          %a3 = cute_nvgpu.make_smem_desc %sa[%stage, %c0, %c48] : !smem_a -> !desc_a
          %b3 = cute_nvgpu.make_smem_desc %sb[%stage, %c48, %c0] modes [2, 1] : !smem_b -> !desc_b
          %adds = arith.cmpi ne, %tile, %c0 : index
          cute_nvgpu.sm100.mma %acc, %a0, %b0 enable_input_d %adds <256x256x16, elem_type = (f16, f16, f32), ab_major = (k, mn), frag_kind = ss, cta_group = 2> : !acc, !desc_a, !desc_b
          cute_nvgpu.sm100.mma %acc, %a1, %b1 <256x256x16, elem_type = (f16, f16, f32), ab_major = (k, mn), frag_kind = ss, cta_group = 2> : !acc, !desc_a, !desc_b
          cute_nvgpu.sm100.mma %acc, %a2, %b2 <256x256x16, elem_type = (f16, f16, f32), ab_major = (k, mn), frag_kind = ss, cta_group = 2> : !acc, !desc_a, !desc_b
          cute_nvgpu.sm100.mma %acc, %a3, %b3 <256x256x16, elem_type = (f16, f16, f32), ab_major = (k, mn), frag_kind = ss, cta_group = 2> : !acc, !desc_a, !desc_b
          cute_nvgpu.tcgen05.commit %empty[%stage] multicast %both cta_group 2 : !barriers
        } else {
          cute_nvgpu.cluster.mbarrier_arrive %theirs[%stage] rank %even : !barriers
        }
        %up = arith.addi %stage, %c1 : index
        %wraps = arith.cmpi eq, %up, %c4 : index
        %next = arith.select %wraps, %c0, %up : index
        %other = arith.xori %parity, %odd : i32
        %next_parity = arith.select %wraps, %other, %parity : i32
        scf.yield %next, %next_parity : index, i32
      }
      scf.if %issues {
        cute_nvgpu.tcgen05.commit %done[%c0] multicast %both cta_group 2 : !barrier
      }
    }
  }

  // Warps 0 to 3: thread t of warp w holds row 32w + t. One of two buffers is filled while the
  // other is copied: when all have filled one, the other is free.
  %carries = arith.cmpi ult, %warp, %c4 : index
  scf.if %carries {
    %row0 = arith.muli %warp, %c32 : index
    cute_nvgpu.mbarrier.wait %done[%c0] parity %even : !barrier
    cute_nvgpu.tcgen05.fence.after_thread_sync
    scf.for %chunk = %c0 to %c8 step %c1 {
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

  // The warps that have allocated tensor memory give it back, once nobody uses it. No CTA ends
  // before the other is done with its shared memory.
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  scf.if %allocates {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %acc cta_group 2 : !acc
  }
  func.return
}
