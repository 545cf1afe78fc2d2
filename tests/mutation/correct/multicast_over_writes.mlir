// The second CTA of a cluster writes a box of its own and hands it over, through an mbarrier of the
// first one, to a copy that goes to both.
// block = 32, cluster of 2

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (8,16):(16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %both = arith.constant 3 : i16
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %first = arith.cmpi eq, %t, %c0 : index
  %rank = cute_nvgpu.cluster.rank
  %leads = arith.cmpi eq, %rank, %even : i32
  %x = memref.alloc() : !box
  %bar = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : !bars
    cute_nvgpu.mbarrier.init %bar[%c1] count 2 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  scf.if %first {
    memref.store %rank, %x[%c0, %c0] : !box
    cute_nvgpu.fence.proxy.async
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes 512 : !bars
    cute_nvgpu.cluster.mbarrier_arrive %bar[%c1] rank %even : !bars
    scf.if %leads {
      cute_nvgpu.mbarrier.wait %bar[%c1] parity %even cluster : !bars
      cute_nvgpu.tma.load %m[%c0, %c0] to %x[%c0, %c0] mbarrier %bar[%c0] multicast %both : !map to !box, !bars
    }
  }
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : !bars
  %column = arith.remui %t, %c16 : index
  %v = memref.load %x[%c1, %column] : !box
  %number = arith.index_cast %rank : i32 to index
  %start = arith.muli %number, %c32 : index
  %at = arith.addi %start, %t : index
  memref.store %v, %p[%at] : memref<?xi32>
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  func.return
}
