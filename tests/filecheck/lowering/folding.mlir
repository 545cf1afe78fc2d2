// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix TEXT
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_75
// CHECKS: all

// Sums with zero, products with one and powers of two, division by powers of two, however rounded.
// CHECK-LABEL: ptx.entry @identities(%x: u64, %out: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.const 1 : !ptx.reg<b64>
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %x : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %x : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.const 3 : !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.shl b64 %x, %2
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %3 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.shr u64 %x, %2
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %4 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %5 = ptx.const 7 : !ptx.reg<b64>
// CHECK-NEXT:    %6 = ptx.and b64 %x, %5
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %6 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %7 = ptx.const 63 : !ptx.reg<b32>
// CHECK-NEXT:    %8 = ptx.shr s64 %x, %7
// CHECK-NEXT:    %9 = ptx.const 61 : !ptx.reg<b32>
// CHECK-NEXT:    %10 = ptx.shr u64 %8, %9
// CHECK-NEXT:    %11 = ptx.add s64 %x, %10
// CHECK-NEXT:    %12 = ptx.shr s64 %11, %2
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %12 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %13 = ptx.const -8 : !ptx.reg<b64>
// CHECK-NEXT:    %14 = ptx.and b64 %11, %13
// CHECK-NEXT:    %15 = ptx.sub s64 %x, %14
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %15 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %16 = ptx.const 64 : !ptx.reg<b64>
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %16 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %17 = ptx.shr s64 %x, %2
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %17 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %18 = ptx.min u64 %6, %1
// CHECK-NEXT:    %19 = ptx.add u64 %17, %18
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %19 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @identities(%x: index, %out: memref<8xindex>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %sum = arith.addi %x, %c0 : index
  memref.store %sum, %out[%c0] : memref<8xindex>
  %same = arith.muli %x, %c1 : index
  memref.store %same, %out[%c0] : memref<8xindex>
  %scaled = arith.muli %x, %c8 : index
  memref.store %scaled, %out[%c0] : memref<8xindex>
  %quotient = arith.divui %x, %c8 : index
  memref.store %quotient, %out[%c0] : memref<8xindex>
  %rest = arith.remui %x, %c8 : index
  memref.store %rest, %out[%c0] : memref<8xindex>
  %signed = arith.divsi %x, %c8 : index
  memref.store %signed, %out[%c0] : memref<8xindex>
  %left = arith.remsi %x, %c8 : index
  memref.store %left, %out[%c0] : memref<8xindex>
  %product = arith.muli %c8, %c8 : index
  memref.store %product, %out[%c0] : memref<8xindex>
  %down = arith.floordivsi %x, %c8 : index
  memref.store %down, %out[%c0] : memref<8xindex>
  %up = arith.ceildivsi %x, %c8 : index
  memref.store %up, %out[%c0] : memref<8xindex>
  func.return
}

// Casts of constants, with the meaning of the cast: -1 as i8 is 255 without its sign.
// CHECK-LABEL: ptx.entry @casts(%out: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.const -1 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.st "global" "b32" %0, 0, %1 : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.const 255 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.st "global" "b32" %0, 0, %2 : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.const 1 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.st "global" "b32" %0, 0, %3 : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @casts(%out: memref<8xi32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %m1 = arith.constant -1 : i8
  %s = arith.extsi %m1 : i8 to i32
  memref.store %s, %out[%c0] : memref<8xi32>
  %u = arith.extui %m1 : i8 to i32
  memref.store %u, %out[%c0] : memref<8xi32>
  %wide = arith.constant 4294967297 : i64
  %low = arith.trunci %wide : i64 to i32
  memref.store %low, %out[%c0] : memref<8xi32>
  func.return
}

// Floats by their bits: 1.5, -0, NaN, infinity, an f32 that rounds, the largest f16.
// CHECK-LABEL: ptx.entry @floats(%f32: u64, %f16: u64, %bf16: u64, %f64: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %f32
// CHECK-NEXT:    %1 = ptx.cvta to.global.u64 %f16
// CHECK-NEXT:    %2 = ptx.cvta to.global.u64 %bf16
// CHECK-NEXT:    %3 = ptx.cvta to.global.u64 %f64
// CHECK-NEXT:    %4 = ptx.const 1069547520 : !ptx.reg<f32>
// CHECK-NEXT:    ptx.st "global" "f32" %0, 0, %4 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %5 = ptx.const -2147483648 : !ptx.reg<f32>
// CHECK-NEXT:    ptx.st "global" "f32" %0, 0, %5 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %6 = ptx.const 2143289344 : !ptx.reg<f32>
// CHECK-NEXT:    ptx.st "global" "f32" %0, 0, %6 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %7 = ptx.const -8388608 : !ptx.reg<f32>
// CHECK-NEXT:    ptx.st "global" "f32" %0, 0, %7 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %8 = ptx.const 1036831949 : !ptx.reg<f32>
// CHECK-NEXT:    ptx.st "global" "f32" %0, 0, %8 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %9 = ptx.const 31743 : !ptx.reg<b16>
// CHECK-NEXT:    ptx.st "global" "b16" %1, 0, %9 : !ptx.reg<b64>, !ptx.reg<b16>
// CHECK-NEXT:    %10 = ptx.const -16448 : !ptx.reg<b16>
// CHECK-NEXT:    ptx.st "global" "b16" %2, 0, %10 : !ptx.reg<b64>, !ptx.reg<b16>
// CHECK-NEXT:    %11 = ptx.const 4591870180066957722 : !ptx.reg<f64>
// CHECK-NEXT:    ptx.st "global" "f64" %3, 0, %11 : !ptx.reg<b64>, !ptx.reg<f64>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @floats(%f32: memref<8xf32>, %f16: memref<8xf16>, %bf16: memref<8xbf16>, %f64: memref<8xf64>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 1.5 : f32
  memref.store %0, %f32[%c0] : memref<8xf32>
  %1 = arith.constant -0.0 : f32
  memref.store %1, %f32[%c0] : memref<8xf32>
  %2 = arith.constant 0x7FC00000 : f32
  memref.store %2, %f32[%c0] : memref<8xf32>
  %3 = arith.constant 0xFF800000 : f32
  memref.store %3, %f32[%c0] : memref<8xf32>
  %4 = arith.constant 0.1 : f32
  memref.store %4, %f32[%c0] : memref<8xf32>
  %5 = arith.constant 65504.0 : f16
  memref.store %5, %f16[%c0] : memref<8xf16>
  %6 = arith.constant -1.5 : bf16
  memref.store %6, %bf16[%c0] : memref<8xbf16>
  %7 = arith.constant 0.1 : f64
  memref.store %7, %f64[%c0] : memref<8xf64>
  func.return
}

// In the text a constant stands in the instruction, where that takes one.
// TEXT-LABEL: .visible .entry immediates
// TEXT:       add.s32 %r2, %r1, -7;
// TEXT:       add.rn.f32 %f2, %f1, 0f3FC00000;
// TEXT:       setp.lt.s32 %p1, %r1, 100;
// TEXT:       mov.b16 [[ONE:%h[0-9]+]], 15360;
// TEXT:       add.rn.f16 %h{{[0-9]+}}, %h{{[0-9]+}}, [[ONE]];
// CHECK-LABEL: ptx.entry @immediates(%n: u32, %x: f32, %h: u16, %ints: u64, %floats: u64, %halves: u64, %bits: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %ints
// CHECK-NEXT:    %1 = ptx.cvta to.global.u64 %floats
// CHECK-NEXT:    %2 = ptx.cvta to.global.u64 %halves
// CHECK-NEXT:    %3 = ptx.cvta to.global.u64 %bits
// CHECK-NEXT:    %4 = ptx.const -7 : !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.add s32 %n, %4
// CHECK-NEXT:    ptx.st "global" "b32" %0, 0, %5 : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.const 1069547520 : !ptx.reg<f32>
// CHECK-NEXT:    %7 = ptx.add rn.f32 %x, %6
// CHECK-NEXT:    ptx.st "global" "f32" %1, 0, %7 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %8 = ptx.const 100 : !ptx.reg<b32>
// CHECK-NEXT:    %9 = ptx.setp lt.s32 %n, %8
// CHECK-NEXT:    %10 = ptx.const 1 : !ptx.reg<b16>
// CHECK-NEXT:    %11 = ptx.const 0 : !ptx.reg<b16>
// CHECK-NEXT:    %12 = ptx.selp b16 %10, %11, %9
// CHECK-NEXT:    ptx.st "global" "b8" %3, 0, %12 : !ptx.reg<b64>, !ptx.reg<b16>
// CHECK-NEXT:    %13 = ptx.const 15360 : !ptx.reg<b16>
// CHECK-NEXT:    %14 = ptx.add rn.f16 %h, %13
// CHECK-NEXT:    ptx.st "global" "b16" %2, 0, %14 : !ptx.reg<b64>, !ptx.reg<b16>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @immediates(%n: i32, %x: f32, %h: f16, %ints: memref<8xi32>, %floats: memref<8xf32>, %halves: memref<8xf16>, %bits: memref<8xi1>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %m7 = arith.constant -7 : i32
  %sum = arith.addi %n, %m7 : i32
  memref.store %sum, %ints[%c0] : memref<8xi32>
  %half = arith.constant 1.5 : f32
  %more = arith.addf %x, %half : f32
  memref.store %more, %floats[%c0] : memref<8xf32>
  %c100 = arith.constant 100 : i32
  %less = arith.cmpi slt, %n, %c100 : i32
  memref.store %less, %bits[%c0] : memref<8xi1>
  %one = arith.constant 1.0 : f16
  %h2 = arith.addf %h, %one : f16
  memref.store %h2, %halves[%c0] : memref<8xf16>
  func.return
}
