// Two CTAs of one cluster pass a number through global memory, with a flag whose scope is the cluster.

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %speaks = arith.cmpi eq, %t, %c0 : index
  %rank = cute_nvgpu.cluster.rank
  %sends = arith.cmpi eq, %rank, %zero : i32
  %at = cute_nvgpu.address %p : memref<?xi32> -> i64
  scf.if %sends {
    %n = arith.index_cast %t : index to i32
    %v = arith.addi %n, %one : i32
    memref.store %v, %p[%t] : memref<?xi32>
    "gpu.barrier"() : () -> ()
    scf.if %speaks {
      cute_nvgpu.address.store semantics "release.cluster" %one to %at + 1020 : i32 to i64
    }
  } else {
    scf.if %speaks {
      scf.while () : () -> () {
        %flag = cute_nvgpu.address.load semantics "acquire.cluster" %at + 1020 : i64 -> i32
        %unset = arith.cmpi eq, %flag, %zero : i32
        scf.condition(%unset)
      } do {
        scf.yield
      }
    }
    "gpu.barrier"() : () -> ()
    %v = memref.load %p[%t] : memref<?xi32>
    %to = arith.addi %t, %c32 : index
    memref.store %v, %p[%to] : memref<?xi32>
  }
  func.return
}
