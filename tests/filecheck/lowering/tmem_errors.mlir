// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p convert-cute-nvgpu-to-ptx

!slot = memref<2xi32, #cute<space smem>>
!cells = memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
func.func @load() attributes {gpu.kernel} {
  %slot = memref.alloc() : !slot
  %c0 = arith.constant 0 : index
  %t = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  // expected-error @+1 {{'memref.load' expected a memref in global or shared memory, got memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>; nearest legal: cute_nvgpu.tmem.load, store or slice}}
  %v = memref.load %t[%c0, %c0] : !cells
  func.return
}

// -----

!slot = memref<2xi32, #cute<space smem>>
!cells = memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
func.func @store() attributes {gpu.kernel} {
  %slot = memref.alloc() : !slot
  %c0 = arith.constant 0 : index
  %v = arith.constant 0 : i32
  %t = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  // expected-error @+1 {{'memref.store' expected a memref in global or shared memory, got memref<128x256xi32}}
  memref.store %v, %t[%c0, %c0] : !cells
  func.return
}

// -----

func.func @alloc() attributes {gpu.kernel} {
  // expected-error @+1 {{'memref.alloc' expected a memref in shared memory, got memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>; nearest legal: #cute<space smem>}}
  %t = memref.alloc() : memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
  func.return
}

// -----

// expected-error @+1 {{kernel argument memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>> expected global memory}}
func.func @argument(%t: memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>) attributes {gpu.kernel} {
  func.return
}

// -----

!slot = memref<2xi32, #cute<space smem>>
!cells = memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
!a = memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>
func.func @within() attributes {gpu.kernel} {
  %slot = memref.alloc() : !slot
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %t = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %a = cute_nvgpu.tmem.slice %t[%c0, %c0] : !cells -> !a
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected an element that begins a cell of 32 bits, got one 16 bits behind}}
  %f = cute_nvgpu.tmem.load %a[%c0, %c3] shape 32x32b : !a -> !cute_nvgpu.fragment<8xbf16>
  func.return
}
