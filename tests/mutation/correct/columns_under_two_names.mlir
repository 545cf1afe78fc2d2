// Two views of tensor memory overlap. Four warps write through one, two others read some of the same columns
// through the other one and write back, all behind barriers with their fences.
// arch = sm_100a

!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!part = memref<128x32xi32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!four = !cute_nvgpu.fragment<4xi32>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 192, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c20 = arith.constant 20 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %five = arith.constant 5 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %of_four = arith.remui %warp, %c4 : index
  %lane = arith.muli %of_four, %c32 : index
  %first = arith.cmpi eq, %warp, %c0 : index
  %low = arith.cmpi ult, %t, %c128 : index
  %slot = memref.alloc() : !slot
  scf.if %first {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 64 : !slot
    cute_nvgpu.tmem.relinquish_alloc_permit
  }
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  cute_nvgpu.tcgen05.fence.after_thread_sync
  %cells = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %part = cute_nvgpu.tmem.slice %cells[%c0, %c16] : !cells -> !part
  scf.if %low {
    %n = arith.index_cast %t : index to i32
    %x = cute_nvgpu.fragment.splat %n : i32 -> !four
    cute_nvgpu.tmem.store %x, %cells[%lane, %c20] shape 32x32b : !four, !cells
    cute_nvgpu.tmem.wait_store
    cute_nvgpu.tcgen05.fence.before_thread_sync
    cute_nvgpu.bar.sync 5 threads 192
    cute_nvgpu.bar.sync 6 threads 192
    cute_nvgpu.tcgen05.fence.after_thread_sync
    %y = cute_nvgpu.tmem.load %cells[%lane, %c20] shape 32x32b : !cells -> !four
    cute_nvgpu.tmem.wait_load
    %r = cute_nvgpu.fragment.extract %y[3] : !four -> i32
    memref.store %r, %p[%t] : memref<?xi32>
  } else {
    cute_nvgpu.bar.sync 5 threads 192
    cute_nvgpu.tcgen05.fence.after_thread_sync
    %x = cute_nvgpu.tmem.load %part[%lane, %c4] shape 32x32b : !part -> !four
    cute_nvgpu.tmem.wait_load
    %n = cute_nvgpu.fragment.extract %x[0] : !four -> i32
    %more = arith.addi %n, %five : i32
    %y = cute_nvgpu.fragment.splat %more : i32 -> !four
    cute_nvgpu.tmem.store %y, %part[%lane, %c4] shape 32x32b : !four, !part
    cute_nvgpu.tmem.wait_store
    cute_nvgpu.tcgen05.fence.before_thread_sync
    cute_nvgpu.bar.sync 6 threads 192
  }
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  scf.if %first {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %cells : !cells
  }
  func.return
}
