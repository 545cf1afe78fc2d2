// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @cluster
// CHECK-NEXT:    %rank = cute_nvgpu.cluster.rank
// CHECK-NEXT:    cute_nvgpu.cluster.arrive
// CHECK-NEXT:    cute_nvgpu.cluster.wait
// CHECK-NEXT:    %m = cute_nvgpu.cluster.map %b rank %rank : memref<4xi64, #cute<space smem>> -> memref<4xi64, #cute<space dsmem>>
// CHECK-NEXT:    cute_nvgpu.cluster.mbarrier_arrive %b[%i] rank %rank : memref<4xi64, #cute<space smem>>
func.func @cluster(%b: memref<4xi64, #cute<space smem>>, %i: index) {
  %rank = cute_nvgpu.cluster.rank
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  %m = cute_nvgpu.cluster.map %b rank %rank : memref<4xi64, #cute<space smem>> -> memref<4xi64, #cute<space dsmem>>
  cute_nvgpu.cluster.mbarrier_arrive %b[%i] rank %rank : memref<4xi64, #cute<space smem>>
  func.return
}
