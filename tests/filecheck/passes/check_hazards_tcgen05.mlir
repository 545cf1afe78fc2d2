// RUN: tilewright-opt %s -p cute-nvgpu-check-hazards | filecheck %s

!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>

// One thread multiplies, all load: the wait and the fence are between.
// CHECK-LABEL: func.func @roles(
func.func @roles(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %first = arith.cmpi eq, %t, %c0 : index
  scf.if %first {
    cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
    cute_nvgpu.tcgen05.commit %done[%c0] : !bars
  }
  cute_nvgpu.mbarrier.wait %done[%c0] parity %even : !bars
  cute_nvgpu.tcgen05.fence.after_thread_sync
  %f = cute_nvgpu.tmem.load %d[%c0, %c0] shape 32x32b : !d -> !f
  cute_nvgpu.tmem.wait_load
  %x = cute_nvgpu.fragment.extract %f[0] : !f -> f32
  func.return
}

// A pipeline of stages: what is written is of another stage than what is read in flight.
// CHECK-LABEL: func.func @stages(
func.func @stages(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %odd = arith.constant 1 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  scf.for %k = %c0 to %n step %c1 {
    %stage = arith.andi %k, %c1 : index
    %use = arith.divui %k, %c2 : index
    %number = arith.index_cast %use : index to i32
    %bit = arith.andi %number, %odd : i32
    %parity = arith.xori %bit, %odd : i32
    cute_nvgpu.mbarrier.wait %done[%stage] parity %parity : !bars
    memref.store %v, %s[%stage, %k, %k] : !s
    cute_nvgpu.fence.proxy.async
    %a = cute_nvgpu.make_smem_desc %s[%stage, %c0, %c0] : !s -> !a
    cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
    cute_nvgpu.tcgen05.commit %done[%stage] : !bars
  }
  func.return
}

// What is multiplied on a condition is committed, and waited for, on the same one.
// CHECK-LABEL: func.func @conditions(
func.func @conditions(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  scf.if %p {
    cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  }
  scf.if %p {
    cute_nvgpu.tcgen05.commit %done[%c0] : !bars
  }
  cute_nvgpu.mbarrier.wait %done[%c0] parity %even : !bars
  cute_nvgpu.tcgen05.fence.after_thread_sync
  %f = cute_nvgpu.tmem.load %d[%c0, %c0] shape 32x32b : !d -> !f
  cute_nvgpu.tmem.wait_load
  func.return
}

// Beside the accumulator, and in a half of tensor memory that only runs know.
// CHECK-LABEL: func.func @halves(
func.func @halves(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  %c32 = arith.constant 32 : index
  %e = cute_nvgpu.tmem.slice %m[%c0, %c32] : !cells -> !d
  %g = cute_nvgpu.tmem.slice %m[%c0, %n] : !cells -> !d
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  cute_nvgpu.tcgen05.commit %done[%c0] : !bars
  %x = cute_nvgpu.tmem.load %e[%c0, %c0] shape 32x32b : !d -> !f
  %y = cute_nvgpu.tmem.load %g[%c0, %c0] shape 32x32b : !d -> !f
  cute_nvgpu.tmem.wait_load
  func.return
}

// An accumulator of 64 rows has 16 lanes of every 32: the others are no business of its MMA.
!half = memref<64x32xf32, !cute.layout<"((16,4),32):((65536,2097152),1)">, #cute<space tmem>>
!rows = !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
// CHECK-LABEL: func.func @lanes(
func.func @lanes(%m: !cells, %a: !rows, %b: !b, %row: index) {
  %c0 = arith.constant 0 : index
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !half
  cute_nvgpu.sm100.mma %d, %a, %b <64x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !half, !rows, !b
  %x = cute_nvgpu.tmem.load %m[%row, %c0] shape 16x64b : !cells -> !cute_nvgpu.fragment<4xi32>
  cute_nvgpu.tmem.wait_load
  func.return
}
