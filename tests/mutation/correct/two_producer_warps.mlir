// Two warps copy half of a stage each and expect their own bytes; the mbarrier counts two arrivals.
// block = 96

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<4xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %is2 = arith.cmpi eq, %warp, %c2 : index
  %x = memref.alloc() : !box
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 2 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  scf.if %is2 {
    cute_nvgpu.mbarrier.wait %full[%c0] parity %even : !bars
    scf.for %i = %c0 to %c8 step %c1 {
      %low = arith.cmpi ult, %lane, %c16 : index
      scf.if %low {
        %v = memref.load %x[%c0, %i, %lane] : !box
        %r = arith.muli %i, %c16 : index
        %at = arith.addi %r, %lane : index
        memref.store %v, %p[%at] : memref<?xi32>
      }
    }
  } else {
    scf.if %leads {
      %from = arith.muli %warp, %c8 : index
      cute_nvgpu.mbarrier.arrive.expect_tx %full[%c0] bytes 512 : !bars
      cute_nvgpu.tma.load %m[%from, %c0] to %x[%warp, %c0, %c0] mbarrier %full[%c0] : !map to !box, !bars
    }
  }
  func.return
}
