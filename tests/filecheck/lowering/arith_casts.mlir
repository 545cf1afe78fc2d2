// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_80
// CHECKS: instructions

// Casts between all scalar types, and select.

// CHECK-LABEL: ptx.entry @i1(%a: u8, %out_i8: u64, %out_i16: u64, %out_i32: u64, %out_i64: u64, %out_f16: u64, %out_f32: u64, %out_f64: u64, %out_index: u64) {
// CHECK:         = ptx.setp ne.u16
// CHECK:         = ptx.selp b32
// CHECK:         = ptx.selp b32
// CHECK:         = ptx.selp b64
// CHECK:         = ptx.selp b64
// CHECK:         = ptx.cvt rn.f16.s32
// CHECK:         = ptx.cvt rn.f32.s32
// CHECK:         = ptx.cvt rn.f64.s32
// CHECK:         = ptx.cvt rn.f16.u32
// CHECK:         = ptx.cvt rn.f32.u32
// CHECK:         = ptx.cvt rn.f64.u32
func.func @i1(%a: i1, %out_i8: memref<32xi8>, %out_i16: memref<32xi16>, %out_i32: memref<32xi32>, %out_i64: memref<32xi64>, %out_f16: memref<32xf16>, %out_f32: memref<32xf32>, %out_f64: memref<32xf64>, %out_index: memref<32xindex>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.extsi %a : i1 to i8
  memref.store %r0, %out_i8[%i0] : memref<32xi8>
  %i1 = arith.constant 1 : index
  %r1 = arith.extui %a : i1 to i8
  memref.store %r1, %out_i8[%i1] : memref<32xi8>
  %i2 = arith.constant 2 : index
  %r2 = arith.extsi %a : i1 to i16
  memref.store %r2, %out_i16[%i2] : memref<32xi16>
  %i3 = arith.constant 3 : index
  %r3 = arith.extui %a : i1 to i16
  memref.store %r3, %out_i16[%i3] : memref<32xi16>
  %i4 = arith.constant 4 : index
  %r4 = arith.extsi %a : i1 to i32
  memref.store %r4, %out_i32[%i4] : memref<32xi32>
  %i5 = arith.constant 5 : index
  %r5 = arith.extui %a : i1 to i32
  memref.store %r5, %out_i32[%i5] : memref<32xi32>
  %i6 = arith.constant 6 : index
  %r6 = arith.extsi %a : i1 to i64
  memref.store %r6, %out_i64[%i6] : memref<32xi64>
  %i7 = arith.constant 7 : index
  %r7 = arith.extui %a : i1 to i64
  memref.store %r7, %out_i64[%i7] : memref<32xi64>
  %i8 = arith.constant 8 : index
  %r8 = arith.index_cast %a : i1 to index
  memref.store %r8, %out_index[%i8] : memref<32xindex>
  %i9 = arith.constant 9 : index
  %r9 = arith.sitofp %a : i1 to f16
  memref.store %r9, %out_f16[%i9] : memref<32xf16>
  %i10 = arith.constant 10 : index
  %r10 = arith.sitofp %a : i1 to f32
  memref.store %r10, %out_f32[%i10] : memref<32xf32>
  %i11 = arith.constant 11 : index
  %r11 = arith.sitofp %a : i1 to f64
  memref.store %r11, %out_f64[%i11] : memref<32xf64>
  %i12 = arith.constant 12 : index
  %r12 = arith.uitofp %a : i1 to f16
  memref.store %r12, %out_f16[%i12] : memref<32xf16>
  %i13 = arith.constant 13 : index
  %r13 = arith.uitofp %a : i1 to f32
  memref.store %r13, %out_f32[%i13] : memref<32xf32>
  %i14 = arith.constant 14 : index
  %r14 = arith.uitofp %a : i1 to f64
  memref.store %r14, %out_f64[%i14] : memref<32xf64>
  func.return
}

// CHECK-LABEL: ptx.entry @i8(%a: u8, %out_i1: u64, %out_i16: u64, %out_i32: u64, %out_i64: u64, %out_f16: u64, %out_bf16: u64, %out_f32: u64, %out_f64: u64, %out_index: u64) {
// CHECK:         = ptx.cvt s16.s8 %a
// CHECK:         = ptx.cvt u16.u8 %a
// CHECK:         = ptx.cvt s32.s16
// CHECK:         = ptx.cvt u32.u16
// CHECK:         = ptx.cvt s64.s16
// CHECK:         = ptx.cvt u64.u16
// CHECK:         = ptx.and b16
// CHECK:         = ptx.setp ne.u16
// CHECK:         = ptx.cvt rn.f16.s16
// CHECK:         = ptx.cvt rn.f32.s16
// CHECK:         = ptx.cvt rn.bf16.f32
// CHECK:         = ptx.cvt rn.f64.s16
// CHECK:         = ptx.cvt rn.f16.u16
// CHECK:         = ptx.cvt rn.f32.u16
// CHECK:         = ptx.cvt rn.bf16.f32
// CHECK:         = ptx.cvt rn.f64.u16
func.func @i8(%a: i8, %out_i1: memref<32xi1>, %out_i16: memref<32xi16>, %out_i32: memref<32xi32>, %out_i64: memref<32xi64>, %out_f16: memref<32xf16>, %out_bf16: memref<32xbf16>, %out_f32: memref<32xf32>, %out_f64: memref<32xf64>, %out_index: memref<32xindex>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.extsi %a : i8 to i16
  memref.store %r0, %out_i16[%i0] : memref<32xi16>
  %i1 = arith.constant 1 : index
  %r1 = arith.extui %a : i8 to i16
  memref.store %r1, %out_i16[%i1] : memref<32xi16>
  %i2 = arith.constant 2 : index
  %r2 = arith.extsi %a : i8 to i32
  memref.store %r2, %out_i32[%i2] : memref<32xi32>
  %i3 = arith.constant 3 : index
  %r3 = arith.extui %a : i8 to i32
  memref.store %r3, %out_i32[%i3] : memref<32xi32>
  %i4 = arith.constant 4 : index
  %r4 = arith.extsi %a : i8 to i64
  memref.store %r4, %out_i64[%i4] : memref<32xi64>
  %i5 = arith.constant 5 : index
  %r5 = arith.extui %a : i8 to i64
  memref.store %r5, %out_i64[%i5] : memref<32xi64>
  %i6 = arith.constant 6 : index
  %r6 = arith.trunci %a : i8 to i1
  memref.store %r6, %out_i1[%i6] : memref<32xi1>
  %i7 = arith.constant 7 : index
  %r7 = arith.index_cast %a : i8 to index
  memref.store %r7, %out_index[%i7] : memref<32xindex>
  %i8 = arith.constant 8 : index
  %r8 = arith.sitofp %a : i8 to f16
  memref.store %r8, %out_f16[%i8] : memref<32xf16>
  %i9 = arith.constant 9 : index
  %r9 = arith.sitofp %a : i8 to bf16
  memref.store %r9, %out_bf16[%i9] : memref<32xbf16>
  %i10 = arith.constant 10 : index
  %r10 = arith.sitofp %a : i8 to f32
  memref.store %r10, %out_f32[%i10] : memref<32xf32>
  %i11 = arith.constant 11 : index
  %r11 = arith.sitofp %a : i8 to f64
  memref.store %r11, %out_f64[%i11] : memref<32xf64>
  %i12 = arith.constant 12 : index
  %r12 = arith.uitofp %a : i8 to f16
  memref.store %r12, %out_f16[%i12] : memref<32xf16>
  %i13 = arith.constant 13 : index
  %r13 = arith.uitofp %a : i8 to bf16
  memref.store %r13, %out_bf16[%i13] : memref<32xbf16>
  %i14 = arith.constant 14 : index
  %r14 = arith.uitofp %a : i8 to f32
  memref.store %r14, %out_f32[%i14] : memref<32xf32>
  %i15 = arith.constant 15 : index
  %r15 = arith.uitofp %a : i8 to f64
  memref.store %r15, %out_f64[%i15] : memref<32xf64>
  func.return
}

// CHECK-LABEL: ptx.entry @i16(%a: u16, %out_i1: u64, %out_i8: u64, %out_i32: u64, %out_i64: u64, %out_f16: u64, %out_bf16: u64, %out_f32: u64, %out_f64: u64, %out_index: u64) {
// CHECK:         = ptx.cvt s32.s16 %a
// CHECK:         = ptx.cvt u32.u16 %a
// CHECK:         = ptx.cvt s64.s16 %a
// CHECK:         = ptx.cvt u64.u16 %a
// CHECK:         = ptx.and b16
// CHECK:         = ptx.setp ne.u16
// CHECK:         = ptx.cvt rn.f16.s16 %a
// CHECK:         = ptx.cvt rn.f32.s16 %a
// CHECK:         = ptx.cvt rn.bf16.f32
// CHECK:         = ptx.cvt rn.f64.s16 %a
// CHECK:         = ptx.cvt rn.f16.u16 %a
// CHECK:         = ptx.cvt rn.f32.u16 %a
// CHECK:         = ptx.cvt rn.bf16.f32
// CHECK:         = ptx.cvt rn.f64.u16 %a
func.func @i16(%a: i16, %out_i1: memref<32xi1>, %out_i8: memref<32xi8>, %out_i32: memref<32xi32>, %out_i64: memref<32xi64>, %out_f16: memref<32xf16>, %out_bf16: memref<32xbf16>, %out_f32: memref<32xf32>, %out_f64: memref<32xf64>, %out_index: memref<32xindex>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.extsi %a : i16 to i32
  memref.store %r0, %out_i32[%i0] : memref<32xi32>
  %i1 = arith.constant 1 : index
  %r1 = arith.extui %a : i16 to i32
  memref.store %r1, %out_i32[%i1] : memref<32xi32>
  %i2 = arith.constant 2 : index
  %r2 = arith.extsi %a : i16 to i64
  memref.store %r2, %out_i64[%i2] : memref<32xi64>
  %i3 = arith.constant 3 : index
  %r3 = arith.extui %a : i16 to i64
  memref.store %r3, %out_i64[%i3] : memref<32xi64>
  %i4 = arith.constant 4 : index
  %r4 = arith.trunci %a : i16 to i1
  memref.store %r4, %out_i1[%i4] : memref<32xi1>
  %i5 = arith.constant 5 : index
  %r5 = arith.trunci %a : i16 to i8
  memref.store %r5, %out_i8[%i5] : memref<32xi8>
  %i6 = arith.constant 6 : index
  %r6 = arith.index_cast %a : i16 to index
  memref.store %r6, %out_index[%i6] : memref<32xindex>
  %i7 = arith.constant 7 : index
  %r7 = arith.sitofp %a : i16 to f16
  memref.store %r7, %out_f16[%i7] : memref<32xf16>
  %i8 = arith.constant 8 : index
  %r8 = arith.sitofp %a : i16 to bf16
  memref.store %r8, %out_bf16[%i8] : memref<32xbf16>
  %i9 = arith.constant 9 : index
  %r9 = arith.sitofp %a : i16 to f32
  memref.store %r9, %out_f32[%i9] : memref<32xf32>
  %i10 = arith.constant 10 : index
  %r10 = arith.sitofp %a : i16 to f64
  memref.store %r10, %out_f64[%i10] : memref<32xf64>
  %i11 = arith.constant 11 : index
  %r11 = arith.uitofp %a : i16 to f16
  memref.store %r11, %out_f16[%i11] : memref<32xf16>
  %i12 = arith.constant 12 : index
  %r12 = arith.uitofp %a : i16 to bf16
  memref.store %r12, %out_bf16[%i12] : memref<32xbf16>
  %i13 = arith.constant 13 : index
  %r13 = arith.uitofp %a : i16 to f32
  memref.store %r13, %out_f32[%i13] : memref<32xf32>
  %i14 = arith.constant 14 : index
  %r14 = arith.uitofp %a : i16 to f64
  memref.store %r14, %out_f64[%i14] : memref<32xf64>
  %i15 = arith.constant 15 : index
  %r15 = arith.bitcast %a : i16 to f16
  memref.store %r15, %out_f16[%i15] : memref<32xf16>
  %i16 = arith.constant 16 : index
  %r16 = arith.bitcast %a : i16 to bf16
  memref.store %r16, %out_bf16[%i16] : memref<32xbf16>
  func.return
}

// CHECK-LABEL: ptx.entry @i32(%a: u32, %out_i1: u64, %out_i8: u64, %out_i16: u64, %out_i64: u64, %out_f16: u64, %out_f32: u64, %out_f64: u64, %out_index: u64) {
// CHECK:         = ptx.cvt s64.s32 %a
// CHECK:         = ptx.cvt u64.u32 %a
// CHECK:         = ptx.and b32
// CHECK:         = ptx.setp ne.u32
// CHECK:         = ptx.cvt s16.s32 %a
// CHECK:         = ptx.cvt rn.f16.s32 %a
// CHECK:         = ptx.cvt rn.f32.s32 %a
// CHECK:         = ptx.cvt rn.f64.s32 %a
// CHECK:         = ptx.cvt rn.f16.u32 %a
// CHECK:         = ptx.cvt rn.f32.u32 %a
// CHECK:         = ptx.cvt rn.f64.u32 %a
// CHECK:         = ptx.mov %a : !ptx.reg<b32> -> !ptx.reg<f32>
func.func @i32(%a: i32, %out_i1: memref<32xi1>, %out_i8: memref<32xi8>, %out_i16: memref<32xi16>, %out_i64: memref<32xi64>, %out_f16: memref<32xf16>, %out_f32: memref<32xf32>, %out_f64: memref<32xf64>, %out_index: memref<32xindex>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.extsi %a : i32 to i64
  memref.store %r0, %out_i64[%i0] : memref<32xi64>
  %i1 = arith.constant 1 : index
  %r1 = arith.extui %a : i32 to i64
  memref.store %r1, %out_i64[%i1] : memref<32xi64>
  %i2 = arith.constant 2 : index
  %r2 = arith.trunci %a : i32 to i1
  memref.store %r2, %out_i1[%i2] : memref<32xi1>
  %i3 = arith.constant 3 : index
  %r3 = arith.trunci %a : i32 to i8
  memref.store %r3, %out_i8[%i3] : memref<32xi8>
  %i4 = arith.constant 4 : index
  %r4 = arith.trunci %a : i32 to i16
  memref.store %r4, %out_i16[%i4] : memref<32xi16>
  %i5 = arith.constant 5 : index
  %r5 = arith.index_cast %a : i32 to index
  memref.store %r5, %out_index[%i5] : memref<32xindex>
  %i6 = arith.constant 6 : index
  %r6 = arith.sitofp %a : i32 to f16
  memref.store %r6, %out_f16[%i6] : memref<32xf16>
  %i7 = arith.constant 7 : index
  %r7 = arith.sitofp %a : i32 to f32
  memref.store %r7, %out_f32[%i7] : memref<32xf32>
  %i8 = arith.constant 8 : index
  %r8 = arith.sitofp %a : i32 to f64
  memref.store %r8, %out_f64[%i8] : memref<32xf64>
  %i9 = arith.constant 9 : index
  %r9 = arith.uitofp %a : i32 to f16
  memref.store %r9, %out_f16[%i9] : memref<32xf16>
  %i10 = arith.constant 10 : index
  %r10 = arith.uitofp %a : i32 to f32
  memref.store %r10, %out_f32[%i10] : memref<32xf32>
  %i11 = arith.constant 11 : index
  %r11 = arith.uitofp %a : i32 to f64
  memref.store %r11, %out_f64[%i11] : memref<32xf64>
  %i12 = arith.constant 12 : index
  %r12 = arith.bitcast %a : i32 to f32
  memref.store %r12, %out_f32[%i12] : memref<32xf32>
  func.return
}

// CHECK-LABEL: ptx.entry @i64(%a: u64, %out_i1: u64, %out_i8: u64, %out_i16: u64, %out_i32: u64, %out_f16: u64, %out_f32: u64, %out_f64: u64, %out_index: u64) {
// CHECK:         = ptx.and b64
// CHECK:         = ptx.setp ne.u64
// CHECK:         = ptx.cvt s16.s64 %a
// CHECK:         = ptx.cvt s32.s64 %a
// CHECK:         = ptx.cvt rn.f16.s64 %a
// CHECK:         = ptx.cvt rn.f32.s64 %a
// CHECK:         = ptx.cvt rn.f64.s64 %a
// CHECK:         = ptx.cvt rn.f16.u64 %a
// CHECK:         = ptx.cvt rn.f32.u64 %a
// CHECK:         = ptx.cvt rn.f64.u64 %a
// CHECK:         = ptx.mov %a : !ptx.reg<b64> -> !ptx.reg<f64>
func.func @i64(%a: i64, %out_i1: memref<32xi1>, %out_i8: memref<32xi8>, %out_i16: memref<32xi16>, %out_i32: memref<32xi32>, %out_f16: memref<32xf16>, %out_f32: memref<32xf32>, %out_f64: memref<32xf64>, %out_index: memref<32xindex>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.trunci %a : i64 to i1
  memref.store %r0, %out_i1[%i0] : memref<32xi1>
  %i1 = arith.constant 1 : index
  %r1 = arith.trunci %a : i64 to i8
  memref.store %r1, %out_i8[%i1] : memref<32xi8>
  %i2 = arith.constant 2 : index
  %r2 = arith.trunci %a : i64 to i16
  memref.store %r2, %out_i16[%i2] : memref<32xi16>
  %i3 = arith.constant 3 : index
  %r3 = arith.trunci %a : i64 to i32
  memref.store %r3, %out_i32[%i3] : memref<32xi32>
  %i4 = arith.constant 4 : index
  %r4 = arith.index_cast %a : i64 to index
  memref.store %r4, %out_index[%i4] : memref<32xindex>
  %i5 = arith.constant 5 : index
  %r5 = arith.sitofp %a : i64 to f16
  memref.store %r5, %out_f16[%i5] : memref<32xf16>
  %i6 = arith.constant 6 : index
  %r6 = arith.sitofp %a : i64 to f32
  memref.store %r6, %out_f32[%i6] : memref<32xf32>
  %i7 = arith.constant 7 : index
  %r7 = arith.sitofp %a : i64 to f64
  memref.store %r7, %out_f64[%i7] : memref<32xf64>
  %i8 = arith.constant 8 : index
  %r8 = arith.uitofp %a : i64 to f16
  memref.store %r8, %out_f16[%i8] : memref<32xf16>
  %i9 = arith.constant 9 : index
  %r9 = arith.uitofp %a : i64 to f32
  memref.store %r9, %out_f32[%i9] : memref<32xf32>
  %i10 = arith.constant 10 : index
  %r10 = arith.uitofp %a : i64 to f64
  memref.store %r10, %out_f64[%i10] : memref<32xf64>
  %i11 = arith.constant 11 : index
  %r11 = arith.bitcast %a : i64 to f64
  memref.store %r11, %out_f64[%i11] : memref<32xf64>
  func.return
}

// CHECK-LABEL: ptx.entry @index(%a: u64, %out_i1: u64, %out_i8: u64, %out_i16: u64, %out_i32: u64, %out_i64: u64) {
// CHECK:         = ptx.and b64
// CHECK:         = ptx.setp ne.u64
// CHECK:         = ptx.cvt s16.s64 %a
// CHECK:         = ptx.cvt s32.s64 %a
func.func @index(%a: index, %out_i1: memref<32xi1>, %out_i8: memref<32xi8>, %out_i16: memref<32xi16>, %out_i32: memref<32xi32>, %out_i64: memref<32xi64>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.index_cast %a : index to i1
  memref.store %r0, %out_i1[%i0] : memref<32xi1>
  %i1 = arith.constant 1 : index
  %r1 = arith.index_cast %a : index to i8
  memref.store %r1, %out_i8[%i1] : memref<32xi8>
  %i2 = arith.constant 2 : index
  %r2 = arith.index_cast %a : index to i16
  memref.store %r2, %out_i16[%i2] : memref<32xi16>
  %i3 = arith.constant 3 : index
  %r3 = arith.index_cast %a : index to i32
  memref.store %r3, %out_i32[%i3] : memref<32xi32>
  %i4 = arith.constant 4 : index
  %r4 = arith.index_cast %a : index to i64
  memref.store %r4, %out_i64[%i4] : memref<32xi64>
  func.return
}

// CHECK-LABEL: ptx.entry @f16(%a: u16, %out_i8: u64, %out_i16: u64, %out_i32: u64, %out_i64: u64, %out_bf16: u64, %out_f32: u64, %out_f64: u64) {
// CHECK:         = ptx.cvt f32.f16 %a
// CHECK:         = ptx.cvt f64.f16 %a
// CHECK:         = ptx.cvt rzi.s16.f32
// CHECK:         = ptx.cvt rzi.u16.f32
// CHECK:         = ptx.cvt rzi.s32.f32
// CHECK:         = ptx.cvt rzi.u32.f32
// CHECK:         = ptx.cvt rzi.s64.f32
// CHECK:         = ptx.cvt rzi.u64.f32
// CHECK:         = ptx.mov %a : !ptx.reg<b16> -> !ptx.reg<b16>
func.func @f16(%a: f16, %out_i8: memref<32xi8>, %out_i16: memref<32xi16>, %out_i32: memref<32xi32>, %out_i64: memref<32xi64>, %out_bf16: memref<32xbf16>, %out_f32: memref<32xf32>, %out_f64: memref<32xf64>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.extf %a : f16 to f32
  memref.store %r0, %out_f32[%i0] : memref<32xf32>
  %i1 = arith.constant 1 : index
  %r1 = arith.extf %a : f16 to f64
  memref.store %r1, %out_f64[%i1] : memref<32xf64>
  %i2 = arith.constant 2 : index
  %r2 = arith.fptosi %a : f16 to i8
  memref.store %r2, %out_i8[%i2] : memref<32xi8>
  %i3 = arith.constant 3 : index
  %r3 = arith.fptoui %a : f16 to i8
  memref.store %r3, %out_i8[%i3] : memref<32xi8>
  %i4 = arith.constant 4 : index
  %r4 = arith.fptosi %a : f16 to i16
  memref.store %r4, %out_i16[%i4] : memref<32xi16>
  %i5 = arith.constant 5 : index
  %r5 = arith.fptoui %a : f16 to i16
  memref.store %r5, %out_i16[%i5] : memref<32xi16>
  %i6 = arith.constant 6 : index
  %r6 = arith.fptosi %a : f16 to i32
  memref.store %r6, %out_i32[%i6] : memref<32xi32>
  %i7 = arith.constant 7 : index
  %r7 = arith.fptoui %a : f16 to i32
  memref.store %r7, %out_i32[%i7] : memref<32xi32>
  %i8 = arith.constant 8 : index
  %r8 = arith.fptosi %a : f16 to i64
  memref.store %r8, %out_i64[%i8] : memref<32xi64>
  %i9 = arith.constant 9 : index
  %r9 = arith.fptoui %a : f16 to i64
  memref.store %r9, %out_i64[%i9] : memref<32xi64>
  %i10 = arith.constant 10 : index
  %r10 = arith.bitcast %a : f16 to i16
  memref.store %r10, %out_i16[%i10] : memref<32xi16>
  %i11 = arith.constant 11 : index
  %r11 = arith.bitcast %a : f16 to bf16
  memref.store %r11, %out_bf16[%i11] : memref<32xbf16>
  func.return
}

// CHECK-LABEL: ptx.entry @bf16(%a: u16, %out_i8: u64, %out_i16: u64, %out_i32: u64, %out_i64: u64, %out_f16: u64, %out_f32: u64, %out_f64: u64) {
// CHECK:         = ptx.pack b32
// CHECK:         = ptx.mov
// CHECK:         = ptx.cvt f64.f32
// CHECK:         = ptx.cvt rzi.s16.f32
// CHECK:         = ptx.cvt rzi.u16.f32
// CHECK:         = ptx.cvt rzi.s32.f32
// CHECK:         = ptx.cvt rzi.u32.f32
// CHECK:         = ptx.cvt rzi.s64.f32
// CHECK:         = ptx.cvt rzi.u64.f32
// CHECK:         = ptx.mov %a : !ptx.reg<b16> -> !ptx.reg<b16>
func.func @bf16(%a: bf16, %out_i8: memref<32xi8>, %out_i16: memref<32xi16>, %out_i32: memref<32xi32>, %out_i64: memref<32xi64>, %out_f16: memref<32xf16>, %out_f32: memref<32xf32>, %out_f64: memref<32xf64>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.extf %a : bf16 to f32
  memref.store %r0, %out_f32[%i0] : memref<32xf32>
  %i1 = arith.constant 1 : index
  %r1 = arith.extf %a : bf16 to f64
  memref.store %r1, %out_f64[%i1] : memref<32xf64>
  %i2 = arith.constant 2 : index
  %r2 = arith.fptosi %a : bf16 to i8
  memref.store %r2, %out_i8[%i2] : memref<32xi8>
  %i3 = arith.constant 3 : index
  %r3 = arith.fptoui %a : bf16 to i8
  memref.store %r3, %out_i8[%i3] : memref<32xi8>
  %i4 = arith.constant 4 : index
  %r4 = arith.fptosi %a : bf16 to i16
  memref.store %r4, %out_i16[%i4] : memref<32xi16>
  %i5 = arith.constant 5 : index
  %r5 = arith.fptoui %a : bf16 to i16
  memref.store %r5, %out_i16[%i5] : memref<32xi16>
  %i6 = arith.constant 6 : index
  %r6 = arith.fptosi %a : bf16 to i32
  memref.store %r6, %out_i32[%i6] : memref<32xi32>
  %i7 = arith.constant 7 : index
  %r7 = arith.fptoui %a : bf16 to i32
  memref.store %r7, %out_i32[%i7] : memref<32xi32>
  %i8 = arith.constant 8 : index
  %r8 = arith.fptosi %a : bf16 to i64
  memref.store %r8, %out_i64[%i8] : memref<32xi64>
  %i9 = arith.constant 9 : index
  %r9 = arith.fptoui %a : bf16 to i64
  memref.store %r9, %out_i64[%i9] : memref<32xi64>
  %i10 = arith.constant 10 : index
  %r10 = arith.bitcast %a : bf16 to i16
  memref.store %r10, %out_i16[%i10] : memref<32xi16>
  %i11 = arith.constant 11 : index
  %r11 = arith.bitcast %a : bf16 to f16
  memref.store %r11, %out_f16[%i11] : memref<32xf16>
  func.return
}

// CHECK-LABEL: ptx.entry @f32(%a: f32, %out_i8: u64, %out_i16: u64, %out_i32: u64, %out_i64: u64, %out_f16: u64, %out_bf16: u64, %out_f64: u64) {
// CHECK:         = ptx.cvt f64.f32 %a
// CHECK:         = ptx.cvt rn.f16.f32 %a
// CHECK:         = ptx.cvt rn.bf16.f32 %a
// CHECK:         = ptx.cvt rzi.s16.f32 %a
// CHECK:         = ptx.cvt rzi.u16.f32 %a
// CHECK:         = ptx.cvt rzi.s32.f32 %a
// CHECK:         = ptx.cvt rzi.u32.f32 %a
// CHECK:         = ptx.cvt rzi.s64.f32 %a
// CHECK:         = ptx.cvt rzi.u64.f32 %a
// CHECK:         = ptx.mov %a : !ptx.reg<f32> -> !ptx.reg<b32>
func.func @f32(%a: f32, %out_i8: memref<32xi8>, %out_i16: memref<32xi16>, %out_i32: memref<32xi32>, %out_i64: memref<32xi64>, %out_f16: memref<32xf16>, %out_bf16: memref<32xbf16>, %out_f64: memref<32xf64>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.extf %a : f32 to f64
  memref.store %r0, %out_f64[%i0] : memref<32xf64>
  %i1 = arith.constant 1 : index
  %r1 = arith.truncf %a : f32 to f16
  memref.store %r1, %out_f16[%i1] : memref<32xf16>
  %i2 = arith.constant 2 : index
  %r2 = arith.truncf %a : f32 to bf16
  memref.store %r2, %out_bf16[%i2] : memref<32xbf16>
  %i3 = arith.constant 3 : index
  %r3 = arith.fptosi %a : f32 to i8
  memref.store %r3, %out_i8[%i3] : memref<32xi8>
  %i4 = arith.constant 4 : index
  %r4 = arith.fptoui %a : f32 to i8
  memref.store %r4, %out_i8[%i4] : memref<32xi8>
  %i5 = arith.constant 5 : index
  %r5 = arith.fptosi %a : f32 to i16
  memref.store %r5, %out_i16[%i5] : memref<32xi16>
  %i6 = arith.constant 6 : index
  %r6 = arith.fptoui %a : f32 to i16
  memref.store %r6, %out_i16[%i6] : memref<32xi16>
  %i7 = arith.constant 7 : index
  %r7 = arith.fptosi %a : f32 to i32
  memref.store %r7, %out_i32[%i7] : memref<32xi32>
  %i8 = arith.constant 8 : index
  %r8 = arith.fptoui %a : f32 to i32
  memref.store %r8, %out_i32[%i8] : memref<32xi32>
  %i9 = arith.constant 9 : index
  %r9 = arith.fptosi %a : f32 to i64
  memref.store %r9, %out_i64[%i9] : memref<32xi64>
  %i10 = arith.constant 10 : index
  %r10 = arith.fptoui %a : f32 to i64
  memref.store %r10, %out_i64[%i10] : memref<32xi64>
  %i11 = arith.constant 11 : index
  %r11 = arith.bitcast %a : f32 to i32
  memref.store %r11, %out_i32[%i11] : memref<32xi32>
  func.return
}

// CHECK-LABEL: ptx.entry @f64(%a: f64, %out_i8: u64, %out_i16: u64, %out_i32: u64, %out_i64: u64, %out_f16: u64, %out_f32: u64) {
// CHECK:         = ptx.cvt rn.f16.f64 %a
// CHECK:         = ptx.cvt rn.f32.f64 %a
// CHECK:         = ptx.cvt rzi.s16.f64 %a
// CHECK:         = ptx.cvt rzi.u16.f64 %a
// CHECK:         = ptx.cvt rzi.s32.f64 %a
// CHECK:         = ptx.cvt rzi.u32.f64 %a
// CHECK:         = ptx.cvt rzi.s64.f64 %a
// CHECK:         = ptx.cvt rzi.u64.f64 %a
// CHECK:         = ptx.mov %a : !ptx.reg<f64> -> !ptx.reg<b64>
func.func @f64(%a: f64, %out_i8: memref<32xi8>, %out_i16: memref<32xi16>, %out_i32: memref<32xi32>, %out_i64: memref<32xi64>, %out_f16: memref<32xf16>, %out_f32: memref<32xf32>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.truncf %a : f64 to f16
  memref.store %r0, %out_f16[%i0] : memref<32xf16>
  %i1 = arith.constant 1 : index
  %r1 = arith.truncf %a : f64 to f32
  memref.store %r1, %out_f32[%i1] : memref<32xf32>
  %i2 = arith.constant 2 : index
  %r2 = arith.fptosi %a : f64 to i8
  memref.store %r2, %out_i8[%i2] : memref<32xi8>
  %i3 = arith.constant 3 : index
  %r3 = arith.fptoui %a : f64 to i8
  memref.store %r3, %out_i8[%i3] : memref<32xi8>
  %i4 = arith.constant 4 : index
  %r4 = arith.fptosi %a : f64 to i16
  memref.store %r4, %out_i16[%i4] : memref<32xi16>
  %i5 = arith.constant 5 : index
  %r5 = arith.fptoui %a : f64 to i16
  memref.store %r5, %out_i16[%i5] : memref<32xi16>
  %i6 = arith.constant 6 : index
  %r6 = arith.fptosi %a : f64 to i32
  memref.store %r6, %out_i32[%i6] : memref<32xi32>
  %i7 = arith.constant 7 : index
  %r7 = arith.fptoui %a : f64 to i32
  memref.store %r7, %out_i32[%i7] : memref<32xi32>
  %i8 = arith.constant 8 : index
  %r8 = arith.fptosi %a : f64 to i64
  memref.store %r8, %out_i64[%i8] : memref<32xi64>
  %i9 = arith.constant 9 : index
  %r9 = arith.fptoui %a : f64 to i64
  memref.store %r9, %out_i64[%i9] : memref<32xi64>
  %i10 = arith.constant 10 : index
  %r10 = arith.bitcast %a : f64 to i64
  memref.store %r10, %out_i64[%i10] : memref<32xi64>
  func.return
}

// Selection takes registers as they are; of predicates it is logic.
// CHECK-LABEL: ptx.entry @select(%p: u8, %a_i1: u8, %b_i1: u8, %out_i1: u64, %a_i8: u8, %b_i8: u8, %out_i8: u64, %a_i16: u16, %b_i16: u16, %out_i16: u64, %a_i32: u32, %b_i32: u32, %out_i32: u64, %a_i64: u64, %b_i64: u64, %out_i64: u64, %a_index: u64, %b_index: u64, %out_index: u64, %a_f16: u16, %b_f16: u16, %out_f16: u64, %a_bf16: u16, %b_bf16: u16, %out_bf16: u64, %a_f32: f32, %b_f32: f32, %out_f32: u64, %a_f64: f64, %b_f64: f64, %out_f64: u64) {
// CHECK:         = ptx.setp ne.u16
// CHECK:         = ptx.setp ne.u16
// CHECK:         = ptx.setp ne.u16
// CHECK:         = ptx.not pred
// CHECK:         = ptx.and pred
// CHECK:         = ptx.and pred
// CHECK:         = ptx.or pred
// CHECK:         = ptx.selp b16
// CHECK:         = ptx.selp b16
// CHECK:         = ptx.selp b32
// CHECK:         = ptx.selp b64
// CHECK:         = ptx.selp b64
// CHECK:         = ptx.selp b16
// CHECK:         = ptx.selp b16
// CHECK:         = ptx.selp f32
// CHECK:         = ptx.selp f64
func.func @select(%p: i1, %a_i1: i1, %b_i1: i1, %out_i1: memref<1xi1>, %a_i8: i8, %b_i8: i8, %out_i8: memref<1xi8>, %a_i16: i16, %b_i16: i16, %out_i16: memref<1xi16>, %a_i32: i32, %b_i32: i32, %out_i32: memref<1xi32>, %a_i64: i64, %b_i64: i64, %out_i64: memref<1xi64>, %a_index: index, %b_index: index, %out_index: memref<1xindex>, %a_f16: f16, %b_f16: f16, %out_f16: memref<1xf16>, %a_bf16: bf16, %b_bf16: bf16, %out_bf16: memref<1xbf16>, %a_f32: f32, %b_f32: f32, %out_f32: memref<1xf32>, %a_f64: f64, %b_f64: f64, %out_f64: memref<1xf64>) attributes {gpu.kernel} {
  %i = arith.constant 0 : index
  %r_i1 = arith.select %p, %a_i1, %b_i1 : i1
  memref.store %r_i1, %out_i1[%i] : memref<1xi1>
  %r_i8 = arith.select %p, %a_i8, %b_i8 : i8
  memref.store %r_i8, %out_i8[%i] : memref<1xi8>
  %r_i16 = arith.select %p, %a_i16, %b_i16 : i16
  memref.store %r_i16, %out_i16[%i] : memref<1xi16>
  %r_i32 = arith.select %p, %a_i32, %b_i32 : i32
  memref.store %r_i32, %out_i32[%i] : memref<1xi32>
  %r_i64 = arith.select %p, %a_i64, %b_i64 : i64
  memref.store %r_i64, %out_i64[%i] : memref<1xi64>
  %r_index = arith.select %p, %a_index, %b_index : index
  memref.store %r_index, %out_index[%i] : memref<1xindex>
  %r_f16 = arith.select %p, %a_f16, %b_f16 : f16
  memref.store %r_f16, %out_f16[%i] : memref<1xf16>
  %r_bf16 = arith.select %p, %a_bf16, %b_bf16 : bf16
  memref.store %r_bf16, %out_bf16[%i] : memref<1xbf16>
  %r_f32 = arith.select %p, %a_f32, %b_f32 : f32
  memref.store %r_f32, %out_f32[%i] : memref<1xf32>
  %r_f64 = arith.select %p, %a_f64, %b_f64 : f64
  memref.store %r_f64, %out_f64[%i] : memref<1xf64>
  func.return
}
