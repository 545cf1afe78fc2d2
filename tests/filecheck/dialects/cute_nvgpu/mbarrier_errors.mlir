// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%b: memref<4xi64, #cute<space smem>>, %i: index, %p: i32) {
  // expected-error @+1 {{'cute_nvgpu.mbarrier.init' expected 1 to 1048575 arrivals, got 0; nearest legal: 1}}
  cute_nvgpu.mbarrier.init %b[%i] count 0 : memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%b: memref<4xi64, #cute<space smem>>, %i: index, %p: i32) {
  // expected-error @+1 {{'cute_nvgpu.mbarrier.init' expected 1 to 1048575 arrivals, got 1048576; nearest legal: 1048575}}
  cute_nvgpu.mbarrier.init %b[%i] count 1048576 : memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%b: memref<4xi64, #cute<space smem>>, %i: index, %p: i32) {
  // expected-error @+1 {{'cute_nvgpu.mbarrier.init' mbarrier expected 1 indices for memref<4xi64, #cute<space smem>>, got 2}}
  cute_nvgpu.mbarrier.init %b[%i, %i] count 1 : memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%b: memref<4xi64, #cute<space smem>>, %i: index, %p: i32) {
  // expected-error @+1 {{'cute_nvgpu.mbarrier.arrive' expected 1 to 1048575 arrivals, got 0; nearest legal: 1}}
  cute_nvgpu.mbarrier.arrive %b[%i] count 0 : memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%b: memref<4xi64, #cute<space smem>>, %i: index, %p: i32) {
  // expected-error @+1 {{'cute_nvgpu.mbarrier.arrive.expect_tx' expected 0 to 1048575 bytes, got -1; nearest legal: 0}}
  cute_nvgpu.mbarrier.arrive.expect_tx %b[%i] bytes -1 : memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%b: memref<4xi64, #cute<space smem>>, %i: index, %p: i32) {
  // expected-error @+1 {{'cute_nvgpu.mbarrier.arrive.expect_tx' expected 0 to 1048575 bytes, got 1048576; nearest legal: 1048575}}
  cute_nvgpu.mbarrier.arrive.expect_tx %b[%i] bytes 1048576 : memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%b: memref<4xi64>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.mbarrier.inval' mbarrier expected memory space smem, got memref<4xi64> (PTX takes a smem address here)}}
  cute_nvgpu.mbarrier.inval %b[%i] : memref<4xi64>
  func.return
}

// -----

func.func @f(%b: memref<4xi32, #cute<space smem>>, %i: index, %p: i32) {
  // expected-error @+1 {{'cute_nvgpu.mbarrier.wait' mbarrier expected a memref of i64, got memref<4xi32, #cute<space smem>> (an mbarrier has 64 bits)}}
  cute_nvgpu.mbarrier.wait %b[%i] parity %p : memref<4xi32, #cute<space smem>>
  func.return
}
