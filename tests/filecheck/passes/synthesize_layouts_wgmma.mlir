// RUN: tilewright-opt %s -p cute-nvgpu-synthesize-layouts | filecheck %s
// RUN: tilewright-opt %s -p cute-nvgpu-synthesize-layouts,cute-nvgpu-synthesize-layouts | filecheck %s

!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!a = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>

// A from registers and the accumulator, around a loop; 128 threads hold them.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %a: !cute_nvgpu.fragment<8xbf16, "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))">
// CHECK:         %c = cute_nvgpu.fragment.splat %x : f32 -> !cute_nvgpu.fragment<4xf32, "((4,8,4),(2,2)):((128,1,16),(64,8))">
// CHECK:         scf.yield %d : !cute_nvgpu.fragment<4xf32, "((4,8,4),(2,2)):((128,1,16),(64,8))">
func.func @loop(%a: !a, %b: !b, %x: f32, %n: index) {
  %c = cute_nvgpu.fragment.splat %x : f32 -> !c
  %r = scf.for %k = %n to %n step %n iter_args(%acc = %c) -> (!c) {
    %d = cute_nvgpu.sm90.mma %a, %b, %acc <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = rs> : (!a, !b, !c) -> !c
    scf.yield %d : !c
  }
  func.return
}

// The metadata of a sparse A.
// CHECK-LABEL: func.func @sparse(
// CHECK:         %m = cute_nvgpu.fragment.cast %w : !cute_nvgpu.fragment<1xi32> -> !cute_nvgpu.fragment<16xui2, "((2,2,8,4),(8,2)):((512,0,1,16),(64,8))">
func.func @sparse(%a: !a, %b: !cute_nvgpu.smem_desc_view<8x32xbf16, "S<3,3,3> o 0 o (8,32):(64,1)">, %c: !c, %x: i32) {
  %w = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<1xi32>
  %m = cute_nvgpu.fragment.cast %w : !cute_nvgpu.fragment<1xi32> -> !cute_nvgpu.fragment<16xui2>
  %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %m[0] <64x8x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = rs> : (!a, !cute_nvgpu.smem_desc_view<8x32xbf16, "S<3,3,3> o 0 o (8,32):(64,1)">, !c, !cute_nvgpu.fragment<16xui2>) -> !c
  func.return
}
