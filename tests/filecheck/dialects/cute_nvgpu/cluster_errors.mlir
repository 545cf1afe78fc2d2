// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%b: memref<4xi32, #cute<space smem>>, %i: index, %rank: i32) {
  // expected-error @+1 {{'cute_nvgpu.cluster.mbarrier_arrive' mbarrier expected a memref of i64, got memref<4xi32, #cute<space smem>> (an mbarrier has 64 bits)}}
  cute_nvgpu.cluster.mbarrier_arrive %b[%i] rank %rank : memref<4xi32, #cute<space smem>>
  func.return
}

// -----

func.func @f(%b: memref<4xi64>, %i: index, %rank: i32) {
  // expected-error @+1 {{'cute_nvgpu.cluster.mbarrier_arrive' mbarrier expected memory space smem, got memref<4xi64> (PTX takes a smem address here)}}
  cute_nvgpu.cluster.mbarrier_arrive %b[%i] rank %rank : memref<4xi64>
  func.return
}

// -----

func.func @f(%b: memref<4xi32>, %rank: i32) {
  // expected-error @+1 {{'cute_nvgpu.cluster.map' memory expected memory space smem, got memref<4xi32> (PTX takes a smem address here)}}
  %m = cute_nvgpu.cluster.map %b rank %rank : memref<4xi32> -> memref<4xi32, #cute<space dsmem>>
  func.return
}

// -----

func.func @f(%b: memref<4xi32, 3>, %rank: i32) {
  // expected-error @+1 {{'cute_nvgpu.cluster.map' expected memref<4xi32, #cute<space dsmem>>, got memref<8xi32, #cute<space dsmem>>}}
  %m = cute_nvgpu.cluster.map %b rank %rank : memref<4xi32, 3> -> memref<8xi32, #cute<space dsmem>>
  func.return
}
