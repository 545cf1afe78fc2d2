// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_75
// CHECKS: instructions

// Integer arithmetic of every width; an i8 lives in the low half of a b16 and is extended where the
// bits above it would tell.

// CHECK-LABEL: ptx.entry @i8(%a: u8, %b: u8, %out: u64) {
// CHECK:         = ptx.add s16 %a, %b
// CHECK:         = ptx.sub s16 %a, %b
// CHECK:         = ptx.mul lo.s16 %a, %b
// CHECK:         = ptx.cvt s16.s8 %a
// CHECK:         = ptx.cvt s16.s8 %b
// CHECK:         = ptx.div s16
// CHECK:         = ptx.cvt u16.u8 %a
// CHECK:         = ptx.cvt u16.u8 %b
// CHECK:         = ptx.div u16
// CHECK:         = ptx.rem s16
// CHECK:         = ptx.rem u16
// CHECK:         = ptx.min s16
// CHECK:         = ptx.min u16
// CHECK:         = ptx.max s16
// CHECK:         = ptx.max u16
// CHECK:         = ptx.and b16 %a, %b
// CHECK:         = ptx.or b16 %a, %b
// CHECK:         = ptx.xor b16 %a, %b
// CHECK:         = ptx.cvt u32.u16
// CHECK:         = ptx.shl b16
// CHECK:         = ptx.shr u16
// CHECK:         = ptx.shr s16
// CHECK:         = ptx.div u16
// CHECK:         = ptx.rem u16
// CHECK:         = ptx.setp ne.u16
// CHECK:         = ptx.add u16
// CHECK:         = ptx.div s16
// CHECK:         = ptx.rem s16
// CHECK:         = ptx.setp ne.s16
// CHECK:         = ptx.xor b16
// CHECK:         = ptx.setp ge.s16
// CHECK:         = ptx.and pred
// CHECK:         = ptx.add s16
// CHECK:         = ptx.div s16
// CHECK:         = ptx.rem s16
// CHECK:         = ptx.setp ne.s16
// CHECK:         = ptx.xor b16
// CHECK:         = ptx.setp lt.s16
// CHECK:         = ptx.and pred
// CHECK:         = ptx.sub s16
func.func @i8(%a: i8, %b: i8, %out: memref<20xi8>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.addi %a, %b : i8
  memref.store %r0, %out[%i0] : memref<20xi8>
  %i1 = arith.constant 1 : index
  %r1 = arith.subi %a, %b : i8
  memref.store %r1, %out[%i1] : memref<20xi8>
  %i2 = arith.constant 2 : index
  %r2 = arith.muli %a, %b : i8
  memref.store %r2, %out[%i2] : memref<20xi8>
  %i3 = arith.constant 3 : index
  %r3 = arith.divsi %a, %b : i8
  memref.store %r3, %out[%i3] : memref<20xi8>
  %i4 = arith.constant 4 : index
  %r4 = arith.divui %a, %b : i8
  memref.store %r4, %out[%i4] : memref<20xi8>
  %i5 = arith.constant 5 : index
  %r5 = arith.remsi %a, %b : i8
  memref.store %r5, %out[%i5] : memref<20xi8>
  %i6 = arith.constant 6 : index
  %r6 = arith.remui %a, %b : i8
  memref.store %r6, %out[%i6] : memref<20xi8>
  %i7 = arith.constant 7 : index
  %r7 = arith.minsi %a, %b : i8
  memref.store %r7, %out[%i7] : memref<20xi8>
  %i8 = arith.constant 8 : index
  %r8 = arith.minui %a, %b : i8
  memref.store %r8, %out[%i8] : memref<20xi8>
  %i9 = arith.constant 9 : index
  %r9 = arith.maxsi %a, %b : i8
  memref.store %r9, %out[%i9] : memref<20xi8>
  %i10 = arith.constant 10 : index
  %r10 = arith.maxui %a, %b : i8
  memref.store %r10, %out[%i10] : memref<20xi8>
  %i11 = arith.constant 11 : index
  %r11 = arith.andi %a, %b : i8
  memref.store %r11, %out[%i11] : memref<20xi8>
  %i12 = arith.constant 12 : index
  %r12 = arith.ori %a, %b : i8
  memref.store %r12, %out[%i12] : memref<20xi8>
  %i13 = arith.constant 13 : index
  %r13 = arith.xori %a, %b : i8
  memref.store %r13, %out[%i13] : memref<20xi8>
  %i14 = arith.constant 14 : index
  %r14 = arith.shli %a, %b : i8
  memref.store %r14, %out[%i14] : memref<20xi8>
  %i15 = arith.constant 15 : index
  %r15 = arith.shrui %a, %b : i8
  memref.store %r15, %out[%i15] : memref<20xi8>
  %i16 = arith.constant 16 : index
  %r16 = arith.shrsi %a, %b : i8
  memref.store %r16, %out[%i16] : memref<20xi8>
  %i17 = arith.constant 17 : index
  %r17 = arith.ceildivui %a, %b : i8
  memref.store %r17, %out[%i17] : memref<20xi8>
  %i18 = arith.constant 18 : index
  %r18 = arith.ceildivsi %a, %b : i8
  memref.store %r18, %out[%i18] : memref<20xi8>
  %i19 = arith.constant 19 : index
  %r19 = arith.floordivsi %a, %b : i8
  memref.store %r19, %out[%i19] : memref<20xi8>
  func.return
}

// CHECK-LABEL: ptx.entry @i16(%a: u16, %b: u16, %out: u64) {
// CHECK:         = ptx.add s16 %a, %b
// CHECK:         = ptx.sub s16 %a, %b
// CHECK:         = ptx.mul lo.s16 %a, %b
// CHECK:         = ptx.div s16 %a, %b
// CHECK:         = ptx.div u16 %a, %b
// CHECK:         = ptx.rem s16 %a, %b
// CHECK:         = ptx.rem u16 %a, %b
// CHECK:         = ptx.min s16 %a, %b
// CHECK:         = ptx.min u16 %a, %b
// CHECK:         = ptx.max s16 %a, %b
// CHECK:         = ptx.max u16 %a, %b
// CHECK:         = ptx.and b16 %a, %b
// CHECK:         = ptx.or b16 %a, %b
// CHECK:         = ptx.xor b16 %a, %b
// CHECK:         = ptx.cvt u32.u16 %b
// CHECK:         = ptx.shl b16
// CHECK:         = ptx.shr u16
// CHECK:         = ptx.shr s16
// CHECK:         = ptx.div u16 %a, %b
// CHECK:         = ptx.rem u16 %a, %b
// CHECK:         = ptx.setp ne.u16
// CHECK:         = ptx.add u16
// CHECK:         = ptx.div s16 %a, %b
// CHECK:         = ptx.rem s16 %a, %b
// CHECK:         = ptx.setp ne.s16
// CHECK:         = ptx.xor b16
// CHECK:         = ptx.setp ge.s16
// CHECK:         = ptx.and pred
// CHECK:         = ptx.add s16
// CHECK:         = ptx.div s16 %a, %b
// CHECK:         = ptx.rem s16 %a, %b
// CHECK:         = ptx.setp ne.s16
// CHECK:         = ptx.xor b16
// CHECK:         = ptx.setp lt.s16
// CHECK:         = ptx.and pred
// CHECK:         = ptx.sub s16
func.func @i16(%a: i16, %b: i16, %out: memref<20xi16>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.addi %a, %b : i16
  memref.store %r0, %out[%i0] : memref<20xi16>
  %i1 = arith.constant 1 : index
  %r1 = arith.subi %a, %b : i16
  memref.store %r1, %out[%i1] : memref<20xi16>
  %i2 = arith.constant 2 : index
  %r2 = arith.muli %a, %b : i16
  memref.store %r2, %out[%i2] : memref<20xi16>
  %i3 = arith.constant 3 : index
  %r3 = arith.divsi %a, %b : i16
  memref.store %r3, %out[%i3] : memref<20xi16>
  %i4 = arith.constant 4 : index
  %r4 = arith.divui %a, %b : i16
  memref.store %r4, %out[%i4] : memref<20xi16>
  %i5 = arith.constant 5 : index
  %r5 = arith.remsi %a, %b : i16
  memref.store %r5, %out[%i5] : memref<20xi16>
  %i6 = arith.constant 6 : index
  %r6 = arith.remui %a, %b : i16
  memref.store %r6, %out[%i6] : memref<20xi16>
  %i7 = arith.constant 7 : index
  %r7 = arith.minsi %a, %b : i16
  memref.store %r7, %out[%i7] : memref<20xi16>
  %i8 = arith.constant 8 : index
  %r8 = arith.minui %a, %b : i16
  memref.store %r8, %out[%i8] : memref<20xi16>
  %i9 = arith.constant 9 : index
  %r9 = arith.maxsi %a, %b : i16
  memref.store %r9, %out[%i9] : memref<20xi16>
  %i10 = arith.constant 10 : index
  %r10 = arith.maxui %a, %b : i16
  memref.store %r10, %out[%i10] : memref<20xi16>
  %i11 = arith.constant 11 : index
  %r11 = arith.andi %a, %b : i16
  memref.store %r11, %out[%i11] : memref<20xi16>
  %i12 = arith.constant 12 : index
  %r12 = arith.ori %a, %b : i16
  memref.store %r12, %out[%i12] : memref<20xi16>
  %i13 = arith.constant 13 : index
  %r13 = arith.xori %a, %b : i16
  memref.store %r13, %out[%i13] : memref<20xi16>
  %i14 = arith.constant 14 : index
  %r14 = arith.shli %a, %b : i16
  memref.store %r14, %out[%i14] : memref<20xi16>
  %i15 = arith.constant 15 : index
  %r15 = arith.shrui %a, %b : i16
  memref.store %r15, %out[%i15] : memref<20xi16>
  %i16 = arith.constant 16 : index
  %r16 = arith.shrsi %a, %b : i16
  memref.store %r16, %out[%i16] : memref<20xi16>
  %i17 = arith.constant 17 : index
  %r17 = arith.ceildivui %a, %b : i16
  memref.store %r17, %out[%i17] : memref<20xi16>
  %i18 = arith.constant 18 : index
  %r18 = arith.ceildivsi %a, %b : i16
  memref.store %r18, %out[%i18] : memref<20xi16>
  %i19 = arith.constant 19 : index
  %r19 = arith.floordivsi %a, %b : i16
  memref.store %r19, %out[%i19] : memref<20xi16>
  func.return
}

// CHECK-LABEL: ptx.entry @i32(%a: u32, %b: u32, %out: u64) {
// CHECK:         = ptx.add s32 %a, %b
// CHECK:         = ptx.sub s32 %a, %b
// CHECK:         = ptx.mul lo.s32 %a, %b
// CHECK:         = ptx.div s32 %a, %b
// CHECK:         = ptx.div u32 %a, %b
// CHECK:         = ptx.rem s32 %a, %b
// CHECK:         = ptx.rem u32 %a, %b
// CHECK:         = ptx.min s32 %a, %b
// CHECK:         = ptx.min u32 %a, %b
// CHECK:         = ptx.max s32 %a, %b
// CHECK:         = ptx.max u32 %a, %b
// CHECK:         = ptx.and b32 %a, %b
// CHECK:         = ptx.or b32 %a, %b
// CHECK:         = ptx.xor b32 %a, %b
// CHECK:         = ptx.shl b32 %a, %b
// CHECK:         = ptx.shr u32 %a, %b
// CHECK:         = ptx.shr s32 %a, %b
// CHECK:         = ptx.div u32 %a, %b
// CHECK:         = ptx.rem u32 %a, %b
// CHECK:         = ptx.setp ne.u32
// CHECK:         = ptx.selp b32
// CHECK:         = ptx.add u32
// CHECK:         = ptx.div s32 %a, %b
// CHECK:         = ptx.rem s32 %a, %b
// CHECK:         = ptx.setp ne.s32
// CHECK:         = ptx.xor b32
// CHECK:         = ptx.setp ge.s32
// CHECK:         = ptx.and pred
// CHECK:         = ptx.selp b32
// CHECK:         = ptx.add s32
// CHECK:         = ptx.div s32 %a, %b
// CHECK:         = ptx.rem s32 %a, %b
// CHECK:         = ptx.setp ne.s32
// CHECK:         = ptx.xor b32
// CHECK:         = ptx.setp lt.s32
// CHECK:         = ptx.and pred
// CHECK:         = ptx.selp b32
// CHECK:         = ptx.sub s32
func.func @i32(%a: i32, %b: i32, %out: memref<20xi32>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.addi %a, %b : i32
  memref.store %r0, %out[%i0] : memref<20xi32>
  %i1 = arith.constant 1 : index
  %r1 = arith.subi %a, %b : i32
  memref.store %r1, %out[%i1] : memref<20xi32>
  %i2 = arith.constant 2 : index
  %r2 = arith.muli %a, %b : i32
  memref.store %r2, %out[%i2] : memref<20xi32>
  %i3 = arith.constant 3 : index
  %r3 = arith.divsi %a, %b : i32
  memref.store %r3, %out[%i3] : memref<20xi32>
  %i4 = arith.constant 4 : index
  %r4 = arith.divui %a, %b : i32
  memref.store %r4, %out[%i4] : memref<20xi32>
  %i5 = arith.constant 5 : index
  %r5 = arith.remsi %a, %b : i32
  memref.store %r5, %out[%i5] : memref<20xi32>
  %i6 = arith.constant 6 : index
  %r6 = arith.remui %a, %b : i32
  memref.store %r6, %out[%i6] : memref<20xi32>
  %i7 = arith.constant 7 : index
  %r7 = arith.minsi %a, %b : i32
  memref.store %r7, %out[%i7] : memref<20xi32>
  %i8 = arith.constant 8 : index
  %r8 = arith.minui %a, %b : i32
  memref.store %r8, %out[%i8] : memref<20xi32>
  %i9 = arith.constant 9 : index
  %r9 = arith.maxsi %a, %b : i32
  memref.store %r9, %out[%i9] : memref<20xi32>
  %i10 = arith.constant 10 : index
  %r10 = arith.maxui %a, %b : i32
  memref.store %r10, %out[%i10] : memref<20xi32>
  %i11 = arith.constant 11 : index
  %r11 = arith.andi %a, %b : i32
  memref.store %r11, %out[%i11] : memref<20xi32>
  %i12 = arith.constant 12 : index
  %r12 = arith.ori %a, %b : i32
  memref.store %r12, %out[%i12] : memref<20xi32>
  %i13 = arith.constant 13 : index
  %r13 = arith.xori %a, %b : i32
  memref.store %r13, %out[%i13] : memref<20xi32>
  %i14 = arith.constant 14 : index
  %r14 = arith.shli %a, %b : i32
  memref.store %r14, %out[%i14] : memref<20xi32>
  %i15 = arith.constant 15 : index
  %r15 = arith.shrui %a, %b : i32
  memref.store %r15, %out[%i15] : memref<20xi32>
  %i16 = arith.constant 16 : index
  %r16 = arith.shrsi %a, %b : i32
  memref.store %r16, %out[%i16] : memref<20xi32>
  %i17 = arith.constant 17 : index
  %r17 = arith.ceildivui %a, %b : i32
  memref.store %r17, %out[%i17] : memref<20xi32>
  %i18 = arith.constant 18 : index
  %r18 = arith.ceildivsi %a, %b : i32
  memref.store %r18, %out[%i18] : memref<20xi32>
  %i19 = arith.constant 19 : index
  %r19 = arith.floordivsi %a, %b : i32
  memref.store %r19, %out[%i19] : memref<20xi32>
  func.return
}

// CHECK-LABEL: ptx.entry @i64(%a: u64, %b: u64, %out: u64) {
// CHECK:         = ptx.add s64 %a, %b
// CHECK:         = ptx.sub s64 %a, %b
// CHECK:         = ptx.mul lo.s64 %a, %b
// CHECK:         = ptx.div s64 %a, %b
// CHECK:         = ptx.div u64 %a, %b
// CHECK:         = ptx.rem s64 %a, %b
// CHECK:         = ptx.rem u64 %a, %b
// CHECK:         = ptx.min s64 %a, %b
// CHECK:         = ptx.min u64 %a, %b
// CHECK:         = ptx.max s64 %a, %b
// CHECK:         = ptx.max u64 %a, %b
// CHECK:         = ptx.and b64 %a, %b
// CHECK:         = ptx.or b64 %a, %b
// CHECK:         = ptx.xor b64 %a, %b
// CHECK:         = ptx.min u64
// CHECK:         = ptx.cvt u32.u64
// CHECK:         = ptx.shl b64
// CHECK:         = ptx.shr u64
// CHECK:         = ptx.shr s64
// CHECK:         = ptx.div u64 %a, %b
// CHECK:         = ptx.rem u64 %a, %b
// CHECK:         = ptx.setp ne.u64
// CHECK:         = ptx.selp b64
// CHECK:         = ptx.add u64
// CHECK:         = ptx.div s64 %a, %b
// CHECK:         = ptx.rem s64 %a, %b
// CHECK:         = ptx.setp ne.s64
// CHECK:         = ptx.xor b64
// CHECK:         = ptx.setp ge.s64
// CHECK:         = ptx.and pred
// CHECK:         = ptx.selp b64
// CHECK:         = ptx.add s64
// CHECK:         = ptx.div s64 %a, %b
// CHECK:         = ptx.rem s64 %a, %b
// CHECK:         = ptx.setp ne.s64
// CHECK:         = ptx.xor b64
// CHECK:         = ptx.setp lt.s64
// CHECK:         = ptx.and pred
// CHECK:         = ptx.selp b64
// CHECK:         = ptx.sub s64
func.func @i64(%a: i64, %b: i64, %out: memref<20xi64>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.addi %a, %b : i64
  memref.store %r0, %out[%i0] : memref<20xi64>
  %i1 = arith.constant 1 : index
  %r1 = arith.subi %a, %b : i64
  memref.store %r1, %out[%i1] : memref<20xi64>
  %i2 = arith.constant 2 : index
  %r2 = arith.muli %a, %b : i64
  memref.store %r2, %out[%i2] : memref<20xi64>
  %i3 = arith.constant 3 : index
  %r3 = arith.divsi %a, %b : i64
  memref.store %r3, %out[%i3] : memref<20xi64>
  %i4 = arith.constant 4 : index
  %r4 = arith.divui %a, %b : i64
  memref.store %r4, %out[%i4] : memref<20xi64>
  %i5 = arith.constant 5 : index
  %r5 = arith.remsi %a, %b : i64
  memref.store %r5, %out[%i5] : memref<20xi64>
  %i6 = arith.constant 6 : index
  %r6 = arith.remui %a, %b : i64
  memref.store %r6, %out[%i6] : memref<20xi64>
  %i7 = arith.constant 7 : index
  %r7 = arith.minsi %a, %b : i64
  memref.store %r7, %out[%i7] : memref<20xi64>
  %i8 = arith.constant 8 : index
  %r8 = arith.minui %a, %b : i64
  memref.store %r8, %out[%i8] : memref<20xi64>
  %i9 = arith.constant 9 : index
  %r9 = arith.maxsi %a, %b : i64
  memref.store %r9, %out[%i9] : memref<20xi64>
  %i10 = arith.constant 10 : index
  %r10 = arith.maxui %a, %b : i64
  memref.store %r10, %out[%i10] : memref<20xi64>
  %i11 = arith.constant 11 : index
  %r11 = arith.andi %a, %b : i64
  memref.store %r11, %out[%i11] : memref<20xi64>
  %i12 = arith.constant 12 : index
  %r12 = arith.ori %a, %b : i64
  memref.store %r12, %out[%i12] : memref<20xi64>
  %i13 = arith.constant 13 : index
  %r13 = arith.xori %a, %b : i64
  memref.store %r13, %out[%i13] : memref<20xi64>
  %i14 = arith.constant 14 : index
  %r14 = arith.shli %a, %b : i64
  memref.store %r14, %out[%i14] : memref<20xi64>
  %i15 = arith.constant 15 : index
  %r15 = arith.shrui %a, %b : i64
  memref.store %r15, %out[%i15] : memref<20xi64>
  %i16 = arith.constant 16 : index
  %r16 = arith.shrsi %a, %b : i64
  memref.store %r16, %out[%i16] : memref<20xi64>
  %i17 = arith.constant 17 : index
  %r17 = arith.ceildivui %a, %b : i64
  memref.store %r17, %out[%i17] : memref<20xi64>
  %i18 = arith.constant 18 : index
  %r18 = arith.ceildivsi %a, %b : i64
  memref.store %r18, %out[%i18] : memref<20xi64>
  %i19 = arith.constant 19 : index
  %r19 = arith.floordivsi %a, %b : i64
  memref.store %r19, %out[%i19] : memref<20xi64>
  func.return
}

// CHECK-LABEL: ptx.entry @index(%a: u64, %b: u64, %out: u64) {
// CHECK:         = ptx.add s64 %a, %b
// CHECK:         = ptx.sub s64 %a, %b
// CHECK:         = ptx.mul lo.s64 %a, %b
// CHECK:         = ptx.div s64 %a, %b
// CHECK:         = ptx.div u64 %a, %b
// CHECK:         = ptx.rem s64 %a, %b
// CHECK:         = ptx.rem u64 %a, %b
// CHECK:         = ptx.min s64 %a, %b
// CHECK:         = ptx.min u64 %a, %b
// CHECK:         = ptx.max s64 %a, %b
// CHECK:         = ptx.max u64 %a, %b
// CHECK:         = ptx.and b64 %a, %b
// CHECK:         = ptx.or b64 %a, %b
// CHECK:         = ptx.xor b64 %a, %b
// CHECK:         = ptx.min u64
// CHECK:         = ptx.cvt u32.u64
// CHECK:         = ptx.shl b64
// CHECK:         = ptx.shr u64
// CHECK:         = ptx.shr s64
// CHECK:         = ptx.div u64 %a, %b
// CHECK:         = ptx.rem u64 %a, %b
// CHECK:         = ptx.setp ne.u64
// CHECK:         = ptx.selp b64
// CHECK:         = ptx.add u64
// CHECK:         = ptx.div s64 %a, %b
// CHECK:         = ptx.rem s64 %a, %b
// CHECK:         = ptx.setp ne.s64
// CHECK:         = ptx.xor b64
// CHECK:         = ptx.setp ge.s64
// CHECK:         = ptx.and pred
// CHECK:         = ptx.selp b64
// CHECK:         = ptx.add s64
// CHECK:         = ptx.div s64 %a, %b
// CHECK:         = ptx.rem s64 %a, %b
// CHECK:         = ptx.setp ne.s64
// CHECK:         = ptx.xor b64
// CHECK:         = ptx.setp lt.s64
// CHECK:         = ptx.and pred
// CHECK:         = ptx.selp b64
// CHECK:         = ptx.sub s64
func.func @index(%a: index, %b: index, %out: memref<20xindex>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.addi %a, %b : index
  memref.store %r0, %out[%i0] : memref<20xindex>
  %i1 = arith.constant 1 : index
  %r1 = arith.subi %a, %b : index
  memref.store %r1, %out[%i1] : memref<20xindex>
  %i2 = arith.constant 2 : index
  %r2 = arith.muli %a, %b : index
  memref.store %r2, %out[%i2] : memref<20xindex>
  %i3 = arith.constant 3 : index
  %r3 = arith.divsi %a, %b : index
  memref.store %r3, %out[%i3] : memref<20xindex>
  %i4 = arith.constant 4 : index
  %r4 = arith.divui %a, %b : index
  memref.store %r4, %out[%i4] : memref<20xindex>
  %i5 = arith.constant 5 : index
  %r5 = arith.remsi %a, %b : index
  memref.store %r5, %out[%i5] : memref<20xindex>
  %i6 = arith.constant 6 : index
  %r6 = arith.remui %a, %b : index
  memref.store %r6, %out[%i6] : memref<20xindex>
  %i7 = arith.constant 7 : index
  %r7 = arith.minsi %a, %b : index
  memref.store %r7, %out[%i7] : memref<20xindex>
  %i8 = arith.constant 8 : index
  %r8 = arith.minui %a, %b : index
  memref.store %r8, %out[%i8] : memref<20xindex>
  %i9 = arith.constant 9 : index
  %r9 = arith.maxsi %a, %b : index
  memref.store %r9, %out[%i9] : memref<20xindex>
  %i10 = arith.constant 10 : index
  %r10 = arith.maxui %a, %b : index
  memref.store %r10, %out[%i10] : memref<20xindex>
  %i11 = arith.constant 11 : index
  %r11 = arith.andi %a, %b : index
  memref.store %r11, %out[%i11] : memref<20xindex>
  %i12 = arith.constant 12 : index
  %r12 = arith.ori %a, %b : index
  memref.store %r12, %out[%i12] : memref<20xindex>
  %i13 = arith.constant 13 : index
  %r13 = arith.xori %a, %b : index
  memref.store %r13, %out[%i13] : memref<20xindex>
  %i14 = arith.constant 14 : index
  %r14 = arith.shli %a, %b : index
  memref.store %r14, %out[%i14] : memref<20xindex>
  %i15 = arith.constant 15 : index
  %r15 = arith.shrui %a, %b : index
  memref.store %r15, %out[%i15] : memref<20xindex>
  %i16 = arith.constant 16 : index
  %r16 = arith.shrsi %a, %b : index
  memref.store %r16, %out[%i16] : memref<20xindex>
  %i17 = arith.constant 17 : index
  %r17 = arith.ceildivui %a, %b : index
  memref.store %r17, %out[%i17] : memref<20xindex>
  %i18 = arith.constant 18 : index
  %r18 = arith.ceildivsi %a, %b : index
  memref.store %r18, %out[%i18] : memref<20xindex>
  %i19 = arith.constant 19 : index
  %r19 = arith.floordivsi %a, %b : index
  memref.store %r19, %out[%i19] : memref<20xindex>
  func.return
}

// One bit is a predicate.
// CHECK-LABEL: ptx.entry @i1(%a: u8, %b: u8, %out: u64) {
// CHECK:         = ptx.setp ne.u16
// CHECK:         = ptx.setp ne.u16
// CHECK:         = ptx.xor pred
// CHECK:         = ptx.and pred
// CHECK:         = ptx.or pred
func.func @i1(%a: i1, %b: i1, %out: memref<6xi1>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.addi %a, %b : i1
  memref.store %r0, %out[%i0] : memref<6xi1>
  %i1 = arith.constant 1 : index
  %r1 = arith.subi %a, %b : i1
  memref.store %r1, %out[%i1] : memref<6xi1>
  %i2 = arith.constant 2 : index
  %r2 = arith.muli %a, %b : i1
  memref.store %r2, %out[%i2] : memref<6xi1>
  %i3 = arith.constant 3 : index
  %r3 = arith.andi %a, %b : i1
  memref.store %r3, %out[%i3] : memref<6xi1>
  %i4 = arith.constant 4 : index
  %r4 = arith.ori %a, %b : i1
  memref.store %r4, %out[%i4] : memref<6xi1>
  %i5 = arith.constant 5 : index
  %r5 = arith.xori %a, %b : i1
  memref.store %r5, %out[%i5] : memref<6xi1>
  func.return
}

// Comparisons.
// CHECK-LABEL: ptx.entry @cmpi_i1(%a: u8, %b: u8, %out: u64) {
// CHECK:         = ptx.setp ne.u16
// CHECK:         = ptx.setp ne.u16
// CHECK:         = ptx.selp b32
// CHECK:         = ptx.selp b32
// CHECK:         = ptx.setp eq.s32
// CHECK:         = ptx.setp ne.s32
// CHECK:         = ptx.setp lt.s32
// CHECK:         = ptx.setp le.s32
// CHECK:         = ptx.setp gt.s32
// CHECK:         = ptx.setp ge.s32
// CHECK:         = ptx.selp b32
// CHECK:         = ptx.selp b32
// CHECK:         = ptx.setp lt.u32
// CHECK:         = ptx.setp le.u32
// CHECK:         = ptx.setp gt.u32
// CHECK:         = ptx.setp ge.u32
func.func @cmpi_i1(%a: i1, %b: i1, %out: memref<10xi1>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.cmpi eq, %a, %b : i1
  memref.store %r0, %out[%i0] : memref<10xi1>
  %i1 = arith.constant 1 : index
  %r1 = arith.cmpi ne, %a, %b : i1
  memref.store %r1, %out[%i1] : memref<10xi1>
  %i2 = arith.constant 2 : index
  %r2 = arith.cmpi slt, %a, %b : i1
  memref.store %r2, %out[%i2] : memref<10xi1>
  %i3 = arith.constant 3 : index
  %r3 = arith.cmpi sle, %a, %b : i1
  memref.store %r3, %out[%i3] : memref<10xi1>
  %i4 = arith.constant 4 : index
  %r4 = arith.cmpi sgt, %a, %b : i1
  memref.store %r4, %out[%i4] : memref<10xi1>
  %i5 = arith.constant 5 : index
  %r5 = arith.cmpi sge, %a, %b : i1
  memref.store %r5, %out[%i5] : memref<10xi1>
  %i6 = arith.constant 6 : index
  %r6 = arith.cmpi ult, %a, %b : i1
  memref.store %r6, %out[%i6] : memref<10xi1>
  %i7 = arith.constant 7 : index
  %r7 = arith.cmpi ule, %a, %b : i1
  memref.store %r7, %out[%i7] : memref<10xi1>
  %i8 = arith.constant 8 : index
  %r8 = arith.cmpi ugt, %a, %b : i1
  memref.store %r8, %out[%i8] : memref<10xi1>
  %i9 = arith.constant 9 : index
  %r9 = arith.cmpi uge, %a, %b : i1
  memref.store %r9, %out[%i9] : memref<10xi1>
  func.return
}

// CHECK-LABEL: ptx.entry @cmpi_i8(%a: u8, %b: u8, %out: u64) {
// CHECK:         = ptx.cvt s16.s8 %a
// CHECK:         = ptx.cvt s16.s8 %b
// CHECK:         = ptx.setp ne.s16
// CHECK:         = ptx.not pred
// CHECK:         = ptx.setp lt.s16
// CHECK:         = ptx.setp le.s16
// CHECK:         = ptx.setp gt.s16
// CHECK:         = ptx.setp ge.s16
// CHECK:         = ptx.cvt u16.u8 %a
// CHECK:         = ptx.cvt u16.u8 %b
// CHECK:         = ptx.setp lt.u16
// CHECK:         = ptx.setp le.u16
// CHECK:         = ptx.setp gt.u16
// CHECK:         = ptx.setp ge.u16
func.func @cmpi_i8(%a: i8, %b: i8, %out: memref<10xi1>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.cmpi eq, %a, %b : i8
  memref.store %r0, %out[%i0] : memref<10xi1>
  %i1 = arith.constant 1 : index
  %r1 = arith.cmpi ne, %a, %b : i8
  memref.store %r1, %out[%i1] : memref<10xi1>
  %i2 = arith.constant 2 : index
  %r2 = arith.cmpi slt, %a, %b : i8
  memref.store %r2, %out[%i2] : memref<10xi1>
  %i3 = arith.constant 3 : index
  %r3 = arith.cmpi sle, %a, %b : i8
  memref.store %r3, %out[%i3] : memref<10xi1>
  %i4 = arith.constant 4 : index
  %r4 = arith.cmpi sgt, %a, %b : i8
  memref.store %r4, %out[%i4] : memref<10xi1>
  %i5 = arith.constant 5 : index
  %r5 = arith.cmpi sge, %a, %b : i8
  memref.store %r5, %out[%i5] : memref<10xi1>
  %i6 = arith.constant 6 : index
  %r6 = arith.cmpi ult, %a, %b : i8
  memref.store %r6, %out[%i6] : memref<10xi1>
  %i7 = arith.constant 7 : index
  %r7 = arith.cmpi ule, %a, %b : i8
  memref.store %r7, %out[%i7] : memref<10xi1>
  %i8 = arith.constant 8 : index
  %r8 = arith.cmpi ugt, %a, %b : i8
  memref.store %r8, %out[%i8] : memref<10xi1>
  %i9 = arith.constant 9 : index
  %r9 = arith.cmpi uge, %a, %b : i8
  memref.store %r9, %out[%i9] : memref<10xi1>
  func.return
}

// CHECK-LABEL: ptx.entry @cmpi_i16(%a: u16, %b: u16, %out: u64) {
// CHECK:         = ptx.setp ne.s16 %a, %b
// CHECK:         = ptx.not pred
// CHECK:         = ptx.setp lt.s16 %a, %b
// CHECK:         = ptx.setp le.s16 %a, %b
// CHECK:         = ptx.setp gt.s16 %a, %b
// CHECK:         = ptx.setp ge.s16 %a, %b
// CHECK:         = ptx.setp lt.u16 %a, %b
// CHECK:         = ptx.setp le.u16 %a, %b
// CHECK:         = ptx.setp gt.u16 %a, %b
// CHECK:         = ptx.setp ge.u16 %a, %b
func.func @cmpi_i16(%a: i16, %b: i16, %out: memref<10xi1>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.cmpi eq, %a, %b : i16
  memref.store %r0, %out[%i0] : memref<10xi1>
  %i1 = arith.constant 1 : index
  %r1 = arith.cmpi ne, %a, %b : i16
  memref.store %r1, %out[%i1] : memref<10xi1>
  %i2 = arith.constant 2 : index
  %r2 = arith.cmpi slt, %a, %b : i16
  memref.store %r2, %out[%i2] : memref<10xi1>
  %i3 = arith.constant 3 : index
  %r3 = arith.cmpi sle, %a, %b : i16
  memref.store %r3, %out[%i3] : memref<10xi1>
  %i4 = arith.constant 4 : index
  %r4 = arith.cmpi sgt, %a, %b : i16
  memref.store %r4, %out[%i4] : memref<10xi1>
  %i5 = arith.constant 5 : index
  %r5 = arith.cmpi sge, %a, %b : i16
  memref.store %r5, %out[%i5] : memref<10xi1>
  %i6 = arith.constant 6 : index
  %r6 = arith.cmpi ult, %a, %b : i16
  memref.store %r6, %out[%i6] : memref<10xi1>
  %i7 = arith.constant 7 : index
  %r7 = arith.cmpi ule, %a, %b : i16
  memref.store %r7, %out[%i7] : memref<10xi1>
  %i8 = arith.constant 8 : index
  %r8 = arith.cmpi ugt, %a, %b : i16
  memref.store %r8, %out[%i8] : memref<10xi1>
  %i9 = arith.constant 9 : index
  %r9 = arith.cmpi uge, %a, %b : i16
  memref.store %r9, %out[%i9] : memref<10xi1>
  func.return
}

// CHECK-LABEL: ptx.entry @cmpi_i32(%a: u32, %b: u32, %out: u64) {
// CHECK:         = ptx.setp eq.s32 %a, %b
// CHECK:         = ptx.setp ne.s32 %a, %b
// CHECK:         = ptx.setp lt.s32 %a, %b
// CHECK:         = ptx.setp le.s32 %a, %b
// CHECK:         = ptx.setp gt.s32 %a, %b
// CHECK:         = ptx.setp ge.s32 %a, %b
// CHECK:         = ptx.setp lt.u32 %a, %b
// CHECK:         = ptx.setp le.u32 %a, %b
// CHECK:         = ptx.setp gt.u32 %a, %b
// CHECK:         = ptx.setp ge.u32 %a, %b
func.func @cmpi_i32(%a: i32, %b: i32, %out: memref<10xi1>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.cmpi eq, %a, %b : i32
  memref.store %r0, %out[%i0] : memref<10xi1>
  %i1 = arith.constant 1 : index
  %r1 = arith.cmpi ne, %a, %b : i32
  memref.store %r1, %out[%i1] : memref<10xi1>
  %i2 = arith.constant 2 : index
  %r2 = arith.cmpi slt, %a, %b : i32
  memref.store %r2, %out[%i2] : memref<10xi1>
  %i3 = arith.constant 3 : index
  %r3 = arith.cmpi sle, %a, %b : i32
  memref.store %r3, %out[%i3] : memref<10xi1>
  %i4 = arith.constant 4 : index
  %r4 = arith.cmpi sgt, %a, %b : i32
  memref.store %r4, %out[%i4] : memref<10xi1>
  %i5 = arith.constant 5 : index
  %r5 = arith.cmpi sge, %a, %b : i32
  memref.store %r5, %out[%i5] : memref<10xi1>
  %i6 = arith.constant 6 : index
  %r6 = arith.cmpi ult, %a, %b : i32
  memref.store %r6, %out[%i6] : memref<10xi1>
  %i7 = arith.constant 7 : index
  %r7 = arith.cmpi ule, %a, %b : i32
  memref.store %r7, %out[%i7] : memref<10xi1>
  %i8 = arith.constant 8 : index
  %r8 = arith.cmpi ugt, %a, %b : i32
  memref.store %r8, %out[%i8] : memref<10xi1>
  %i9 = arith.constant 9 : index
  %r9 = arith.cmpi uge, %a, %b : i32
  memref.store %r9, %out[%i9] : memref<10xi1>
  func.return
}

// CHECK-LABEL: ptx.entry @cmpi_i64(%a: u64, %b: u64, %out: u64) {
// CHECK:         = ptx.setp eq.s64 %a, %b
// CHECK:         = ptx.setp ne.s64 %a, %b
// CHECK:         = ptx.setp lt.s64 %a, %b
// CHECK:         = ptx.setp le.s64 %a, %b
// CHECK:         = ptx.setp gt.s64 %a, %b
// CHECK:         = ptx.setp ge.s64 %a, %b
// CHECK:         = ptx.setp lt.u64 %a, %b
// CHECK:         = ptx.setp le.u64 %a, %b
// CHECK:         = ptx.setp gt.u64 %a, %b
// CHECK:         = ptx.setp ge.u64 %a, %b
func.func @cmpi_i64(%a: i64, %b: i64, %out: memref<10xi1>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.cmpi eq, %a, %b : i64
  memref.store %r0, %out[%i0] : memref<10xi1>
  %i1 = arith.constant 1 : index
  %r1 = arith.cmpi ne, %a, %b : i64
  memref.store %r1, %out[%i1] : memref<10xi1>
  %i2 = arith.constant 2 : index
  %r2 = arith.cmpi slt, %a, %b : i64
  memref.store %r2, %out[%i2] : memref<10xi1>
  %i3 = arith.constant 3 : index
  %r3 = arith.cmpi sle, %a, %b : i64
  memref.store %r3, %out[%i3] : memref<10xi1>
  %i4 = arith.constant 4 : index
  %r4 = arith.cmpi sgt, %a, %b : i64
  memref.store %r4, %out[%i4] : memref<10xi1>
  %i5 = arith.constant 5 : index
  %r5 = arith.cmpi sge, %a, %b : i64
  memref.store %r5, %out[%i5] : memref<10xi1>
  %i6 = arith.constant 6 : index
  %r6 = arith.cmpi ult, %a, %b : i64
  memref.store %r6, %out[%i6] : memref<10xi1>
  %i7 = arith.constant 7 : index
  %r7 = arith.cmpi ule, %a, %b : i64
  memref.store %r7, %out[%i7] : memref<10xi1>
  %i8 = arith.constant 8 : index
  %r8 = arith.cmpi ugt, %a, %b : i64
  memref.store %r8, %out[%i8] : memref<10xi1>
  %i9 = arith.constant 9 : index
  %r9 = arith.cmpi uge, %a, %b : i64
  memref.store %r9, %out[%i9] : memref<10xi1>
  func.return
}

// CHECK-LABEL: ptx.entry @cmpi_index(%a: u64, %b: u64, %out: u64) {
// CHECK:         = ptx.setp eq.s64 %a, %b
// CHECK:         = ptx.setp ne.s64 %a, %b
// CHECK:         = ptx.setp lt.s64 %a, %b
// CHECK:         = ptx.setp le.s64 %a, %b
// CHECK:         = ptx.setp gt.s64 %a, %b
// CHECK:         = ptx.setp ge.s64 %a, %b
// CHECK:         = ptx.setp lt.u64 %a, %b
// CHECK:         = ptx.setp le.u64 %a, %b
// CHECK:         = ptx.setp gt.u64 %a, %b
// CHECK:         = ptx.setp ge.u64 %a, %b
func.func @cmpi_index(%a: index, %b: index, %out: memref<10xi1>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.cmpi eq, %a, %b : index
  memref.store %r0, %out[%i0] : memref<10xi1>
  %i1 = arith.constant 1 : index
  %r1 = arith.cmpi ne, %a, %b : index
  memref.store %r1, %out[%i1] : memref<10xi1>
  %i2 = arith.constant 2 : index
  %r2 = arith.cmpi slt, %a, %b : index
  memref.store %r2, %out[%i2] : memref<10xi1>
  %i3 = arith.constant 3 : index
  %r3 = arith.cmpi sle, %a, %b : index
  memref.store %r3, %out[%i3] : memref<10xi1>
  %i4 = arith.constant 4 : index
  %r4 = arith.cmpi sgt, %a, %b : index
  memref.store %r4, %out[%i4] : memref<10xi1>
  %i5 = arith.constant 5 : index
  %r5 = arith.cmpi sge, %a, %b : index
  memref.store %r5, %out[%i5] : memref<10xi1>
  %i6 = arith.constant 6 : index
  %r6 = arith.cmpi ult, %a, %b : index
  memref.store %r6, %out[%i6] : memref<10xi1>
  %i7 = arith.constant 7 : index
  %r7 = arith.cmpi ule, %a, %b : index
  memref.store %r7, %out[%i7] : memref<10xi1>
  %i8 = arith.constant 8 : index
  %r8 = arith.cmpi ugt, %a, %b : index
  memref.store %r8, %out[%i8] : memref<10xi1>
  %i9 = arith.constant 9 : index
  %r9 = arith.cmpi uge, %a, %b : index
  memref.store %r9, %out[%i9] : memref<10xi1>
  func.return
}

