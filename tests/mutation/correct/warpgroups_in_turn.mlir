// Two warpgroups multiply in turn, three times each, with a matrix that both have written and one that
// each writes anew: named barriers hand that over, and each has one for itself.

!a = memref<64x16xf16, !cute.composed_layout<"S<1,3,3> o 0 o (64,16):(16,1)">, #cute<space smem>>
!b = memref<8x16xf16, !cute.composed_layout<"S<1,3,3> o 0 o (8,16):(16,1)">, #cute<space smem>>
!a_desc = !cute_nvgpu.smem_desc_view<64x16xf16, "S<1,3,3> o 0 o (64,16):(16,1)">
!b_desc = !cute_nvgpu.smem_desc_view<8x16xf16, "S<1,3,3> o 0 o (8,16):(16,1)">
!acc = !cute_nvgpu.fragment<4xf32>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %f1 = arith.constant 1.0 : f16
  %f2 = arith.constant 2.0 : f16
  %f5 = arith.constant 5.0 : f16
  %zero = arith.constant 0.0 : f32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %place = arith.remui %t, %c128 : index
  %brow = arith.divui %place, %c16 : index
  %bcol = arith.remui %place, %c16 : index
  %arow = arith.divui %t, %c4 : index
  %acol = arith.remui %t, %c4 : index
  %begins = arith.cmpi ult, %t, %c128 : index
  %a = memref.alloc() : !a
  %b = memref.alloc() : !b
  scf.for %i = %acol to %c16 step %c4 {
    memref.store %f1, %a[%arow, %i] : !a
  }
  cute_nvgpu.fence.proxy.async in "shared::cta"
  "gpu.barrier"() : () -> ()
  %ad = cute_nvgpu.make_smem_desc %a[%c0, %c0] : !a -> !a_desc
  %bd = cute_nvgpu.make_smem_desc %b[%c0, %c0] : !b -> !b_desc
  %start = cute_nvgpu.fragment.splat %zero : f32 -> !acc
  scf.if %begins {
    %d = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %start) -> (!acc) {
      memref.store %f2, %b[%brow, %bcol] : !b
      cute_nvgpu.fence.proxy.async in "shared::cta"
      cute_nvgpu.bar.sync 4 threads 128
      cute_nvgpu.wgmma.fence
      %e = cute_nvgpu.sm90.mma %ad, %bd, %acc <64x8x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : (!a_desc, !b_desc, !acc) -> !acc
      cute_nvgpu.wgmma.commit_group
      cute_nvgpu.wgmma.wait_group 0
      cute_nvgpu.bar.arrive 2 threads 256
      cute_nvgpu.bar.sync 1 threads 256
      scf.yield %e : !acc
    }
    %x = cute_nvgpu.fragment.extract %d[3] : !acc -> f32
    %r = arith.fptosi %x : f32 to i32
    memref.store %r, %p[%t] : memref<?xi32>
  } else {
    %d = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %start) -> (!acc) {
      cute_nvgpu.bar.sync 2 threads 256
      memref.store %f5, %b[%brow, %bcol] : !b
      cute_nvgpu.fence.proxy.async in "shared::cta"
      cute_nvgpu.bar.sync 7 threads 128
      cute_nvgpu.wgmma.fence
      %e = cute_nvgpu.sm90.mma %ad, %bd, %acc <64x8x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : (!a_desc, !b_desc, !acc) -> !acc
      cute_nvgpu.wgmma.commit_group
      cute_nvgpu.wgmma.wait_group 0
      cute_nvgpu.bar.arrive 1 threads 256
      scf.yield %e : !acc
    }
    %x = cute_nvgpu.fragment.extract %d[1] : !acc -> f32
    %r = arith.fptosi %x : f32 to i32
    memref.store %r, %p[%t] : memref<?xi32>
  }
  func.return
}
