// Two threads expect the bytes of one box each, one of them starts both copies, before the other has
// arrived or behind.

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!boxes = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bar = memref<1xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %boxes = memref.alloc() : !boxes
  %bar = memref.alloc() : !bar
  %one = arith.cmpi eq, %t, %c0 : index
  %other = arith.cmpi eq, %t, %c32 : index
  scf.if %one {
    cute_nvgpu.mbarrier.init %bar[%c0] count 2 : !bar
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  scf.if %one {
    cute_nvgpu.tma.load %m[%c0, %c0] to %boxes[%c1, %c0, %c0] mbarrier %bar[%c0] : !map to !boxes, !bar
    cute_nvgpu.tma.load %m[%c8, %c0] to %boxes[%c0, %c0, %c0] mbarrier %bar[%c0] : !map to !boxes, !bar
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes 512 : !bar
  }
  scf.if %other {
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes 512 : !bar
  }
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %zero : !bar
  %row = arith.divui %t, %c16 : index
  %column = arith.remui %t, %c16 : index
  %a = memref.load %boxes[%c0, %row, %column] : !boxes
  %b = memref.load %boxes[%c1, %row, %column] : !boxes
  %d = arith.subi %a, %b : i32
  memref.store %d, %p[%t] : memref<?xi32>
  func.return
}
