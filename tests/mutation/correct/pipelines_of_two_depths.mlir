// One thread feeds two pipelines, of two and of three stages, for twelve rounds: their parities wrap at
// different rounds. A warp empties each.

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!two = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!three = memref<3x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (3,8,16):(128,16,1)">, #cute<space smem>>
!bars2 = memref<2xi64, #cute<space smem>>
!bars3 = memref<3xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_block_size = array<i32: 96, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %x = memref.alloc() : !two
  %y = memref.alloc() : !three
  %x_full = memref.alloc() : !bars2
  %x_empty = memref.alloc() : !bars2
  %y_full = memref.alloc() : !bars3
  %y_empty = memref.alloc() : !bars3
  %zeroth = arith.cmpi eq, %t, %c0 : index
  scf.if %zeroth {
    scf.for %i = %c0 to %c2 step %c1 {
      cute_nvgpu.mbarrier.init %x_full[%i] count 1 : !bars2
      cute_nvgpu.mbarrier.init %x_empty[%i] count 1 : !bars2
    }
    scf.for %i = %c0 to %c3 step %c1 {
      cute_nvgpu.mbarrier.init %y_full[%i] count 1 : !bars3
      cute_nvgpu.mbarrier.init %y_empty[%i] count 1 : !bars3
    }
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %column = arith.remui %lane, %c16 : index
  %elected = cute_nvgpu.elect.sync
  %feeds = arith.cmpi eq, %warp, %c0 : index
  %empties_x = arith.cmpi eq, %warp, %c1 : index
  %empties_y = arith.cmpi eq, %warp, %c2 : index
  scf.if %feeds {
    scf.if %elected {
      scf.for %i = %c0 to %c12 step %c1 {
        %sx = arith.remui %i, %c2 : index
        %ux = arith.divui %i, %c2 : index
        %nx = arith.index_cast %ux : index to i32
        %px = arith.andi %nx, %one : i32
        %qx = arith.xori %px, %one : i32
        %sy = arith.remui %i, %c3 : index
        %uy = arith.divui %i, %c3 : index
        %ny = arith.index_cast %uy : index to i32
        %py = arith.andi %ny, %one : i32
        %qy = arith.xori %py, %one : i32
        cute_nvgpu.mbarrier.wait %x_empty[%sx] parity %qx : !bars2
        cute_nvgpu.mbarrier.arrive.expect_tx %x_full[%sx] bytes 512 : !bars2
        cute_nvgpu.tma.load %m[%c0, %c0] to %x[%sx, %c0, %c0] mbarrier %x_full[%sx] : !map to !two, !bars2
        cute_nvgpu.mbarrier.wait %y_empty[%sy] parity %qy : !bars3
        cute_nvgpu.mbarrier.arrive.expect_tx %y_full[%sy] bytes 512 : !bars3
        cute_nvgpu.tma.load %m[%c8, %c0] to %y[%sy, %c0, %c0] mbarrier %y_full[%sy] : !map to !three, !bars3
      }
    }
  }
  scf.if %empties_x {
    %sum = scf.for %i = %c0 to %c12 step %c1 iter_args(%old = %zero) -> (i32) {
      %at = arith.remui %i, %c2 : index
      %turn = arith.divui %i, %c2 : index
      %n = arith.index_cast %turn : index to i32
      %bit = arith.andi %n, %one : i32
      cute_nvgpu.mbarrier.wait %x_full[%at] parity %bit : !bars2
      %v = memref.load %x[%at, %c1, %column] : !two
      cute_nvgpu.fence.proxy.async in "shared::cta"
      cute_nvgpu.bar.warp.sync
      scf.if %elected {
        cute_nvgpu.mbarrier.arrive %x_empty[%at] : !bars2
      }
      %new = arith.addi %old, %v : i32
      scf.yield %new : i32
    }
    memref.store %sum, %p[%lane] : memref<?xi32>
  }
  scf.if %empties_y {
    %sum = scf.for %i = %c0 to %c12 step %c1 iter_args(%old = %zero) -> (i32) {
      %at = arith.remui %i, %c3 : index
      %turn = arith.divui %i, %c3 : index
      %n = arith.index_cast %turn : index to i32
      %bit = arith.andi %n, %one : i32
      cute_nvgpu.mbarrier.wait %y_full[%at] parity %bit : !bars3
      %v = memref.load %y[%at, %c1, %column] : !three
      cute_nvgpu.fence.proxy.async in "shared::cta"
      cute_nvgpu.bar.warp.sync
      scf.if %elected {
        cute_nvgpu.mbarrier.arrive %y_empty[%at] : !bars3
      }
      %new = arith.addi %old, %v : i32
      scf.yield %new : i32
    }
    %at = arith.addi %lane, %c32 : index
    memref.store %sum, %p[%at] : memref<?xi32>
  }
  func.return
}
