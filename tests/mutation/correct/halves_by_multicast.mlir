// Each of two CTAs copies half of a buffer to both: an mbarrier expects the bytes of two copies, one of
// them of the other CTA. A CTA leaves when it has all that is copied to it.

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!halves = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bar = memref<1xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %both = arith.constant 3 : i16
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %copies = arith.cmpi eq, %t, %c0 : index
  %rank = cute_nvgpu.cluster.rank
  %half = arith.index_cast %rank : i32 to index
  %row = arith.muli %half, %c8 : index
  %column = arith.remui %t, %c16 : index
  %x = memref.alloc() : !halves
  %bar = memref.alloc() : !bar
  scf.if %copies {
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : !bar
    cute_nvgpu.fence.mbarrier_init
  }
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%old = %zero) -> (i32) {
    cute_nvgpu.cluster.arrive
    cute_nvgpu.cluster.wait
    scf.if %copies {
      cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes 1024 : !bar
      cute_nvgpu.tma.load %m[%row, %c0] to %x[%half, %c0, %c0] mbarrier %bar[%c0] multicast %both : !map to !halves, !bar
    }
    %n = arith.index_cast %i : index to i32
    %parity = arith.andi %n, %one : i32
    cute_nvgpu.mbarrier.wait %bar[%c0] parity %parity : !bar
    %a = memref.load %x[%c0, %c3, %column] : !halves
    %b = memref.load %x[%c1, %c3, %column] : !halves
    cute_nvgpu.fence.proxy.async in "shared::cta"
    %ab = arith.addi %a, %b : i32
    %new = arith.addi %old, %ab : i32
    scf.yield %new : i32
  }
  %first = arith.muli %half, %c32 : index
  %at = arith.addi %first, %t : index
  memref.store %sum, %p[%at] : memref<?xi32>
  func.return
}
