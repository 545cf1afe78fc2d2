// Two pipelines of two stages, a producer warp each, fill the upper and the lower box of one buffer;
// the consumers wait for both and let both go, nine times.

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!buffer = memref<2x2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,2,8,16):(256,128,16,1)">, #cute<space smem>>
!bars = memref<2x2xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %begins = arith.cmpi eq, %t, %c0 : index
  %buffer = memref.alloc() : !buffer
  %full = memref.alloc() : !bars
  %empty = memref.alloc() : !bars
  scf.if %begins {
    scf.for %a = %c0 to %c2 step %c1 {
      scf.for %b = %c0 to %c2 step %c1 {
        cute_nvgpu.mbarrier.init %full[%a, %b] count 1 : !bars
        cute_nvgpu.mbarrier.init %empty[%a, %b] count 2 : !bars
      }
    }
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  %leads = arith.cmpi eq, %lane, %c0 : index
  %produces = arith.cmpi ult, %warp, %c2 : index
  scf.if %produces {
    scf.if %leads {
      %row = arith.muli %warp, %c8 : index
      scf.for %i = %c0 to %c9 step %c1 {
        %stage = arith.remui %i, %c2 : index
        %turn = arith.divui %i, %c2 : index
        %n = arith.index_cast %turn : index to i32
        %bit = arith.andi %n, %one : i32
        %before = arith.xori %bit, %one : i32
        cute_nvgpu.mbarrier.wait %empty[%warp, %stage] parity %before : !bars
        cute_nvgpu.mbarrier.arrive.expect_tx %full[%warp, %stage] bytes 512 : !bars
        cute_nvgpu.tma.load %m[%row, %c0] to %buffer[%stage, %warp, %c0, %c0] mbarrier %full[%warp, %stage] : !map to !buffer, !bars
      }
    }
  } else {
    %column = arith.remui %lane, %c16 : index
    %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%old = %zero) -> (i32) {
      %stage = arith.remui %i, %c2 : index
      %turn = arith.divui %i, %c2 : index
      %n = arith.index_cast %turn : index to i32
      %bit = arith.andi %n, %one : i32
      cute_nvgpu.mbarrier.wait %full[%c0, %stage] parity %bit : !bars
      cute_nvgpu.mbarrier.wait %full[%c1, %stage] parity %bit : !bars
      %y = memref.load %buffer[%stage, %c1, %warp, %column] : !buffer
      %x = memref.load %buffer[%stage, %c0, %warp, %column] : !buffer
      cute_nvgpu.fence.proxy.async in "shared::cta"
      cute_nvgpu.bar.warp.sync
      scf.if %leads {
        cute_nvgpu.mbarrier.arrive %empty[%c0, %stage] : !bars
        cute_nvgpu.mbarrier.arrive %empty[%c1, %stage] : !bars
      }
      %xy = arith.addi %x, %y : i32
      %new = arith.addi %old, %xy : i32
      scf.yield %new : i32
    }
    %to = arith.subi %t, %c64 : index
    memref.store %sum, %p[%to] : memref<?xi32>
  }
  func.return
}
