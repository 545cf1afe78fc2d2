// RUN: tilewright-opt %s -p cute-nvgpu-check-hazards | filecheck %s

!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!c = !cute_nvgpu.fragment<4xf32>

// A pipeline of stages: what is written is of another stage than what is read in flight.
// CHECK-LABEL: func.func @stages(
func.func @stages(%s: !s, %b: !b, %c: !c, %n: index, %v: bf16) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %c) -> (!c) {
    %stage = arith.andi %k, %c1 : index
    memref.store %v, %s[%stage, %k, %k] : !s
    cute_nvgpu.fence.proxy.async
    "gpu.barrier"() : () -> ()
    %a = cute_nvgpu.make_smem_desc %s[%stage, %c0, %c0] : !s -> !a
    cute_nvgpu.wgmma.fence
    %d = cute_nvgpu.sm90.mma %a, %b, %acc <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
    cute_nvgpu.wgmma.commit_group
    cute_nvgpu.wgmma.wait_group 1
    scf.yield %d : !c
  }
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// Written for the next round while this one's stage is read: not the same memory.
// CHECK-LABEL: func.func @ahead(
func.func @ahead(%s: !s, %b: !b, %c: !c, %v: bf16, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  memref.store %v, %s[%c1, %i, %i] : !s
  cute_nvgpu.wgmma.wait_group 0
  cute_nvgpu.fence.proxy.async
  "gpu.barrier"() : () -> ()
  %a1 = cute_nvgpu.make_smem_desc %s[%c1, %c0, %c0] : !s -> !a
  %e = cute_nvgpu.sm90.mma %a1, %b, %d <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// Beside the matrix, by its columns.
// CHECK-LABEL: func.func @beside(
func.func @beside(%s: !s, %b: !b, %c: !c, %v: bf16, %i: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  memref.store %v, %s[%c0, %i, %c16] : !s
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// A while loop, with the wait behind it.
// CHECK-LABEL: func.func @while(
func.func @while(%a: !a, %b: !b, %c: !c, %p: i1, %out: memref<?xf32>, %i: index) {
  cute_nvgpu.wgmma.fence
  %r = scf.while (%acc = %c) : (!c) -> !c {
    scf.condition(%p) %acc : !c
  } do {
  ^bb0(%in: !c):
    %d = cute_nvgpu.sm90.mma %a, %b, %in <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
    cute_nvgpu.wgmma.commit_group
    scf.yield %d : !c
  }
  cute_nvgpu.wgmma.wait_group 0
  %x = cute_nvgpu.fragment.extract %r[0] : !c -> f32
  memref.store %x, %out[%i] : memref<?xf32>
  func.return
}

// Another place of a line of memory may be another stage.
// CHECK-LABEL: func.func @line
!line = memref<8192xbf16, !cute.composed_layout<"S<3,3,3> o 0 o 8192:1">, 3>
!vector = !cute_nvgpu.fragment<8xbf16>
func.func @line(%s: !line, %b: !b, %c: !c, %i: index, %j: index, %t: !vector) {
  %a = cute_nvgpu.make_smem_desc %s[%i] : !line -> !a
  cute_nvgpu.wgmma.fence
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.fragment.store %t, %s[%j] : !vector, !line
  cute_nvgpu.wgmma.wait_group 0
  func.return
}

// What lies beyond all memory is no hazard: the interpreter says what it is.
// CHECK-LABEL: ptx.entry @beyond
ptx.entry @beyond() shared 1024 align 128 reqntid(32, 1, 1) {
  %s = ptx.shared_address 512
  %x = ptx.ld "shared" "b32" %s, 9223372036854775807 : !ptx.reg<b32> -> !ptx.reg<b32>
  ptx.ret
}
