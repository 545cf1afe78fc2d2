// Two warpgroups hand one buffer to and fro by two named barriers: "empty" is 1, "full" is 2. Each
// waits at one and only arrives at the other.
// block = 256

!buffer = memref<128xi32, #cute<space smem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %s = memref.alloc() : !buffer
  %writes = arith.cmpi ult, %t, %c128 : index
  scf.if %writes {
    %ti = arith.index_cast %t : index to i32
    scf.for %i = %c0 to %c4 step %c1 {
      cute_nvgpu.bar.sync 1 threads 256
      %n = arith.index_cast %i : index to i32
      %v = arith.addi %n, %ti : i32
      memref.store %v, %s[%t] : !buffer
      cute_nvgpu.bar.arrive 2 threads 256
    }
  } else {
    %at = arith.subi %t, %c128 : index
    cute_nvgpu.bar.arrive 1 threads 256
    scf.for %i = %c0 to %c4 step %c1 {
      cute_nvgpu.bar.sync 2 threads 256
      %v = memref.load %s[%at] : !buffer
      %old = memref.load %p[%at] : memref<?xi32>
      %sum = arith.addi %old, %v : i32
      memref.store %sum, %p[%at] : memref<?xi32>
      %more = arith.cmpi ult, %i, %c3 : index
      scf.if %more {
        cute_nvgpu.bar.arrive 1 threads 256
      }
    }
  }
  func.return
}
