// One thread of each of three warps arrives for its warp, behind the warp's barrier; then all know what
// all have written.

!bar = memref<1xi64, #cute<space smem>>
!words = memref<96xi32, #cute<space smem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 96, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c95 = arith.constant 95 : index
  %one = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %mirror = arith.subi %c95, %t : index
  %words = memref.alloc() : !words
  %bar = memref.alloc() : !bar
  %makes = arith.cmpi eq, %t, %c95 : index
  scf.if %makes {
    cute_nvgpu.mbarrier.init %bar[%c0] count 3 : !bar
  }
  "gpu.barrier"() : () -> ()
  %start = arith.index_cast %t : index to i32
  %end = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %start) -> (i32) {
    memref.store %v, %words[%t] : !words
    cute_nvgpu.bar.warp.sync
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
      cute_nvgpu.mbarrier.arrive %bar[%c0] : !bar
    }
    %n = arith.index_cast %i : index to i32
    %parity = arith.andi %n, %one : i32
    cute_nvgpu.mbarrier.wait %bar[%c0] parity %parity : !bar
    %w = memref.load %words[%mirror] : !words
    %new = arith.addi %w, %one : i32
    "gpu.barrier"() : () -> ()
    scf.yield %new : i32
  }
  memref.store %end, %p[%t] : memref<?xi32>
  func.return
}
