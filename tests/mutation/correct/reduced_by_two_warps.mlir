// Two warps add a box each to the same place of a tensor, each by its own thread: reductions of copies
// need no order between them.

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!boxes = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %half = arith.divui %lane, %c16 : index
  %column = arith.remui %lane, %c16 : index
  %boxes = memref.alloc() : !boxes
  %v = arith.index_cast %t : index to i32
  scf.for %i = %half to %c8 step %c2 {
    memref.store %v, %boxes[%warp, %i, %column] : !boxes
  }
  cute_nvgpu.fence.proxy.async
  cute_nvgpu.bar.warp.sync
  %elected = cute_nvgpu.elect.sync
  scf.if %elected {
    cute_nvgpu.tma.reduce add %boxes[%warp, %c0, %c0] to %m[%c8, %c0] : !boxes to !map
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0 read
  }
  func.return
}
