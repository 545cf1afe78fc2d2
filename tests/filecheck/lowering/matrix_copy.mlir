// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t 'ptx{arch=sm_100a}' | %ptxas sm_100a
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t 'ptx{arch=sm_121f}' | %ptxas sm_121f
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t 'ptx{arch=sm_110a}' | filecheck %s --check-prefix PTX
// RUN: not tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t 'ptx{arch=sm_90a}' 2>&1 | filecheck %s --check-prefix LACKS
// RUN: not tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t 'ptx{arch=sm_122}' 2>&1 | filecheck %s --check-prefix UNKNOWN
// CHECKS: all

// PTX:      .version 9.0
// PTX-NEXT: .target sm_110a
// LACKS:    error: instructions require sm_100f, sm_110f or sm_120f, or later of the same family; got target sm_90a
// UNKNOWN:  error: unknown target 'sm_122'; nearest legal: sm_12

!bytes = memref<64x64xui8, !cute.composed_layout<"S<2,4,3> o 0 o (64,64):(64,1)">, #cute<space smem>>

// CHECK-LABEL: ptx.entry @shapes(%i: u64, %j: u64) shared 4096 align 512 {
// CHECK-NEXT:    %0 = ptx.shared_address 0
// CHECK-NEXT:    %1 = ptx.cvt u32.u64 %i
// CHECK-NEXT:    %2 = ptx.cvt u32.u64 %j
// CHECK-NEXT:    %3 = ptx.const 6 : !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.shl b32 %1, %3
// CHECK-NEXT:    %5 = ptx.add u32 %2, %4
// CHECK-NEXT:    %6 = ptx.const 384 : !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.and b32 %5, %6
// CHECK-NEXT:    %8 = ptx.const 3 : !ptx.reg<b32>
// CHECK-NEXT:    %9 = ptx.shr u32 %7, %8
// CHECK-NEXT:    %10 = ptx.xor b32 %5, %9
// CHECK-NEXT:    %11 = ptx.add u32 %10, %0
// CHECK-NEXT:    %12 = ptx.ldmatrix "m16n16.b8" trans %11, 0 : !ptx.reg<b32 x 4>
// CHECK-NEXT:    %13 = ptx.shl b32 %2, %3
// CHECK-NEXT:    %14 = ptx.add u32 %1, %13
// CHECK-NEXT:    %15 = ptx.and b32 %14, %6
// CHECK-NEXT:    %16 = ptx.shr u32 %15, %8
// CHECK-NEXT:    %17 = ptx.xor b32 %14, %16
// CHECK-NEXT:    %18 = ptx.add u32 %17, %0
// CHECK-NEXT:    %19 = ptx.ldmatrix "m8n16.b8x16.b6x16_p32" %18, 0 : !ptx.reg<b32>
// CHECK-NEXT:    %20 = ptx.ldmatrix "m16n16.b8x16.b4x16_p64" trans %18, 0 : !ptx.reg<b32 x 2>
// CHECK-NEXT:    %21 = ptx.ldmatrix %11, 0 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.stmatrix "m16n8.b8" trans %11, 0, %12 : !ptx.reg<b32 x 4>
// CHECK-NEXT:    ptx.stmatrix "m16n8.b8" trans %18, 0, %19 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.stmatrix %18, 0, %20 : !ptx.reg<b32 x 2>
// CHECK-NEXT:    ptx.stmatrix "m16n8.b8" trans %11, 0, %21 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @shapes(%i: index, %j: index) attributes {gpu.kernel} {
  %s = memref.alloc() : !bytes
  %a = cute_nvgpu.ldmatrix %s[%i, %j] trans shape 16x16 : !bytes -> !cute_nvgpu.fragment<16xui8>
  %b = cute_nvgpu.ldmatrix %s[%j, %i] shape 8x16 src_fmt b6x16_p32 : !bytes -> !cute_nvgpu.fragment<4xui8>
  %c = cute_nvgpu.ldmatrix %s[%j, %i] trans shape 16x16 src_fmt b4x16_p64 : !bytes -> !cute_nvgpu.fragment<8xui8>
  %d = cute_nvgpu.ldmatrix %s[%i, %j] : !bytes -> !cute_nvgpu.fragment<4xui8>
  cute_nvgpu.stmatrix %a, %s[%i, %j] trans shape 16x8 : !cute_nvgpu.fragment<16xui8>, !bytes
  cute_nvgpu.stmatrix %b, %s[%j, %i] trans shape 16x8 : !cute_nvgpu.fragment<4xui8>, !bytes
  cute_nvgpu.stmatrix %c, %s[%j, %i] : !cute_nvgpu.fragment<8xui8>, !bytes
  cute_nvgpu.stmatrix %d, %s[%i, %j] trans shape 16x8 : !cute_nvgpu.fragment<4xui8>, !bytes
  func.return
}

// A transposition has no side effect, but all threads of the warp take part: it stays.
// CHECK-LABEL: ptx.entry @movmatrix(%x: u16) {
// CHECK-NEXT:    %0 = ptx.pack b32 %x, %x
// CHECK-NEXT:    %1 = ptx.movmatrix %0
// CHECK-NEXT:    %2 = ptx.movmatrix %1
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @movmatrix(%x: f16) attributes {gpu.kernel} {
  %f = cute_nvgpu.fragment.splat %x : f16 -> !cute_nvgpu.fragment<2xf16>
  %t = cute_nvgpu.movmatrix %f : !cute_nvgpu.fragment<2xf16> -> !cute_nvgpu.fragment<2xf16>
  %u = cute_nvgpu.movmatrix %t : !cute_nvgpu.fragment<2xf16> -> !cute_nvgpu.fragment<2xf16>
  func.return
}
