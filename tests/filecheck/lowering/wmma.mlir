// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_80
// CHECKS: all

!a = !cute_nvgpu.fragment<16xf16>
!c = !cute_nvgpu.fragment<8xf32>

// The stride of a shared tile is known; the index of a row is an offset.
// CHECK-LABEL: ptx.entry @shared(%row: u64, %out: u64, %zero: f32) shared 10208 align 128 {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.shared_address 0
// CHECK-NEXT:    %2 = ptx.cvt u32.u64 %row
// CHECK-NEXT:    %3 = ptx.const 64 : !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.const 160 : !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.mul lo.u32 %2, %4
// CHECK-NEXT:    %6 = ptx.add u32 %5, %1
// CHECK-NEXT:    %7 = ptx.const 80 : !ptx.reg<b32>
// CHECK-NEXT:    %8 = ptx.wmma.load "a.row.m16n16k16.shared.f16" %6, 32, %7 : !ptx.reg<b32> -> !ptx.reg<b32 x 8>
// CHECK-NEXT:    %9 = ptx.wmma.load "b.row.m16n16k16.shared.f16" %1, 2560, %7 : !ptx.reg<b32> -> !ptx.reg<b32 x 8>
// CHECK-NEXT:    %10 = ptx.list.make %zero, %zero, %zero, %zero, %zero, %zero, %zero, %zero : !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32 x 8>
// CHECK-NEXT:    %11 = ptx.wmma.mma "row.row.m16n16k16.f32.f32" %8, %9, %10 : (!ptx.reg<b32 x 8>, !ptx.reg<b32 x 8>, !ptx.reg<f32 x 8>) -> !ptx.reg<f32 x 8>
// CHECK-NEXT:    ptx.wmma.store "d.row.m16n16k16.global.f32" %0, 4160, %11, %3 : !ptx.reg<b64>, !ptx.reg<f32 x 8>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @shared(%row: index, %out: memref<64x64xf32>, %zero: f32) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %s = memref.alloc() : memref<64x64xf16, strided<[80, 1]>, #cute<space smem>>
  %a = cute_nvgpu.wmma.load %s[%row, %c16] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16, strided<[80, 1]>, #cute<space smem>> -> !a
  %b = cute_nvgpu.wmma.load %s[%c16, %c0] <16x16x16, operand = b, elem_type = f16, layout = row> : memref<64x64xf16, strided<[80, 1]>, #cute<space smem>> -> !a
  %c = cute_nvgpu.fragment.splat %zero : f32 -> !c
  %d = cute_nvgpu.wmma.mma %a, %b, %c <16x16x16, elem_type = (f16, f16, f32), layouts = (row, row)> : (!a, !a, !c) -> !c
  cute_nvgpu.wmma.store %d, %out[%c16, %c16] <16x16x16, operand = d, elem_type = f32, layout = row> : !c, memref<64x64xf32>
  func.return
}

// A stride that is known when the kernel runs; a matrix in columns.
// CHECK-LABEL: ptx.entry @dynamic(%p: u64, %n: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %p
// CHECK-NEXT:    %1 = ptx.const 0 : !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.mul lo.s64 %n, %1
// CHECK-NEXT:    %3 = ptx.const 2 : !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.shl b64 %2, %3
// CHECK-NEXT:    %5 = ptx.add s64 %4, %0
// CHECK-NEXT:    %6 = ptx.cvt u32.u64 %n
// CHECK-NEXT:    %7 = ptx.wmma.load "c.col.m16n16k16.global.f32" %5, 0, %6 : !ptx.reg<b64> -> !ptx.reg<f32 x 8>
// CHECK-NEXT:    ptx.wmma.store "d.col.m16n16k16.global.f32" %5, 0, %7, %6 : !ptx.reg<b64>, !ptx.reg<f32 x 8>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @dynamic(%p: memref<?xf32>, %n: index) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %g = memref.reinterpret_cast %p to offset: [0], sizes: [16, %n], strides: [1, %n] : memref<?xf32> to memref<16x?xf32, strided<[1, ?]>>
  %c = cute_nvgpu.wmma.load %g[%c0, %c0] <16x16x16, operand = c, elem_type = f32, layout = col> : memref<16x?xf32, strided<[1, ?]>> -> !c
  cute_nvgpu.wmma.store %c, %g[%c0, %c0] <16x16x16, operand = d, elem_type = f32, layout = col> : !c, memref<16x?xf32, strided<[1, ?]>>
  func.return
}

// Bytes that hold two elements each: PTX counts the elements.
// CHECK-LABEL: ptx.entry @bytes(%p: u64, %q: u64, %n: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %p
// CHECK-NEXT:    %1 = ptx.cvta to.global.u64 %q
// CHECK-NEXT:    %2 = ptx.const 0 : !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.mul lo.s64 %n, %2
// CHECK-NEXT:    %4 = ptx.add s64 %3, %0
// CHECK-NEXT:    %5 = ptx.cvt u32.u64 %n
// CHECK-NEXT:    %6 = ptx.const 1 : !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.shl b32 %5, %6
// CHECK-NEXT:    %8 = ptx.wmma.load "a.row.m8n8k32.global.s4" %4, 0, %7 : !ptx.reg<b64> -> !ptx.reg<b32>
// CHECK-NEXT:    %9 = ptx.const 32 : !ptx.reg<b32>
// CHECK-NEXT:    %10 = ptx.wmma.load "b.col.m8n8k32.global.s4" %1, 0, %9 : !ptx.reg<b64> -> !ptx.reg<b32>
// CHECK-NEXT:    %11 = ptx.const 0 : !ptx.reg<b32>
// CHECK-NEXT:    %12 = ptx.list.make %11, %11 : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32 x 2>
// CHECK-NEXT:    %13 = ptx.wmma.mma "row.col.m8n8k32.s32.s4.s4.s32.satfinite" %8, %10, %12 : (!ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32 x 2>) -> !ptx.reg<b32 x 2>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @bytes(%p: memref<?xi8>, %q: memref<16x8xi8, strided<[1, 16]>>, %n: index) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %g = memref.reinterpret_cast %p to offset: [0], sizes: [8, 16], strides: [%n, 1] : memref<?xi8> to memref<8x16xi8, strided<[?, 1]>>
  %x = cute_nvgpu.wmma.load %g[%c0, %c0] <8x8x32, operand = a, elem_type = si4, layout = row> : memref<8x16xi8, strided<[?, 1]>> -> !cute_nvgpu.fragment<8xsi4>
  %y = cute_nvgpu.wmma.load %q[%c0, %c0] <8x8x32, operand = b, elem_type = si4, layout = col> : memref<16x8xi8, strided<[1, 16]>> -> !cute_nvgpu.fragment<8xsi4>
  %zero = arith.constant 0 : i32
  %z = cute_nvgpu.fragment.splat %zero : i32 -> !cute_nvgpu.fragment<2xi32>
  %d = cute_nvgpu.wmma.mma %x, %y, %z <8x8x32, elem_type = (si4, si4, i32), satfinite> : (!cute_nvgpu.fragment<8xsi4>, !cute_nvgpu.fragment<8xsi4>, !cute_nvgpu.fragment<2xi32>) -> !cute_nvgpu.fragment<2xi32>
  func.return
}
