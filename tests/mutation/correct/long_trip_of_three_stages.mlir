// A ring of three stages for 40 rounds: stage and parity are carried by the loops of both sides and
// wrap, an odd number of stages against parities of two.

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!stages = memref<3x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (3,8,16):(128,16,1)">, #cute<space smem>>
!ring = memref<3xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %rounds = arith.constant 40 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %s = memref.alloc() : !stages
  %ready = memref.alloc() : !ring
  %free = memref.alloc() : !ring
  %makes = arith.cmpi eq, %t, %c0 : index
  scf.if %makes {
    scf.for %i = %c0 to %c3 step %c1 {
      cute_nvgpu.mbarrier.init %ready[%i] count 1 : !ring
      cute_nvgpu.mbarrier.init %free[%i] count 32 : !ring
    }
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  %fetches = arith.cmpi uge, %t, %c32 : index
  scf.if %fetches {
    %one_of_them = arith.cmpi eq, %t, %c32 : index
    scf.if %one_of_them {
      %end:2 = scf.for %i = %c0 to %rounds step %c1 iter_args(%at = %c0, %bit = %one) -> (index, i32) {
        cute_nvgpu.mbarrier.wait %free[%at] parity %bit : !ring
        cute_nvgpu.mbarrier.arrive.expect_tx %ready[%at] bytes 512 : !ring
        %half = arith.remui %i, %c2 : index
        %row = arith.muli %half, %c8 : index
        cute_nvgpu.tma.load %m[%row, %c0] to %s[%at, %c0, %c0] mbarrier %ready[%at] : !map to !stages, !ring
        %up = arith.addi %at, %c1 : index
        %wraps = arith.cmpi eq, %up, %c3 : index
        %flipped = arith.xori %bit, %one : i32
        %next = arith.select %wraps, %c0, %up : index
        %next_bit = arith.select %wraps, %flipped, %bit : i32
        scf.yield %next, %next_bit : index, i32
      }
    }
  } else {
    %column = arith.remui %t, %c16 : index
    %end:3 = scf.for %i = %c0 to %rounds step %c1 iter_args(%at = %c0, %bit = %zero, %sum = %zero) -> (index, i32, i32) {
      cute_nvgpu.mbarrier.wait %ready[%at] parity %bit : !ring
      %x = memref.load %s[%at, %c2, %column] : !stages
      cute_nvgpu.fence.proxy.async in "shared::cta"
      cute_nvgpu.mbarrier.arrive %free[%at] : !ring
      %more = arith.addi %sum, %x : i32
      %up = arith.addi %at, %c1 : index
      %wraps = arith.cmpi eq, %up, %c3 : index
      %flipped = arith.xori %bit, %one : i32
      %next = arith.select %wraps, %c0, %up : index
      %next_bit = arith.select %wraps, %flipped, %bit : i32
      scf.yield %next, %next_bit, %more : index, i32, i32
    }
    memref.store %end#2, %p[%t] : memref<?xi32>
  }
  func.return
}
