// Boxes leave through two buffers: one thread stores them, and lets the latest store read on while
// the others fill the buffer that the store before it has left.
// block = 32

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %c4 = arith.constant 4 : index
  %x = memref.alloc() : !box
  %fills = arith.cmpi ult, %lane, %c16 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %buffer = arith.remui %i, %c2 : index
    %n = arith.index_cast %i : index to i32
    scf.if %first {
      cute_nvgpu.cp.async.bulk.wait_group 1 read
    }
    "gpu.barrier"() : () -> ()
    scf.if %fills {
      scf.for %row = %c0 to %c8 step %c1 {
        memref.store %n, %x[%buffer, %row, %lane] : !box
      }
    }
    cute_nvgpu.fence.proxy.async
    "gpu.barrier"() : () -> ()
    scf.if %first {
      %high = arith.divui %i, %c2 : index
      %down = arith.muli %buffer, %c8 : index
      %last = arith.cmpi eq, %high, %c1 : index
      scf.if %last {
        cute_nvgpu.cp.async.bulk.wait_group 0
      }
      cute_nvgpu.tma.store %x[%buffer, %c0, %c0] to %m[%down, %c0] : !box to !map
      cute_nvgpu.cp.async.bulk.commit_group
    }
  }
  scf.if %first {
    cute_nvgpu.cp.async.bulk.wait_group 0 read
  }
  func.return
}
