// All four CTAs arrive at an mbarrier of the first one, three times; it answers at one
// of each, for which each waits before it leaves.

!bars = memref<2xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>, gpu.known_cluster_size = array<i32: 4, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %speaks = arith.cmpi eq, %t, %c0 : index
  %rank = cute_nvgpu.cluster.rank
  %leads = arith.cmpi eq, %rank, %zero : i32
  %bars = memref.alloc() : !bars
  scf.if %speaks {
    cute_nvgpu.mbarrier.init %bars[%c0] count 4 : !bars
    cute_nvgpu.mbarrier.init %bars[%c1] count 1 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  scf.for %i = %c0 to %c3 step %c1 {
    %n = arith.index_cast %i : index to i32
    %parity = arith.andi %n, %one : i32
    scf.if %speaks {
      cute_nvgpu.cluster.mbarrier_arrive %bars[%c0] rank %zero : !bars
      scf.if %leads {
        cute_nvgpu.mbarrier.wait %bars[%c0] parity %parity : !bars
        cute_nvgpu.cluster.mbarrier_arrive %bars[%c1] rank %one : !bars
        cute_nvgpu.cluster.mbarrier_arrive %bars[%c1] rank %two : !bars
        cute_nvgpu.cluster.mbarrier_arrive %bars[%c1] rank %three : !bars
        cute_nvgpu.cluster.mbarrier_arrive %bars[%c1] rank %zero : !bars
      }
    }
    cute_nvgpu.mbarrier.wait %bars[%c1] parity %parity : !bars
    cute_nvgpu.bar.warp.sync
  }
  %number = arith.index_cast %rank : i32 to index
  %first = arith.muli %number, %c32 : index
  %at = arith.addi %first, %t : index
  memref.store %rank, %p[%at] : memref<?xi32>
  func.return
}
