// C = A * B of 64 x 64 matrices with wmma, for every target from sm_70 on: f16 inputs, f32 result,
// all row-major.
//
// One CTA of 4 warps: it copies A and B to shared memory, whose rows are 16 elements (32 bytes)
// longer than the matrices' so that they lie in different banks, and each warp computes 32 x 32 of C
// as 2 x 2 matrices of 16 x 16.
//
//   grid = (1, 1, 1), block = (128, 1, 1)

!tile = memref<64x64xf16, strided<[80, 1]>, #cute<space smem>>
!in = memref<64x64xf16>
!out = memref<64x64xf32>
!frag_a = !cute_nvgpu.fragment<16xf16>
!frag_b = !cute_nvgpu.fragment<16xf16>
!frag_c = !cute_nvgpu.fragment<8xf32>

func.func @gemm(%a: !in, %b: !in, %c: !out) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %sa = memref.alloc() : !tile
  %sb = memref.alloc() : !tile
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index

  // Two threads copy each column.
  %column = arith.remui %tid, %c64 : index
  %first = arith.divui %tid, %c64 : index
  scf.for %row = %first to %c64 step %c2 {
    %x = memref.load %a[%row, %column] : !in
    memref.store %x, %sa[%row, %column] : !tile
    %y = memref.load %b[%row, %column] : !in
    memref.store %y, %sb[%row, %column] : !tile
  }
  "gpu.barrier"() : () -> ()

  // Where this warp works.
  %warp = arith.divui %tid, %c32 : index
  %warp_row = arith.divui %warp, %c2 : index
  %warp_column = arith.remui %warp, %c2 : index
  %m0 = arith.muli %warp_row, %c32 : index
  %m1 = arith.addi %m0, %c16 : index
  %n0 = arith.muli %warp_column, %c32 : index
  %n1 = arith.addi %n0, %c16 : index

  %init = cute_nvgpu.fragment.splat %zero : f32 -> !frag_c
  %d00, %d01, %d10, %d11 = scf.for %k = %c0 to %c64 step %c16
      iter_args(%c00 = %init, %c01 = %init, %c10 = %init, %c11 = %init)
      -> (!frag_c, !frag_c, !frag_c, !frag_c) {
    %a0 = cute_nvgpu.wmma.load %sa[%m0, %k] <16x16x16, operand = a, elem_type = f16, layout = row> : !tile -> !frag_a
    %a1 = cute_nvgpu.wmma.load %sa[%m1, %k] <16x16x16, operand = a, elem_type = f16, layout = row> : !tile -> !frag_a
    %b0 = cute_nvgpu.wmma.load %sb[%k, %n0] <16x16x16, operand = b, elem_type = f16, layout = row> : !tile -> !frag_b
    %b1 = cute_nvgpu.wmma.load %sb[%k, %n1] <16x16x16, operand = b, elem_type = f16, layout = row> : !tile -> !frag_b
    %e00 = cute_nvgpu.wmma.mma %a0, %b0, %c00 <16x16x16, elem_type = (f16, f16, f32), layouts = (row, row)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %e01 = cute_nvgpu.wmma.mma %a0, %b1, %c01 <16x16x16, elem_type = (f16, f16, f32), layouts = (row, row)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %e10 = cute_nvgpu.wmma.mma %a1, %b0, %c10 <16x16x16, elem_type = (f16, f16, f32), layouts = (row, row)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    %e11 = cute_nvgpu.wmma.mma %a1, %b1, %c11 <16x16x16, elem_type = (f16, f16, f32), layouts = (row, row)> : (!frag_a, !frag_b, !frag_c) -> !frag_c
    scf.yield %e00, %e01, %e10, %e11 : !frag_c, !frag_c, !frag_c, !frag_c
  }
  cute_nvgpu.wmma.store %d00, %c[%m0, %n0] <16x16x16, operand = d, elem_type = f32, layout = row> : !frag_c, !out
  cute_nvgpu.wmma.store %d01, %c[%m0, %n1] <16x16x16, operand = d, elem_type = f32, layout = row> : !frag_c, !out
  cute_nvgpu.wmma.store %d10, %c[%m1, %n0] <16x16x16, operand = d, elem_type = f32, layout = row> : !frag_c, !out
  cute_nvgpu.wmma.store %d11, %c[%m1, %n1] <16x16x16, operand = d, elem_type = f32, layout = row> : !frag_c, !out
  func.return
}
