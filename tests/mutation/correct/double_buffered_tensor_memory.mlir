// Four products go to two accumulators in turn: while warps 0 to 3 read one, the MMAs of the next
// product write the other. Whoever has read an accumulator arrives, each thread for itself.
// block = 160, arch = sm_100a

!tile = memref<128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (128,64):(64,1)">, #cute<space smem>>
!desc_a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!desc_b = !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
!cells = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!acc = memref<128x64xf32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!bars = memref<2xi64, #cute<space smem>>
!slot = memref<1xi32, #cute<space smem>>
!one = !cute_nvgpu.fragment<1xf32>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %odd = arith.constant 1 : i32
  %never = arith.constant false
  %unit = arith.constant 1.0 : f16
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %multiplies = arith.cmpi eq, %warp, %c4 : index
  %reads = arith.cmpi ult, %t, %c128 : index
  %a = memref.alloc() : !tile
  %b = memref.alloc() : !tile
  %full = memref.alloc() : !bars
  %empty = memref.alloc() : !bars
  %slot = memref.alloc() : !slot
  scf.if %multiplies {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
    cute_nvgpu.tmem.relinquish_alloc_permit
  }
  scf.if %first {
    scf.for %i = %c0 to %c2 step %c1 {
      cute_nvgpu.mbarrier.init %full[%i] count 1 : !bars
      cute_nvgpu.mbarrier.init %empty[%i] count 128 : !bars
    }
    cute_nvgpu.fence.mbarrier_init
  }
  scf.if %reads {
    scf.for %i = %c0 to %c64 step %c1 {
      memref.store %unit, %a[%t, %i] : !tile
      memref.store %unit, %b[%t, %i] : !tile
    }
  }
  cute_nvgpu.fence.proxy.async
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  cute_nvgpu.tcgen05.fence.after_thread_sync
  %cells = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  scf.if %multiplies {
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
      %ad = cute_nvgpu.make_smem_desc %a[%c0, %c0] : !tile -> !desc_a
      %bd = cute_nvgpu.make_smem_desc %b[%c0, %c0] : !tile -> !desc_b
      scf.for %i = %c0 to %c4 step %c1 {
        %buffer = arith.remui %i, %c2 : index
        %use = arith.divui %i, %c2 : index
        %u = arith.index_cast %use : index to i32
        %parity = arith.xori %u, %odd : i32
        %column = arith.muli %buffer, %c64 : index
        %acc = cute_nvgpu.tmem.slice %cells[%c0, %column] : !cells -> !acc
        cute_nvgpu.mbarrier.wait %empty[%buffer] parity %parity : !bars
        cute_nvgpu.tcgen05.fence.after_thread_sync
        cute_nvgpu.sm100.mma %acc, %ad, %bd enable_input_d %never <128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !acc, !desc_a, !desc_b
        cute_nvgpu.tcgen05.commit %full[%buffer] : !bars
      }
    }
  }
  scf.if %reads {
    %row = arith.muli %warp, %c32 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %buffer = arith.remui %i, %c2 : index
      %use = arith.divui %i, %c2 : index
      %parity = arith.index_cast %use : index to i32
      %column = arith.muli %buffer, %c64 : index
      cute_nvgpu.mbarrier.wait %full[%buffer] parity %parity : !bars
      cute_nvgpu.tcgen05.fence.after_thread_sync
      %x = cute_nvgpu.tmem.load %cells[%row, %column] shape 32x32b : !cells -> !one
      cute_nvgpu.tmem.wait_load
      cute_nvgpu.tcgen05.fence.before_thread_sync
      cute_nvgpu.mbarrier.arrive %empty[%buffer] : !bars
      %v = cute_nvgpu.fragment.extract %x[0] : !one -> f32
      %n = arith.fptosi %v : f32 to i32
      %old = memref.load %p[%t] : memref<?xi32>
      %sum = arith.addi %old, %n : i32
      memref.store %sum, %p[%t] : memref<?xi32>
    }
  }
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  scf.if %multiplies {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %cells : !cells
  }
  func.return
}
