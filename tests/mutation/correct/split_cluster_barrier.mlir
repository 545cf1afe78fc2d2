// Two CTAs arrive at their cluster's barrier, do what needs nobody, and wait for each other only
// before they write to each other's shared memory and before they leave.
// block = 32, cluster of 2

!bars = memref<1xi64, #cute<space smem>>
!tile = memref<32xi32, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>) attributes {gpu.kernel, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %bar = memref.alloc() : !bars
  %s = memref.alloc() : !tile
  %rank = cute_nvgpu.cluster.rank
  %other = arith.xori %rank, %odd : i32
  scf.if %first {
    cute_nvgpu.mbarrier.init %bar[%c0] count 32 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  cute_nvgpu.cluster.arrive
  %n = arith.index_cast %t : index to i32
  memref.store %n, %s[%t] : !tile
  cute_nvgpu.cluster.wait
  cute_nvgpu.cluster.mbarrier_arrive %bar[%c0] rank %other : !bars
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : !bars
  cute_nvgpu.cluster.arrive
  %v = memref.load %s[%t] : !tile
  %rank_index = arith.index_cast %rank : i32 to index
  %start = arith.muli %rank_index, %c32 : index
  %at = arith.addi %start, %t : index
  memref.store %v, %p[%at] : memref<?xi32>
  cute_nvgpu.cluster.wait
  func.return
}
