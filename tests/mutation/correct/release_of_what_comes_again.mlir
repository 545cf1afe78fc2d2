// Consumers release a stage only where a later round takes it again: of seven rounds the first four,
// with three stages. The producer has seen all of these, and ends the mbarriers.

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!stages = memref<3x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (3,8,16):(128,16,1)">, #cute<space smem>>
!ring = memref<3xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %s = memref.alloc() : !stages
  %full = memref.alloc() : !ring
  %empty = memref.alloc() : !ring
  %makes = arith.cmpi eq, %t, %c0 : index
  scf.if %makes {
    scf.for %i = %c0 to %c3 step %c1 {
      cute_nvgpu.mbarrier.init %full[%i] count 1 : !ring
      cute_nvgpu.mbarrier.init %empty[%i] count 32 : !ring
    }
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  %consumes = arith.cmpi uge, %t, %c32 : index
  scf.if %consumes {
    %lane = arith.subi %t, %c32 : index
    %column = arith.remui %lane, %c16 : index
    %sum = scf.for %i = %c0 to %c7 step %c1 iter_args(%old = %zero) -> (i32) {
      %at = arith.remui %i, %c3 : index
      %turn = arith.divui %i, %c3 : index
      %n = arith.index_cast %turn : index to i32
      %bit = arith.andi %n, %one : i32
      cute_nvgpu.mbarrier.wait %full[%at] parity %bit : !ring
      %x = memref.load %s[%at, %c4, %column] : !stages
      cute_nvgpu.fence.proxy.async in "shared::cta"
      %again = arith.cmpi ult, %i, %c4 : index
      scf.if %again {
        cute_nvgpu.mbarrier.arrive %empty[%at] : !ring
      }
      %new = arith.addi %old, %x : i32
      scf.yield %new : i32
    }
    memref.store %sum, %p[%lane] : memref<?xi32>
  } else {
    scf.if %makes {
      scf.for %i = %c0 to %c7 step %c1 {
        %at = arith.remui %i, %c3 : index
        %later = arith.cmpi uge, %i, %c3 : index
        scf.if %later {
          %before = arith.subi %i, %c3 : index
          %turn = arith.divui %before, %c3 : index
          %n = arith.index_cast %turn : index to i32
          %bit = arith.andi %n, %one : i32
          cute_nvgpu.mbarrier.wait %empty[%at] parity %bit : !ring
        }
        %half = arith.remui %i, %c2 : index
        %row = arith.muli %half, %c8 : index
        cute_nvgpu.mbarrier.arrive.expect_tx %full[%at] bytes 512 : !ring
        cute_nvgpu.tma.load %m[%row, %c0] to %s[%at, %c0, %c0] mbarrier %full[%at] : !map to !stages, !ring
      }
      scf.for %i = %c0 to %c3 step %c1 {
        cute_nvgpu.mbarrier.inval %empty[%i] : !ring
      }
    }
  }
  func.return
}
