// A thread's copy reads only as many bytes as there are, and fills the rest with zeros: threads of
// the other warp read them behind the barrier.
// arch = sm_80
// p counts: 0, 1, 2, ...

!rows = memref<32x4xi32, #cute<space smem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 8 : i32
  %x = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %rows = memref.alloc() : !rows
  %is_copier = arith.cmpi ult, %x, %c32 : index
  scf.if %is_copier {
    %at = arith.muli %x, %c4 : index
    cute_nvgpu.cp.async %p[%at] to %rows[%x, %c0] size 16 cache cg fill %bytes : memref<?xi32> to !rows
    cute_nvgpu.cp.async.commit_group
    cute_nvgpu.cp.async.wait_group 0
  }
  "gpu.barrier"() : () -> ()
  scf.if %is_copier {
  } else {
    %row = arith.subi %x, %c32 : index
    %v = memref.load %rows[%row, %c2] : !rows
    %w = memref.load %rows[%row, %c0] : !rows
    %sum = arith.addi %v, %w : i32
    memref.store %sum, %p[%x] : memref<?xi32>
  }
  func.return
}
