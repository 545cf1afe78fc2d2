// Four warps store to tensor memory, the four that have the same lanes load it: an mbarrier, at which
// every thread of the first arrives, is between, for three rounds, and another one back.
// arch = sm_100a

!slot = memref<1xi32, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!cells = memref<128x32xi32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!one = !cute_nvgpu.fragment<1xi32>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %place = arith.remui %t, %c128 : index
  %of_four = arith.divui %place, %c32 : index
  %lane = arith.muli %of_four, %c32 : index
  %warp = arith.divui %t, %c32 : index
  %last = arith.cmpi eq, %warp, %c7 : index
  %stores = arith.cmpi ult, %t, %c128 : index
  %slot = memref.alloc() : !slot
  %bars = memref.alloc() : !bars
  scf.if %last {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 32 : !slot
    cute_nvgpu.tmem.relinquish_alloc_permit
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
      cute_nvgpu.mbarrier.init %bars[%c0] count 128 : !bars
      cute_nvgpu.mbarrier.init %bars[%c1] count 128 : !bars
    }
  }
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  cute_nvgpu.tcgen05.fence.after_thread_sync
  %cells = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  scf.if %stores {
    scf.for %i = %c0 to %c3 step %c1 {
      %n = arith.index_cast %i : index to i32
      %bit = arith.andi %n, %one : i32
      %before = arith.xori %bit, %one : i32
      cute_nvgpu.mbarrier.wait %bars[%c1] parity %before : !bars
      cute_nvgpu.tcgen05.fence.after_thread_sync
      %ti = arith.addi %t, %i : index
      %v = arith.index_cast %ti : index to i32
      %x = cute_nvgpu.fragment.splat %v : i32 -> !one
      cute_nvgpu.tmem.store %x, %cells[%lane, %c3] shape 32x32b : !one, !cells
      cute_nvgpu.tmem.wait_store
      cute_nvgpu.tcgen05.fence.before_thread_sync
      cute_nvgpu.mbarrier.arrive %bars[%c0] : !bars
    }
  } else {
    %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%old = %zero) -> (i32) {
      %n = arith.index_cast %i : index to i32
      %bit = arith.andi %n, %one : i32
      cute_nvgpu.mbarrier.wait %bars[%c0] parity %bit : !bars
      cute_nvgpu.tcgen05.fence.after_thread_sync
      %x = cute_nvgpu.tmem.load %cells[%lane, %c3] shape 32x32b : !cells -> !one
      cute_nvgpu.tmem.wait_load
      cute_nvgpu.tcgen05.fence.before_thread_sync
      cute_nvgpu.mbarrier.arrive %bars[%c1] : !bars
      %v = cute_nvgpu.fragment.extract %x[0] : !one -> i32
      %new = arith.addi %old, %v : i32
      scf.yield %new : i32
    }
    memref.store %sum, %p[%place] : memref<?xi32>
  }
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  scf.if %last {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %cells : !cells
  }
  func.return
}
