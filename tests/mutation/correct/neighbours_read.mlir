// Each of two CTAs reads what the other one has written to its own shared memory; neither leaves before
// both have read.

!words = memref<64xi32, #cute<space smem>>
!there = memref<64xi32, #cute<space dsmem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %mirror = arith.subi %c63, %t : index
  %rank = cute_nvgpu.cluster.rank
  %other = arith.xori %rank, %one : i32
  %number = arith.index_cast %rank : i32 to index
  %first = arith.muli %number, %c64 : index
  %at = arith.addi %first, %t : index
  %v = arith.index_cast %at : index to i32
  %words = memref.alloc() : !words
  memref.store %v, %words[%t] : !words
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  %there = cute_nvgpu.cluster.map %words rank %other : !words -> !there
  %w = memref.load %there[%mirror] : !there
  cute_nvgpu.cluster.arrive
  memref.store %w, %p[%at] : memref<?xi32>
  cute_nvgpu.cluster.wait
  func.return
}
