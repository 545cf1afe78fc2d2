// One stage and one mbarrier, 17 times: all threads meet before the copy of the next round, so that
// nothing has to say that the stage is empty.

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!stage = memref<8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (8,16):(16,1)">, #cute<space smem>>
!bar = memref<1xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c17 = arith.constant 17 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %row = arith.divui %t, %c16 : index
  %column = arith.remui %t, %c16 : index
  %is_first = arith.cmpi eq, %t, %c0 : index
  %s = memref.alloc() : !stage
  %bar = memref.alloc() : !bar
  scf.if %is_first {
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : !bar
    cute_nvgpu.fence.mbarrier_init
  }
  %sum = scf.for %i = %c0 to %c17 step %c1 iter_args(%old = %zero) -> (i32) {
    "gpu.barrier"() : () -> ()
    scf.if %is_first {
      cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes 512 : !bar
      cute_nvgpu.tma.load %m[%c8, %c0] to %s[%c0, %c0] mbarrier %bar[%c0] : !map to !stage, !bar
    }
    %n = arith.index_cast %i : index to i32
    %parity = arith.andi %n, %one : i32
    cute_nvgpu.mbarrier.wait %bar[%c0] parity %parity : !bar
    %x = memref.load %s[%row, %column] : !stage
    cute_nvgpu.fence.proxy.async in "shared::cta"
    %new = arith.addi %old, %x : i32
    scf.yield %new : i32
  }
  memref.store %sum, %p[%t] : memref<?xi32>
  func.return
}
