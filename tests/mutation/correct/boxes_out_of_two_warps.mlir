// Two warps write halves of a box. One thread stores it, waits until it is read, and an mbarrier lets
// both write the next one.

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (8,16):(16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %row = arith.divui %t, %c16 : index
  %below = arith.addi %row, %c4 : index
  %column = arith.remui %t, %c16 : index
  %stores = arith.cmpi eq, %t, %c0 : index
  %box = memref.alloc() : !box
  %bars = memref.alloc() : !bars
  scf.if %stores {
    cute_nvgpu.mbarrier.init %bars[%c0] count 64 : !bars
    cute_nvgpu.mbarrier.init %bars[%c1] count 1 : !bars
  }
  "gpu.barrier"() : () -> ()
  scf.for %i = %c0 to %c2 step %c1 {
    %parity = arith.index_cast %i : index to i32
    memref.store %parity, %box[%row, %column] : !box
    memref.store %zero, %box[%below, %column] : !box
    cute_nvgpu.fence.proxy.async in "shared::cta"
    cute_nvgpu.mbarrier.arrive %bars[%c0] : !bars
    scf.if %stores {
      %to = arith.muli %i, %c8 : index
      cute_nvgpu.mbarrier.wait %bars[%c0] parity %parity : !bars
      cute_nvgpu.tma.store %box[%c0, %c0] to %m[%to, %c0] : !box to !map
      cute_nvgpu.cp.async.bulk.commit_group
      cute_nvgpu.cp.async.bulk.wait_group 0 read
      cute_nvgpu.mbarrier.arrive %bars[%c1] : !bars
    }
    cute_nvgpu.mbarrier.wait %bars[%c1] parity %parity : !bars
  }
  func.return
}
