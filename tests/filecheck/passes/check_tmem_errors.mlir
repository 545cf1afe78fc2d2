// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p cute-nvgpu-check-tmem

// Not given back at all.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  // expected-error @+1 {{'func.return' expected all tensor memory to be given back, got 128 columns of 'cute_nvgpu.tmem.alloc' at line 11 that are not on every path; nearest legal: cute_nvgpu.tmem.dealloc before it (PTX ISA, tcgen05.alloc)}}
  func.return
}

// -----

// Given back on one path of two.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  scf.if %p {
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  // expected-error @+1 {{'func.return' expected all tensor memory to be given back, got 128 columns of 'cute_nvgpu.tmem.alloc' at line 26}}
  func.return
}

// -----

// Given back in a loop that may not run.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  scf.for %i = %c0 to %n step %c1 {
    %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
    // expected-error @+1 {{'cute_nvgpu.tmem.dealloc' expected tensor memory that is allocated, got what 'cute_nvgpu.tmem.dealloc' at line 49 has given back; nearest legal: no second cute_nvgpu.tmem.dealloc}}
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  func.return
}

// -----

// Not given back between blocks.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  cute_nvgpu.tmem.dealloc %m : !cells
  cf.br ^bb2
^bb2:
  // expected-error @+1 {{'func.return' expected all tensor memory to be given back, got 128 columns of 'cute_nvgpu.tmem.alloc' at line 64}}
  func.return
}

// -----

// Used after it was given back.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  cute_nvgpu.tmem.dealloc %m : !cells
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected tensor memory that is allocated, got what 'cute_nvgpu.tmem.dealloc' at line 87 has given back; nearest legal: it before the cute_nvgpu.tmem.dealloc}}
  %f = cute_nvgpu.tmem.load %m[%c0, %c0] shape 32x32b : !cells -> !f
  func.return
}

// -----

// A part of it, on another path than the last one.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %s = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !cells
  scf.if %p {
    cute_nvgpu.tmem.dealloc %m : !cells
    // expected-error @+1 {{'cute_nvgpu.tmem.load' expected tensor memory that is allocated, got what 'cute_nvgpu.tmem.dealloc' at line 107 has given back}}
    %f = cute_nvgpu.tmem.load %s[%c0, %c0] shape 32x32b : !cells -> !f
  } else {
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  func.return
}

// -----

// By other threads.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %leads = arith.cmpi eq, %t, %c0 : index
  scf.if %leads {
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  // expected-error @+1 {{'cute_nvgpu.tmem.load' expected tensor memory that is allocated, got what 'cute_nvgpu.tmem.dealloc' at line 131 has given back}}
  %f = cute_nvgpu.tmem.load %m[%c0, %c0] shape 32x32b : !cells -> !f
  func.return
}

// -----

// Given back twice.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  cute_nvgpu.tmem.dealloc %m : !cells
  // expected-error @+1 {{'cute_nvgpu.tmem.dealloc' expected tensor memory that is allocated, got what 'cute_nvgpu.tmem.dealloc' at line 150 has given back; nearest legal: no second cute_nvgpu.tmem.dealloc}}
  cute_nvgpu.tmem.dealloc %m : !cells
  func.return
}

// -----

// Allocated in every round, given back behind the loop.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+1 {{'cute_nvgpu.tmem.alloc' expected the allocation of the round before to be given back, got 128 columns of 'cute_nvgpu.tmem.alloc' at line 168 that are not on every path; nearest legal: cute_nvgpu.tmem.dealloc in the loop}}
    cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  }
  func.return
}

// -----

// More than there is.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  %slots = memref.alloc() : memref<2xi32, #cute<space smem>>
  cute_nvgpu.tmem.alloc %slots[%c0] columns 512 : memref<2xi32, #cute<space smem>>
  // expected-error @+1 {{'cute_nvgpu.tmem.alloc' expected at most 512 columns at once, got 32 more while 'cute_nvgpu.tmem.alloc' at line 184 has its 512; nearest legal: cute_nvgpu.tmem.dealloc before it (PTX ISA, tcgen05.alloc)}}
  cute_nvgpu.tmem.alloc %slots[%c1] columns 32 : memref<2xi32, #cute<space smem>>
  func.return
}

// -----

// More than before.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  cute_nvgpu.tmem.dealloc %m : !cells
  // expected-error @+1 {{'cute_nvgpu.tmem.alloc' expected at most the 128 columns of 'cute_nvgpu.tmem.alloc' at line 200 before it, got 256 (PTX ISA, tcgen05.alloc); nearest legal: 128}}
  cute_nvgpu.tmem.alloc %slot[%c0] columns 256 : !slot
  func.return
}

// -----

// More than before, in the next round.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+1 {{'cute_nvgpu.tmem.alloc' expected at most the 32 columns of 'cute_nvgpu.tmem.alloc' at line 223 before it, got 64}}
    cute_nvgpu.tmem.alloc %slot[%c0] columns 64 : !slot
    %x = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
    cute_nvgpu.tmem.dealloc %x : memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
    cute_nvgpu.tmem.alloc %slot[%c0] columns 32 : !slot
    %y = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> memref<128x32xi32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
    cute_nvgpu.tmem.dealloc %y : memref<128x32xi32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
  }
  func.return
}

// -----

// The right to allocate is gone, on one path.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  scf.if %p {
    cute_nvgpu.tmem.relinquish_alloc_permit
  }
  // expected-error @+1 {{'cute_nvgpu.tmem.alloc' expected the right to allocate tensor memory, got none after 'cute_nvgpu.tmem.relinquish_alloc_permit' at line 241; nearest legal: it before that (PTX ISA, tcgen05.relinquish_alloc_permit)}}
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  cute_nvgpu.tmem.dealloc %m : !cells
  func.return
}

// -----

// A tensor that overlaps what comes behind it.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  cute_nvgpu.tmem.alloc %slot[%c0] columns 64 : !slot
  // expected-error @+1 {{'cute_nvgpu.tmem.retrieve' expected at most the 64 columns of 'cute_nvgpu.tmem.alloc' at line 260, got 128; nearest legal: 64}}
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  cute_nvgpu.tmem.dealloc %m : !cells
  func.return
}

// -----

// A part is given back.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  cute_nvgpu.tmem.alloc %slot[%c0] columns 256 : !slot
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  // expected-error @+1 {{'cute_nvgpu.tmem.dealloc' expected the 256 columns of 'cute_nvgpu.tmem.alloc' at line 277, got 128 (an allocation is given back as a whole); nearest legal: 256}}
  cute_nvgpu.tmem.dealloc %m : !cells
  func.return
}

// -----

// An accumulator that overlaps A.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!a = memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
func.func @k(%m: !cells, %b: !b) {
  %c0 = arith.constant 0 : index
  %c24 = arith.constant 24 : index
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  %a = cute_nvgpu.tmem.slice %m[%c0, %c24] : !cells -> !a
  // expected-error @+1 {{'cute_nvgpu.sm100.mma' expected a D apart from operand A, got columns 0 to 31 and 24 to 31 of the same allocation; nearest legal: A from column 32 on}}
  cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ts> : !d, !a, !b
  func.return
}

// -----

// A pair without a cluster of pairs.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k() attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  // expected-error @+1 {{'cute_nvgpu.tmem.alloc' expected clusters of pairs of CTAs with cta_group 2, got none as the gpu.known_cluster_size of 'func.func' at line 309; nearest legal: gpu.known_cluster_size = array<i32: 2, 1, 1>}}
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 cta_group 2 : !slot
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  cute_nvgpu.tmem.dealloc %m cta_group 2 : !cells
  func.return
}

// -----

// A pair without a cluster of pairs.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>
func.func @k() attributes {gpu.kernel, gpu.known_cluster_size = array<i32: 3, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  // expected-error @+1 {{'cute_nvgpu.tmem.alloc' expected clusters of pairs of CTAs with cta_group 2, got 3 x 1 x 1 as the gpu.known_cluster_size of 'func.func' at line 326; nearest legal: gpu.known_cluster_size = array<i32: 2, 1, 1>}}
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 cta_group 2 : !slot
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  cute_nvgpu.tmem.dealloc %m cta_group 2 : !cells
  func.return
}

// -----

// Four warps allocate.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @k() attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 2, 1>} {
  %c0 = arith.constant 0 : index
  %slot = memref.alloc() : !slot
  // expected-error @+1 {{'cute_nvgpu.tmem.alloc' expected one warp, got all 4 of 'func.func' at line 342; nearest legal: it in an scf.if that asks which warp it is (PTX ISA, tcgen05.alloc)}}
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  cute_nvgpu.tmem.dealloc %m : !cells
  func.return
}

// -----

// Two warps give back, whatever a condition of the whole CTA says.
!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
func.func @k(%p: i1) attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %slot = memref.alloc() : !slot
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %leads = arith.cmpi ult, %t, %c32 : index
  scf.if %leads {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  }
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  scf.if %p {
    // expected-error @+1 {{'cute_nvgpu.tmem.dealloc' expected one warp, got all 2 of 'func.func' at line 357}}
    cute_nvgpu.tmem.dealloc %m : !cells
  } else {
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  func.return
}
