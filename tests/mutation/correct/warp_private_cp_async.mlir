// Each warp copies to three buffers of its own by cp.async, two groups ahead, and reads what its
// other lanes have copied behind a barrier of the warp alone.
// block = 64
// p counts: 0, 1, 2, ...

!buffers = memref<3x2x32xi32, #cute<space smem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel} {
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
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c31 = arith.constant 31 : index
  %c64 = arith.constant 64 : index
  %s = memref.alloc() : !buffers
  %copies = arith.cmpi ult, %lane, %c8 : index
  %to = arith.muli %lane, %c4 : index
  %own = arith.muli %warp, %c32 : index
  %from = arith.addi %own, %to : index
  scf.for %i = %c0 to %c2 step %c1 {
    scf.if %copies {
      cute_nvgpu.cp.async %p[%from] to %s[%i, %warp, %to] size 16 cache ca : memref<?xi32> to !buffers
    }
    cute_nvgpu.cp.async.commit_group
  }
  %total = scf.for %i = %c0 to %c6 step %c1 iter_args(%sum = %even) -> (i32) {
    cute_nvgpu.cp.async.wait_group 1
    cute_nvgpu.bar.warp.sync
    %buffer = arith.remui %i, %c3 : index
    %other = arith.subi %c31, %lane : index
    %v = memref.load %s[%buffer, %warp, %other] : !buffers
    %new = arith.addi %sum, %v : i32
    %ahead = arith.addi %i, %c2 : index
    %next = arith.remui %ahead, %c3 : index
    scf.if %copies {
      cute_nvgpu.cp.async %p[%from] to %s[%next, %warp, %to] size 16 cache ca : memref<?xi32> to !buffers
    }
    cute_nvgpu.cp.async.commit_group
    scf.yield %new : i32
  }
  cute_nvgpu.cp.async.wait_group 0
  %at = arith.addi %t, %c64 : index
  %lane32 = arith.index_cast %lane : index to i32
  %result = arith.addi %total, %lane32 : i32
  memref.store %result, %p[%at] : memref<?xi32>
  func.return
}
