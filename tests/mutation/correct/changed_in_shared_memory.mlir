// A box comes by TMA, all threads change it in place, and it leaves by TMA for the other half of the
// tensor.

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (8,16):(16,1)">, #cute<space smem>>
!bar = memref<1xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %thousand = arith.constant 1000 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %row = arith.divui %t, %c16 : index
  %column = arith.remui %t, %c16 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %box = memref.alloc() : !box
  %bar = memref.alloc() : !bar
  scf.if %first {
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : !bar
    cute_nvgpu.fence.mbarrier_init
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes 512 : !bar
    cute_nvgpu.tma.load %m[%c0, %c0] to %box[%c0, %c0] mbarrier %bar[%c0] : !map to !box, !bar
  }
  "gpu.barrier"() : () -> ()
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %zero : !bar
  %x = memref.load %box[%row, %column] : !box
  %y = arith.addi %x, %thousand : i32
  memref.store %y, %box[%row, %column] : !box
  cute_nvgpu.fence.proxy.async in "shared::cta"
  "gpu.barrier"() : () -> ()
  scf.if %first {
    cute_nvgpu.tma.store %box[%c0, %c0] to %m[%c8, %c0] : !box to !map
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0
  }
  func.return
}
