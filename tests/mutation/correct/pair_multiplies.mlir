// A pair of CTAs: both allocate, the first one multiplies with the matrices of both, and the commit
// arrives in both, each of which reads its half of the result.
// arch = sm_100a

!slot = memref<1xi32, #cute<space smem>>
!bar = memref<1xi64, #cute<space smem>>
!a = memref<128x16xf16, !cute.composed_layout<"S<1,3,3> o 0 o (128,16):(16,1)">, #cute<space smem>>
!b = memref<16x16xf16, !cute.composed_layout<"S<1,3,3> o 0 o (16,16):(16,1)">, #cute<space smem>>
!a_desc = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<1,3,3> o 0 o (128,16):(16,1)">
!b_desc = !cute_nvgpu.smem_desc_view<16x16xf16, tcgen05, "S<1,3,3> o 0 o (16,16):(16,1)">
!cells = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!one = !cute_nvgpu.fragment<1xf32>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 128, 1, 1>, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0 : i32
  %both = arith.constant 3 : i16
  %never = arith.constant false
  %f1 = arith.constant 1.0 : f16
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %zeroth = arith.cmpi eq, %warp, %c0 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %few = arith.cmpi ult, %t, %c16 : index
  %rank = cute_nvgpu.cluster.rank
  %leads = arith.cmpi eq, %rank, %zero : i32
  %number = arith.index_cast %rank : i32 to index
  %more = arith.addi %number, %c1 : index
  %n = arith.index_cast %more : index to i32
  %value = arith.sitofp %n : i32 to f16
  %a = memref.alloc() : !a
  %b = memref.alloc() : !b
  %slot = memref.alloc() : !slot
  %bar = memref.alloc() : !bar
  scf.if %zeroth {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 32 cta_group 2 : !slot
    cute_nvgpu.tmem.relinquish_alloc_permit cta_group 2
  }
  scf.if %first {
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : !bar
    cute_nvgpu.fence.mbarrier_init
  }
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %value, %a[%t, %i] : !a
  }
  scf.if %few {
    scf.for %i = %c0 to %c16 step %c1 {
      memref.store %f1, %b[%t, %i] : !b
    }
  }
  cute_nvgpu.fence.proxy.async
  cute_nvgpu.tcgen05.fence.before_thread_sync
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  cute_nvgpu.tcgen05.fence.after_thread_sync
  %cells = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %issues = arith.andi %leads, %zeroth : i1
  scf.if %issues {
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
      %ad = cute_nvgpu.make_smem_desc %a[%c0, %c0] : !a -> !a_desc
      %bd = cute_nvgpu.make_smem_desc %b[%c0, %c0] : !b -> !b_desc
      cute_nvgpu.sm100.mma %cells, %ad, %bd enable_input_d %never <256x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss, cta_group = 2> : !cells, !a_desc, !b_desc
      cute_nvgpu.tcgen05.commit %bar[%c0] multicast %both cta_group 2 : !bar
    }
  }
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %zero : !bar
  cute_nvgpu.tcgen05.fence.after_thread_sync
  %lane = arith.muli %warp, %c32 : index
  %x = cute_nvgpu.tmem.load %cells[%lane, %c9] shape 32x32b : !cells -> !one
  cute_nvgpu.tmem.wait_load
  %y = cute_nvgpu.fragment.extract %x[0] : !one -> f32
  %r = arith.fptosi %y : f32 to i32
  %start = arith.muli %number, %c128 : index
  %at = arith.addi %start, %t : index
  memref.store %r, %p[%at] : memref<?xi32>
  cute_nvgpu.tcgen05.fence.before_thread_sync
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  scf.if %zeroth {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %cells cta_group 2 : !cells
  }
  func.return
}
