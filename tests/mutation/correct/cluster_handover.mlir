// The second CTA of a cluster tells the first one, through its mbarrier, that it has started; both
// leave together.
// block = 32, cluster of 2

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<4xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
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
  %bar = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  %rank = cute_nvgpu.cluster.rank
  %waits = arith.cmpi eq, %rank, %even : i32
  scf.if %waits {
    cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : !bars
    memref.store %odd, %p[%t] : memref<?xi32>
  } else {
    scf.if %first {
      cute_nvgpu.cluster.mbarrier_arrive %bar[%c0] rank %even : !bars
    }
  }
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  func.return
}
