// A ring of four stages by cp.async. Every round commits a group, the last rounds empty ones, so that
// the wait for all but two groups is right to the end.
// arch = sm_80
// p counts: 0, 1, 2, ...

!ring = memref<4x64xi32, #cute<space smem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c63 = arith.constant 63 : index
  %none = arith.constant 0 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %mine = arith.muli %t, %c4 : index
  %copies = arith.cmpi ult, %t, %c16 : index
  %mirror = arith.subi %c63, %t : index
  %ring = memref.alloc() : !ring
  scf.for %i = %c0 to %c3 step %c1 {
    scf.if %copies {
      %aligned = arith.muli %i, %c4 : index
      %source = arith.addi %mine, %aligned : index
      cute_nvgpu.cp.async %p[%source] to %ring[%i, %mine] size 16 cache cg : memref<?xi32> to !ring
    }
    cute_nvgpu.cp.async.commit_group
  }
  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%so_far = %none) -> (i32) {
    cute_nvgpu.cp.async.wait_group 2
    "gpu.barrier"() : () -> ()
    %stage = arith.remui %i, %c4 : index
    %x = memref.load %ring[%stage, %mirror] : !ring
    %new = arith.addi %so_far, %x : i32
    %ahead = arith.addi %i, %c3 : index
    %exists = arith.cmpi ule, %ahead, %c7 : index
    %both = arith.andi %exists, %copies : i1
    scf.if %both {
      %next = arith.remui %ahead, %c4 : index
      %shift = arith.muli %ahead, %c4 : index
      %source = arith.addi %mine, %shift : index
      cute_nvgpu.cp.async %p[%source] to %ring[%next, %mine] size 16 cache cg : memref<?xi32> to !ring
    }
    cute_nvgpu.cp.async.commit_group
    scf.yield %new : i32
  }
  %c128 = arith.constant 128 : index
  %to = arith.addi %t, %c128 : index
  memref.store %sum, %p[%to] : memref<?xi32>
  func.return
}
