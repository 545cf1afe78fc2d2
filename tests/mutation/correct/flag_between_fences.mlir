// Relaxed accesses to a flag, with fences around them: every thread of the first CTA counts itself
// behind its fence, and one of the second one waits for all 32 before its own.
// grid = 2, arch = sm_80

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1 : i32
  %all = arith.constant 32 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %sends = arith.cmpi eq, %block, %c0 : index
  %at = cute_nvgpu.address %p : memref<?xi32> -> i64
  scf.if %sends {
    %n = arith.index_cast %t : index to i32
    memref.store %n, %p[%t] : memref<?xi32>
    cute_nvgpu.fence "acq_rel.gpu"
    %was = cute_nvgpu.address.atomic semantics "relaxed.gpu" "add.u32" %at + 512, %one : i64, i32 -> i32
  } else {
    scf.while () : () -> () {
      %count = cute_nvgpu.address.load semantics "relaxed.gpu" %at + 512 : i64 -> i32
      %missing = arith.cmpi ult, %count, %all : i32
      scf.condition(%missing)
    } do {
      scf.yield
    }
    cute_nvgpu.fence "acq_rel.gpu"
    %v = memref.load %p[%t] : memref<?xi32>
    %twice = arith.addi %v, %v : i32
    %to = arith.addi %t, %c32 : index
    memref.store %twice, %p[%to] : memref<?xi32>
  }
  func.return
}
