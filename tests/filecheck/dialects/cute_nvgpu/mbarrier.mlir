// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @mbarriers
// CHECK-NEXT:    cute_nvgpu.mbarrier.init %full[%i] count 1 : memref<4xi64, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.fence.mbarrier_init
// CHECK-NEXT:    cute_nvgpu.mbarrier.arrive %full[%i] : memref<4xi64, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.mbarrier.arrive %full[%i] count 2 {name = "x"} : memref<4xi64, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.mbarrier.arrive.expect_tx %full[%i] bytes 1048575 : memref<4xi64, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.cp.async.mbarrier.arrive %full[%i] : memref<4xi64, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.cp.async.mbarrier.arrive %full[%i] noinc : memref<4xi64, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.mbarrier.wait %full[%i] parity %p : memref<4xi64, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.mbarrier.wait %full[%i] parity %p cluster : memref<4xi64, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.mbarrier.inval %full[%i] : memref<4xi64, #cute<space smem>>
func.func @mbarriers(%full: memref<4xi64, #cute<space smem>>, %i: index, %p: i32) {
  cute_nvgpu.mbarrier.init %full[%i] count 1 : memref<4xi64, #cute<space smem>>
  cute_nvgpu.fence.mbarrier_init
  cute_nvgpu.mbarrier.arrive %full[%i] : memref<4xi64, #cute<space smem>>
  cute_nvgpu.mbarrier.arrive %full[%i] count 2 {name = "x"} : memref<4xi64, #cute<space smem>>
  cute_nvgpu.mbarrier.arrive.expect_tx %full[%i] bytes 1048575 : memref<4xi64, #cute<space smem>>
  cute_nvgpu.cp.async.mbarrier.arrive %full[%i] : memref<4xi64, #cute<space smem>>
  cute_nvgpu.cp.async.mbarrier.arrive %full[%i] noinc : memref<4xi64, #cute<space smem>>
  cute_nvgpu.mbarrier.wait %full[%i] parity %p : memref<4xi64, #cute<space smem>>
  cute_nvgpu.mbarrier.wait %full[%i] parity %p cluster : memref<4xi64, #cute<space smem>>
  cute_nvgpu.mbarrier.inval %full[%i] : memref<4xi64, #cute<space smem>>
  func.return
}
