// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%s: f32, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected a memref, got f32}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<8xbf16>, f32
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected memory space smem, got memref<64x32xbf16> (PTX takes a smem address here)}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<8xbf16>, memref<64x32xbf16>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, 1>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected memory space smem}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<8xbf16>, memref<64x32xbf16, 1>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, "shared">, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected memory space smem}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<8xbf16>, memref<64x32xbf16, "shared">
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected 2 indices for memref<64x32xbf16, #cute<space smem>>, got 1}}
  cute_nvgpu.stmatrix %v, %s[%i] : !cute_nvgpu.fragment<8xbf16>, memref<64x32xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%s: memref<64x32xf16, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' expected a fragment of f16, got bf16}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<8xbf16>, memref<64x32xf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<6xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' expected a fragment of 2 or 4 or 8 elements a thread (.x1, .x2 or .x4), got 6}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<6xbf16>, memref<64x32xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%s: memref<64x32xsi8, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<32xsi8>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' expected a fragment of 4 or 8 or 16 elements a thread (.x1, .x2 or .x4), got 32}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<32xsi8>, memref<64x32xsi8, #cute<space smem>>
  func.return
}

// -----

// f32 fragments are f32 registers, which stmatrix does not move.
func.func @f(%s: memref<64x32xf32, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<4xf32>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' expected a fragment of 1 or 2 or 4 elements}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<4xf32>, memref<64x32xf32, #cute<space smem>>
  func.return
}

// -----

// Rows of 16 bytes: last index not contiguous, runs too short, rows off their 16 bytes.
func.func @f(%s: memref<64x32xbf16, strided<[1, 64]>, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected 8 elements (16 bytes) side by side along the last index, each run on its own 16 bytes, got layout (64,32):(1,64)}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<8xbf16>, memref<64x32xbf16, strided<[1, 64]>, #cute<space smem>>
  func.return
}

// -----

func.func @f(%s: memref<64x4xbf16, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected 8 elements (16 bytes) side by side along the last index}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<8xbf16>, memref<64x4xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, strided<[36, 1]>, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected 8 elements (16 bytes) side by side along the last index, each run on its own 16 bytes, got layout (64,32):(36,1)}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<8xbf16>, memref<64x32xbf16, strided<[36, 1]>, #cute<space smem>>
  func.return
}

// -----

func.func @f(%s: memref<64x16xbf16, !cute.layout<"(64,(4,4)):(16,(1,4))">, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected 8 elements (16 bytes) side by side}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<8xbf16>, memref<64x16xbf16, !cute.layout<"(64,(4,4)):(16,(1,4))">, #cute<space smem>>
  func.return
}

// -----

func.func @f(%s: memref<64x32xsi8, strided<[40, 1]>, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<16xsi8>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected 16 elements (16 bytes) side by side}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<16xsi8>, memref<64x32xsi8, strided<[40, 1]>, #cute<space smem>>
  func.return
}

// -----

// A swizzle that takes 16 bytes apart.
func.func @f(%s: memref<64x32xbf16, !cute.composed_layout<"S<2,2,3> o 0 o (64,32):(32,1)">, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected a swizzle that keeps 8 elements (16 bytes) together, got S<2,2,3>; nearest legal: S<2,3,3>}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<8xbf16>, memref<64x32xbf16, !cute.composed_layout<"S<2,2,3> o 0 o (64,32):(32,1)">, #cute<space smem>>
  func.return
}

// -----

// A layout that is not of the memref's shape, or not of integers.
func.func @f(%s: memref<64x32xbf16, !cute.layout<"(32,64):(64,1)">, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected a layout of shape 64x32, got (32,64):(64,1)}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<8xbf16>, memref<64x32xbf16, !cute.layout<"(32,64):(64,1)">, #cute<space smem>>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,16):(16,1)">, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected a layout of shape 64x32}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<8xbf16>, memref<64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,16):(16,1)">, #cute<space smem>>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, !cute.layout<"(64,32):(1@0,1@1)">, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected a layout with integer strides}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<8xbf16>, memref<64x32xbf16, !cute.layout<"(64,32):(1@0,1@1)">, #cute<space smem>>
  func.return
}

// -----

// The fragment's declared layout has to be what the instruction gives to threads 0 to 3.
func.func @f(%s: memref<64x32xbf16, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xbf16, "(32,8):(1,32)">) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' expected a layout in which threads 0 to 3 hold 8 neighbouring columns of one row, got (32,8):(1,32)}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<8xbf16, "(32,8):(1,32)">, memref<64x32xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%s: memref<64x32xbf16, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<2xbf16, "64:1">) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' expected a layout in which threads 0 to 3 hold 8 neighbouring columns of one row, got 64:1}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] : !cute_nvgpu.fragment<2xbf16, "64:1">, memref<64x32xbf16, #cute<space smem>>
  func.return
}

// -----

// Transposition moves 16-bit elements.
func.func @f(%s: memref<64x32xsi8, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<16xsi8>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' expected 16-bit elements with trans, got si8 (.m8n8.trans moves 16-bit elements); nearest legal: trans shape 16x8}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] trans : !cute_nvgpu.fragment<16xsi8>, memref<64x32xsi8, #cute<space smem>>
  func.return
}

// -----

func.func @f(%s: memref<64x32xtf32, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<4xtf32>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' expected 16-bit elements with trans, got tf32 (.m8n8.trans moves 16-bit elements)}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] trans : !cute_nvgpu.fragment<4xtf32>, memref<64x32xtf32, #cute<space smem>>
  func.return
}

// -----

// Shapes of the lattice.
func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xui8>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' expected shape 8x8 or 16x8 without src_fmt, got 16x16 (PTX ISA 9.7.14.5.16); nearest legal: shape 16x8 without src_fmt}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] trans shape 16x16 : !cute_nvgpu.fragment<8xui8>, memref<64x64xui8, #cute<space smem>>
  func.return
}

// -----

// 16x8 always with trans, and of bytes.
func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xui8>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' expected trans with m16n8.b8, got none (PTX has it with .trans alone); nearest legal: trans}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] shape 16x8 : !cute_nvgpu.fragment<8xui8>, memref<64x64xui8, #cute<space smem>>
  func.return
}

// -----

func.func @f(%s: memref<64x64xf16, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xf16>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' expected 8-bit elements with trans, got f16 (.m16n8.trans moves 8-bit elements); nearest legal: trans shape 8x8}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] trans shape 16x8 : !cute_nvgpu.fragment<8xf16>, memref<64x64xf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<12xui8>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' expected a fragment of 4 or 8 or 16 elements a thread (.x1, .x2 or .x4), got 12}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] trans shape 16x8 : !cute_nvgpu.fragment<12xui8>, memref<64x64xui8, #cute<space smem>>
  func.return
}

// -----

func.func @f(%s: memref<64x64xui8, strided<[72, 1]>, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<8xui8>) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' memory expected 16 elements (16 bytes) side by side along the last index, each run on its own 16 bytes, got layout (64,64):(72,1)}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] trans shape 16x8 : !cute_nvgpu.fragment<8xui8>, memref<64x64xui8, strided<[72, 1]>, #cute<space smem>>
  func.return
}

// -----

// Two neighbours of a row to a thread: the layout of an accumulator, not of a multiplicand.
func.func @f(%s: memref<64x64xui8, #cute<space smem>>, %i: index, %v: !cute_nvgpu.fragment<4xui8, "((4,8),4):((32,1),8)">) {
  // expected-error @+1 {{'cute_nvgpu.stmatrix' expected a layout in which threads 0 to 3 hold 8 neighbouring columns of one row, got ((4,8),4):((32,1),8)}}
  cute_nvgpu.stmatrix %v, %s[%i, %i] trans shape 16x8 : !cute_nvgpu.fragment<4xui8, "((4,8),4):((32,1),8)">, memref<64x64xui8, #cute<space smem>>
  func.return
}
