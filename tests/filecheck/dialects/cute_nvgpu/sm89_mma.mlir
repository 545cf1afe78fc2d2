// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p cute-nvgpu-synthesize-layouts,convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix=PTX

!a = !cute_nvgpu.fragment<16xf8E4M3FN>
!b = !cute_nvgpu.fragment<8xf8E5M2>
!c = !cute_nvgpu.fragment<4xf32>
!p = !cute_nvgpu.fragment<32xsi4>
!q = !cute_nvgpu.fragment<16xui4>
!r = !cute_nvgpu.fragment<4xi32>
!s = !cute_nvgpu.fragment<128xui1>
!t = !cute_nvgpu.fragment<64xui1>

// PTX: .version 8.4
// PTX: .target sm_89

// CHECK-LABEL: func.func @mma
func.func @mma(%p: memref<?xf32>, %h: f32, %n: i32) attributes {gpu.kernel} {
  %zero = arith.constant 0 : index
  %af = cute_nvgpu.fragment.splat %h : f32 -> !cute_nvgpu.fragment<4xf32>
  %bf = cute_nvgpu.fragment.splat %h : f32 -> !cute_nvgpu.fragment<2xf32>
  %ci = cute_nvgpu.fragment.splat %n : i32 -> !r
  // CHECK: cute_nvgpu.fragment.cast %af : !cute_nvgpu.fragment<4xf32> -> !cute_nvgpu.fragment<16xf8E4M3FN>
  %a = cute_nvgpu.fragment.cast %af : !cute_nvgpu.fragment<4xf32> -> !a
  %b = cute_nvgpu.fragment.cast %bf : !cute_nvgpu.fragment<2xf32> -> !b
  // CHECK: cute_nvgpu.sm89.mma %a, %b, %af <16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32)> : (!cute_nvgpu.fragment<16xf8E4M3FN>, !cute_nvgpu.fragment<8xf8E5M2>, !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>
  // PTX: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {
  %d = cute_nvgpu.sm89.mma %a, %b, %af <16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32)> : (!a, !b, !c) -> !c
  %s4 = cute_nvgpu.fragment.cast %a : !a -> !p
  %u4 = cute_nvgpu.fragment.cast %b : !b -> !q
  // CHECK: cute_nvgpu.sm80.mma %s4, %u4, %ci <16x8x64, elem_type = (si4, ui4, i32), satfinite>
  // PTX: mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32 {
  %e = cute_nvgpu.sm80.mma %s4, %u4, %ci <16x8x64, elem_type = (si4, ui4, i32), satfinite> : (!p, !q, !r) -> !r
  %b1a = cute_nvgpu.fragment.cast %a : !a -> !s
  %b1b = cute_nvgpu.fragment.cast %b : !b -> !t
  // CHECK: cute_nvgpu.sm80.mma %b1a, %b1b, %e <16x8x256, elem_type = (ui1, ui1, i32), bit_op = and>
  // PTX: mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {
  %f = cute_nvgpu.sm80.mma %b1a, %b1b, %e <16x8x256, elem_type = (ui1, ui1, i32), bit_op = and> : (!s, !t, !r) -> !r
  %x = cute_nvgpu.fragment.extract %d[0] : !c -> f32
  %y = cute_nvgpu.fragment.extract %f[0] : !r -> i32
  %z = arith.sitofp %y : i32 to f32
  %w = arith.addf %x, %z : f32
  memref.store %w, %p[%zero] : memref<?xf32>
  func.return
}
