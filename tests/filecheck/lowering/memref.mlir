// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_75
// CHECKS: all

// Every element type, from global memory to global memory; a stored i1 is 0 or 1.
// CHECK-LABEL: ptx.entry @types(%i1: u64, %i8: u64, %i16: u64, %i32: u64, %i64: u64, %index: u64, %f16: u64, %bf16: u64, %f32: u64, %f64: u64, %i: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %i1
// CHECK-NEXT:    %1 = ptx.cvta to.global.u64 %i8
// CHECK-NEXT:    %2 = ptx.cvta to.global.u64 %i16
// CHECK-NEXT:    %3 = ptx.cvta to.global.u64 %i32
// CHECK-NEXT:    %4 = ptx.cvta to.global.u64 %i64
// CHECK-NEXT:    %5 = ptx.cvta to.global.u64 %index
// CHECK-NEXT:    %6 = ptx.cvta to.global.u64 %f16
// CHECK-NEXT:    %7 = ptx.cvta to.global.u64 %bf16
// CHECK-NEXT:    %8 = ptx.cvta to.global.u64 %f32
// CHECK-NEXT:    %9 = ptx.cvta to.global.u64 %f64
// CHECK-NEXT:    %10 = ptx.add s64 %i, %0
// CHECK-NEXT:    %11 = ptx.ld "global" "b8" %10, 0 : !ptx.reg<b64> -> !ptx.reg<b16>
// CHECK-NEXT:    %12 = ptx.const 0 : !ptx.reg<b16>
// CHECK-NEXT:    %13 = ptx.setp ne.u16 %11, %12
// CHECK-NEXT:    %14 = ptx.const 1 : !ptx.reg<b16>
// CHECK-NEXT:    %15 = ptx.selp b16 %14, %12, %13
// CHECK-NEXT:    ptx.st "global" "b8" %10, 0, %15 : !ptx.reg<b64>, !ptx.reg<b16>
// CHECK-NEXT:    %16 = ptx.add s64 %i, %1
// CHECK-NEXT:    %17 = ptx.ld "global" "b8" %16, 0 : !ptx.reg<b64> -> !ptx.reg<b16>
// CHECK-NEXT:    ptx.st "global" "b8" %16, 0, %17 : !ptx.reg<b64>, !ptx.reg<b16>
// CHECK-NEXT:    %18 = ptx.const 1 : !ptx.reg<b32>
// CHECK-NEXT:    %19 = ptx.shl b64 %i, %18
// CHECK-NEXT:    %20 = ptx.add s64 %19, %2
// CHECK-NEXT:    %21 = ptx.ld "global" "b16" %20, 0 : !ptx.reg<b64> -> !ptx.reg<b16>
// CHECK-NEXT:    ptx.st "global" "b16" %20, 0, %21 : !ptx.reg<b64>, !ptx.reg<b16>
// CHECK-NEXT:    %22 = ptx.const 2 : !ptx.reg<b32>
// CHECK-NEXT:    %23 = ptx.shl b64 %i, %22
// CHECK-NEXT:    %24 = ptx.add s64 %23, %3
// CHECK-NEXT:    %25 = ptx.ld "global" "b32" %24, 0 : !ptx.reg<b64> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.st "global" "b32" %24, 0, %25 : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    %26 = ptx.const 3 : !ptx.reg<b32>
// CHECK-NEXT:    %27 = ptx.shl b64 %i, %26
// CHECK-NEXT:    %28 = ptx.add s64 %27, %4
// CHECK-NEXT:    %29 = ptx.ld "global" "b64" %28, 0 : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    ptx.st "global" "b64" %28, 0, %29 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %30 = ptx.add s64 %27, %5
// CHECK-NEXT:    %31 = ptx.ld "global" "b64" %30, 0 : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    ptx.st "global" "b64" %30, 0, %31 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %32 = ptx.add s64 %19, %6
// CHECK-NEXT:    %33 = ptx.ld "global" "b16" %32, 0 : !ptx.reg<b64> -> !ptx.reg<b16>
// CHECK-NEXT:    ptx.st "global" "b16" %32, 0, %33 : !ptx.reg<b64>, !ptx.reg<b16>
// CHECK-NEXT:    %34 = ptx.add s64 %19, %7
// CHECK-NEXT:    %35 = ptx.ld "global" "b16" %34, 0 : !ptx.reg<b64> -> !ptx.reg<b16>
// CHECK-NEXT:    ptx.st "global" "b16" %34, 0, %35 : !ptx.reg<b64>, !ptx.reg<b16>
// CHECK-NEXT:    %36 = ptx.add s64 %23, %8
// CHECK-NEXT:    %37 = ptx.ld "global" "f32" %36, 0 : !ptx.reg<b64> -> !ptx.reg<f32>
// CHECK-NEXT:    ptx.st "global" "f32" %36, 0, %37 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %38 = ptx.add s64 %27, %9
// CHECK-NEXT:    %39 = ptx.ld "global" "f64" %38, 0 : !ptx.reg<b64> -> !ptx.reg<f64>
// CHECK-NEXT:    ptx.st "global" "f64" %38, 0, %39 : !ptx.reg<b64>, !ptx.reg<f64>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @types(%i1: memref<?xi1>, %i8: memref<?xi8>, %i16: memref<?xi16>, %i32: memref<?xi32>, %i64: memref<?xi64>,
                 %index: memref<?xindex>, %f16: memref<?xf16>, %bf16: memref<?xbf16>, %f32: memref<?xf32>, %f64: memref<?xf64>,
                 %i: index) attributes {gpu.kernel} {
  %0 = memref.load %i1[%i] : memref<?xi1>
  memref.store %0, %i1[%i] : memref<?xi1>
  %1 = memref.load %i8[%i] : memref<?xi8>
  memref.store %1, %i8[%i] : memref<?xi8>
  %2 = memref.load %i16[%i] : memref<?xi16>
  memref.store %2, %i16[%i] : memref<?xi16>
  %3 = memref.load %i32[%i] : memref<?xi32>
  memref.store %3, %i32[%i] : memref<?xi32>
  %4 = memref.load %i64[%i] : memref<?xi64>
  memref.store %4, %i64[%i] : memref<?xi64>
  %5 = memref.load %index[%i] : memref<?xindex>
  memref.store %5, %index[%i] : memref<?xindex>
  %6 = memref.load %f16[%i] : memref<?xf16>
  memref.store %6, %f16[%i] : memref<?xf16>
  %7 = memref.load %bf16[%i] : memref<?xbf16>
  memref.store %7, %bf16[%i] : memref<?xbf16>
  %8 = memref.load %f32[%i] : memref<?xf32>
  memref.store %8, %f32[%i] : memref<?xf32>
  %9 = memref.load %f64[%i] : memref<?xf64>
  memref.store %9, %f64[%i] : memref<?xf64>
  func.return
}

// Constant indices go into the instruction's offset, factors of two into shifts.
// CHECK-LABEL: ptx.entry @offsets(%g: u64, %i: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %g
// CHECK-NEXT:    %1 = ptx.const 5 : !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.shl b64 %i, %1
// CHECK-NEXT:    %3 = ptx.add s64 %2, %0
// CHECK-NEXT:    %4 = ptx.ld "global" "f32" %3, 12 : !ptx.reg<b64> -> !ptx.reg<f32>
// CHECK-NEXT:    ptx.st "global" "f32" %0, 100, %4 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @offsets(%g: memref<4x8xf32>, %i: index) attributes {gpu.kernel} {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %x = memref.load %g[%i, %c3] : memref<4x8xf32>
  memref.store %x, %g[%c3, %c1] : memref<4x8xf32>
  func.return
}

// A stride that is no power of two, and one that is zero.
// CHECK-LABEL: ptx.entry @strides(%g: u64, %b: u64, %i: u64, %j: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %g
// CHECK-NEXT:    %1 = ptx.cvta to.global.u64 %b
// CHECK-NEXT:    %2 = ptx.const 2 : !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.shl b64 %j, %2
// CHECK-NEXT:    %4 = ptx.add s64 %3, %1
// CHECK-NEXT:    %5 = ptx.ld "global" "f32" %4, 0 : !ptx.reg<b64> -> !ptx.reg<f32>
// CHECK-NEXT:    %6 = ptx.const 48 : !ptx.reg<b64>
// CHECK-NEXT:    %7 = ptx.mul lo.s64 %i, %6
// CHECK-NEXT:    %8 = ptx.add s64 %7, %0
// CHECK-NEXT:    %9 = ptx.add s64 %3, %8
// CHECK-NEXT:    ptx.st "global" "f32" %9, 0, %5 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @strides(%g: memref<4x8xf32, strided<[12, 1]>>, %b: memref<4x8xf32, strided<[0, 1]>>, %i: index, %j: index) attributes {gpu.kernel} {
  %x = memref.load %b[%i, %j] : memref<4x8xf32, strided<[0, 1]>>
  memref.store %x, %g[%i, %j] : memref<4x8xf32, strided<[12, 1]>>
  func.return
}

// Extents and strides that only the GPU knows.
// CHECK-LABEL: ptx.entry @reinterpret(%p: u64, %m: u64, %n: u64, %i: u64, %j: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %p
// CHECK-NEXT:    %1 = ptx.const 2 : !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.shl b64 %i, %1
// CHECK-NEXT:    %3 = ptx.add s64 %2, %0
// CHECK-NEXT:    %4 = ptx.mul lo.s64 %i, %n
// CHECK-NEXT:    %5 = ptx.shl b64 %4, %1
// CHECK-NEXT:    %6 = ptx.add s64 %5, %3
// CHECK-NEXT:    %7 = ptx.shl b64 %j, %1
// CHECK-NEXT:    %8 = ptx.add s64 %7, %6
// CHECK-NEXT:    %9 = ptx.ld "global" "f32" %8, 0 : !ptx.reg<b64> -> !ptx.reg<f32>
// CHECK-NEXT:    %10 = ptx.mul lo.s64 %j, %n
// CHECK-NEXT:    %11 = ptx.shl b64 %10, %1
// CHECK-NEXT:    %12 = ptx.add s64 %11, %3
// CHECK-NEXT:    %13 = ptx.add s64 %2, %12
// CHECK-NEXT:    ptx.st "global" "f32" %13, 0, %9 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @reinterpret(%p: memref<?xf32>, %m: index, %n: index, %i: index, %j: index) attributes {gpu.kernel} {
  %g = memref.reinterpret_cast %p to offset: [%i], sizes: [%m, %n], strides: [%n, 1] : memref<?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
  %x = memref.load %g[%i, %j] : memref<?x?xf32, strided<[?, 1], offset: ?>>
  memref.store %x, %g[%j, %i] : memref<?x?xf32, strided<[?, 1], offset: ?>>
  func.return
}

// Shared memory: one arena, tiles aligned to 128 bytes or what they ask for, 32-bit addresses.
// CHECK-LABEL: ptx.entry @shared(%i: u64) shared 1285 align 1024 {
// CHECK-NEXT:    %0 = ptx.shared_address 0
// CHECK-NEXT:    %1 = ptx.shared_address 1024
// CHECK-NEXT:    %2 = ptx.shared_address 1280
// CHECK-NEXT:    %3 = ptx.cvt u32.u64 %i
// CHECK-NEXT:    %4 = ptx.const 2 : !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.shl b32 %3, %4
// CHECK-NEXT:    %6 = ptx.add u32 %5, %0
// CHECK-NEXT:    %7 = ptx.ld "shared" "f32" %6, 0 : !ptx.reg<b32> -> !ptx.reg<f32>
// CHECK-NEXT:    ptx.st "shared" "f32" %0, 0, %7 : !ptx.reg<b32>, !ptx.reg<f32>
// CHECK-NEXT:    %8 = ptx.const 7 : !ptx.reg<b32>
// CHECK-NEXT:    %9 = ptx.shl b32 %3, %8
// CHECK-NEXT:    %10 = ptx.add u32 %9, %1
// CHECK-NEXT:    %11 = ptx.const 1 : !ptx.reg<b32>
// CHECK-NEXT:    %12 = ptx.shl b32 %3, %11
// CHECK-NEXT:    %13 = ptx.add u32 %12, %10
// CHECK-NEXT:    %14 = ptx.ld "shared" "b16" %13, 0 : !ptx.reg<b32> -> !ptx.reg<b16>
// CHECK-NEXT:    %15 = ptx.add u32 %12, %1
// CHECK-NEXT:    ptx.st "shared" "b16" %15, 0, %14 : !ptx.reg<b32>, !ptx.reg<b16>
// CHECK-NEXT:    %16 = ptx.add u32 %3, %2
// CHECK-NEXT:    %17 = ptx.ld "shared" "b8" %16, 0 : !ptx.reg<b32> -> !ptx.reg<b16>
// CHECK-NEXT:    ptx.st "shared" "b8" %2, 0, %17 : !ptx.reg<b32>, !ptx.reg<b16>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @shared(%i: index) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<3xf32, #cute<space smem>>
  %b = memref.alloc() {alignment = 1024 : i64} : memref<2x64xf16, 3>
  %c = memref.alloc() : memref<5xi8, #cute<space smem>>
  %x = memref.load %a[%i] : memref<3xf32, #cute<space smem>>
  memref.store %x, %a[%c0] : memref<3xf32, #cute<space smem>>
  %y = memref.load %b[%i, %i] : memref<2x64xf16, 3>
  memref.store %y, %b[%c0, %i] : memref<2x64xf16, 3>
  %z = memref.load %c[%i] : memref<5xi8, #cute<space smem>>
  memref.store %z, %c[%c0] : memref<5xi8, #cute<space smem>>
  func.return
}

// A swizzle is applied to the byte offset; the stage, above its period, is added after it.
// CHECK-LABEL: ptx.entry @swizzled(%stage: u64, %row: u64, %col: u64) shared 12288 align 512 {
// CHECK-NEXT:    %0 = ptx.shared_address 0
// CHECK-NEXT:    %1 = ptx.cvt u32.u64 %stage
// CHECK-NEXT:    %2 = ptx.cvt u32.u64 %row
// CHECK-NEXT:    %3 = ptx.cvt u32.u64 %col
// CHECK-NEXT:    %4 = ptx.const 3 : !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.const 6 : !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.shl b32 %2, %5
// CHECK-NEXT:    %7 = ptx.const 1 : !ptx.reg<b32>
// CHECK-NEXT:    %8 = ptx.shl b32 %3, %7
// CHECK-NEXT:    %9 = ptx.add u32 %8, %6
// CHECK-NEXT:    %10 = ptx.const 384 : !ptx.reg<b32>
// CHECK-NEXT:    %11 = ptx.and b32 %9, %10
// CHECK-NEXT:    %12 = ptx.shr u32 %11, %4
// CHECK-NEXT:    %13 = ptx.xor b32 %9, %12
// CHECK-NEXT:    %14 = ptx.const 12 : !ptx.reg<b32>
// CHECK-NEXT:    %15 = ptx.shl b32 %1, %14
// CHECK-NEXT:    %16 = ptx.add u32 %15, %0
// CHECK-NEXT:    %17 = ptx.add u32 %13, %16
// CHECK-NEXT:    %18 = ptx.ld "shared" "b16" %17, 0 : !ptx.reg<b32> -> !ptx.reg<b16>
// CHECK-NEXT:    %19 = ptx.shl b32 %3, %5
// CHECK-NEXT:    %20 = ptx.shl b32 %2, %7
// CHECK-NEXT:    %21 = ptx.add u32 %20, %19
// CHECK-NEXT:    %22 = ptx.and b32 %21, %10
// CHECK-NEXT:    %23 = ptx.shr u32 %22, %4
// CHECK-NEXT:    %24 = ptx.xor b32 %21, %23
// CHECK-NEXT:    %25 = ptx.add u32 %24, %16
// CHECK-NEXT:    ptx.st "shared" "b16" %25, 0, %18 : !ptx.reg<b32>, !ptx.reg<b16>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @swizzled(%stage: index, %row: index, %col: index) attributes {gpu.kernel} {
  %s = memref.alloc() : memref<3x64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (3,64,32):(2048,32,1)">, #cute<space smem>>
  %x = memref.load %s[%stage, %row, %col] : memref<3x64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (3,64,32):(2048,32,1)">, #cute<space smem>>
  memref.store %x, %s[%stage, %col, %row] : memref<3x64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (3,64,32):(2048,32,1)">, #cute<space smem>>
  func.return
}

// Constant coordinates are swizzled here: element (5, 9) is at S<2,3,3>(169) = 185, byte 370.
// CHECK-LABEL: ptx.entry @swizzled_constants() shared 4096 align 512 {
// CHECK-NEXT:    %0 = ptx.shared_address 0
// CHECK-NEXT:    %1 = ptx.ld "shared" "b16" %0, 370 : !ptx.reg<b32> -> !ptx.reg<b16>
// CHECK-NEXT:    ptx.st "shared" "b16" %0, 586, %1 : !ptx.reg<b32>, !ptx.reg<b16>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @swizzled_constants() attributes {gpu.kernel} {
  %c5 = arith.constant 5 : index
  %c9 = arith.constant 9 : index
  %s = memref.alloc() : memref<64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,32):(32,1)">, #cute<space smem>>
  %x = memref.load %s[%c5, %c9] : memref<64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,32):(32,1)">, #cute<space smem>>
  memref.store %x, %s[%c9, %c5] : memref<64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,32):(32,1)">, #cute<space smem>>
  func.return
}

// In global memory the same, in 64 bits.
// CHECK-LABEL: ptx.entry @swizzled_global(%g: u64, %i: u64, %j: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %g
// CHECK-NEXT:    %1 = ptx.const 7 : !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.shl b64 %i, %1
// CHECK-NEXT:    %3 = ptx.const 2 : !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.shl b64 %j, %3
// CHECK-NEXT:    %5 = ptx.add s64 %4, %2
// CHECK-NEXT:    %6 = ptx.const 768 : !ptx.reg<b64>
// CHECK-NEXT:    %7 = ptx.and b64 %5, %6
// CHECK-NEXT:    %8 = ptx.const 3 : !ptx.reg<b32>
// CHECK-NEXT:    %9 = ptx.shr u64 %7, %8
// CHECK-NEXT:    %10 = ptx.xor b64 %5, %9
// CHECK-NEXT:    %11 = ptx.add s64 %10, %0
// CHECK-NEXT:    %12 = ptx.ld "global" "f32" %11, 0 : !ptx.reg<b64> -> !ptx.reg<f32>
// CHECK-NEXT:    %13 = ptx.shl b64 %j, %1
// CHECK-NEXT:    %14 = ptx.shl b64 %i, %3
// CHECK-NEXT:    %15 = ptx.add s64 %14, %13
// CHECK-NEXT:    %16 = ptx.and b64 %15, %6
// CHECK-NEXT:    %17 = ptx.shr u64 %16, %8
// CHECK-NEXT:    %18 = ptx.xor b64 %15, %17
// CHECK-NEXT:    %19 = ptx.add s64 %18, %0
// CHECK-NEXT:    ptx.st "global" "f32" %19, 0, %12 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @swizzled_global(%g: memref<64x32xf32, !cute.composed_layout<"S<2,3,3> o 0 o (64,32):(32,1)">>, %i: index, %j: index) attributes {gpu.kernel} {
  %x = memref.load %g[%i, %j] : memref<64x32xf32, !cute.composed_layout<"S<2,3,3> o 0 o (64,32):(32,1)">>
  memref.store %x, %g[%j, %i] : memref<64x32xf32, !cute.composed_layout<"S<2,3,3> o 0 o (64,32):(32,1)">>
  func.return
}

// An index into a mode of modes is taken apart: i % 8, i / 8.
// CHECK-LABEL: ptx.entry @hierarchical(%i: u64, %j: u64) shared 8192 align 128 {
// CHECK-NEXT:    %0 = ptx.shared_address 0
// CHECK-NEXT:    %1 = ptx.cvt u32.u64 %i
// CHECK-NEXT:    %2 = ptx.cvt u32.u64 %j
// CHECK-NEXT:    %3 = ptx.const 7 : !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.and b32 %1, %3
// CHECK-NEXT:    %5 = ptx.const 3 : !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.shr u32 %1, %5
// CHECK-NEXT:    %7 = ptx.const 4 : !ptx.reg<b32>
// CHECK-NEXT:    %8 = ptx.and b32 %2, %5
// CHECK-NEXT:    %9 = ptx.const 2 : !ptx.reg<b32>
// CHECK-NEXT:    %10 = ptx.shr u32 %2, %9
// CHECK-NEXT:    %11 = ptx.shl b32 %4, %7
// CHECK-NEXT:    %12 = ptx.add u32 %11, %0
// CHECK-NEXT:    %13 = ptx.const 10 : !ptx.reg<b32>
// CHECK-NEXT:    %14 = ptx.shl b32 %6, %13
// CHECK-NEXT:    %15 = ptx.add u32 %14, %12
// CHECK-NEXT:    %16 = ptx.shl b32 %8, %9
// CHECK-NEXT:    %17 = ptx.add u32 %16, %15
// CHECK-NEXT:    %18 = ptx.shl b32 %10, %3
// CHECK-NEXT:    %19 = ptx.add u32 %18, %17
// CHECK-NEXT:    %20 = ptx.ld "shared" "f32" %19, 0 : !ptx.reg<b32> -> !ptx.reg<f32>
// CHECK-NEXT:    %21 = ptx.and b32 %2, %3
// CHECK-NEXT:    %22 = ptx.shr u32 %2, %5
// CHECK-NEXT:    %23 = ptx.and b32 %1, %5
// CHECK-NEXT:    %24 = ptx.shr u32 %1, %9
// CHECK-NEXT:    %25 = ptx.shl b32 %21, %7
// CHECK-NEXT:    %26 = ptx.add u32 %25, %0
// CHECK-NEXT:    %27 = ptx.shl b32 %22, %13
// CHECK-NEXT:    %28 = ptx.add u32 %27, %26
// CHECK-NEXT:    %29 = ptx.shl b32 %23, %9
// CHECK-NEXT:    %30 = ptx.add u32 %29, %28
// CHECK-NEXT:    %31 = ptx.shl b32 %24, %3
// CHECK-NEXT:    %32 = ptx.add u32 %31, %30
// CHECK-NEXT:    ptx.st "shared" "f32" %32, 0, %20 : !ptx.reg<b32>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @hierarchical(%i: index, %j: index) attributes {gpu.kernel} {
  %s = memref.alloc() : memref<64x32xf32, !cute.layout<"((8,8),(4,8)):((4,256),(1,32))">, #cute<space smem>>
  %x = memref.load %s[%i, %j] : memref<64x32xf32, !cute.layout<"((8,8),(4,8)):((4,256),(1,32))">, #cute<space smem>>
  memref.store %x, %s[%j, %i] : memref<64x32xf32, !cute.layout<"((8,8),(4,8)):((4,256),(1,32))">, #cute<space smem>>
  func.return
}

// ... by a division, where the extent is no power of two.
// CHECK-LABEL: ptx.entry @hierarchical_odd(%g: u64, %i: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %g
// CHECK-NEXT:    %1 = ptx.const 3 : !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.rem u64 %i, %1
// CHECK-NEXT:    %3 = ptx.div u64 %i, %1
// CHECK-NEXT:    %4 = ptx.const 4 : !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.shl b64 %2, %4
// CHECK-NEXT:    %6 = ptx.add s64 %5, %0
// CHECK-NEXT:    %7 = ptx.const 48 : !ptx.reg<b64>
// CHECK-NEXT:    %8 = ptx.mul lo.s64 %3, %7
// CHECK-NEXT:    %9 = ptx.add s64 %8, %6
// CHECK-NEXT:    %10 = ptx.ld "global" "f32" %9, 0 : !ptx.reg<b64> -> !ptx.reg<f32>
// CHECK-NEXT:    %11 = ptx.rem u64 %i, %1
// CHECK-NEXT:    %12 = ptx.div u64 %i, %1
// CHECK-NEXT:    %13 = ptx.shl b64 %11, %4
// CHECK-NEXT:    %14 = ptx.add s64 %13, %0
// CHECK-NEXT:    %15 = ptx.mul lo.s64 %12, %7
// CHECK-NEXT:    %16 = ptx.add s64 %15, %14
// CHECK-NEXT:    ptx.st "global" "f32" %16, 0, %10 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @hierarchical_odd(%g: memref<12xf32, !cute.layout<"((3,4)):((4,12))">>, %i: index) attributes {gpu.kernel} {
  %x = memref.load %g[%i] : memref<12xf32, !cute.layout<"((3,4)):((4,12))">>
  memref.store %x, %g[%i] : memref<12xf32, !cute.layout<"((3,4)):((4,12))">>
  func.return
}
