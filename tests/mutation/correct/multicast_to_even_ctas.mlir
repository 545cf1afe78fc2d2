// The first of four CTAs copies a box to itself and to the third one; the others only start with them.

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (8,16):(16,1)">, #cute<space smem>>
!bar = memref<1xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>, gpu.known_cluster_size = array<i32: 4, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %even = arith.constant 5 : i16
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %speaks = arith.cmpi eq, %t, %c0 : index
  %rank = cute_nvgpu.cluster.rank
  %bit = arith.andi %rank, %one : i32
  %gets = arith.cmpi eq, %bit, %zero : i32
  %copies = arith.cmpi eq, %rank, %zero : i32
  %x = memref.alloc() : !box
  %bar = memref.alloc() : !bar
  scf.if %speaks {
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : !bar
    cute_nvgpu.fence.mbarrier_init
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes 512 : !bar
  }
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  scf.if %gets {
    scf.if %copies {
      %elected = cute_nvgpu.elect.sync
      scf.if %elected {
        cute_nvgpu.tma.load %m[%c0, %c0] to %x[%c0, %c0] mbarrier %bar[%c0] multicast %even : !map to !box, !bar
      }
    }
    cute_nvgpu.mbarrier.wait %bar[%c0] parity %zero : !bar
    %column = arith.remui %t, %c16 : index
    %v = memref.load %x[%c5, %column] : !box
    %number = arith.index_cast %rank : i32 to index
    %first = arith.muli %number, %c32 : index
    %at = arith.addi %first, %t : index
    memref.store %v, %p[%at] : memref<?xi32>
  }
  func.return
}
