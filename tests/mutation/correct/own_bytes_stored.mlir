// One thread fills a box, fences and stores it, twice over, with no barrier at all.
// block = 64

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
  scf.if %leads {
    %to = arith.muli %warp, %c8 : index
    scf.for %n = %c0 to %c2 step %c1 {
      %v = arith.index_cast %n : index to i32
      cute_nvgpu.cp.async.bulk.wait_group 0 read
      scf.for %i = %c0 to %c8 step %c1 {
        scf.for %j = %c0 to %c16 step %c1 {
          memref.store %v, %x[%warp, %i, %j] : !box
        }
      }
      cute_nvgpu.fence.proxy.async
      cute_nvgpu.tma.store %x[%warp, %c0, %c0] to %m[%to, %c0] : !box to !map
      cute_nvgpu.cp.async.bulk.commit_group
      cute_nvgpu.cp.async.bulk.wait_group 0
    }
  }
  func.return
}
