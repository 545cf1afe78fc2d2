// The first CTA feeds the second one by stores to its shared memory, through two stages, for seven
// rounds: it arrives at mbarriers over there, and they arrive at its own.

!stages = memref<2x32xi32, #cute<space smem>>
!there = memref<2x32xi32, #cute<space dsmem>>
!bars = memref<2xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c31 = arith.constant 31 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %mirror = arith.subi %c31, %t : index
  %begins = arith.cmpi eq, %t, %c0 : index
  %rank = cute_nvgpu.cluster.rank
  %feeds = arith.cmpi eq, %rank, %zero : i32
  %stages = memref.alloc() : !stages
  %full = memref.alloc() : !bars
  %empty = memref.alloc() : !bars
  scf.if %begins {
    scf.for %i = %c0 to %c2 step %c1 {
      cute_nvgpu.mbarrier.init %full[%i] count 32 : !bars
      cute_nvgpu.mbarrier.init %empty[%i] count 32 : !bars
    }
    cute_nvgpu.fence.mbarrier_init
  }
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  scf.if %feeds {
    %over = cute_nvgpu.cluster.map %stages rank %one : !stages -> !there
    scf.for %i = %c0 to %c7 step %c1 {
      %at = arith.remui %i, %c2 : index
      %turn = arith.divui %i, %c2 : index
      %n = arith.index_cast %turn : index to i32
      %bit = arith.andi %n, %one : i32
      %before = arith.xori %bit, %one : i32
      cute_nvgpu.mbarrier.wait %empty[%at] parity %before : !bars
      %ti = arith.addi %t, %i : index
      %v = arith.index_cast %ti : index to i32
      memref.store %v, %over[%at, %t] : !there
      cute_nvgpu.cluster.mbarrier_arrive %full[%at] rank %one : !bars
    }
  } else {
    %sum = scf.for %i = %c0 to %c7 step %c1 iter_args(%old = %zero) -> (i32) {
      %at = arith.remui %i, %c2 : index
      %turn = arith.divui %i, %c2 : index
      %n = arith.index_cast %turn : index to i32
      %bit = arith.andi %n, %one : i32
      cute_nvgpu.mbarrier.wait %full[%at] parity %bit cluster : !bars
      %v = memref.load %stages[%at, %mirror] : !stages
      cute_nvgpu.cluster.mbarrier_arrive %empty[%at] rank %zero : !bars
      %new = arith.addi %old, %v : i32
      scf.yield %new : i32
    }
    memref.store %sum, %p[%t] : memref<?xi32>
  }
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  func.return
}
