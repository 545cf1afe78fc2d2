// Each of four CTAs writes to the next one's shared memory, between barriers of the cluster, and again
// behind a barrier for what it has got.

!words = memref<32xi32, #cute<space smem>>
!there = memref<32xi32, #cute<space dsmem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>, gpu.known_cluster_size = array<i32: 4, 1, 1>} {
  %c32 = arith.constant 32 : index
  %c31 = arith.constant 31 : index
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %x = memref.alloc() : !words
  %y = memref.alloc() : !words
  %rank = cute_nvgpu.cluster.rank
  %up = arith.addi %rank, %one : i32
  %next = arith.andi %up, %three : i32
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  %next_x = cute_nvgpu.cluster.map %x rank %next : !words -> !there
  %next_y = cute_nvgpu.cluster.map %y rank %next : !words -> !there
  %n = arith.index_cast %t : index to i32
  %mine = arith.addi %n, %rank : i32
  memref.store %mine, %next_x[%t] : !there
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  %mirror = arith.subi %c31, %t : index
  %got = memref.load %x[%mirror] : !words
  memref.store %got, %next_y[%t] : !there
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  %end = memref.load %y[%mirror] : !words
  %number = arith.index_cast %rank : i32 to index
  %first = arith.muli %number, %c32 : index
  %at = arith.addi %first, %t : index
  memref.store %end, %p[%at] : memref<?xi32>
  func.return
}
