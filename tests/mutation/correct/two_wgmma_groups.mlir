// Three wgmmas in groups of their own: when the first one is complete, for which each thread waits by
// itself, its matrix is overwritten for the third; the second result is used while that is under way.

!a = memref<64x16xf16, !cute.composed_layout<"S<1,3,3> o 0 o (64,16):(16,1)">, #cute<space smem>>
!b = memref<8x16xf16, !cute.composed_layout<"S<1,3,3> o 0 o (8,16):(16,1)">, #cute<space smem>>
!a_desc = !cute_nvgpu.smem_desc_view<64x16xf16, "S<1,3,3> o 0 o (64,16):(16,1)">
!b_desc = !cute_nvgpu.smem_desc_view<8x16xf16, "S<1,3,3> o 0 o (8,16):(16,1)">
!acc = !cute_nvgpu.fragment<4xf32>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %f1 = arith.constant 1.0 : f16
  %f2 = arith.constant 2.0 : f16
  %f3 = arith.constant 3.0 : f16
  %zero = arith.constant 0.0 : f32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %row = arith.divui %t, %c2 : index
  %odd = arith.remui %t, %c2 : index
  %brow = arith.divui %t, %c16 : index
  %bcol = arith.remui %t, %c16 : index
  %kind = arith.remui %row, %c8 : index
  %n = arith.index_cast %kind : index to i32
  %value = arith.sitofp %n : i32 to f16
  %a = memref.alloc() : !a
  %b = memref.alloc() : !b
  %c = memref.alloc() : !b
  scf.for %i = %odd to %c16 step %c2 {
    memref.store %value, %a[%row, %i] : !a
  }
  memref.store %f1, %b[%brow, %bcol] : !b
  memref.store %f2, %c[%brow, %bcol] : !b
  %ad = cute_nvgpu.make_smem_desc %a[%c0, %c0] : !a -> !a_desc
  %bd = cute_nvgpu.make_smem_desc %b[%c0, %c0] : !b -> !b_desc
  %cd = cute_nvgpu.make_smem_desc %c[%c0, %c0] : !b -> !b_desc
  %start = cute_nvgpu.fragment.splat %zero : f32 -> !acc
  %begin = cute_nvgpu.fragment.splat %zero : f32 -> !acc
  cute_nvgpu.fence.proxy.async in "shared::cta"
  "gpu.barrier"() : () -> ()
  cute_nvgpu.wgmma.fence
  %x = cute_nvgpu.sm90.mma %ad, %bd, %start <64x8x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : (!a_desc, !b_desc, !acc) -> !acc
  cute_nvgpu.wgmma.commit_group
  %y = cute_nvgpu.sm90.mma %ad, %cd, %begin <64x8x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : (!a_desc, !b_desc, !acc) -> !acc
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 1
  memref.store %f3, %b[%brow, %bcol] : !b
  cute_nvgpu.fence.proxy.async in "shared::cta"
  "gpu.barrier"() : () -> ()
  cute_nvgpu.wgmma.fence
  %z = cute_nvgpu.sm90.mma %ad, %bd, %x <64x8x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : (!a_desc, !b_desc, !acc) -> !acc
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 1
  %y0 = cute_nvgpu.fragment.extract %y[0] : !acc -> f32
  cute_nvgpu.wgmma.wait_group 0
  %z0 = cute_nvgpu.fragment.extract %z[2] : !acc -> f32
  %sum = arith.subf %z0, %y0 : f32
  %r = arith.fptosi %sum : f32 to i32
  memref.store %r, %p[%t] : memref<?xi32>
  func.return
}
