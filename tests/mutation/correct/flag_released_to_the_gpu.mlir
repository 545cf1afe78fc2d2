// The first CTA writes numbers, meets, and one thread stores a flag that releases them to the GPU. A
// thread of the second one loads the flag until it is set, and acquires; its CTA reads behind a
// barrier.
// grid = 2, arch = sm_80

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c63 = arith.constant 63 : index
  %one = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %speaks = arith.cmpi eq, %t, %c0 : index
  %writes = arith.cmpi eq, %block, %c0 : index
  %a = cute_nvgpu.address %p : memref<?xi32> -> i64
  scf.if %writes {
    %n = arith.index_cast %t : index to i32
    %v = arith.addi %n, %one : i32
    memref.store %v, %p[%t] : memref<?xi32>
    "gpu.barrier"() : () -> ()
    scf.if %speaks {
      cute_nvgpu.address.store semantics "release.gpu" %one to %a + 1000 : i32 to i64
    }
  } else {
    scf.if %speaks {
      scf.while () : () -> () {
        %flag = cute_nvgpu.address.load semantics "acquire.gpu" %a + 1000 : i64 -> i32
        %unset = arith.cmpi ne, %flag, %one : i32
        scf.condition(%unset)
      } do {
        scf.yield
      }
    }
    "gpu.barrier"() : () -> ()
    %mirror = arith.subi %c63, %t : index
    %v = memref.load %p[%mirror] : memref<?xi32>
    %to = arith.addi %t, %c64 : index
    memref.store %v, %p[%to] : memref<?xi32>
  }
  func.return
}
