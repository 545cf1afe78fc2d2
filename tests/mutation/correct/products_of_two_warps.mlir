// Two warps multiply into accumulators side by side, each with a commit to an mbarrier of its own; all
// wait for both.
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

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 192, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0 : i32
  %never = arith.constant false
  %f1 = arith.constant 1.0 : f16
  %f3 = arith.constant 3.0 : f16
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %zeroth = arith.cmpi eq, %warp, %c0 : index
  %multiplies = arith.cmpi uge, %warp, %c4 : index
  %few = arith.cmpi ult, %t, %c16 : index
  %a = memref.alloc() : !a
  %b = memref.alloc() : !b
  %slot = memref.alloc() : !slot
  %bars = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %bars[%c0] count 1 : !bars
    cute_nvgpu.mbarrier.init %bars[%c1] count 1 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  scf.if %zeroth {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 32 : !slot
    cute_nvgpu.tmem.relinquish_alloc_permit
  }
  scf.if %multiplies {
  } else {
    scf.for %i = %c0 to %c16 step %c1 {
      memref.store %f1, %a[%t, %i] : !a
    }
    scf.if %few {
      scf.for %i = %c0 to %c16 step %c1 {
        memref.store %f3, %b[%t, %i] : !b
      }
    }
  }
  cute_nvgpu.fence.proxy.async in "shared::cta"
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  cute_nvgpu.tcgen05.fence.after_thread_sync
  %cells = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  scf.if %multiplies {
    %number = arith.subi %warp, %c4 : index
    %column = arith.muli %number, %c16 : index
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
      %acc = cute_nvgpu.tmem.slice %cells[%c0, %column] : !cells -> !acc
      %ad = cute_nvgpu.make_smem_desc %a[%c0, %c0] : !a -> !a_desc
      %bd = cute_nvgpu.make_smem_desc %b[%c0, %c0] : !b -> !b_desc
      cute_nvgpu.sm100.mma %acc, %ad, %bd enable_input_d %never <128x16x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !acc, !a_desc, !b_desc
      cute_nvgpu.tcgen05.commit %bars[%number] : !bars
    }
  } else {
    cute_nvgpu.mbarrier.wait %bars[%c1] parity %zero : !bars
    cute_nvgpu.mbarrier.wait %bars[%c0] parity %zero : !bars
    cute_nvgpu.tcgen05.fence.after_thread_sync
    %lane = arith.muli %warp, %c32 : index
    %x = cute_nvgpu.tmem.load %cells[%lane, %c0] shape 32x32b : !cells -> !one
    %y = cute_nvgpu.tmem.load %cells[%lane, %c16] shape 32x32b : !cells -> !one
    cute_nvgpu.tmem.wait_load
    %u = cute_nvgpu.fragment.extract %x[0] : !one -> f32
    %v = cute_nvgpu.fragment.extract %y[0] : !one -> f32
    %s = arith.addf %u, %v : f32
    %r = arith.fptosi %s : f32 to i32
    memref.store %r, %p[%t] : memref<?xi32>
    cute_nvgpu.tcgen05.fence.before_thread_sync
  }
  "gpu.barrier"() : () -> ()
  scf.if %zeroth {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %cells : !cells
  }
  func.return
}
