// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%s: f32, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected a memref, got f32}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : f32 -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected memory space smem, got memref<64x32xbf16> (PTX takes a smem address here)}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xbf16> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, 1>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected memory space smem}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xbf16, 1> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, "shared">, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected memory space smem}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xbf16, "shared"> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected 2 indices for memref<64x32xbf16, #cute<space smem>>, got 1}}
  %f = cute_nvgpu.ldmatrix %s[%i] : memref<64x32xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x32xf16, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected a fragment of f16, got bf16}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xf16, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<6xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected a fragment of 2 or 4 or 8 elements a thread (.x1, .x2 or .x4), got 6}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<6xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x32xsi8, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<32xsi8>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected a fragment of 4 or 8 or 16 elements a thread (.x1, .x2 or .x4), got 32}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xsi8, #cute<space smem>> -> !cute_nvgpu.fragment<32xsi8>
  func.return
}

// -----

// f32 fragments are f32 registers, which ldmatrix does not move.
func.func @f(%s: memref<64x32xf32, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<4xf32>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected a fragment of 1 or 2 or 4 elements}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xf32, #cute<space smem>> -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

// Rows of 16 bytes: last index not contiguous, runs too short, rows off their 16 bytes.
func.func @f(%s: memref<64x32xbf16, strided<[1, 64]>, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected 8 elements (16 bytes) side by side along the last index, each run on its own 16 bytes, got layout (64,32):(1,64)}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xbf16, strided<[1, 64]>, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x4xbf16, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected 8 elements (16 bytes) side by side along the last index}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x4xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, strided<[36, 1]>, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected 8 elements (16 bytes) side by side along the last index, each run on its own 16 bytes, got layout (64,32):(36,1)}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xbf16, strided<[36, 1]>, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x16xbf16, !cute.layout<"(64,(4,4)):(16,(1,4))">, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected 8 elements (16 bytes) side by side}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x16xbf16, !cute.layout<"(64,(4,4)):(16,(1,4))">, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x32xsi8, strided<[40, 1]>, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<16xsi8>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected 16 elements (16 bytes) side by side}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xsi8, strided<[40, 1]>, #cute<space smem>> -> !cute_nvgpu.fragment<16xsi8>
  func.return
}

// -----

// A swizzle that takes 16 bytes apart.
func.func @f(%s: memref<64x32xbf16, !cute.composed_layout<"S<2,2,3> o 0 o (64,32):(32,1)">, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected a swizzle that keeps 8 elements (16 bytes) together, got S<2,2,3>; nearest legal: S<2,3,3>}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xbf16, !cute.composed_layout<"S<2,2,3> o 0 o (64,32):(32,1)">, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

// A layout that is not of the memref's shape, or not of integers.
func.func @f(%s: memref<64x32xbf16, !cute.layout<"(32,64):(64,1)">, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected a layout of shape 64x32, got (32,64):(64,1)}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xbf16, !cute.layout<"(32,64):(64,1)">, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,16):(16,1)">, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected a layout of shape 64x32}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,16):(16,1)">, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, !cute.layout<"(64,32):(1@0,1@1)">, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected a layout with integer strides}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xbf16, !cute.layout<"(64,32):(1@0,1@1)">, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

// The fragment's declared layout has to be what the instruction gives to threads 0 to 3.
func.func @f(%s: memref<64x32xbf16, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16, "(32,8):(1,32)">) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected a layout in which threads 0 to 3 hold 8 neighbouring columns of one row, got (32,8):(1,32)}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16, "(32,8):(1,32)">
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<2xbf16, "64:1">) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected a layout in which threads 0 to 3 hold 8 neighbouring columns of one row, got 64:1}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<2xbf16, "64:1">
  func.return
}

// -----

// Transposition moves 16-bit elements.
func.func @f(%s: memref<64x32xsi8, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<16xsi8>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected 16-bit elements with trans, got si8 (.m8n8.trans moves 16-bit elements); nearest legal: trans shape 16x16}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] trans : memref<64x32xsi8, #cute<space smem>> -> !cute_nvgpu.fragment<16xsi8>
  func.return
}

// -----

func.func @f(%s: memref<64x32xtf32, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<4xtf32>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected 16-bit elements with trans, got tf32 (.m8n8.trans moves 16-bit elements)}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] trans : memref<64x32xtf32, #cute<space smem>> -> !cute_nvgpu.fragment<4xtf32>
  func.return
}

// -----

// Shapes of the lattice: plain ones, and those of packed rows.
func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected shape 8x8 or 16x16 without src_fmt, got 8x16 (PTX ISA 9.7.14.5.15); nearest legal: shape 8x16 with src_fmt b6x16_p32}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] shape 8x16 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<4xui8>
  func.return
}

// -----

func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected shape 8x8 or 16x16 without src_fmt, got 16x8 (PTX ISA 9.7.14.5.15); nearest legal: shape 8x8 without src_fmt}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] trans shape 16x8 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<4xui8>
  func.return
}

// -----

func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected shape 8x16 or 16x16 with src_fmt b4x16_p64, got 8x8 (PTX ISA 9.7.14.5.15); nearest legal: shape 8x16 with src_fmt b4x16_p64}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] src_fmt b4x16_p64 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<4xui8>
  func.return
}

// -----

func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{expected a shape MxN, such as 16x16}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] shape 16x16x16 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<4xui8>
  func.return
}

// -----

func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{Expected `b6x16_p32`, or `b4x16_p64`.}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] shape 8x16 src_fmt b4x16 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<4xui8>
  func.return
}

// -----

// 16x16 always, 8x16 never with trans.
func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected trans with m16n16.b8, got none (PTX has it with .trans alone); nearest legal: trans}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] shape 16x16 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<8xui8>
  func.return
}

// -----

func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected no trans with m8n16.b8x16.b6x16_p32, got trans (PTX has it without .trans alone); nearest legal: no trans}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] trans shape 8x16 src_fmt b6x16_p32 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<4xui8>
  func.return
}

// -----

// Element widths.
func.func @f(%s: memref<64x64xbf16, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected 8-bit elements with trans, got bf16 (.m16n16.trans moves 8-bit elements); nearest legal: trans shape 8x8}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] trans shape 16x16 : memref<64x64xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<4xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x64xsi8, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected a fragment of si8, got ui8}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] trans shape 16x16 : memref<64x64xsi8, #cute<space smem>> -> !cute_nvgpu.fragment<8xui8>
  func.return
}

// -----

func.func @f(%s: memref<64x64xsi8, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected memory of ui8 and a fragment of ui8 or f6E3M2FN or f6E2M3FN with src_fmt b6x16_p32, got si8 and si8}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] shape 8x16 src_fmt b6x16_p32 : memref<64x64xsi8, #cute<space smem>> -> !cute_nvgpu.fragment<4xsi8>
  func.return
}

// -----

func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected memory of ui8 and a fragment of ui8 with src_fmt b4x16_p64, got ui8 and f6E3M2FN}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] trans shape 16x16 src_fmt b4x16_p64 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<8xf6E3M2FN>
  func.return
}

// -----

// A 16x16 matrix is two registers, and two matrices are the most.
func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected a fragment of 8 or 16 elements a thread (.x1 or .x2), got 4}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] trans shape 16x16 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<4xui8>
  func.return
}

// -----

func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected a fragment of 8 or 16 elements a thread (.x1 or .x2), got 32}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] trans shape 16x16 src_fmt b6x16_p32 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<32xui8>
  func.return
}

// -----

func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected a fragment of 4 or 8 or 16 elements a thread (.x1, .x2 or .x4), got 12}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] shape 8x16 src_fmt b6x16_p32 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<12xui8>
  func.return
}

// -----

// Rows of 16 bytes, also where they are packed.
func.func @f(%s: memref<64x64xui8, strided<[72, 1]>, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected 16 elements (16 bytes) side by side along the last index, each run on its own 16 bytes, got layout (64,64):(72,1)}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] shape 8x16 src_fmt b4x16_p64 : memref<64x64xui8, strided<[72, 1]>, #cute<space smem>> -> !cute_nvgpu.fragment<4xui8>
  func.return
}

// -----

func.func @f(%s: memref<64x64xui8, strided<[1, 64]>, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' memory expected 16 elements (16 bytes) side by side}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] trans shape 16x16 : memref<64x64xui8, strided<[1, 64]>, #cute<space smem>> -> !cute_nvgpu.fragment<8xui8>
  func.return
}

// -----

func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' expected a layout in which threads 0 to 3 hold 16 neighbouring columns of one row, got ((4,8),(2,4)):((32,1),(16,8))}}
  %f = cute_nvgpu.ldmatrix %s[%i, %i] trans shape 16x16 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<8xui8, "((4,8),(2,4)):((32,1),(16,8))">
  func.return
}
