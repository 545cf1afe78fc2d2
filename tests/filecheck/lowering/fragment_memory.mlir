// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix PTX
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_75
// CHECKS: all

!smem = memref<1024xbf16, !cute.composed_layout<"S<3,3,3> o 0 o 1024:1">, #cute<space smem>>

// PTX: ld.global.v4.b32
// PTX: st.shared.v4.b32
// PTX: ld.shared.v2.b32
// PTX: st.global.v2.b32
// CHECK-LABEL: ptx.entry @through_shared(%a: u64, %b: u64, %i: u64) shared 2048 align 1024 {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %a
// CHECK-NEXT:    %1 = ptx.cvta to.global.u64 %b
// CHECK-NEXT:    %2 = ptx.shared_address 0
// CHECK-NEXT:    %3 = ptx.const 1 : !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.shl b64 %i, %3
// CHECK-NEXT:    %5 = ptx.add s64 %4, %0
// CHECK-NEXT:    %6 = ptx.ld "global" "b32" %5, 0 : !ptx.reg<b64> -> !ptx.reg<b32 x 4>
// CHECK-NEXT:    %7 = ptx.cvt u32.u64 %i
// CHECK-NEXT:    %8 = ptx.shl b32 %7, %3
// CHECK-NEXT:    %9 = ptx.const 896 : !ptx.reg<b32>
// CHECK-NEXT:    %10 = ptx.and b32 %8, %9
// CHECK-NEXT:    %11 = ptx.const 3 : !ptx.reg<b32>
// CHECK-NEXT:    %12 = ptx.shr u32 %10, %11
// CHECK-NEXT:    %13 = ptx.xor b32 %8, %12
// CHECK-NEXT:    %14 = ptx.add u32 %13, %2
// CHECK-NEXT:    ptx.st "shared" "b32" %14, 0, %6 : !ptx.reg<b32>, !ptx.reg<b32 x 4>
// CHECK-NEXT:    %15 = ptx.ld "shared" "b32" %14, 0 : !ptx.reg<b32> -> !ptx.reg<b32 x 2>
// CHECK-NEXT:    %16 = ptx.add s64 %4, %1
// CHECK-NEXT:    ptx.st "global" "b32" %16, 0, %15 : !ptx.reg<b64>, !ptx.reg<b32 x 2>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @through_shared(%a: memref<?xbf16>, %b: memref<?xbf16>, %i: index) attributes {gpu.kernel} {
  %s = memref.alloc() : !smem
  %f = cute_nvgpu.fragment.load %a[%i] : memref<?xbf16> -> !cute_nvgpu.fragment<8xbf16>
  cute_nvgpu.fragment.store %f, %s[%i] : !cute_nvgpu.fragment<8xbf16>, !smem
  %g = cute_nvgpu.fragment.load %s[%i] : !smem -> !cute_nvgpu.fragment<4xbf16>
  cute_nvgpu.fragment.store %g, %b[%i] : !cute_nvgpu.fragment<4xbf16>, memref<?xbf16>
  func.return
}

// PTX: ld.global.b32
// PTX: ld.global.v2.f64
// CHECK-LABEL: ptx.entry @words(%a: u64, %b: u64, %i: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %a
// CHECK-NEXT:    %1 = ptx.cvta to.global.u64 %b
// CHECK-NEXT:    %2 = ptx.ld "global" "b32" %0, 4 : !ptx.reg<b64> -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.const 2 : !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.shl b64 %i, %3
// CHECK-NEXT:    %5 = ptx.add s64 %4, %0
// CHECK-NEXT:    ptx.st "global" "b32" %5, 0, %2 : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.const 4 : !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.shl b64 %i, %6
// CHECK-NEXT:    %8 = ptx.add s64 %7, %1
// CHECK-NEXT:    %9 = ptx.ld "global" "f64" %8, 0 : !ptx.reg<b64> -> !ptx.reg<f64 x 2>
// CHECK-NEXT:    ptx.st "global" "f64" %1, 16, %9 : !ptx.reg<b64>, !ptx.reg<f64 x 2>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @words(%a: memref<?xi32>, %b: memref<?x2xf64>, %i: index) attributes {gpu.kernel} {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %f = cute_nvgpu.fragment.load %a[%c1] : memref<?xi32> -> !cute_nvgpu.fragment<1xi32>
  cute_nvgpu.fragment.store %f, %a[%i] : !cute_nvgpu.fragment<1xi32>, memref<?xi32>
  %g = cute_nvgpu.fragment.load %b[%i, %c0] : memref<?x2xf64> -> !cute_nvgpu.fragment<2xf64>
  cute_nvgpu.fragment.store %g, %b[%c1, %c0] : !cute_nvgpu.fragment<2xf64>, memref<?x2xf64>
  func.return
}
