// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_80
// CHECKS: instructions

// Floating-point arithmetic: sums and products of bf16 are fma, what else f16 and bf16 have no
// instruction for goes through f32.

// CHECK-LABEL: ptx.entry @f16(%a: u16, %b: u16, %out: u64) {
// CHECK:         = ptx.add rn.f16 %a, %b
// CHECK:         = ptx.sub rn.f16 %a, %b
// CHECK:         = ptx.mul rn.f16 %a, %b
// CHECK:         %[[A:.*]] = ptx.cvt f32.f16 %a
// CHECK:         %[[B:.*]] = ptx.cvt f32.f16 %b
// CHECK:         %[[INVERSE:.*]] = ptx.rcp approx.ftz.f32 %[[B]]
// CHECK:         ptx.mul rn.f32 %[[A]], %[[INVERSE]]
// CHECK:         = ptx.cvt rn.f16.f32
// CHECK:         = ptx.max NaN.f32
// CHECK:         = ptx.cvt rn.f16.f32
// CHECK:         = ptx.min NaN.f32
// CHECK:         = ptx.cvt rn.f16.f32
// CHECK:         = ptx.max f32
// CHECK:         = ptx.cvt rn.f16.f32
// CHECK:         = ptx.min f32
// CHECK:         = ptx.cvt rn.f16.f32
// CHECK:         = ptx.xor b16
// CHECK:         = ptx.and b16
// CHECK:         = ptx.sqrt rn.f32
// CHECK:         = ptx.cvt rn.f16.f32
// CHECK:         = ptx.fma rn.f16 %a, %b, %a
func.func @f16(%a: f16, %b: f16, %out: memref<12xf16>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.addf %a, %b : f16
  memref.store %r0, %out[%i0] : memref<12xf16>
  %i1 = arith.constant 1 : index
  %r1 = arith.subf %a, %b : f16
  memref.store %r1, %out[%i1] : memref<12xf16>
  %i2 = arith.constant 2 : index
  %r2 = arith.mulf %a, %b : f16
  memref.store %r2, %out[%i2] : memref<12xf16>
  %i3 = arith.constant 3 : index
  %r3 = arith.divf %a, %b : f16
  memref.store %r3, %out[%i3] : memref<12xf16>
  %i4 = arith.constant 4 : index
  %r4 = arith.maximumf %a, %b : f16
  memref.store %r4, %out[%i4] : memref<12xf16>
  %i5 = arith.constant 5 : index
  %r5 = arith.minimumf %a, %b : f16
  memref.store %r5, %out[%i5] : memref<12xf16>
  %i6 = arith.constant 6 : index
  %r6 = arith.maxnumf %a, %b : f16
  memref.store %r6, %out[%i6] : memref<12xf16>
  %i7 = arith.constant 7 : index
  %r7 = arith.minnumf %a, %b : f16
  memref.store %r7, %out[%i7] : memref<12xf16>
  %i8 = arith.constant 8 : index
  %r8 = arith.negf %a : f16
  memref.store %r8, %out[%i8] : memref<12xf16>
  %i9 = arith.constant 9 : index
  %r9 = math.absf %a : f16
  memref.store %r9, %out[%i9] : memref<12xf16>
  %i10 = arith.constant 10 : index
  %r10 = math.sqrt %a : f16
  memref.store %r10, %out[%i10] : memref<12xf16>
  %i11 = arith.constant 11 : index
  %r11 = math.fma %a, %b, %a : f16
  memref.store %r11, %out[%i11] : memref<12xf16>
  func.return
}

// CHECK-LABEL: ptx.entry @bf16(%a: u16, %b: u16, %out: u64) {
// CHECK:         = ptx.fma rn.bf16
// CHECK:         = ptx.fma rn.bf16
// CHECK:         = ptx.fma rn.bf16
// CHECK:         = ptx.pack b32
// CHECK:         = ptx.mov
// CHECK:         = ptx.pack b32
// CHECK:         = ptx.mov
// CHECK:         = ptx.div rn.f32
// CHECK:         = ptx.cvt rn.bf16.f32
// CHECK:         = ptx.max NaN.f32
// CHECK:         = ptx.cvt rn.bf16.f32
// CHECK:         = ptx.min NaN.f32
// CHECK:         = ptx.cvt rn.bf16.f32
// CHECK:         = ptx.max f32
// CHECK:         = ptx.cvt rn.bf16.f32
// CHECK:         = ptx.min f32
// CHECK:         = ptx.cvt rn.bf16.f32
// CHECK:         = ptx.xor b16
// CHECK:         = ptx.and b16
// CHECK:         = ptx.sqrt rn.f32
// CHECK:         = ptx.cvt rn.bf16.f32
func.func @bf16(%a: bf16, %b: bf16, %out: memref<12xbf16>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.addf %a, %b : bf16
  memref.store %r0, %out[%i0] : memref<12xbf16>
  %i1 = arith.constant 1 : index
  %r1 = arith.subf %a, %b : bf16
  memref.store %r1, %out[%i1] : memref<12xbf16>
  %i2 = arith.constant 2 : index
  %r2 = arith.mulf %a, %b : bf16
  memref.store %r2, %out[%i2] : memref<12xbf16>
  %i3 = arith.constant 3 : index
  %r3 = arith.divf %a, %b : bf16
  memref.store %r3, %out[%i3] : memref<12xbf16>
  %i4 = arith.constant 4 : index
  %r4 = arith.maximumf %a, %b : bf16
  memref.store %r4, %out[%i4] : memref<12xbf16>
  %i5 = arith.constant 5 : index
  %r5 = arith.minimumf %a, %b : bf16
  memref.store %r5, %out[%i5] : memref<12xbf16>
  %i6 = arith.constant 6 : index
  %r6 = arith.maxnumf %a, %b : bf16
  memref.store %r6, %out[%i6] : memref<12xbf16>
  %i7 = arith.constant 7 : index
  %r7 = arith.minnumf %a, %b : bf16
  memref.store %r7, %out[%i7] : memref<12xbf16>
  %i8 = arith.constant 8 : index
  %r8 = arith.negf %a : bf16
  memref.store %r8, %out[%i8] : memref<12xbf16>
  %i9 = arith.constant 9 : index
  %r9 = math.absf %a : bf16
  memref.store %r9, %out[%i9] : memref<12xbf16>
  %i10 = arith.constant 10 : index
  %r10 = math.sqrt %a : bf16
  memref.store %r10, %out[%i10] : memref<12xbf16>
  func.return
}

// CHECK-LABEL: ptx.entry @f32(%a: f32, %b: f32, %out: u64) {
// CHECK:         = ptx.add rn.f32 %a, %b
// CHECK:         = ptx.sub rn.f32 %a, %b
// CHECK:         = ptx.mul rn.f32 %a, %b
// CHECK:         = ptx.div rn.f32 %a, %b
// CHECK:         = ptx.max NaN.f32 %a, %b
// CHECK:         = ptx.min NaN.f32 %a, %b
// CHECK:         = ptx.max f32 %a, %b
// CHECK:         = ptx.min f32 %a, %b
// CHECK:         = ptx.neg f32 %a
// CHECK:         = ptx.abs f32 %a
// CHECK:         = ptx.sqrt rn.f32 %a
// CHECK:         = ptx.fma rn.f32 %a, %b, %a
func.func @f32(%a: f32, %b: f32, %out: memref<12xf32>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.addf %a, %b : f32
  memref.store %r0, %out[%i0] : memref<12xf32>
  %i1 = arith.constant 1 : index
  %r1 = arith.subf %a, %b : f32
  memref.store %r1, %out[%i1] : memref<12xf32>
  %i2 = arith.constant 2 : index
  %r2 = arith.mulf %a, %b : f32
  memref.store %r2, %out[%i2] : memref<12xf32>
  %i3 = arith.constant 3 : index
  %r3 = arith.divf %a, %b : f32
  memref.store %r3, %out[%i3] : memref<12xf32>
  %i4 = arith.constant 4 : index
  %r4 = arith.maximumf %a, %b : f32
  memref.store %r4, %out[%i4] : memref<12xf32>
  %i5 = arith.constant 5 : index
  %r5 = arith.minimumf %a, %b : f32
  memref.store %r5, %out[%i5] : memref<12xf32>
  %i6 = arith.constant 6 : index
  %r6 = arith.maxnumf %a, %b : f32
  memref.store %r6, %out[%i6] : memref<12xf32>
  %i7 = arith.constant 7 : index
  %r7 = arith.minnumf %a, %b : f32
  memref.store %r7, %out[%i7] : memref<12xf32>
  %i8 = arith.constant 8 : index
  %r8 = arith.negf %a : f32
  memref.store %r8, %out[%i8] : memref<12xf32>
  %i9 = arith.constant 9 : index
  %r9 = math.absf %a : f32
  memref.store %r9, %out[%i9] : memref<12xf32>
  %i10 = arith.constant 10 : index
  %r10 = math.sqrt %a : f32
  memref.store %r10, %out[%i10] : memref<12xf32>
  %i11 = arith.constant 11 : index
  %r11 = math.fma %a, %b, %a : f32
  memref.store %r11, %out[%i11] : memref<12xf32>
  func.return
}

// CHECK-LABEL: ptx.entry @f64(%a: f64, %b: f64, %out: u64) {
// CHECK:         = ptx.add rn.f64 %a, %b
// CHECK:         = ptx.sub rn.f64 %a, %b
// CHECK:         = ptx.mul rn.f64 %a, %b
// CHECK:         = ptx.div rn.f64 %a, %b
// CHECK:         = ptx.max f64 %a, %b
// CHECK:         = ptx.min f64 %a, %b
// CHECK:         = ptx.neg f64 %a
// CHECK:         = ptx.abs f64 %a
// CHECK:         = ptx.sqrt rn.f64 %a
// CHECK:         = ptx.fma rn.f64 %a, %b, %a
func.func @f64(%a: f64, %b: f64, %out: memref<10xf64>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.addf %a, %b : f64
  memref.store %r0, %out[%i0] : memref<10xf64>
  %i1 = arith.constant 1 : index
  %r1 = arith.subf %a, %b : f64
  memref.store %r1, %out[%i1] : memref<10xf64>
  %i2 = arith.constant 2 : index
  %r2 = arith.mulf %a, %b : f64
  memref.store %r2, %out[%i2] : memref<10xf64>
  %i3 = arith.constant 3 : index
  %r3 = arith.divf %a, %b : f64
  memref.store %r3, %out[%i3] : memref<10xf64>
  %i4 = arith.constant 4 : index
  %r4 = arith.maxnumf %a, %b : f64
  memref.store %r4, %out[%i4] : memref<10xf64>
  %i5 = arith.constant 5 : index
  %r5 = arith.minnumf %a, %b : f64
  memref.store %r5, %out[%i5] : memref<10xf64>
  %i6 = arith.constant 6 : index
  %r6 = arith.negf %a : f64
  memref.store %r6, %out[%i6] : memref<10xf64>
  %i7 = arith.constant 7 : index
  %r7 = math.absf %a : f64
  memref.store %r7, %out[%i7] : memref<10xf64>
  %i8 = arith.constant 8 : index
  %r8 = math.sqrt %a : f64
  memref.store %r8, %out[%i8] : memref<10xf64>
  %i9 = arith.constant 9 : index
  %r9 = math.fma %a, %b, %a : f64
  memref.store %r9, %out[%i9] : memref<10xf64>
  func.return
}

// Comparisons: ordered ones are false and unordered ones true where an operand is NaN.

// CHECK-LABEL: ptx.entry @cmpf_f16(%a: u16, %b: u16, %out: u64) {
// CHECK:         = ptx.setp ne.s32
// CHECK:         = ptx.cvt f32.f16 %a
// CHECK:         = ptx.cvt f32.f16 %b
// CHECK:         = ptx.setp eq.f32
// CHECK:         = ptx.setp gt.f32
// CHECK:         = ptx.setp ge.f32
// CHECK:         = ptx.setp lt.f32
// CHECK:         = ptx.setp le.f32
// CHECK:         = ptx.setp ne.f32
// CHECK:         = ptx.setp num.f32
// CHECK:         = ptx.setp equ.f32
// CHECK:         = ptx.setp gtu.f32
// CHECK:         = ptx.setp geu.f32
// CHECK:         = ptx.setp ltu.f32
// CHECK:         = ptx.setp leu.f32
// CHECK:         = ptx.setp neu.f32
// CHECK:         = ptx.setp nan.f32
// CHECK:         = ptx.setp eq.s32
func.func @cmpf_f16(%a: f16, %b: f16, %out: memref<16xi1>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.cmpf false, %a, %b : f16
  memref.store %r0, %out[%i0] : memref<16xi1>
  %i1 = arith.constant 1 : index
  %r1 = arith.cmpf oeq, %a, %b : f16
  memref.store %r1, %out[%i1] : memref<16xi1>
  %i2 = arith.constant 2 : index
  %r2 = arith.cmpf ogt, %a, %b : f16
  memref.store %r2, %out[%i2] : memref<16xi1>
  %i3 = arith.constant 3 : index
  %r3 = arith.cmpf oge, %a, %b : f16
  memref.store %r3, %out[%i3] : memref<16xi1>
  %i4 = arith.constant 4 : index
  %r4 = arith.cmpf olt, %a, %b : f16
  memref.store %r4, %out[%i4] : memref<16xi1>
  %i5 = arith.constant 5 : index
  %r5 = arith.cmpf ole, %a, %b : f16
  memref.store %r5, %out[%i5] : memref<16xi1>
  %i6 = arith.constant 6 : index
  %r6 = arith.cmpf one, %a, %b : f16
  memref.store %r6, %out[%i6] : memref<16xi1>
  %i7 = arith.constant 7 : index
  %r7 = arith.cmpf ord, %a, %b : f16
  memref.store %r7, %out[%i7] : memref<16xi1>
  %i8 = arith.constant 8 : index
  %r8 = arith.cmpf ueq, %a, %b : f16
  memref.store %r8, %out[%i8] : memref<16xi1>
  %i9 = arith.constant 9 : index
  %r9 = arith.cmpf ugt, %a, %b : f16
  memref.store %r9, %out[%i9] : memref<16xi1>
  %i10 = arith.constant 10 : index
  %r10 = arith.cmpf uge, %a, %b : f16
  memref.store %r10, %out[%i10] : memref<16xi1>
  %i11 = arith.constant 11 : index
  %r11 = arith.cmpf ult, %a, %b : f16
  memref.store %r11, %out[%i11] : memref<16xi1>
  %i12 = arith.constant 12 : index
  %r12 = arith.cmpf ule, %a, %b : f16
  memref.store %r12, %out[%i12] : memref<16xi1>
  %i13 = arith.constant 13 : index
  %r13 = arith.cmpf une, %a, %b : f16
  memref.store %r13, %out[%i13] : memref<16xi1>
  %i14 = arith.constant 14 : index
  %r14 = arith.cmpf uno, %a, %b : f16
  memref.store %r14, %out[%i14] : memref<16xi1>
  %i15 = arith.constant 15 : index
  %r15 = arith.cmpf true, %a, %b : f16
  memref.store %r15, %out[%i15] : memref<16xi1>
  func.return
}

// CHECK-LABEL: ptx.entry @cmpf_bf16(%a: u16, %b: u16, %out: u64) {
// CHECK:         = ptx.setp ne.s32
// CHECK:         = ptx.pack b32
// CHECK:         = ptx.mov
// CHECK:         = ptx.pack b32
// CHECK:         = ptx.mov
// CHECK:         = ptx.setp eq.f32
// CHECK:         = ptx.setp gt.f32
// CHECK:         = ptx.setp ge.f32
// CHECK:         = ptx.setp lt.f32
// CHECK:         = ptx.setp le.f32
// CHECK:         = ptx.setp ne.f32
// CHECK:         = ptx.setp num.f32
// CHECK:         = ptx.setp equ.f32
// CHECK:         = ptx.setp gtu.f32
// CHECK:         = ptx.setp geu.f32
// CHECK:         = ptx.setp ltu.f32
// CHECK:         = ptx.setp leu.f32
// CHECK:         = ptx.setp neu.f32
// CHECK:         = ptx.setp nan.f32
// CHECK:         = ptx.setp eq.s32
func.func @cmpf_bf16(%a: bf16, %b: bf16, %out: memref<16xi1>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.cmpf false, %a, %b : bf16
  memref.store %r0, %out[%i0] : memref<16xi1>
  %i1 = arith.constant 1 : index
  %r1 = arith.cmpf oeq, %a, %b : bf16
  memref.store %r1, %out[%i1] : memref<16xi1>
  %i2 = arith.constant 2 : index
  %r2 = arith.cmpf ogt, %a, %b : bf16
  memref.store %r2, %out[%i2] : memref<16xi1>
  %i3 = arith.constant 3 : index
  %r3 = arith.cmpf oge, %a, %b : bf16
  memref.store %r3, %out[%i3] : memref<16xi1>
  %i4 = arith.constant 4 : index
  %r4 = arith.cmpf olt, %a, %b : bf16
  memref.store %r4, %out[%i4] : memref<16xi1>
  %i5 = arith.constant 5 : index
  %r5 = arith.cmpf ole, %a, %b : bf16
  memref.store %r5, %out[%i5] : memref<16xi1>
  %i6 = arith.constant 6 : index
  %r6 = arith.cmpf one, %a, %b : bf16
  memref.store %r6, %out[%i6] : memref<16xi1>
  %i7 = arith.constant 7 : index
  %r7 = arith.cmpf ord, %a, %b : bf16
  memref.store %r7, %out[%i7] : memref<16xi1>
  %i8 = arith.constant 8 : index
  %r8 = arith.cmpf ueq, %a, %b : bf16
  memref.store %r8, %out[%i8] : memref<16xi1>
  %i9 = arith.constant 9 : index
  %r9 = arith.cmpf ugt, %a, %b : bf16
  memref.store %r9, %out[%i9] : memref<16xi1>
  %i10 = arith.constant 10 : index
  %r10 = arith.cmpf uge, %a, %b : bf16
  memref.store %r10, %out[%i10] : memref<16xi1>
  %i11 = arith.constant 11 : index
  %r11 = arith.cmpf ult, %a, %b : bf16
  memref.store %r11, %out[%i11] : memref<16xi1>
  %i12 = arith.constant 12 : index
  %r12 = arith.cmpf ule, %a, %b : bf16
  memref.store %r12, %out[%i12] : memref<16xi1>
  %i13 = arith.constant 13 : index
  %r13 = arith.cmpf une, %a, %b : bf16
  memref.store %r13, %out[%i13] : memref<16xi1>
  %i14 = arith.constant 14 : index
  %r14 = arith.cmpf uno, %a, %b : bf16
  memref.store %r14, %out[%i14] : memref<16xi1>
  %i15 = arith.constant 15 : index
  %r15 = arith.cmpf true, %a, %b : bf16
  memref.store %r15, %out[%i15] : memref<16xi1>
  func.return
}

// CHECK-LABEL: ptx.entry @cmpf_f32(%a: f32, %b: f32, %out: u64) {
// CHECK:         = ptx.setp ne.s32
// CHECK:         = ptx.setp eq.f32 %a, %b
// CHECK:         = ptx.setp gt.f32 %a, %b
// CHECK:         = ptx.setp ge.f32 %a, %b
// CHECK:         = ptx.setp lt.f32 %a, %b
// CHECK:         = ptx.setp le.f32 %a, %b
// CHECK:         = ptx.setp ne.f32 %a, %b
// CHECK:         = ptx.setp num.f32 %a, %b
// CHECK:         = ptx.setp equ.f32 %a, %b
// CHECK:         = ptx.setp gtu.f32 %a, %b
// CHECK:         = ptx.setp geu.f32 %a, %b
// CHECK:         = ptx.setp ltu.f32 %a, %b
// CHECK:         = ptx.setp leu.f32 %a, %b
// CHECK:         = ptx.setp neu.f32 %a, %b
// CHECK:         = ptx.setp nan.f32 %a, %b
// CHECK:         = ptx.setp eq.s32
func.func @cmpf_f32(%a: f32, %b: f32, %out: memref<16xi1>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.cmpf false, %a, %b : f32
  memref.store %r0, %out[%i0] : memref<16xi1>
  %i1 = arith.constant 1 : index
  %r1 = arith.cmpf oeq, %a, %b : f32
  memref.store %r1, %out[%i1] : memref<16xi1>
  %i2 = arith.constant 2 : index
  %r2 = arith.cmpf ogt, %a, %b : f32
  memref.store %r2, %out[%i2] : memref<16xi1>
  %i3 = arith.constant 3 : index
  %r3 = arith.cmpf oge, %a, %b : f32
  memref.store %r3, %out[%i3] : memref<16xi1>
  %i4 = arith.constant 4 : index
  %r4 = arith.cmpf olt, %a, %b : f32
  memref.store %r4, %out[%i4] : memref<16xi1>
  %i5 = arith.constant 5 : index
  %r5 = arith.cmpf ole, %a, %b : f32
  memref.store %r5, %out[%i5] : memref<16xi1>
  %i6 = arith.constant 6 : index
  %r6 = arith.cmpf one, %a, %b : f32
  memref.store %r6, %out[%i6] : memref<16xi1>
  %i7 = arith.constant 7 : index
  %r7 = arith.cmpf ord, %a, %b : f32
  memref.store %r7, %out[%i7] : memref<16xi1>
  %i8 = arith.constant 8 : index
  %r8 = arith.cmpf ueq, %a, %b : f32
  memref.store %r8, %out[%i8] : memref<16xi1>
  %i9 = arith.constant 9 : index
  %r9 = arith.cmpf ugt, %a, %b : f32
  memref.store %r9, %out[%i9] : memref<16xi1>
  %i10 = arith.constant 10 : index
  %r10 = arith.cmpf uge, %a, %b : f32
  memref.store %r10, %out[%i10] : memref<16xi1>
  %i11 = arith.constant 11 : index
  %r11 = arith.cmpf ult, %a, %b : f32
  memref.store %r11, %out[%i11] : memref<16xi1>
  %i12 = arith.constant 12 : index
  %r12 = arith.cmpf ule, %a, %b : f32
  memref.store %r12, %out[%i12] : memref<16xi1>
  %i13 = arith.constant 13 : index
  %r13 = arith.cmpf une, %a, %b : f32
  memref.store %r13, %out[%i13] : memref<16xi1>
  %i14 = arith.constant 14 : index
  %r14 = arith.cmpf uno, %a, %b : f32
  memref.store %r14, %out[%i14] : memref<16xi1>
  %i15 = arith.constant 15 : index
  %r15 = arith.cmpf true, %a, %b : f32
  memref.store %r15, %out[%i15] : memref<16xi1>
  func.return
}

// CHECK-LABEL: ptx.entry @cmpf_f64(%a: f64, %b: f64, %out: u64) {
// CHECK:         = ptx.setp ne.s32
// CHECK:         = ptx.setp eq.f64 %a, %b
// CHECK:         = ptx.setp gt.f64 %a, %b
// CHECK:         = ptx.setp ge.f64 %a, %b
// CHECK:         = ptx.setp lt.f64 %a, %b
// CHECK:         = ptx.setp le.f64 %a, %b
// CHECK:         = ptx.setp ne.f64 %a, %b
// CHECK:         = ptx.setp num.f64 %a, %b
// CHECK:         = ptx.setp equ.f64 %a, %b
// CHECK:         = ptx.setp gtu.f64 %a, %b
// CHECK:         = ptx.setp geu.f64 %a, %b
// CHECK:         = ptx.setp ltu.f64 %a, %b
// CHECK:         = ptx.setp leu.f64 %a, %b
// CHECK:         = ptx.setp neu.f64 %a, %b
// CHECK:         = ptx.setp nan.f64 %a, %b
// CHECK:         = ptx.setp eq.s32
func.func @cmpf_f64(%a: f64, %b: f64, %out: memref<16xi1>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = arith.cmpf false, %a, %b : f64
  memref.store %r0, %out[%i0] : memref<16xi1>
  %i1 = arith.constant 1 : index
  %r1 = arith.cmpf oeq, %a, %b : f64
  memref.store %r1, %out[%i1] : memref<16xi1>
  %i2 = arith.constant 2 : index
  %r2 = arith.cmpf ogt, %a, %b : f64
  memref.store %r2, %out[%i2] : memref<16xi1>
  %i3 = arith.constant 3 : index
  %r3 = arith.cmpf oge, %a, %b : f64
  memref.store %r3, %out[%i3] : memref<16xi1>
  %i4 = arith.constant 4 : index
  %r4 = arith.cmpf olt, %a, %b : f64
  memref.store %r4, %out[%i4] : memref<16xi1>
  %i5 = arith.constant 5 : index
  %r5 = arith.cmpf ole, %a, %b : f64
  memref.store %r5, %out[%i5] : memref<16xi1>
  %i6 = arith.constant 6 : index
  %r6 = arith.cmpf one, %a, %b : f64
  memref.store %r6, %out[%i6] : memref<16xi1>
  %i7 = arith.constant 7 : index
  %r7 = arith.cmpf ord, %a, %b : f64
  memref.store %r7, %out[%i7] : memref<16xi1>
  %i8 = arith.constant 8 : index
  %r8 = arith.cmpf ueq, %a, %b : f64
  memref.store %r8, %out[%i8] : memref<16xi1>
  %i9 = arith.constant 9 : index
  %r9 = arith.cmpf ugt, %a, %b : f64
  memref.store %r9, %out[%i9] : memref<16xi1>
  %i10 = arith.constant 10 : index
  %r10 = arith.cmpf uge, %a, %b : f64
  memref.store %r10, %out[%i10] : memref<16xi1>
  %i11 = arith.constant 11 : index
  %r11 = arith.cmpf ult, %a, %b : f64
  memref.store %r11, %out[%i11] : memref<16xi1>
  %i12 = arith.constant 12 : index
  %r12 = arith.cmpf ule, %a, %b : f64
  memref.store %r12, %out[%i12] : memref<16xi1>
  %i13 = arith.constant 13 : index
  %r13 = arith.cmpf une, %a, %b : f64
  memref.store %r13, %out[%i13] : memref<16xi1>
  %i14 = arith.constant 14 : index
  %r14 = arith.cmpf uno, %a, %b : f64
  memref.store %r14, %out[%i14] : memref<16xi1>
  %i15 = arith.constant 15 : index
  %r15 = arith.cmpf true, %a, %b : f64
  memref.store %r15, %out[%i15] : memref<16xi1>
  func.return
}

// CHECK-LABEL: ptx.entry @approximate(%a: f32, %b: u16, %c: u16, %out: u64, %out16: u64, %outb: u64) {
// CHECK:         = ptx.ex2 approx.ftz.f32 %a
// CHECK:         = ptx.lg2 approx.ftz.f32 %a
// CHECK:         = ptx.cvt f32.f16 %b
// CHECK:         = ptx.ex2 approx.ftz.f32
// CHECK:         = ptx.cvt rn.f16.f32
// CHECK:         = ptx.pack b32
// CHECK:         = ptx.mov
// CHECK:         = ptx.lg2 approx.ftz.f32
// CHECK:         = ptx.cvt rn.bf16.f32
func.func @approximate(%a: f32, %b: f16, %c: bf16, %out: memref<4xf32>, %out16: memref<2xf16>, %outb: memref<2xbf16>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %r0 = math.exp2 %a fastmath<afn> : f32
  memref.store %r0, %out[%i0] : memref<4xf32>
  %i1 = arith.constant 1 : index
  %r1 = math.log2 %a fastmath<afn> : f32
  memref.store %r1, %out[%i1] : memref<4xf32>
  %r2 = math.exp2 %b fastmath<afn> : f16
  memref.store %r2, %out16[%i0] : memref<2xf16>
  %r3 = math.log2 %c fastmath<afn> : bf16
  memref.store %r3, %outb[%i0] : memref<2xbf16>
  func.return
}
