// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @cp_async
// CHECK-NEXT:    cute_nvgpu.cp.async %g[%i, %j] to %s[%i, %j] size 16 cache cg : memref<?x?xbf16, strided<[?, 1]>> to memref<64x32xbf16, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.cp.async %g[%i, %j] to %s[%i, %j] size 4 cache ca fill %n {name = "x"} : memref<?x?xbf16, strided<[?, 1]>> to memref<64x32xbf16, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.cp.async %g[%i, %j] to %s[%i, %j] size 8 cache ca : memref<?x?xbf16, strided<[?, 1]>> to memref<64x32xbf16, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.cp.async %g[%i, %j] to %s[%i, %j] size 16 cache ca : memref<?x?xbf16, strided<[?, 1]>> to memref<64x32xbf16, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.cp.async.commit_group
// CHECK-NEXT:    cute_nvgpu.cp.async.wait_group 1
// CHECK-NEXT:    cute_nvgpu.cp.async.wait_group 0 {name = "x"}
func.func @cp_async(%g: memref<?x?xbf16, strided<[?, 1]>>, %s: memref<64x32xbf16, #cute<space smem>>, %i: index, %j: index, %n: i32) {
  cute_nvgpu.cp.async %g[%i, %j] to %s[%i, %j] size 16 cache cg : memref<?x?xbf16, strided<[?, 1]>> to memref<64x32xbf16, #cute<space smem>>
  cute_nvgpu.cp.async %g[%i, %j] to %s[%i, %j] size 4 cache ca fill %n {name = "x"} : memref<?x?xbf16, strided<[?, 1]>> to memref<64x32xbf16, #cute<space smem>>
  cute_nvgpu.cp.async %g[%i, %j] to %s[%i, %j] size 8 cache ca : memref<?x?xbf16, strided<[?, 1]>> to memref<64x32xbf16, #cute<space smem>>
  cute_nvgpu.cp.async %g[%i, %j] to %s[%i, %j] size 16 cache ca : memref<?x?xbf16, strided<[?, 1]>> to memref<64x32xbf16, #cute<space smem>>
  cute_nvgpu.cp.async.commit_group
  cute_nvgpu.cp.async.wait_group 1
  cute_nvgpu.cp.async.wait_group 0 {name = "x"}
  func.return
}

// CHECK-LABEL: func.func @ranks_differ
// CHECK-NEXT:    cute_nvgpu.cp.async %g[%i] to %s[%i, %i, %i] size 8 cache ca : memref<64xf64, 1 : i64> to memref<3x4x8xf64, 3 : i64>
func.func @ranks_differ(%g: memref<64xf64, 1>, %s: memref<3x4x8xf64, 3>, %i: index) {
  cute_nvgpu.cp.async %g[%i] to %s[%i, %i, %i] size 8 cache ca : memref<64xf64, 1 : i64> to memref<3x4x8xf64, 3 : i64>
  func.return
}
