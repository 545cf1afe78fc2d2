// Two allocations of tensor memory, for which one permit is enough: each thread keeps a number in each,
// and one warp gives both back when all are done.
// arch = sm_100a

!slots = memref<2xi32, #cute<space smem>>
!wide = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!narrow = memref<128x32xi32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!one = !cute_nvgpu.fragment<1xi32>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c17 = arith.constant 17 : index
  %c32 = arith.constant 32 : index
  %c60 = arith.constant 60 : index
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lanes = arith.muli %warp, %c32 : index
  %allocates = arith.cmpi eq, %warp, %c0 : index
  %slots = memref.alloc() : !slots
  scf.if %allocates {
    cute_nvgpu.tmem.alloc %slots[%c0] columns 64 : !slots
    cute_nvgpu.tmem.alloc %slots[%c1] columns 32 : !slots
    cute_nvgpu.tmem.relinquish_alloc_permit
  }
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  cute_nvgpu.tcgen05.fence.after_thread_sync
  %wide = cute_nvgpu.tmem.retrieve %slots[%c0] : !slots -> !wide
  %narrow = cute_nvgpu.tmem.retrieve %slots[%c1] : !slots -> !narrow
  %n = arith.index_cast %t : index to i32
  %twice = arith.addi %n, %n : i32
  %x = cute_nvgpu.fragment.splat %n : i32 -> !one
  %y = cute_nvgpu.fragment.splat %twice : i32 -> !one
  cute_nvgpu.tmem.store %x, %wide[%lanes, %c60] shape 32x32b : !one, !wide
  cute_nvgpu.tmem.store %y, %narrow[%lanes, %c17] shape 32x32b : !one, !narrow
  cute_nvgpu.tmem.wait_store
  %v = cute_nvgpu.tmem.load %wide[%lanes, %c60] shape 32x32b : !wide -> !one
  %w = cute_nvgpu.tmem.load %narrow[%lanes, %c17] shape 32x32b : !narrow -> !one
  cute_nvgpu.tmem.wait_load
  %a = cute_nvgpu.fragment.extract %v[0] : !one -> i32
  %b = cute_nvgpu.fragment.extract %w[0] : !one -> i32
  %sum = arith.addi %a, %b : i32
  memref.store %sum, %p[%t] : memref<?xi32>
  cute_nvgpu.tcgen05.fence.before_thread_sync
  "gpu.barrier"() : () -> ()
  scf.if %allocates {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %narrow : !narrow
    cute_nvgpu.tmem.dealloc %wide : !wide
  }
  func.return
}
