// Tensor memory is given back and allocated again, half as much, through the same word of shared memory.
// Another warp frees than the one that allocates, which waits for nobody: there is room for both.
// arch = sm_100a

!slot = memref<1xi32, #cute<space smem>>
!wide = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!narrow = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!two = !cute_nvgpu.fragment<2xi32>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c100 = arith.constant 100 : index
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.muli %warp, %c32 : index
  %allocates = arith.cmpi eq, %warp, %c2 : index
  %frees = arith.cmpi eq, %warp, %c3 : index
  %slot = memref.alloc() : !slot
  scf.if %allocates {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  }
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  cute_nvgpu.tcgen05.fence.after_thread_sync
  %wide = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !wide
  %n = arith.index_cast %t : index to i32
  %x = cute_nvgpu.fragment.splat %n : i32 -> !two
  cute_nvgpu.tmem.store %x, %wide[%lane, %c100] shape 32x32b : !two, !wide
  cute_nvgpu.tmem.wait_store
  %y = cute_nvgpu.tmem.load %wide[%lane, %c100] shape 32x32b : !wide -> !two
  cute_nvgpu.tmem.wait_load
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  cute_nvgpu.tcgen05.fence.after_thread_sync
  scf.if %frees {
    cute_nvgpu.tmem.dealloc %wide : !wide
  }
  scf.if %allocates {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 64 : !slot
    cute_nvgpu.tmem.relinquish_alloc_permit
  }
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  cute_nvgpu.tcgen05.fence.after_thread_sync
  %narrow = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !narrow
  cute_nvgpu.tmem.store %y, %narrow[%lane, %c8] shape 32x32b : !two, !narrow
  cute_nvgpu.tmem.wait_store
  %z = cute_nvgpu.tmem.load %narrow[%lane, %c8] shape 32x32b : !narrow -> !two
  cute_nvgpu.tmem.wait_load
  %r = cute_nvgpu.fragment.extract %z[1] : !two -> i32
  memref.store %r, %p[%t] : memref<?xi32>
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  cute_nvgpu.tcgen05.fence.after_thread_sync
  scf.if %frees {
    cute_nvgpu.tmem.dealloc %narrow : !narrow
  }
  func.return
}
