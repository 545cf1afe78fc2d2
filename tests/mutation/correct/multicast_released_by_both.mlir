// The first CTA of a cluster copies boxes to both, through two stages; a stage is empty when a warp
// of each CTA has arrived at the first one's mbarrier.
// block = 64, cluster of 2

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
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
  %c6 = arith.constant 6 : index
  %both = arith.constant 3 : i16
  %rank = cute_nvgpu.cluster.rank
  %ours = arith.cmpi eq, %rank, %even : i32
  %copies_warp = arith.cmpi eq, %warp, %c0 : index
  %x = memref.alloc() : !box
  %full = memref.alloc() : !bars
  %empty = memref.alloc() : !bars
  scf.if %first {
    scf.for %i = %c0 to %c2 step %c1 {
      cute_nvgpu.mbarrier.init %full[%i] count 1 : !bars
      cute_nvgpu.mbarrier.init %empty[%i] count 2 : !bars
    }
    cute_nvgpu.fence.mbarrier_init
  }
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  scf.if %copies_warp {
    scf.if %leads {
      scf.for %i = %c0 to %c6 step %c1 {
        %stage = arith.remui %i, %c2 : index
        %use = arith.divui %i, %c2 : index
        %u = arith.index_cast %use : index to i32
        %bit = arith.andi %u, %odd : i32
        %parity = arith.xori %bit, %odd : i32
        %from = arith.muli %stage, %c8 : index
        scf.if %ours {
          cute_nvgpu.mbarrier.wait %empty[%stage] parity %parity : !bars
        }
        cute_nvgpu.mbarrier.arrive.expect_tx %full[%stage] bytes 512 : !bars
        scf.if %ours {
          cute_nvgpu.tma.load %m[%from, %c0] to %x[%stage, %c0, %c0] mbarrier %full[%stage] multicast %both : !map to !box, !bars
        } else {
          cute_nvgpu.mbarrier.wait %full[%stage] parity %bit : !bars
        }
      }
    }
  } else {
    scf.for %i = %c0 to %c6 step %c1 {
      %stage = arith.remui %i, %c2 : index
      %use = arith.divui %i, %c2 : index
      %u = arith.index_cast %use : index to i32
      %parity = arith.andi %u, %odd : i32
      cute_nvgpu.mbarrier.wait %full[%stage] parity %parity : !bars
      %column = arith.remui %lane, %c16 : index
      %v = memref.load %x[%stage, %c1, %column] : !box
      cute_nvgpu.fence.proxy.async in "shared::cta"
      %rank_index = arith.index_cast %rank : i32 to index
      %start = arith.muli %rank_index, %c32 : index
      %at = arith.addi %start, %lane : index
      %old = memref.load %p[%at] : memref<?xi32>
      %sum = arith.addi %old, %v : i32
      memref.store %sum, %p[%at] : memref<?xi32>
      cute_nvgpu.bar.warp.sync
      scf.if %leads {
        cute_nvgpu.cluster.mbarrier_arrive %empty[%stage] rank %even : !bars
      }
    }
  }
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  func.return
}
