// Two tables come by cp.async in a group each. The first one is used while the second may still be
// under way, and then is where the result of the second goes.
// arch = sm_80
// p counts: 0, 1, 2, ...

!table = memref<128xi32, #cute<space smem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>} {
  %four = arith.constant 4 : index
  %thirty_one = arith.constant 31 : index
  %hundred = arith.constant 128 : index
  %lane = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %own = arith.muli %lane, %four : index
  %there = arith.addi %own, %hundred : index
  %first = memref.alloc() : !table
  %second = memref.alloc() : !table
  cute_nvgpu.cp.async %p[%own] to %first[%own] size 16 cache cg : memref<?xi32> to !table
  cute_nvgpu.cp.async.commit_group
  cute_nvgpu.cp.async %p[%there] to %second[%own] size 16 cache cg : memref<?xi32> to !table
  cute_nvgpu.cp.async.commit_group
  cute_nvgpu.cp.async.wait_group 1
  cute_nvgpu.bar.warp.sync
  %other = arith.subi %thirty_one, %lane : index
  %a = memref.load %first[%other] : !table
  cute_nvgpu.cp.async.wait_group 0
  cute_nvgpu.bar.warp.sync
  %b = memref.load %second[%other] : !table
  %sum = arith.addi %a, %b : i32
  memref.store %sum, %first[%lane] : !table
  cute_nvgpu.bar.warp.sync
  %c = memref.load %first[%other] : !table
  memref.store %c, %p[%lane] : memref<?xi32>
  func.return
}
