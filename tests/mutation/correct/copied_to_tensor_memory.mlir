// A matrix of shared memory is copied to tensor memory by one thread; behind its commit, threads may
// write the matrix again and load the copy.
// arch = sm_100a

!slot = memref<1xi32, #cute<space smem>>
!bar = memref<1xi64, #cute<space smem>>
!rows = memref<128x16xui8, #cute<space smem>>
!matrix = !cute_nvgpu.smem_desc_view<128x16xui8, tcgen05, "(128,16):(16,1)">
!cells = memref<128x32xi32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!four = !cute_nvgpu.fragment<4xi32>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.muli %warp, %c32 : index
  %zeroth = arith.cmpi eq, %warp, %c0 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %rows = memref.alloc() : !rows
  %slot = memref.alloc() : !slot
  %bar = memref.alloc() : !bar
  scf.if %zeroth {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 32 : !slot
    cute_nvgpu.tmem.relinquish_alloc_permit
  }
  scf.if %first {
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : !bar
    cute_nvgpu.fence.mbarrier_init
  }
  %address = cute_nvgpu.address %rows : !rows -> i32
  %n = arith.index_cast %t : index to i32
  %sixteen = arith.constant 16 : i32
  %shift = arith.muli %n, %sixteen : i32
  %own = arith.addi %address, %shift : i32
  cute_nvgpu.address.store %n, %n, %n, %n to %own + 0 : i32, i32, i32, i32 to i32
  cute_nvgpu.fence.proxy.async in "shared::cta"
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  cute_nvgpu.tcgen05.fence.after_thread_sync
  %cells = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  scf.if %first {
    %matrix = cute_nvgpu.make_smem_desc %rows[%c0, %c0] : !rows -> !matrix
    cute_nvgpu.tmem.copy %matrix to %cells[%c0, %c8] shape 128x128b : !matrix to !cells
    cute_nvgpu.tcgen05.commit %bar[%c0] : !bar
  }
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %zero : !bar
  cute_nvgpu.tcgen05.fence.after_thread_sync
  cute_nvgpu.address.store %zero, %zero, %zero, %zero to %own + 0 : i32, i32, i32, i32 to i32
  %x = cute_nvgpu.tmem.load %cells[%lane, %c8] shape 32x32b : !cells -> !four
  cute_nvgpu.tmem.wait_load
  %y = cute_nvgpu.fragment.extract %x[2] : !four -> i32
  memref.store %y, %p[%t] : memref<?xi32>
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  scf.if %zeroth {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %cells : !cells
  }
  func.return
}
