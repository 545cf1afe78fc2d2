// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

!slot = memref<1xi32, #cute<space smem>>
func.func @f(%slot: !slot, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.alloc' expected 32, 64, 128, 256, 512 columns, got 96; nearest legal: 64 (PTX ISA, tcgen05.alloc)}}
  cute_nvgpu.tmem.alloc %slot[%i] columns 96 : !slot
  func.return
}

// -----

!slot = memref<1xi32, #cute<space smem>>
func.func @f(%slot: !slot, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.alloc' expected 32, 64, 128, 256, 512 columns, got 1024; nearest legal: 512 (PTX ISA, tcgen05.alloc)}}
  cute_nvgpu.tmem.alloc %slot[%i] columns 1024 : !slot
  func.return
}

// -----

!slot = memref<1xi32, #cute<space smem>>
func.func @f(%slot: !slot, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.alloc' expected 32, 64, 128, 256, 512 columns, got 16; nearest legal: 32 (PTX ISA, tcgen05.alloc)}}
  cute_nvgpu.tmem.alloc %slot[%i] columns 16 : !slot
  func.return
}

// -----

func.func @f(%slot: memref<1xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.alloc' slot expected a memref of i32, got memref<1xi64, #cute<space smem>> (an address of tensor memory has 32 bits)}}
  cute_nvgpu.tmem.alloc %slot[%i] columns 32 : memref<1xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%slot: memref<1xi32>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.alloc' slot expected memory space smem, got memref<1xi32> (PTX takes a smem address here)}}
  cute_nvgpu.tmem.alloc %slot[%i] columns 32 : memref<1xi32>
  func.return
}

// -----

!slot = memref<1xi32, #cute<space smem>>
func.func @f(%slot: !slot, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.alloc' slot expected 1 indices for memref<1xi32, #cute<space smem>>, got 2}}
  cute_nvgpu.tmem.alloc %slot[%i, %i] columns 32 : !slot
  func.return
}

// -----

!slot = memref<1xi32, #cute<space smem>>
func.func @f(%slot: !slot, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.alloc' expected cta_group 1 or 2, got 4; nearest legal: 2}}
  cute_nvgpu.tmem.alloc %slot[%i] columns 32 cta_group 4 : !slot
  func.return
}

// -----

!slot = memref<1xi32, #cute<space smem>>
func.func @f(%slot: !slot, %i: index) {
  cute_nvgpu.tmem.alloc %slot[%i] columns 32 : !slot
  // expected-error @+1 {{'cute_nvgpu.tmem.relinquish_alloc_permit' expected cta_group 1, got 2 ('cute_nvgpu.tmem.alloc' of the same kernel has it, and a kernel has one alone); nearest legal: 1}}
  cute_nvgpu.tmem.relinquish_alloc_permit cta_group 2
  func.return
}

// -----

!cells = memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
func.func @f(%t: !cells) {
  cute_nvgpu.tmem.relinquish_alloc_permit cta_group 2
  // expected-error @+1 {{'cute_nvgpu.tmem.dealloc' expected cta_group 2, got 1 ('cute_nvgpu.tmem.relinquish_alloc_permit' of the same kernel has it, and a kernel has one alone); nearest legal: 2}}
  cute_nvgpu.tmem.dealloc %t : !cells
  func.return
}

// -----

!a = memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>
func.func @f(%t: !a) {
  // expected-error @+1 {{'cute_nvgpu.tmem.dealloc' source expected a whole allocation, all lanes of 32, 64, 128, 256, 512 columns of 32-bit cells, got memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>; nearest legal: memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>}}
  cute_nvgpu.tmem.dealloc %t : !a
  func.return
}

// -----

!slot = memref<1xi32, #cute<space smem>>
func.func @f(%t: !slot) {
  // expected-error @+1 {{'cute_nvgpu.tmem.dealloc' source expected memory space tmem, got memref<1xi32, #cute<space smem>> (PTX takes a tmem address here)}}
  cute_nvgpu.tmem.dealloc %t : !slot
  func.return
}

// -----

func.func @f(%t: memref<128x96xi32, !cute.layout<"(128,96):(65536,1)">, #cute<space tmem>>) {
  // expected-error @+1 {{'cute_nvgpu.tmem.dealloc' source expected a whole allocation, all lanes of 32, 64, 128, 256, 512 columns of 32-bit cells, got memref<128x96xi32, !cute.layout<"(128,96):(65536,1)">, #cute<space tmem>>; nearest legal: memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>}}
  cute_nvgpu.tmem.dealloc %t : memref<128x96xi32, !cute.layout<"(128,96):(65536,1)">, #cute<space tmem>>
  func.return
}

// -----

!slot = memref<1xi32, #cute<space smem>>
!quarters = memref<64x128xf32, !cute.layout<"((16,4),128):((65536,2097152),1)">, #cute<space tmem>>
func.func @f(%slot: !slot, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.retrieve' result expected a whole allocation, all lanes of 32, 64, 128, 256, 512 columns of 32-bit cells, got memref<64x128xf32, !cute.layout<"((16,4),128):((65536,2097152),1)">, #cute<space tmem>>; nearest legal: memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>}}
  %t = cute_nvgpu.tmem.retrieve %slot[%i] : !slot -> !quarters
  func.return
}

// -----

!slot = memref<1xi32, #cute<space smem>>
func.func @f(%slot: !slot, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.retrieve' result expected a layout within 128 lanes and 512 columns of 32-bit cells, got 256 lanes and 128 columns of (128,256):(1,65536) (a lane is 65536 elements of 32 bits, a column 1)}}
  %t = cute_nvgpu.tmem.retrieve %slot[%i] : !slot -> memref<128x256xi32, !cute.layout<"(128,256):(1,65536)">, #cute<space tmem>>
  func.return
}

// -----

!slot = memref<1xi32, #cute<space smem>>
func.func @f(%slot: !slot, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.retrieve' result expected a layout within 128 lanes and 512 columns of 32-bit cells, got 1 lanes and 32768 columns of (128,256):(256,1) (a lane is 65536 elements of 32 bits, a column 1)}}
  %t = cute_nvgpu.tmem.retrieve %slot[%i] : !slot -> memref<128x256xi32, #cute<space tmem>>
  func.return
}

// -----

!slot = memref<1xi32, #cute<space smem>>
func.func @f(%slot: !slot, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.retrieve' result expected a memref of static layout without swizzle, got memref<128x?xi32, #cute<space tmem>>}}
  %t = cute_nvgpu.tmem.retrieve %slot[%i] : !slot -> memref<128x?xi32, #cute<space tmem>>
  func.return
}

// -----

!slot = memref<1xi32, #cute<space smem>>
func.func @f(%slot: !slot, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.retrieve' result expected elements of 1 to 32 bits, got f64}}
  %t = cute_nvgpu.tmem.retrieve %slot[%i] : !slot -> memref<128x256xf64, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
  func.return
}

// -----

!slot = memref<1xi32, #cute<space smem>>
func.func @f(%slot: !slot, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.retrieve' result expected elements of 1 to 32 bits, got i0}}
  %t = cute_nvgpu.tmem.retrieve %slot[%i] : !slot -> memref<128x256xi0, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
  func.return
}

// -----

!cells = memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%t: !cells, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.slice' source expected 2 indices for memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>, got 1}}
  %e = cute_nvgpu.tmem.slice %t[%i] : !cells -> !d
  func.return
}

// -----

!cells = memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%t: !cells, %i: index) {
  %c = arith.constant 192 : index
  // expected-error @+1 {{'cute_nvgpu.tmem.slice' expected a result within the 128 lanes and 256 columns of memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>, got 128 lanes from 0 and 128 columns from 192 on}}
  %e = cute_nvgpu.tmem.slice %t[%i, %c] : !cells -> !d
  func.return
}

// -----

!cells = memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%t: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.slice' expected a result within the 128 lanes and 128 columns of memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>, got 128 lanes from 0 and 256 columns from 0 on}}
  %e = cute_nvgpu.tmem.slice %t[%i, %i] : !d -> !cells
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%t: !d, %i: index) {
  %c = arith.constant 64 : index
  // expected-error @+1 {{'cute_nvgpu.tmem.slice' expected a result within the 128 lanes and 128 columns of memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>, got 128 lanes from 64 and 128 columns from 0 on}}
  %e = cute_nvgpu.tmem.slice %t[%c, %i] : !d -> !d
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%t: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.slice' result expected a layout within 128 lanes and 512 columns of 32-bit cells, got 256 lanes and 128 columns of (256,128):(65536,1) (a lane is 65536 elements of 32 bits, a column 1)}}
  %e = cute_nvgpu.tmem.slice %t[%i, %i] : !d -> memref<256x128xf32, !cute.layout<"(256,128):(65536,1)">, #cute<space tmem>>
  func.return
}
