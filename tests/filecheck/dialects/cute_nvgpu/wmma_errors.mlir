// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// What there is: operands, element types, shapes, layouts.
func.func @f(%m: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{'wmma.load' expected an operand, got d; nearest legal: a, b, c}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = d, elem_type = f16, layout = row> : memref<64x64xf16> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf32>, %i: index, %v: !cute_nvgpu.fragment<8xf32>) {
  // expected-error @+1 {{'wmma.store' expected an operand, got c; nearest legal: d}}
  cute_nvgpu.wmma.store %v, %m[%i, %i] <16x16x16, operand = c, elem_type = f32, layout = row> : !cute_nvgpu.fragment<8xf32>, memref<64x64xf32>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{'wmma.load' expected an element type that a has, got f32; nearest legal: f16, bf16, tf32, f64, s8, u8, s4, u4, b1}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f32, layout = row> : memref<64x64xf16> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{'wmma.load' expected a shape that a of f16 has, got 16x8x16; nearest legal: 16x16x16, 32x8x16, 8x32x16}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x8x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{'wmma.load' expected a layout that a of f16 has, got diagonal; nearest legal: row, col}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = diagonal> : memref<64x64xf16> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x16xi8>, %i: index) {
  // expected-error @+1 {{'wmma.load' expected a layout that a of s4 has, got col (elements of less than a byte lie along K); nearest legal: row}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <8x8x32, operand = a, elem_type = si4, layout = col> : memref<64x16xi8> -> !cute_nvgpu.fragment<8xsi4>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{expected MxNxK}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

// Memory: which there is.
func.func @f(%m: f32, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected a memref, got f32}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : f32 -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16, #cute<space rmem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected memory space gmem or smem, got memref<64x64xf16, #cute<space rmem>> (PTX takes a global or shared address here)}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16, #cute<space rmem>> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64xf16>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected a memref of two or more dimensions, got memref<64xf16> (the last two are the matrix)}}
  %a = cute_nvgpu.wmma.load %m[%i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64xf16> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected 2 indices for memref<64x64xf16>, got 1}}
  %a = cute_nvgpu.wmma.load %m[%i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf32>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected elements of f16, got f32 (the matrix is of f16)}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf32> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected elements of bf16, got f16 (the matrix is of bf16)}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = b, elem_type = bf16, layout = row> : memref<64x64xf16> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @f(%m: memref<8x64xf16>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected at least 16x16 elements, got memref<8x64xf16> (wmma.load.a.sync.aligned.row.m16n16k16.f16)}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<8x64xf16> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x15xf16>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected at least 16x16 elements, got memref<64x15xf16> (wmma.load.a.sync.aligned.row.m16n16k16.f16)}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x15xf16> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

// Memory: which strides it has.
func.func @f(%m: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected neighbours along the last but one index with layout = col, got stride 64 in memref<64x64xf16>; nearest legal: layout = row}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = col> : memref<64x64xf16> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16, strided<[1, 64]>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected neighbours along the last index with layout = row, got stride 64 in memref<64x64xf16, strided<[1, 64]>>; nearest legal: layout = col}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16, strided<[1, 64]>> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16, strided<[128, 2]>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected neighbours along the last index with layout = row, got stride 2 in memref<64x64xf16, strided<[128, 2]>>}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16, strided<[128, 2]>> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<?x?xf16, strided<[?, ?]>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected neighbours along the last index with layout = row, got a stride known at run time in memref<?x?xf16, strided<[?, ?]>>}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<?x?xf16, strided<[?, ?]>> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16, strided<[68, 1]>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected a stride of at least 16 and a multiple of 8 (a row on 16 bytes), got 68; nearest legal: 72 (wmma.load.a.sync.aligned.row.m16n16k16.f16, PTX ISA 9.7.14.4.2)}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16, strided<[68, 1]>> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16, strided<[8, 1]>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected a stride of at least 16 and a multiple of 8 (a row on 16 bytes), got 8; nearest legal: 16 (wmma.load.a.sync.aligned.row.m16n16k16.f16, PTX ISA 9.7.14.4.2)}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16, strided<[8, 1]>> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<8x8xi8, strided<[6, 1]>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected at least 8x16 elements, got memref<8x8xi8, strided<[6, 1]>> (wmma.load.a.sync.aligned.row.m8n8k32.s4)}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <8x8x32, operand = a, elem_type = si4, layout = row> : memref<8x8xi8, strided<[6, 1]>> -> !cute_nvgpu.fragment<8xsi4>
  func.return
}

// -----

func.func @f(%m: memref<8x32xi8, strided<[22, 1]>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected a stride of at least 16 and a multiple of 4 (a row on 4 bytes), got 22; nearest legal: 24 (wmma.load.a.sync.aligned.row.m8n8k32.s4, PTX ISA 9.7.14.4.2)}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <8x8x32, operand = a, elem_type = si4, layout = row> : memref<8x32xi8, strided<[22, 1]>> -> !cute_nvgpu.fragment<8xsi4>
  func.return
}

// -----

func.func @f(%m: memref<4x64x64xf16, strided<[4100, 64, 1]>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected matrices on 16 bytes, got memref<4x64x64xf16, strided<[4100, 64, 1]>> (wmma.load.a.sync.aligned.row.m16n16k16.f16, PTX ISA 9.7.14.4.2)}}
  %a = cute_nvgpu.wmma.load %m[%i, %i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<4x64x64xf16, strided<[4100, 64, 1]>> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,64):(64,1)">, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected a layout without a swizzle, got S<2,3,3> o 0 o (64,64):(64,1) (the instruction has one stride)}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,64):(64,1)">, #cute<space smem>> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16, !cute.layout<"((16,4),64):((64,2048),1)">, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected one stride for rows and one for columns, got memref<64x64xf16, !cute.layout<"((16,4),64):((64,2048),1)">, #cute<space smem>> (the instruction has one stride)}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16, !cute.layout<"((16,4),64):((64,2048),1)">, #cute<space smem>> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16, !cute.layout<"(64,32):(64,1)">, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' memory expected a layout of shape 64x64, got (64,32):(64,1)}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16, !cute.layout<"(64,32):(64,1)">, #cute<space smem>> -> !cute_nvgpu.fragment<16xf16>
  func.return
}

// -----

// Fragments.
func.func @f(%m: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' expected 16 elements a thread, got 8 (wmma.load.a.sync.aligned.row.m16n16k16.f16); nearest legal: !cute_nvgpu.fragment<16xf16>}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16> -> !cute_nvgpu.fragment<8xf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' expected element type f16, got bf16 (wmma.load.a.sync.aligned.row.m16n16k16.f16); nearest legal: !cute_nvgpu.fragment<16xf16>}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16> -> !cute_nvgpu.fragment<16xbf16>
  func.return
}

// -----

func.func @f(%m: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.wmma.load' expected layout ((4,8),(2,2,2,2)):((32,1),(16,8,128,0)), got (32,16):(16,1) (wmma.load.a.sync.aligned.row.m16n16k16.f16, PTX ISA 9.7.14.4.3)}}
  %a = cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16> -> !cute_nvgpu.fragment<16xf16, "(32,16):(16,1)">
  func.return
}

// -----

func.func @f(%m: memref<64x64xf32>, %i: index, %v: !cute_nvgpu.fragment<4xf32>) {
  // expected-error @+1 {{'cute_nvgpu.wmma.store' expected 8 elements a thread, got 4 (wmma.store.d.sync.aligned.row.m16n16k16.f32); nearest legal: !cute_nvgpu.fragment<8xf32>}}
  cute_nvgpu.wmma.store %v, %m[%i, %i] <16x16x16, operand = d, elem_type = f32, layout = row> : !cute_nvgpu.fragment<4xf32>, memref<64x64xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<8xf16>, %b: !cute_nvgpu.fragment<16xf16>, %c: !cute_nvgpu.fragment<8xf32>) {
  // expected-error @+1 {{'cute_nvgpu.wmma.mma' operand A expected 16 elements a thread, got 8 (wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32); nearest legal: !cute_nvgpu.fragment<16xf16>}}
  %d = cute_nvgpu.wmma.mma %a, %b, %c <16x16x16, elem_type = (f16, f16, f32), layouts = (row, col)> : (!cute_nvgpu.fragment<8xf16>, !cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<16xf16>, %b: !cute_nvgpu.fragment<16xf16>, %c: !cute_nvgpu.fragment<8xf32>) {
  // expected-error @+1 {{'cute_nvgpu.wmma.mma' result D expected element type f32, got f16 (wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32); nearest legal: !cute_nvgpu.fragment<8xf32>}}
  %d = cute_nvgpu.wmma.mma %a, %b, %c <16x16x16, elem_type = (f16, f16, f32), layouts = (row, col)> : (!cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf16>
  func.return
}

// -----

// MMAs that there are not.
func.func @f(%a: !cute_nvgpu.fragment<16xf16>, %b: !cute_nvgpu.fragment<16xf16>, %c: !cute_nvgpu.fragment<8xf32>) {
  // expected-error @+1 {{'wmma.mma' expected a shape that (f16, f16, f32, f32) has, got 16x16x8; nearest legal: 16x16x16, 8x32x16, 32x8x16}}
  %d = cute_nvgpu.wmma.mma %a, %b, %c <16x16x8, elem_type = (f16, f16, f32), layouts = (row, col)> : (!cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<16xf16>, %b: !cute_nvgpu.fragment<16xf16>, %c: !cute_nvgpu.fragment<8xf32>) {
  // expected-error @+1 {{'wmma.mma' expected element types (a, b, c, d) of the lattice, got (f16, bf16, f32, f32); nearest legal: (bf16, bf16, f32, f32)}}
  %d = cute_nvgpu.wmma.mma %a, %b, %c <16x16x16, elem_type = (f16, bf16, f32), layouts = (row, col)> : (!cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<16xf16>, %b: !cute_nvgpu.fragment<16xf16>, %c: !cute_nvgpu.fragment<8xf32>) {
  // expected-error @+1 {{'wmma.mma' expected element types (a, b, c, d) of the lattice, got (bf16, bf16, f16, f16); nearest legal: (bf16, bf16, f32, f32)}}
  %d = cute_nvgpu.wmma.mma %a, %b, %c <16x16x16, elem_type = (bf16, bf16, f16), layouts = (row, col)> : (!cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<16xf16>, %b: !cute_nvgpu.fragment<16xf16>, %c: !cute_nvgpu.fragment<8xf32>) {
  // expected-error @+1 {{'wmma.mma' expected layouts row.col, got row.row (elements of less than a byte lie along K in memory); nearest legal: wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32}}
  %d = cute_nvgpu.wmma.mma %a, %b, %c <8x8x32, elem_type = (si4, si4, i32), layouts = (row, row)> : (!cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<16xf16>, %b: !cute_nvgpu.fragment<16xf16>, %c: !cute_nvgpu.fragment<8xf32>) {
  // expected-error @+1 {{'wmma.mma' expected no satfinite for (f16, f16, f32, f32), got satfinite (only integer accumulators saturate)}}
  %d = cute_nvgpu.wmma.mma %a, %b, %c <16x16x16, elem_type = (f16, f16, f32), layouts = (row, col), satfinite> : (!cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<16xf16>, %b: !cute_nvgpu.fragment<16xf16>, %c: !cute_nvgpu.fragment<8xf32>) {
  // expected-error @+1 {{'wmma.mma' expected a rounding modifier that (f64, f64, f64, f64) has, got rx; legal: rn, rz, rm, rp}}
  %d = cute_nvgpu.wmma.mma %a, %b, %c <8x8x4, elem_type = (f64, f64, f64), layouts = (row, col), rounding = rx> : (!cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<16xf16>, %b: !cute_nvgpu.fragment<16xf16>, %c: !cute_nvgpu.fragment<8xf32>) {
  // expected-error @+1 {{'wmma.mma' expected a shape that (f64, f64, f64, f64) has, got 16x16x16; nearest legal: 8x8x4}}
  %d = cute_nvgpu.wmma.mma %a, %b, %c <16x16x16, elem_type = (f64, f64, f64), layouts = (row, col)> : (!cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<16xf16>, %b: !cute_nvgpu.fragment<16xf16>, %c: !cute_nvgpu.fragment<8xf32>) {
  // expected-error @+1 {{'wmma.mma' expected a bit operation that (b1, b1, s32, s32) has, got none; legal: xor or and}}
  %d = cute_nvgpu.wmma.mma %a, %b, %c <8x8x128, elem_type = (ui1, ui1, i32)> : (!cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}
