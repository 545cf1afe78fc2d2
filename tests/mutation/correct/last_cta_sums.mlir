// Each CTA writes a number and counts itself; the one that comes last sums what all have written.
// grid = 4, arch = sm_80

!word = memref<1xi32, #cute<space smem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c200 = arith.constant 200 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %last = arith.constant 3 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %speaks = arith.cmpi eq, %t, %c0 : index
  %at = cute_nvgpu.address %p : memref<?xi32> -> i64
  %word = memref.alloc() : !word
  scf.if %speaks {
    %number = arith.index_cast %block : index to i32
    %v = arith.addi %number, %one : i32
    memref.store %v, %p[%block] : memref<?xi32>
    %place = cute_nvgpu.address.atomic semantics "acq_rel.gpu" "add.u32" %at + 400, %one : i64, i32 -> i32
    memref.store %place, %word[%c0] : !word
  }
  "gpu.barrier"() : () -> ()
  %place = memref.load %word[%c0] : !word
  %is_last = arith.cmpi eq, %place, %last : i32
  scf.if %is_last {
    %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (i32) {
      %v = memref.load %p[%i] : memref<?xi32>
      %new = arith.addi %s, %v : i32
      scf.yield %new : i32
    }
    %to = arith.addi %t, %c200 : index
    memref.store %sum, %p[%to] : memref<?xi32>
  }
  func.return
}
