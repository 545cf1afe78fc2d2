// A warp alone transposes 32 words again and again through two buffers: one barrier of the warp a
// round is enough, as a buffer is written two rounds later.
// arch = sm_80

!buffers = memref<2x32xi32, #cute<space smem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %lane = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %low = arith.remui %lane, %c4 : index
  %high = arith.divui %lane, %c4 : index
  %down = arith.muli %low, %c8 : index
  %turned = arith.addi %down, %high : index
  %start = arith.index_cast %lane : index to i32
  %b = memref.alloc() : !buffers
  %end = scf.for %i = %c0 to %c7 step %c1 iter_args(%v = %start) -> (i32) {
    %buffer = arith.remui %i, %c2 : index
    memref.store %v, %b[%buffer, %lane] : !buffers
    cute_nvgpu.bar.warp.sync
    %w = memref.load %b[%buffer, %turned] : !buffers
    scf.yield %w : i32
  }
  memref.store %end, %p[%lane] : memref<?xi32>
  func.return
}
