// Counts in shared memory by atomic operations, cleared before and read after a barrier.
// arch = sm_80
// p counts: 0, 1, 2, ...

!bins = memref<8xi32, #cute<space smem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 96, 1, 1>} {
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %few = arith.cmpi ult, %t, %c8 : index
  %bins = memref.alloc() : !bins
  scf.if %few {
    memref.store %zero, %bins[%t] : !bins
  }
  "gpu.barrier"() : () -> ()
  %v = memref.load %p[%t] : memref<?xi32>
  %n = arith.index_cast %v : i32 to index
  %bin = arith.remui %n, %c5 : index
  %was = "memref.atomic_rmw"(%one, %bins, %bin) <{kind = 1 : i64}> : (i32, !bins, index) -> i32
  "gpu.barrier"() : () -> ()
  scf.if %few {
    %count = memref.load %bins[%t] : !bins
    %to = arith.addi %t, %c128 : index
    memref.store %count, %p[%to] : memref<?xi32>
  }
  func.return
}
