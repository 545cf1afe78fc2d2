// A comes from registers, which get new values every round: the wgmma that read them is waited for
// before, and a fence shows them to the next one.

!b = memref<8x16xf16, !cute.composed_layout<"S<1,3,3> o 0 o (8,16):(16,1)">, #cute<space smem>>
!b_desc = !cute_nvgpu.smem_desc_view<8x16xf16, "S<1,3,3> o 0 o (8,16):(16,1)">
!acc = !cute_nvgpu.fragment<4xf32>
!rows = !cute_nvgpu.fragment<8xf16>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %two = arith.constant 2.0 : f16
  %zero = arith.constant 0.0 : f32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %row = arith.divui %t, %c16 : index
  %column = arith.remui %t, %c16 : index
  %b = memref.alloc() : !b
  memref.store %two, %b[%row, %column] : !b
  cute_nvgpu.fence.proxy.async in "shared::cta"
  "gpu.barrier"() : () -> ()
  %bd = cute_nvgpu.make_smem_desc %b[%c0, %c0] : !b -> !b_desc
  %start = cute_nvgpu.fragment.splat %zero : f32 -> !acc
  %d = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %start) -> (!acc) {
    %n = arith.index_cast %i : index to i32
    %v = arith.sitofp %n : i32 to f16
    %a = cute_nvgpu.fragment.splat %v : f16 -> !rows
    cute_nvgpu.wgmma.fence
    %e = cute_nvgpu.sm90.mma %a, %bd, %acc <64x8x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = rs> : (!rows, !b_desc, !acc) -> !acc
    cute_nvgpu.wgmma.commit_group
    cute_nvgpu.wgmma.wait_group 0
    scf.yield %e : !acc
  }
  %x = cute_nvgpu.fragment.extract %d[0] : !acc -> f32
  %r = arith.fptosi %x : f32 to i32
  memref.store %r, %p[%t] : memref<?xi32>
  func.return
}
