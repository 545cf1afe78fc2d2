// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix TEXT

// CHECK-LABEL: ptx.entry @cluster(
// CHECK-SAME:    cluster(2, 1, 1) {
// CHECK:         %[[B:.*]] = ptx.shared_address 0
// CHECK:         %[[RANK:.*]] = ptx.cluster_ctarank
// CHECK:         ptx.barrier.cluster.arrive
// CHECK:         ptx.barrier.cluster.wait
// CHECK:         %[[OTHER:.*]] = ptx.xor b32 %[[RANK]], %{{.*}}
// CHECK:         %[[THERE:.*]] = ptx.mapa %[[B]], %[[OTHER]]
// CHECK:         ptx.mbarrier.arrive.cluster %[[THERE]], 8
// CHECK:         ptx.mbarrier.try_wait.parity %[[B]], 8, %{{.*}} cluster
// TEXT:       .version 8.0
// TEXT-NEXT:  .target sm_90
// TEXT-LABEL: .visible .entry cluster()
// TEXT-NEXT:  .reqnctapercluster 2, 1, 1
// TEXT:         mov.u32 %r{{[0-9]+}}, %cluster_ctarank;
// TEXT:         barrier.cluster.arrive.aligned;
// TEXT:         barrier.cluster.wait.aligned;
// TEXT:         mapa.shared::cluster.u32 %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}};
// TEXT:         mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r{{[0-9]+}}+8];
// TEXT:         mbarrier.try_wait.parity.acquire.cluster.shared.b64 done, [%r{{[0-9]+}}+8], 0;
// TEXT:         mapa.shared::cluster.u32 %r{{[0-9]+}}, %r{{[0-9]+}}, 0;
// TEXT:         st.shared::cluster.b64 [%r{{[0-9]+}}+8], %rd{{[0-9]+}};
func.func @cluster() attributes {gpu.kernel, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
  %b = memref.alloc() : memref<4xi64, #cute<space smem>>
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %rank = cute_nvgpu.cluster.rank
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  %other = arith.xori %rank, %one : i32
  cute_nvgpu.cluster.mbarrier_arrive %b[%c1] rank %other : memref<4xi64, #cute<space smem>>
  cute_nvgpu.mbarrier.wait %b[%c1] parity %zero cluster : memref<4xi64, #cute<space smem>>
  cute_nvgpu.cluster.mbarrier_arrive %b[%c1] rank %zero : memref<4xi64, #cute<space smem>>
  %there = cute_nvgpu.cluster.map %b rank %zero : memref<4xi64, #cute<space smem>> -> memref<4xi64, #cute<space dsmem>>
  %v = arith.constant 7 : i64
  memref.store %v, %there[%c1] : memref<4xi64, #cute<space dsmem>>
  func.return
}
