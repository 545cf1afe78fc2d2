// RUN: tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_100a}' | tilewright-opt > /dev/null
// RUN: not tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_120a}' 2>&1 | filecheck %s --check-prefix CONSUMER
// RUN: not tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_110a}' 2>&1 | filecheck %s --check-prefix SCALE
// RUN: not tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_103a}' 2>&1 | filecheck %s --check-prefix INTEGER

!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!i = memref<128x32xi32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!a8 = !cute_nvgpu.smem_desc_view<128x32xsi8, tcgen05, "S<3,4,3> o 0 o (128,32):(128,1)">
!b8 = !cute_nvgpu.smem_desc_view<32x32xsi8, tcgen05, "S<3,4,3> o 0 o (32,32):(128,1)">

func.func @f(%d: !d, %i: !i, %a: !a, %b: !b, %a8: !a8, %b8: !b8) {
  // CONSUMER: tcgen05.mma.cta_group::1.kind::f16 requires sm_100f or sm_110f, or later of the same family, got target sm_120a
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  // SCALE: tcgen05.mma.cta_group::1.kind::f16 requires sm_100f or later of the same family, got target sm_110a
  cute_nvgpu.sm100.mma %d, %a, %b scale_input_d 1 <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  // INTEGER: tcgen05.mma.cta_group::1.kind::i8 requires sm_100a or sm_110a, got target sm_103a
  cute_nvgpu.sm100.mma %i, %a8, %b8 <128x32x32, elem_type = (si8, si8, i32), ab_major = (k, k), frag_kind = ss> : !i, !a8, !b8
  func.return
}
