// One accumulator, three products into it: after each of them four warps look at the sum, and the next
// one waits until they have.
// arch = sm_100a

!slot = memref<1xi32, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!a = memref<128x16xf16, !cute.composed_layout<"S<1,3,3> o 0 o (128,16):(16,1)">, #cute<space smem>>
!b = memref<16x16xf16, !cute.composed_layout<"S<1,3,3> o 0 o (16,16):(16,1)">, #cute<space smem>>
!a_desc = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<1,3,3> o 0 o (128,16):(16,1)">
!b_desc = !cute_nvgpu.smem_desc_view<16x16xf16, tcgen05, "S<1,3,3> o 0 o (16,16):(16,1)">
!acc = memref<128x16xf32, !cute.layout<"(128,16):(65536,1)">, #cute<space tmem>>
!cells = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!one = !cute_nvgpu.fragment<1xf32>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 160, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %f2 = arith.constant 2.0 : f16
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %issues = arith.cmpi eq, %warp, %c4 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %looks = arith.cmpi ult, %t, %c128 : index
  %few = arith.cmpi ult, %t, %c16 : index
  %a = memref.alloc() : !a
  %b = memref.alloc() : !b
  %slot = memref.alloc() : !slot
  %bars = memref.alloc() : !bars
  scf.if %issues {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 32 : !slot
    cute_nvgpu.tmem.relinquish_alloc_permit
  }
  scf.if %first {
    cute_nvgpu.mbarrier.init %bars[%c0] count 1 : !bars
    cute_nvgpu.mbarrier.init %bars[%c1] count 128 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  scf.if %looks {
    scf.for %i = %c0 to %c16 step %c1 {
      memref.store %f2, %a[%t, %i] : !a
    }
    scf.if %few {
      scf.for %i = %c0 to %c16 step %c1 {
        memref.store %f2, %b[%t, %i] : !b
      }
    }
  }
  cute_nvgpu.fence.proxy.async in "shared::cta"
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  cute_nvgpu.tcgen05.fence.after_thread_sync
  %cells = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  scf.if %issues {
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
      %acc = cute_nvgpu.tmem.slice %cells[%c0, %c16] : !cells -> !acc
      %ad = cute_nvgpu.make_smem_desc %a[%c0, %c0] : !a -> !a_desc
      %bd = cute_nvgpu.make_smem_desc %b[%c0, %c0] : !b -> !b_desc
      scf.for %i = %c0 to %c3 step %c1 {
        %adds = arith.cmpi ne, %i, %c0 : index
        %n = arith.index_cast %i : index to i32
        %bit = arith.andi %n, %odd : i32
        %before = arith.xori %bit, %odd : i32
        cute_nvgpu.mbarrier.wait %bars[%c1] parity %before : !bars
        cute_nvgpu.tcgen05.fence.after_thread_sync
        cute_nvgpu.sm100.mma %acc, %ad, %bd enable_input_d %adds <128x16x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !acc, !a_desc, !b_desc
        cute_nvgpu.tcgen05.commit %bars[%c0] : !bars
      }
    }
  }
  scf.if %looks {
    %lane = arith.muli %warp, %c32 : index
    %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%old = %zero) -> (i32) {
      %n = arith.index_cast %i : index to i32
      %bit = arith.andi %n, %odd : i32
      cute_nvgpu.mbarrier.wait %bars[%c0] parity %bit : !bars
      cute_nvgpu.tcgen05.fence.after_thread_sync
      %x = cute_nvgpu.tmem.load %cells[%lane, %c16] shape 32x32b : !cells -> !one
      cute_nvgpu.tmem.wait_load
      %v = cute_nvgpu.fragment.extract %x[0] : !one -> f32
      %vi = arith.fptosi %v : f32 to i32
      %new = arith.addi %old, %vi : i32
      cute_nvgpu.tcgen05.fence.before_thread_sync
      cute_nvgpu.mbarrier.arrive %bars[%c1] : !bars
      scf.yield %new : i32
    }
    memref.store %sum, %p[%t] : memref<?xi32>
  }
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  scf.if %issues {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %cells : !cells
  }
  func.return
}
