// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_90
// CHECKS: all

!a = !cute_nvgpu.fragment<8xbf16>
!b = !cute_nvgpu.fragment<4xbf16>
!c = !cute_nvgpu.fragment<4xf32>

// From shared memory through the tensor core and back.
// CHECK-LABEL: ptx.entry @mma(%row: u64, %col: u64, %zero: f32) shared 4096 align 128 {
// CHECK-NEXT:    %0 = ptx.shared_address 0
// CHECK-NEXT:    %1 = ptx.cvt u32.u64 %row
// CHECK-NEXT:    %2 = ptx.cvt u32.u64 %col
// CHECK-NEXT:    %3 = ptx.const 6 : !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.shl b32 %1, %3
// CHECK-NEXT:    %5 = ptx.add u32 %4, %0
// CHECK-NEXT:    %6 = ptx.const 1 : !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.shl b32 %2, %6
// CHECK-NEXT:    %8 = ptx.add u32 %7, %5
// CHECK-NEXT:    %9 = ptx.ldmatrix %8, 0 : !ptx.reg<b32 x 4>
// CHECK-NEXT:    %10 = ptx.add u32 %7, %0
// CHECK-NEXT:    %11 = ptx.ldmatrix trans %10, 1024 : !ptx.reg<b32 x 2>
// CHECK-NEXT:    %12 = ptx.list.make %zero, %zero, %zero, %zero : !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32 x 4>
// CHECK-NEXT:    %13 = ptx.mma "m16n8k16.row.col.f32.bf16.bf16.f32" %9, %11, %12 : (!ptx.reg<b32 x 4>, !ptx.reg<b32 x 2>, !ptx.reg<f32 x 4>) -> !ptx.reg<f32 x 4>
// CHECK-NEXT:    %14, %15, %16, %17 = ptx.list.get %13[0] : !ptx.reg<f32 x 4> -> !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<f32>
// CHECK-NEXT:    %18 = ptx.mov %14 : !ptx.reg<f32> -> !ptx.reg<b32>
// CHECK-NEXT:    %19 = ptx.mov %15 : !ptx.reg<f32> -> !ptx.reg<b32>
// CHECK-NEXT:    %20 = ptx.mov %16 : !ptx.reg<f32> -> !ptx.reg<b32>
// CHECK-NEXT:    %21 = ptx.mov %17 : !ptx.reg<f32> -> !ptx.reg<b32>
// CHECK-NEXT:    %22 = ptx.list.make %18, %19, %20, %21 : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32 x 4>
// CHECK-NEXT:    ptx.stmatrix %5, 32, %22 : !ptx.reg<b32 x 4>
// CHECK-NEXT:    ptx.stmatrix trans %8, 0, %11 : !ptx.reg<b32 x 2>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @mma(%row: index, %col: index, %zero: f32) attributes {gpu.kernel} {
  %c16 = arith.constant 16 : index
  %s = memref.alloc() : memref<64x32xbf16, #cute<space smem>>
  %a = cute_nvgpu.ldmatrix %s[%row, %col] : memref<64x32xbf16, #cute<space smem>> -> !a
  %b = cute_nvgpu.ldmatrix %s[%c16, %col] trans : memref<64x32xbf16, #cute<space smem>> -> !b
  %c = cute_nvgpu.fragment.splat %zero : f32 -> !c
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !c
  %bits = cute_nvgpu.fragment.cast %d : !c -> !a
  cute_nvgpu.stmatrix %bits, %s[%row, %c16] : !a, memref<64x32xbf16, #cute<space smem>>
  cute_nvgpu.stmatrix %b, %s[%row, %col] trans : !b, memref<64x32xbf16, #cute<space smem>>
  func.return
}

// A fragment of one register is a register.
// CHECK-LABEL: ptx.entry @one_register(%s: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %s
// CHECK-NEXT:    %1 = ptx.ld "global" "f64" %0, 0 : !ptx.reg<b64> -> !ptx.reg<f64>
// CHECK-NEXT:    %2 = ptx.list.make %1, %1 : !ptx.reg<f64>, !ptx.reg<f64> -> !ptx.reg<f64 x 2>
// CHECK-NEXT:    %3 = ptx.mma "m8n8k4.row.col.rz.f64.f64.f64.f64" %1, %1, %2 : (!ptx.reg<f64>, !ptx.reg<f64>, !ptx.reg<f64 x 2>) -> !ptx.reg<f64 x 2>
// CHECK-NEXT:    %4, %5 = ptx.list.get %3[0] : !ptx.reg<f64 x 2> -> !ptx.reg<f64>, !ptx.reg<f64>
// CHECK-NEXT:    ptx.st "global" "f64" %0, 0, %5 : !ptx.reg<b64>, !ptx.reg<f64>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @one_register(%s: memref<8xf64>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %x = memref.load %s[%c0] : memref<8xf64>
  %a = cute_nvgpu.fragment.splat %x : f64 -> !cute_nvgpu.fragment<1xf64>
  %c = cute_nvgpu.fragment.splat %x : f64 -> !cute_nvgpu.fragment<2xf64>
  %d = cute_nvgpu.sm80.mma %a, %a, %c <8x8x4, elem_type = (f64, f64, f64), rounding = rz> : (!cute_nvgpu.fragment<1xf64>, !cute_nvgpu.fragment<1xf64>, !cute_nvgpu.fragment<2xf64>) -> !cute_nvgpu.fragment<2xf64>
  %y = cute_nvgpu.fragment.extract %d[1] : !cute_nvgpu.fragment<2xf64> -> f64
  memref.store %y, %s[%c0] : memref<8xf64>
  func.return
}

// CHECK-LABEL: ptx.entry @cp_async(%g: u64, %i: u64, %n: u32) shared 4096 align 128 {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %g
// CHECK-NEXT:    %1 = ptx.shared_address 0
// CHECK-NEXT:    %2 = ptx.const 7 : !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.shl b64 %i, %2
// CHECK-NEXT:    %4 = ptx.add s64 %3, %0
// CHECK-NEXT:    %5 = ptx.cvt u32.u64 %i
// CHECK-NEXT:    %6 = ptx.const 6 : !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.shl b32 %5, %6
// CHECK-NEXT:    %8 = ptx.add u32 %7, %1
// CHECK-NEXT:    %9 = ptx.const 16 : !ptx.reg<b64>
// CHECK-NEXT:    %10 = ptx.add s64 %4, %9
// CHECK-NEXT:    %11 = ptx.const 16 : !ptx.reg<b32>
// CHECK-NEXT:    %12 = ptx.add u32 %8, %11
// CHECK-NEXT:    ptx.cp.async "cg" %12, %10, 16
// CHECK-NEXT:    %13 = ptx.const 1 : !ptx.reg<b32>
// CHECK-NEXT:    %14 = ptx.shl b64 %i, %13
// CHECK-NEXT:    %15 = ptx.add s64 %14, %0
// CHECK-NEXT:    ptx.cp.async "ca" %1, %15, 4, %n
// CHECK-NEXT:    ptx.cp.async.commit_group
// CHECK-NEXT:    ptx.cp.async.wait_group 2
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @cp_async(%g: memref<?x64xbf16>, %i: index, %n: i32) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %s = memref.alloc() : memref<64x32xbf16, #cute<space smem>>
  cute_nvgpu.cp.async %g[%i, %c8] to %s[%i, %c8] size 16 cache cg : memref<?x64xbf16> to memref<64x32xbf16, #cute<space smem>>
  cute_nvgpu.cp.async %g[%c0, %i] to %s[%c0, %c0] size 4 cache ca fill %n : memref<?x64xbf16> to memref<64x32xbf16, #cute<space smem>>
  cute_nvgpu.cp.async.commit_group
  cute_nvgpu.cp.async.wait_group 2
  func.return
}

// CHECK-LABEL: ptx.entry @barriers() {
// CHECK-NEXT:    ptx.bar.sync 1, 64
// CHECK-NEXT:    ptx.bar.arrive 2, 96
// CHECK-NEXT:    ptx.bar.warp.sync
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @barriers() attributes {gpu.kernel} {
  cute_nvgpu.bar.sync 1 threads 64
  cute_nvgpu.bar.arrive 2 threads 96
  cute_nvgpu.bar.warp.sync
  func.return
}

// Elements of 16 bits, two to a register, low half first.
// CHECK-LABEL: ptx.entry @halves(%x: u16, %y: u16, %out: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.pack b32 %x, %y
// CHECK-NEXT:    %2 = ptx.pack b32 %y, %x
// CHECK-NEXT:    %3 = ptx.list.make %1, %2 : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32 x 2>
// CHECK-NEXT:    %4, %5 = ptx.list.get %3[0] : !ptx.reg<b32 x 2> -> !ptx.reg<b32>, !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.unpack %4
// CHECK-NEXT:    %7, %8 = ptx.list.get %6[0] : !ptx.reg<b16 x 2> -> !ptx.reg<b16>, !ptx.reg<b16>
// CHECK-NEXT:    %9 = ptx.pack b32 %7, %x
// CHECK-NEXT:    %10 = ptx.list.make %9, %5 : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32 x 2>
// CHECK-NEXT:    %11, %12 = ptx.list.get %10[0] : !ptx.reg<b32 x 2> -> !ptx.reg<b32>, !ptx.reg<b32>
// CHECK-NEXT:    %13 = ptx.unpack %12
// CHECK-NEXT:    %14, %15 = ptx.list.get %13[0] : !ptx.reg<b16 x 2> -> !ptx.reg<b16>, !ptx.reg<b16>
// CHECK-NEXT:    ptx.st "global" "b16" %0, 0, %15 : !ptx.reg<b64>, !ptx.reg<b16>
// CHECK-NEXT:    ptx.st "global" "b16" %0, 0, %14 : !ptx.reg<b64>, !ptx.reg<b16>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @halves(%x: bf16, %y: bf16, %out: memref<4xbf16>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %f = cute_nvgpu.fragment.from_elements %x, %y, %y, %x : bf16, bf16, bf16, bf16 -> !b
  %e = cute_nvgpu.fragment.insert %x, %f[1] : bf16, !b -> !b
  %z = cute_nvgpu.fragment.extract %e[3] : !b -> bf16
  memref.store %z, %out[%c0] : memref<4xbf16>
  %half = cute_nvgpu.fragment.slice %e[2] : !b -> !cute_nvgpu.fragment<2xbf16>
  %w = cute_nvgpu.fragment.extract %half[0] : !cute_nvgpu.fragment<2xbf16> -> bf16
  memref.store %w, %out[%c0] : memref<4xbf16>
  func.return
}

// A fragment chosen register by register, and one carried by a loop.
// CHECK-LABEL: ptx.entry @chosen(%p: u8, %n: u64, %x: f32, %y: f32, %out: u64) {
// CHECK-NEXT:    %0 = ptx.const 0 : !ptx.reg<b16>
// CHECK-NEXT:    %1 = ptx.setp ne.u16 %p, %0
// CHECK-NEXT:    %2 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %3 = ptx.const 0 : !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.const 1 : !ptx.reg<b64>
// CHECK-NEXT:    %5 = ptx.list.make %x, %x : !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32 x 2>
// CHECK-NEXT:    %6 = ptx.list.make %x, %y : !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32 x 2>
// CHECK-NEXT:    %7, %8 = ptx.list.get %5[0] : !ptx.reg<f32 x 2> -> !ptx.reg<f32>, !ptx.reg<f32>
// CHECK-NEXT:    %9, %10 = ptx.list.get %6[0] : !ptx.reg<f32 x 2> -> !ptx.reg<f32>, !ptx.reg<f32>
// CHECK-NEXT:    %11 = ptx.selp f32 %7, %9, %1
// CHECK-NEXT:    %12 = ptx.selp f32 %8, %10, %1
// CHECK-NEXT:    %13 = ptx.list.make %11, %12 : !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32 x 2>
// CHECK-NEXT:    ptx.bra ^for1(%3, %13 : !ptx.reg<b64>, !ptx.reg<f32 x 2>)
// CHECK-NEXT:    ^for1(%14: !ptx.reg<b64>, %15: !ptx.reg<f32 x 2>):
// CHECK-NEXT:    %16 = ptx.setp lt.s64 %14, %n
// CHECK-NEXT:    ptx.cond_bra %16, ^for1_body, ^for1_end
// CHECK-NEXT:    ^for1_body:
// CHECK-NEXT:    %17, %18 = ptx.list.get %15[0] : !ptx.reg<f32 x 2> -> !ptx.reg<f32>, !ptx.reg<f32>
// CHECK-NEXT:    %19 = ptx.list.make %y, %18 : !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32 x 2>
// CHECK-NEXT:    %20 = ptx.add s64 %14, %4
// CHECK-NEXT:    ptx.bra ^for1(%20, %19 : !ptx.reg<b64>, !ptx.reg<f32 x 2>)
// CHECK-NEXT:    ^for1_end:
// CHECK-NEXT:    %21, %22 = ptx.list.get %15[0] : !ptx.reg<f32 x 2> -> !ptx.reg<f32>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.st "global" "f32" %2, 0, %21 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @chosen(%p: i1, %n: index, %x: f32, %y: f32, %out: memref<4xf32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = cute_nvgpu.fragment.splat %x : f32 -> !cute_nvgpu.fragment<2xf32>
  %g = cute_nvgpu.fragment.from_elements %x, %y : f32, f32 -> !cute_nvgpu.fragment<2xf32>
  %h = arith.select %p, %f, %g : !cute_nvgpu.fragment<2xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %h) -> (!cute_nvgpu.fragment<2xf32>) {
    %next = cute_nvgpu.fragment.insert %y, %e[0] : f32, !cute_nvgpu.fragment<2xf32> -> !cute_nvgpu.fragment<2xf32>
    scf.yield %next : !cute_nvgpu.fragment<2xf32>
  }
  %z = cute_nvgpu.fragment.extract %last[0] : !cute_nvgpu.fragment<2xf32> -> f32
  memref.store %z, %out[%c0] : memref<4xf32>
  func.return
}
