// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// The memref.
func.func @f(%m: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 1>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' memory expected memory space smem, got memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 1 : i64> (PTX takes a smem address here)}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i, %i] : memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 1> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%m: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' memory expected 3 indices for memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3 : i64>, got 2}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i] : memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%m: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected two modes (mn, k) of 3, got [2, 3]}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i, %i] modes [2, 3] : memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%m: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected two modes (mn, k) of 3, got [1, 1]}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i, %i] modes [1, 1] : memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%m: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected two modes (mn, k) of 3, got [2]}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i, %i] modes [2] : memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%m: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected two modes (mn, k) of 3, got [0, 1, 2]}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i, %i] modes [0, 1, 2] : memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%m: memref<?x64xbf16, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected a memref of static layout, got memref<?x64xbf16, 3 : i64>}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i] : memref<?x64xbf16, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%m: memref<4x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected a memref of bf16, got f16 (the matrix is of bf16)}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i, %i] : memref<4x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%m: memref<64x32xbf16, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected a memref of si8 or i8, got bf16 (the matrix is of si8)}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i] : memref<64x32xbf16, 3> -> !cute_nvgpu.smem_desc_view<64x32xsi8, "(64,(16,2)):(16,(1,1024))">
  func.return
}

// -----

func.func @f(%m: memref<64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (64,64):(64,1)">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected a matrix of at most 64x64 within memref<64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (64,64):(64,1)">, 3 : i64>, got 96x16}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i] : memref<64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (64,64):(64,1)">, 3> -> !cute_nvgpu.smem_desc_view<96x16xbf16, "S<3,3,3> o 0 o (96,16):(64,1)">
  func.return
}

// -----

func.func @f(%m: memref<64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (64,64):(64,1)">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected a matrix of at most 64x64 within memref<64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (64,64):(64,1)">, 3 : i64>, got 32x128}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i] : memref<64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (64,64):(64,1)">, 3> -> !cute_nvgpu.smem_desc_view<32x128xbf16, "S<3,3,3> o 0 o (32,(64,2)):(64,(1,4096))">
  func.return
}

// -----

func.func @f(%m: memref<64x16xi8, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected a matrix of at most 64x128 within memref<64x16xi8, 3 : i64>, got 64x256}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i] : memref<64x16xi8, 3> -> !cute_nvgpu.smem_desc_view<64x256xui1, "(64,(128,2)):(128,(1,8192))">
  func.return
}

// -----

func.func @f(%m: memref<72x16xbf16, !cute.layout<"((12,6),16):((16,1000),1)">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected a matrix of 16x16 within memref<72x16xbf16, !cute.layout<"((12,6),16):((16,1000),1)">, 3 : i64>: composition: the right-hand extent, 16 on reaching mode 0 of the coalesced left-hand side, does not divide with that mode, 12:16}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i] : memref<72x16xbf16, !cute.layout<"((12,6),16):((16,1000),1)">, 3> -> !cute_nvgpu.smem_desc_view<16x16xbf16, "((8,2),(8,2)):((8,128),(1,64))">
  func.return
}

// -----

func.func @f(%m: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected layout S<3,3,3> o 0 o (64,16):(1,64), that of the memref, got S<3,3,3> o 0 o (64,16):(64,1); nearest legal: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(1,64)">}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i, %i] modes [2, 1] : memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%m: memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected layout S<3,3,3> o 0 o (64,16):(64,1), that of the memref, got ((8,8),(8,2)):((8,128),(1,64)); nearest legal: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">}}
  %d = cute_nvgpu.make_smem_desc %m[%i, %i, %i] : memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "((8,8),(8,2)):((8,128),(1,64))">
  func.return
}

// -----

// A line of memory.
func.func @f(%m: memref<4096xbf16, !cute.composed_layout<"S<3,3,3> o 0 o 4096:1">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected a matrix that lies as its memory memref<4096xbf16, !cute.composed_layout<"S<3,3,3> o 0 o 4096:1">, 3 : i64>, got S<2,3,3> o 0 o (64,16):(32,1); nearest legal: S<3,3,3> o 0 o (64,16):(32,1)}}
  %d = cute_nvgpu.make_smem_desc %m[%i] : memref<4096xbf16, !cute.composed_layout<"S<3,3,3> o 0 o 4096:1">, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<2,3,3> o 0 o (64,16):(32,1)">
  func.return
}

// -----

func.func @f(%m: memref<4096xbf16, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected a matrix that lies as its memory memref<4096xbf16, 3 : i64>, got S<2,3,3> o 0 o (64,16):(32,1); nearest legal: (64,16):(32,1)}}
  %d = cute_nvgpu.make_smem_desc %m[%i] : memref<4096xbf16, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<2,3,3> o 0 o (64,16):(32,1)">
  func.return
}

// -----

func.func @f(%m: memref<2048xbf16, !cute.composed_layout<"S<3,3,3> o 0 o 2048:1">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected a matrix within 2048 elements, got S<3,3,3> o 0 o (64,16):(64,1), which takes 4048}}
  %d = cute_nvgpu.make_smem_desc %m[%i] : memref<2048xbf16, !cute.composed_layout<"S<3,3,3> o 0 o 2048:1">, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%m: memref<4096xbf16, !cute.layout<"4096:2">, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected two modes (mn, k), or a line of memory (stride 1, plain or through a swizzle), got memref<4096xbf16, !cute.layout<"4096:2">, 3 : i64>}}
  %d = cute_nvgpu.make_smem_desc %m[%i] : memref<4096xbf16, !cute.layout<"4096:2">, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "((8,8),(8,2)):((8,128),(1,64))">
  func.return
}

// -----

func.func @f(%m: memref<4096xbf16, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.make_smem_desc' expected no modes of a line of memory}}
  %d = cute_nvgpu.make_smem_desc %m[%i] modes [0, 0] : memref<4096xbf16, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "((8,8),(8,2)):((8,128),(1,64))">
  func.return
}
