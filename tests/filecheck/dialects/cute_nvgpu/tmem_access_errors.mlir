// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  // expected-error @+1 {{expected shape 32x32b, 16x64b, 16x128b, 16x256b, 16x32bx2, got 32x64b; nearest legal: 32x32b}}
  %f = cute_nvgpu.tmem.load %d[%i, %i] shape 32x64b : !d -> !cute_nvgpu.fragment<32xf32>
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected 1, 2, 4, 8, 16, 32, 64, 128 registers with shape 32x32b, got 24; nearest legal: 16}}
  %f = cute_nvgpu.tmem.load %d[%i, %i] shape 32x32b : !d -> !cute_nvgpu.fragment<24xf32>
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected 4, 8, 16, 32, 64, 128 registers with shape 16x256b, got 2; nearest legal: 4}}
  %f = cute_nvgpu.tmem.load %d[%i, %i] shape 16x256b : !d -> !cute_nvgpu.fragment<2xf32>
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected a fragment of f32, got i32}}
  %f = cute_nvgpu.tmem.load %d[%i, %i] shape 32x32b : !d -> !cute_nvgpu.fragment<32xi32>
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' memory expected 2 indices for memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>, got 1}}
  %f = cute_nvgpu.tmem.load %d[%i] shape 32x32b : !d -> !cute_nvgpu.fragment<32xf32>
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected an offset of the second half with shape 16x32bx2, got none}}
  %f = cute_nvgpu.tmem.load %d[%i, %i] shape 16x32bx2 : !d -> !cute_nvgpu.fragment<32xf32>
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected no offset of a second half with shape 32x32b, got 32}}
  %f = cute_nvgpu.tmem.load %d[%i, %i] shape 32x32b half 32 : !d -> !cute_nvgpu.fragment<32xf32>
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected a second half at column 0 or more, got -1; nearest legal: 0 (ptxas checks no range)}}
  %f = cute_nvgpu.tmem.load %d[%i, %i] shape 16x32bx2 half -1 : !d -> !cute_nvgpu.fragment<32xf32>
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected elements of 16 bits with pack, got f32; nearest legal: no pack}}
  %f = cute_nvgpu.tmem.load %d[%i, %i] shape 32x32b pack : !d -> !cute_nvgpu.fragment<32xf32>
  func.return
}

// -----

!d16 = memref<128x128xf16, !cute.layout<"(128,128):(131072,2)">, #cute<space tmem>>
func.func @f(%d: !d16, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' memory expected 32 elements of a lane as 32:1 in mode 1, got 128:2 of memref<128x128xf16, !cute.layout<"(128,128):(131072,2)">, #cute<space tmem>>; nearest legal: pack}}
  %f = cute_nvgpu.tmem.load %d[%i, %i] shape 32x32b : !d16 -> !cute_nvgpu.fragment<32xf16>
  func.return
}

// -----

!a = memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>
func.func @f(%d: !a, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' memory expected 32 elements of a lane as 32:2 in mode 1, got 64:1 of memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>; nearest legal: no pack}}
  %f = cute_nvgpu.tmem.load %d[%i, %i] shape 32x32b pack : !a -> !cute_nvgpu.fragment<32xbf16>
  func.return
}

// -----

!quarters = memref<64x128xf32, !cute.layout<"((16,4),128):((65536,2097152),1)">, #cute<space tmem>>
func.func @f(%d: !quarters, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' memory expected 32 lanes as 32:65536 in mode 0, got (16,4):(65536,2097152) of memref<64x128xf32, !cute.layout<"((16,4),128):((65536,2097152),1)">, #cute<space tmem>>}}
  %f = cute_nvgpu.tmem.load %d[%i, %i] shape 32x32b : !quarters -> !cute_nvgpu.fragment<32xf32>
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected a fragment with layout (32,128):(1,32), got (32,128):(128,1)}}
  %f = cute_nvgpu.tmem.load %d[%i, %i] shape 32x32b : !d -> !cute_nvgpu.fragment<128xf32, "(32,128):(128,1)">
  func.return
}

// -----

!a = memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>
func.func @f(%d: !a, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' memory expected 128 elements of a lane as 128:1 in mode 1, got 64:1 of memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>}}
  %f = cute_nvgpu.tmem.load %d[%i, %i] shape 32x32b : !a -> !cute_nvgpu.fragment<128xbf16>
  func.return
}

// -----

func.func @f(%d: memref<64xf32, !cute.layout<"64:65536">, #cute<space tmem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' memory expected two or more dimensions, got memref<64xf32, !cute.layout<"64:65536">, #cute<space tmem>> (the last two are lanes and columns)}}
  %f = cute_nvgpu.tmem.load %d[%i] shape 32x32b : memref<64xf32, !cute.layout<"64:65536">, #cute<space tmem>> -> !cute_nvgpu.fragment<1xf32>
  func.return
}

// -----

func.func @f(%d: memref<128x128xf32, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load' memory expected memory space tmem, got memref<128x128xf32, #cute<space smem>> (PTX takes a tmem address here)}}
  %f = cute_nvgpu.tmem.load %d[%i, %i] shape 32x32b : memref<128x128xf32, #cute<space smem>> -> !cute_nvgpu.fragment<1xf32>
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  %c = arith.constant 16 : index
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected a lane that is a multiple of 32 with shape 32x32b, got 16; nearest legal: 0 (a warp reaches the 32 lanes from 32 * (warp % 4) on)}}
  %f = cute_nvgpu.tmem.load %d[%c, %i] shape 32x32b : !d -> !cute_nvgpu.fragment<1xf32>
  func.return
}

// -----

!quarters = memref<64x128xf32, !cute.layout<"((16,4),128):((65536,2097152),1)">, #cute<space tmem>>
func.func @f(%d: !quarters, %i: index) {
  %c = arith.constant 20 : index
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected a lane that is a multiple of 16 with shape 16x64b, got 36; nearest legal: 32 (a warp reaches the 32 lanes from 32 * (warp % 4) on)}}
  %f = cute_nvgpu.tmem.load %d[%c, %i] shape 16x64b : !quarters -> !cute_nvgpu.fragment<1xf32>
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  %c = arith.constant 112 : index
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected index 1 of at most 96, got 112 (the tile has 32 of 128)}}
  %f = cute_nvgpu.tmem.load %d[%i, %c] shape 32x32b : !d -> !cute_nvgpu.fragment<32xf32>
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%f: !cute_nvgpu.fragment<16xf32>, %d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.store' expected a second half 16 columns or more further right, got 8 (two threads would write one cell); nearest legal: 16}}
  cute_nvgpu.tmem.store %f, %d[%i, %i] shape 16x32bx2 half 8 : !cute_nvgpu.fragment<16xf32>, !d
  func.return
}

// -----

!d16 = memref<128x128xf16, !cute.layout<"(128,128):(131072,2)">, #cute<space tmem>>
func.func @f(%f: !cute_nvgpu.fragment<16xf16>, %d: !d16, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.store' memory expected 16 elements of a lane as 16:1 in mode 1, got 128:2 of memref<128x128xf16, !cute.layout<"(128,128):(131072,2)">, #cute<space tmem>>; nearest legal: unpack}}
  cute_nvgpu.tmem.store %f, %d[%i, %i] shape 32x32b : !cute_nvgpu.fragment<16xf16>, !d16
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%f: !cute_nvgpu.fragment<16xf32>, %d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.store' expected elements of 16 bits with unpack, got f32; nearest legal: no unpack}}
  cute_nvgpu.tmem.store %f, %d[%i, %i] shape 32x32b unpack : !cute_nvgpu.fragment<16xf32>, !d
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load_reduce' expected shape 32x32b or 16x32bx2, got 16x64b; nearest legal: 32x32b}}
  %f, %m = cute_nvgpu.tmem.load_reduce %d[%i, %i] max shape 16x64b : !d -> !cute_nvgpu.fragment<8xf32>, f32
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load_reduce' expected 2 registers or more, got 1; nearest legal: 2}}
  %f, %m = cute_nvgpu.tmem.load_reduce %d[%i, %i] max shape 32x32b : !d -> !cute_nvgpu.fragment<1xf32>, f32
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load_reduce' expected a result of f32, got i32}}
  %f, %m = cute_nvgpu.tmem.load_reduce %d[%i, %i] max shape 32x32b : !d -> !cute_nvgpu.fragment<8xf32>, i32
  func.return
}

// -----

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !d, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load_reduce' expected no unsigned with elements of f32, got unsigned}}
  %f, %m = cute_nvgpu.tmem.load_reduce %d[%i, %i] max shape 32x32b unsigned : !d -> !cute_nvgpu.fragment<8xf32>, f32
  func.return
}

// -----

!n = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @f(%d: !n, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load_reduce' expected no abs with elements of i32, got abs}}
  %f, %m = cute_nvgpu.tmem.load_reduce %d[%i, %i] max shape 32x32b abs : !n -> !cute_nvgpu.fragment<8xi32>, i32
  func.return
}

// -----

!a = memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>
func.func @f(%d: !a, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.load_reduce' expected elements of f32 or i32, got bf16}}
  %f, %m = cute_nvgpu.tmem.load_reduce %d[%i, %i] max shape 32x32b : !a -> !cute_nvgpu.fragment<8xbf16>, bf16
  func.return
}
