// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' expected 2 coordinates for !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, got 1}}
  cute_nvgpu.tma.load %m[%i] to %s[%i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>, memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' dest expected 3 indices for memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>, got 2}}
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>, memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>, %b: memref<4xi32, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' mbarrier expected a memref of i64, got memref<4xi32, #cute<space smem>> (an mbarrier has 64 bits)}}
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>, memref<4xi32, #cute<space smem>>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x128x64xbf16>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' dest expected memory space smem, got memref<4x128x64xbf16> (PTX takes a smem address here)}}
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to memref<4x128x64xbf16>, memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x128x64xf16, #cute<space smem>>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' dest expected elements of bf16, got f16}}
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to memref<4x128x64xf16, #cute<space smem>>, memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x128x?xbf16, #cute<space smem>>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' dest expected a memref of static layout, got memref<4x128x?xbf16, #cute<space smem>>}}
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to memref<4x128x?xbf16, #cute<space smem>>, memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x128x64xbf16, #cute<space smem>>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' dest expected memory through S<3,3,3>, as the box 128x64xbf16, swizzle = 128 lies, got (4,128,64):(8192,64,1); nearest legal: S<3,3,3> o 0 o (4,128,64):(8192,64,1)}}
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to memref<4x128x64xbf16, #cute<space smem>>, memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x128x64xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' dest expected memory through S<3,3,3>, as the box 128x64xbf16, swizzle = 128 lies, got S<2,3,3> o 0 o (4,128,64):(8192,64,1); nearest legal: S<3,3,3> o 0 o (4,128,64):(8192,64,1)}}
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to memref<4x128x64xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>, memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 64 o (4,128,64):(8192,64,1)">, #cute<space smem>>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' dest expected a swizzle before the layout, got S<3,3,3> o 64 o (4,128,64):(8192,64,1)}}
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 64 o (4,128,64):(8192,64,1)">, #cute<space smem>>, memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,1,128)">, #cute<space smem>>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' dest expected stride 64, as the box lies densely, got 1 in dimension 1 of (4,128,64):(8192,1,128)}}
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,1,128)">, #cute<space smem>>, memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(9216,72,1)">, #cute<space smem>>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' dest expected stride 64, as the box lies densely, got 72 in dimension 1 of (4,128,64):(9216,72,1)}}
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(9216,72,1)">, #cute<space smem>>, memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,64,64):(4096,64,1)">, #cute<space smem>>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' dest expected whole boxes of 128 with one stride, got 64 in dimension 1 of (4,64,64):(4096,64,1)}}
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to memref<4x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,64,64):(4096,64,1)">, #cute<space smem>>, memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,(64,2),64):(8192,(64,8192),1)">, #cute<space smem>>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' dest expected whole boxes of 128 with one stride, got 64 in dimension 1 of (4,(64,2),64):(8192,(64,8192),1)}}
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,(64,2),64):(8192,(64,8192),1)">, #cute<space smem>>, memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16>, %s: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' dest expected memory without a swizzle, as the box 128x64xbf16 has none, got S<3,3,3> o 0 o (4,128,64):(8192,64,1); nearest legal: (4,128,64):(8192,64,1)}}
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16> to memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>, memref<4xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.store' expected 2 coordinates for !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, got 3}}
  cute_nvgpu.tma.store %s[%i, %i, %i] to %m[%i, %i, %i] : memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>> to !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>, %s: memref<4x128x64xbf16, #cute<space smem>>, %b: memref<4xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.store' source expected memory through S<3,3,3>, as the box 128x64xbf16, swizzle = 128 lies, got (4,128,64):(8192,64,1); nearest legal: S<3,3,3> o 0 o (4,128,64):(8192,64,1)}}
  cute_nvgpu.tma.store %s[%i, %i, %i] to %m[%i, %i] : memref<4x128x64xbf16, #cute<space smem>> to !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.cp.async.bulk.wait_group' expected a count of groups, got -1; nearest legal: 0}}
  cute_nvgpu.cp.async.bulk.wait_group -1
  func.return
}

// -----

// A line of memory.

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16>, %s: memref<8191xbf16, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.store' source expected memory of 8192 elements or more, got 8191:1}}
  cute_nvgpu.tma.store %s[%i] to %m[%i, %i] : memref<8191xbf16, 3> to !cute_nvgpu.tma_descriptor<128x64xbf16>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<128x64xbf16>, %s: memref<8192xbf16, !cute.layout<"8192:2">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.store' source expected memory of 2 dimensions or more, or a line of memory (stride 1), got 8192:2}}
  cute_nvgpu.tma.store %s[%i] to %m[%i, %i] : memref<8192xbf16, !cute.layout<"8192:2">, 3> to !cute_nvgpu.tma_descriptor<128x64xbf16>
  func.return
}

// -----

// Reductions.

func.func @f(%m: !cute_nvgpu.tma_descriptor<64xf32>, %s: memref<64xf32, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.reduce' expected 1 coordinates for !cute_nvgpu.tma_descriptor<64xf32>, got 2}}
  cute_nvgpu.tma.reduce add %s[%i] to %m[%i, %i] : memref<64xf32, 3> to !cute_nvgpu.tma_descriptor<64xf32>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<64xf32>, %s: memref<64xf16, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.reduce' source expected elements of f32, got f16}}
  cute_nvgpu.tma.reduce add %s[%i] to %m[%i] : memref<64xf16, 3> to !cute_nvgpu.tma_descriptor<64xf32>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<64xsi64>, %s: memref<64xsi64, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.reduce' expected elements of i32, ui32, si32, i64, ui64, f16, bf16, f32, f64 for add, got si64 (PTX ISA, cp.reduce.async.bulk.tensor); nearest legal: i64}}
  cute_nvgpu.tma.reduce add %s[%i] to %m[%i] : memref<64xsi64, 3> to !cute_nvgpu.tma_descriptor<64xsi64>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<64xf32>, %s: memref<64xf32, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.reduce' expected elements of ui32, si32, ui64, si64, f16, bf16 for min, got f32 (PTX ISA, cp.reduce.async.bulk.tensor); nearest legal: f16}}
  cute_nvgpu.tma.reduce min %s[%i] to %m[%i] : memref<64xf32, 3> to !cute_nvgpu.tma_descriptor<64xf32>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<64xi32>, %s: memref<64xi32, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.reduce' expected elements of ui32, si32, ui64, si64, f16, bf16 for max, got i32 (PTX ISA, cp.reduce.async.bulk.tensor); nearest legal: ui32}}
  cute_nvgpu.tma.reduce max %s[%i] to %m[%i] : memref<64xi32, 3> to !cute_nvgpu.tma_descriptor<64xi32>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<64xsi32>, %s: memref<64xsi32, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.reduce' expected elements of i32, ui32 for inc, got si32 (PTX ISA, cp.reduce.async.bulk.tensor); nearest legal: i32}}
  cute_nvgpu.tma.reduce inc %s[%i] to %m[%i] : memref<64xsi32, 3> to !cute_nvgpu.tma_descriptor<64xsi32>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<64xi64>, %s: memref<64xi64, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.reduce' expected elements of i32, ui32 for dec, got i64 (PTX ISA, cp.reduce.async.bulk.tensor); nearest legal: i32}}
  cute_nvgpu.tma.reduce dec %s[%i] to %m[%i] : memref<64xi64, 3> to !cute_nvgpu.tma_descriptor<64xi64>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<64xf32>, %s: memref<64xf32, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.reduce' expected elements of i32, ui32, si32, i64, ui64 for and, got f32 (PTX ISA, cp.reduce.async.bulk.tensor); nearest legal: i32}}
  cute_nvgpu.tma.reduce and %s[%i] to %m[%i] : memref<64xf32, 3> to !cute_nvgpu.tma_descriptor<64xf32>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<64xi16>, %s: memref<64xi16, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.reduce' expected elements of i32, ui32, si32, i64, ui64 for or, got i16 (PTX ISA, cp.reduce.async.bulk.tensor); nearest legal: i32}}
  cute_nvgpu.tma.reduce or %s[%i] to %m[%i] : memref<64xi16, 3> to !cute_nvgpu.tma_descriptor<64xi16>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<64xbf16>, %s: memref<64xbf16, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.reduce' expected elements of i32, ui32, si32, i64, ui64 for xor, got bf16 (PTX ISA, cp.reduce.async.bulk.tensor); nearest legal: i32}}
  cute_nvgpu.tma.reduce xor %s[%i] to %m[%i] : memref<64xbf16, 3> to !cute_nvgpu.tma_descriptor<64xbf16>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<64xi8>, %s: memref<64xi8, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.reduce' expected elements of i32, ui32, si32, i64, ui64, f16, bf16, f32, f64 for add, got i8 (PTX ISA, cp.reduce.async.bulk.tensor); nearest legal: i32}}
  cute_nvgpu.tma.reduce add %s[%i] to %m[%i] : memref<64xi8, 3> to !cute_nvgpu.tma_descriptor<64xi8>
  func.return
}

// -----

func.func @f(%m: !cute_nvgpu.tma_descriptor<64xi32>, %s: memref<64xi32, 3>, %b: memref<1xi64, 3>, %i: index, %mask: i16, %r: i32) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' expected multicast or a rank, got both; nearest legal: multicast alone}}
  cute_nvgpu.tma.load %m[%i] to %s[%i] mbarrier %b[%i] multicast %mask rank %r : !cute_nvgpu.tma_descriptor<64xi32> to memref<64xi32, 3>, memref<1xi64, 3>
  func.return
}
