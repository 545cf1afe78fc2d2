// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p cute-nvgpu-check-hazards

// No commit.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  cute_nvgpu.tcgen05.fence.after_thread_sync
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected tensor memory that is complete, got what 'cute_nvgpu.sm100.mma' at line 18 writes, and no tcgen05.commit follows it; nearest legal: cute_nvgpu.tcgen05.commit after it, cute_nvgpu.mbarrier.wait before this (PTX ISA, tcgen05.commit)}}
  %f = cute_nvgpu.tmem.load %d[%c0, %c0] shape 32x32b : !d -> !f
  func.return
}

// -----

// No wait.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  cute_nvgpu.tcgen05.commit %done[%c0] : !bars
  cute_nvgpu.tcgen05.fence.after_thread_sync
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected tensor memory that is complete, got what 'cute_nvgpu.sm100.mma' at line 42 writes, and no wait for the mbarrier of its tcgen05.commit is before this; nearest legal: cute_nvgpu.mbarrier.wait before it (PTX ISA, tcgen05.commit)}}
  %f = cute_nvgpu.tmem.load %d[%c0, %c0] shape 32x32b : !d -> !f
  func.return
}

// -----

// No fence.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  cute_nvgpu.tcgen05.commit %done[%c0] : !bars
  cute_nvgpu.mbarrier.wait %done[%c0] parity %even : !bars
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected tensor memory that is complete, got what 'cute_nvgpu.sm100.mma' at line 67 writes, and no tcgen05.fence.after_thread_sync follows the wait; nearest legal: cute_nvgpu.tcgen05.fence.after_thread_sync behind it (PTX ISA, tcgen05.commit)}}
  %f = cute_nvgpu.tmem.load %d[%c0, %c0] shape 32x32b : !d -> !f
  func.return
}

// -----

// A wait on one of two paths.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  cute_nvgpu.tcgen05.commit %done[%c0] : !bars
  scf.if %p {
    cute_nvgpu.mbarrier.wait %done[%c0] parity %even : !bars
  }
  cute_nvgpu.tcgen05.fence.after_thread_sync
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected tensor memory that is complete, got what 'cute_nvgpu.sm100.mma' at line 92 writes, and no wait for the mbarrier of its tcgen05.commit is before this}}
  %f = cute_nvgpu.tmem.load %d[%c0, %c0] shape 32x32b : !d -> !f
  func.return
}

// -----

// In the next round.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+1 {{'cute_nvgpu.tmem.load' expected tensor memory that is complete, got what 'cute_nvgpu.sm100.mma' at line 124 writes, and no tcgen05.commit follows it}}
    %f = cute_nvgpu.tmem.load %d[%c0, %c0] shape 32x32b : !d -> !f
    cute_nvgpu.tmem.wait_load
    cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  }
  func.return
}

// -----

// A part of the accumulator, wherever it is.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  cute_nvgpu.tcgen05.commit %done[%c0] : !bars
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected tensor memory that is complete, got what 'cute_nvgpu.sm100.mma' at line 146 writes}}
  %f = cute_nvgpu.tmem.load %d[%c0, %n] shape 32x32b : !d -> !f
  func.return
}

// -----

// A store over the accumulator.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  cute_nvgpu.tcgen05.commit %done[%c0] : !bars
  cute_nvgpu.mbarrier.wait %done[%c0] parity %even : !bars
  // expected-error @+1 {{'cute_nvgpu.tmem.store' expected tensor memory that is complete, got what 'cute_nvgpu.sm100.mma' at line 170 writes}}
  cute_nvgpu.tmem.store %w, %d[%c0, %c0] shape 32x32b : !f, !d
  cute_nvgpu.tmem.wait_store
  func.return
}

// -----

// The accumulator is given back.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  cute_nvgpu.tcgen05.commit %done[%c0] : !bars
  // expected-error @+1 {{'cute_nvgpu.tmem.dealloc' expected tensor memory that is complete, got what 'cute_nvgpu.sm100.mma' at line 196 writes, and no wait for the mbarrier}}
  cute_nvgpu.tmem.dealloc %m : !cells
  func.return
}

// -----

// A write to what it reads.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  cute_nvgpu.tcgen05.commit %done[%c0] : !bars
  // expected-error @+1 {{'memref.store' expected shared memory that nothing reads, got what 'cute_nvgpu.sm100.mma' at line 220 reads, and no wait for the mbarrier of its tcgen05.commit is before this; nearest legal: cute_nvgpu.mbarrier.wait before it (PTX ISA, tcgen05.commit)}}
  memref.store %v, %s[%c0, %c1, %c1] : !s
  cute_nvgpu.mbarrier.wait %done[%c0] parity %even : !bars
  func.return
}

// -----

// In the next round, behind the wait for another mbarrier.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  %other = memref.alloc() : !bars
  scf.for %i = %c0 to %n step %c1 {
    cute_nvgpu.mbarrier.wait %other[%c0] parity %even : !bars
    // expected-error @+1 {{'memref.store' expected shared memory that nothing reads, got what 'cute_nvgpu.sm100.mma' at line 251 reads}}
    memref.store %v, %s[%c0, %c1, %c1] : !s
    cute_nvgpu.fence.proxy.async
    cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
    cute_nvgpu.tcgen05.commit %done[%c0] : !bars
  }
  func.return
}

// -----

// Unseen by the async proxy.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  memref.store %v, %s[%c0, %c1, %c1] : !s
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' expected memory that the async proxy sees, got what 'memref.store' at line 274 wrote; nearest legal: cute_nvgpu.fence.proxy.async after it, in the thread that wrote (PTX ISA, tcgen05.mma)}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  cute_nvgpu.tcgen05.commit %done[%c0] : !bars
  cute_nvgpu.mbarrier.wait %done[%c0] parity %even : !bars
  func.return
}

// -----

// Registers before the wait.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  %f = cute_nvgpu.tmem.load %d[%c0, %c0] shape 32x32b : !d -> !f
  // expected-error @+1 {{'cute_nvgpu.fragment.extract' expected registers that are loaded, got those of 'cute_nvgpu.tmem.load' at line 299, which no tmem.wait_load has completed; nearest legal: cute_nvgpu.tmem.wait_load before it (PTX ISA, tcgen05.wait)}}
  %x = cute_nvgpu.fragment.extract %f[0] : !f -> f32
  cute_nvgpu.tmem.wait_load
  func.return
}

// -----

// Registers of the round before.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%g = %w) -> (!f) {
    // expected-error @+1 {{'cute_nvgpu.fragment.extract' expected registers that are loaded, got those of 'cute_nvgpu.tmem.load' at line 326}}
    %x = cute_nvgpu.fragment.extract %g[0] : !f -> f32
    %f = cute_nvgpu.tmem.load %d[%c0, %c0] shape 32x32b : !d -> !f
    scf.yield %f : !f
  }
  cute_nvgpu.tmem.wait_load
  func.return
}

// -----

// Loaded before it is stored.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.tmem.store %w, %d[%c0, %c0] shape 32x32b : !f, !d
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected tensor memory that is stored, got what 'cute_nvgpu.tmem.store' at line 350 writes, which no tmem.wait_store has completed; nearest legal: cute_nvgpu.tmem.wait_store before it (PTX ISA, tcgen05.wait)}}
  %f = cute_nvgpu.tmem.load %d[%c0, %c0] shape 32x32b : !d -> !f
  func.return
}

// -----

// Accumulated onto before it is stored.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  cute_nvgpu.tmem.store %w, %d[%c0, %c0] shape 32x32b : !f, !d
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' expected tensor memory that is stored, got what 'cute_nvgpu.tmem.store' at line 373 writes}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  func.return
}

// -----

// Stored before it is loaded.
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<2x128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,128,64):(8192,64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%m: !cells, %s: !s, %b: !b, %v: f16, %w: !f, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.constant 0 : i32
  %done = memref.alloc() : !bars
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
  %f = cute_nvgpu.tmem.load %d[%c0, %c0] shape 32x32b : !d -> !f
  // expected-error @+1 {{'cute_nvgpu.tmem.store' expected tensor memory that nothing reads, got what 'cute_nvgpu.tmem.load' at line 396 reads, which no tmem.wait_load has completed; nearest legal: cute_nvgpu.tmem.wait_load before it (PTX ISA, tcgen05.wait)}}
  cute_nvgpu.tmem.store %w, %d[%c0, %c0] shape 32x32b : !f, !d
  func.return
}
