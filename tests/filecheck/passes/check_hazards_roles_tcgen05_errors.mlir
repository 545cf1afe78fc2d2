// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p cute-nvgpu-check-hazards

// An MMA that all threads of a warp issue.
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (128,64):(64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!slot = memref<1xi32, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%s: !s, %n: index, %b: !b) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 160, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is4 = arith.cmpi eq, %warp, %c4 : index
  %carries = arith.cmpi ult, %warp, %c4 : index
  %row = arith.muli %warp, %c32 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0] : !s -> !a
  %slot = memref.alloc() : !slot
  %bars = memref.alloc() : !bars
  scf.if %is0 {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 64 : !slot
  }
  scf.if %first {
    cute_nvgpu.mbarrier.init %bars[%c0] count 1 : !bars
    cute_nvgpu.mbarrier.init %bars[%c1] count 128 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  scf.if %is4 {
    // expected-error @+1 {{'cute_nvgpu.sm100.mma' expected one thread, got 32 threads of a warp; nearest legal: in a branch of one thread (cute_nvgpu.elect.sync)}}
    cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
    cute_nvgpu.tcgen05.commit %bars[%c0] : !bars
  }
  "gpu.barrier"() : () -> ()
  scf.if %is0 {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  func.return
}

// -----

// Two warps that allocate.
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (128,64):(64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!slot = memref<1xi32, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%s: !s, %n: index, %b: !b) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 160, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is4 = arith.cmpi eq, %warp, %c4 : index
  %carries = arith.cmpi ult, %warp, %c4 : index
  %row = arith.muli %warp, %c32 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0] : !s -> !a
  %slot = memref.alloc() : !slot
  %two = arith.cmpi ult, %warp, %c2 : index
  scf.if %two {
    // expected-error @+1 {{'cute_nvgpu.tmem.alloc' expected one warp, got 2; nearest legal: in a branch of one warp (PTX ISA, tcgen05.alloc)}}
    cute_nvgpu.tmem.alloc %slot[%c0] columns 64 : !slot
  }
  "gpu.barrier"() : () -> ()
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  "gpu.barrier"() : () -> ()
  scf.if %is0 {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  func.return
}

// -----

// The address is read, and no barrier is behind what wrote it.
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (128,64):(64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!slot = memref<1xi32, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%s: !s, %n: index, %b: !b) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 160, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is4 = arith.cmpi eq, %warp, %c4 : index
  %carries = arith.cmpi ult, %warp, %c4 : index
  %row = arith.muli %warp, %c32 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0] : !s -> !a
  %slot = memref.alloc() : !slot
  %bars = memref.alloc() : !bars
  scf.if %is0 {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 64 : !slot
  }
  scf.if %first {
    cute_nvgpu.mbarrier.init %bars[%c0] count 1 : !bars
    cute_nvgpu.mbarrier.init %bars[%c1] count 128 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  // expected-error @+1 {{'cute_nvgpu.tmem.retrieve' expected shared memory that other threads are done with, got what 'cute_nvgpu.tmem.alloc' at line 127 writes, and no barrier or mbarrier orders them; nearest legal: cute_nvgpu.bar.sync between, or an arrival after it and a wait before this (PTX ISA, memory consistency model); threads 1 to 31 meet threads 1 to 31}}
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  "gpu.barrier"() : () -> ()
  scf.if %is0 {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  func.return
}

// -----

// A load of lanes of another warp.
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (128,64):(64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!slot = memref<1xi32, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%s: !s, %n: index, %b: !b) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 160, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is4 = arith.cmpi eq, %warp, %c4 : index
  %carries = arith.cmpi ult, %warp, %c4 : index
  %row = arith.muli %warp, %c32 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0] : !s -> !a
  %slot = memref.alloc() : !slot
  %bars = memref.alloc() : !bars
  scf.if %is0 {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 64 : !slot
  }
  scf.if %first {
    cute_nvgpu.mbarrier.init %bars[%c0] count 1 : !bars
    cute_nvgpu.mbarrier.init %bars[%c1] count 128 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  scf.if %is4 {
    %leader = cute_nvgpu.elect.sync
    scf.if %leader {
      cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
      cute_nvgpu.tcgen05.commit %bars[%c0] : !bars
    }
  }
  scf.if %carries {
    cute_nvgpu.mbarrier.wait %bars[%c0] parity %even : !bars
    cute_nvgpu.tcgen05.fence.after_thread_sync
    // expected-error @+1 {{'cute_nvgpu.tmem.load' expected an access to the warp's own lanes 32 to 63, got lane 0; nearest legal: lane 32 (PTX ISA, tcgen05.ld)}}
    %f = cute_nvgpu.tmem.load %d[%c0, %c0] shape 32x32b : !d -> !f
    cute_nvgpu.tmem.wait_load
    cute_nvgpu.tcgen05.fence.before_thread_sync
  }
  "gpu.barrier"() : () -> ()
  scf.if %is0 {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  func.return
}

// -----

// Loaded behind the wait of another role.
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (128,64):(64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!slot = memref<1xi32, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%s: !s, %n: index, %b: !b) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 160, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is4 = arith.cmpi eq, %warp, %c4 : index
  %carries = arith.cmpi ult, %warp, %c4 : index
  %row = arith.muli %warp, %c32 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0] : !s -> !a
  %slot = memref.alloc() : !slot
  %bars = memref.alloc() : !bars
  scf.if %is0 {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 64 : !slot
  }
  scf.if %first {
    cute_nvgpu.mbarrier.init %bars[%c0] count 1 : !bars
    cute_nvgpu.mbarrier.init %bars[%c1] count 128 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  scf.if %is4 {
    %leader = cute_nvgpu.elect.sync
    scf.if %leader {
      cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
      cute_nvgpu.tcgen05.commit %bars[%c0] : !bars
      cute_nvgpu.mbarrier.wait %bars[%c0] parity %even : !bars
    }
  }
  scf.if %carries {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    // expected-error @+1 {{'cute_nvgpu.tmem.load' expected tensor memory that is complete, got what 'cute_nvgpu.sm100.mma' at line 251 writes, and no wait for the mbarrier of its tcgen05.commit is before this; nearest legal: cute_nvgpu.mbarrier.wait before it (PTX ISA, tcgen05.commit); threads 1 to 31 meet thread 128}}
    %f = cute_nvgpu.tmem.load %d[%row, %c0] shape 32x32b : !d -> !f
    cute_nvgpu.tmem.wait_load
    cute_nvgpu.tcgen05.fence.before_thread_sync
  }
  "gpu.barrier"() : () -> ()
  scf.if %is0 {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  func.return
}

// -----

// Multiplied over what others still load: no arrival.
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (128,64):(64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!slot = memref<1xi32, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%s: !s, %n: index, %b: !b) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 160, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is4 = arith.cmpi eq, %warp, %c4 : index
  %carries = arith.cmpi ult, %warp, %c4 : index
  %row = arith.muli %warp, %c32 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0] : !s -> !a
  %slot = memref.alloc() : !slot
  %bars = memref.alloc() : !bars
  scf.if %is0 {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 64 : !slot
  }
  scf.if %first {
    cute_nvgpu.mbarrier.init %bars[%c0] count 1 : !bars
    cute_nvgpu.mbarrier.init %bars[%c1] count 128 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  scf.if %is4 {
    %leader = cute_nvgpu.elect.sync
    scf.if %leader {
      cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
      cute_nvgpu.tcgen05.commit %bars[%c0] : !bars
      cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
    }
  }
  scf.if %carries {
    cute_nvgpu.mbarrier.wait %bars[%c0] parity %even : !bars
    cute_nvgpu.tcgen05.fence.after_thread_sync
    // expected-error @+1 {{'cute_nvgpu.tmem.load' expected tensor memory that is complete, got what 'cute_nvgpu.sm100.mma' at line 316 writes, and no tcgen05.commit follows it; nearest legal: cute_nvgpu.tcgen05.commit after it, cute_nvgpu.mbarrier.wait before this (PTX ISA, tcgen05.commit); threads 1 to 31 meet thread 128}}
    %f = cute_nvgpu.tmem.load %d[%row, %c0] shape 32x32b : !d -> !f
    cute_nvgpu.tmem.wait_load
    cute_nvgpu.tcgen05.fence.before_thread_sync
  }
  "gpu.barrier"() : () -> ()
  scf.if %is0 {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  func.return
}

// -----

// The same with an arrival, but no fence before it.
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (128,64):(64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!slot = memref<1xi32, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%s: !s, %n: index, %b: !b) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 160, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is4 = arith.cmpi eq, %warp, %c4 : index
  %carries = arith.cmpi ult, %warp, %c4 : index
  %row = arith.muli %warp, %c32 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0] : !s -> !a
  %slot = memref.alloc() : !slot
  %bars = memref.alloc() : !bars
  scf.if %is0 {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 64 : !slot
  }
  scf.if %first {
    cute_nvgpu.mbarrier.init %bars[%c0] count 1 : !bars
    cute_nvgpu.mbarrier.init %bars[%c1] count 128 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  scf.if %is4 {
    %leader = cute_nvgpu.elect.sync
    scf.if %leader {
      cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
      cute_nvgpu.tcgen05.commit %bars[%c0] : !bars
      cute_nvgpu.mbarrier.wait %bars[%c1] parity %even : !bars
      cute_nvgpu.tcgen05.fence.after_thread_sync
      // expected-error @+1 {{'cute_nvgpu.sm100.mma' expected tensor memory that nothing reads, got what 'cute_nvgpu.tmem.load' at line 390 reads, and no tcgen05.fence.before_thread_sync of its threads follows it; nearest legal: cute_nvgpu.tcgen05.fence.before_thread_sync behind its wait (PTX ISA, tcgen05 memory consistency); thread 128 meets threads 1 to 31}}
      cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
      cute_nvgpu.tcgen05.commit %bars[%c0] : !bars
    }
  }
  scf.if %carries {
    cute_nvgpu.mbarrier.wait %bars[%c0] parity %even : !bars
    cute_nvgpu.tcgen05.fence.after_thread_sync
    %f = cute_nvgpu.tmem.load %d[%row, %c0] shape 32x32b : !d -> !f
    cute_nvgpu.tmem.wait_load
    cute_nvgpu.mbarrier.arrive %bars[%c1] : !bars
  }
  "gpu.barrier"() : () -> ()
  scf.if %is0 {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  func.return
}

// -----

// Given back while an MMA writes it.
!cells = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!d = memref<128x32xf32, !cute.layout<"(128,32):(65536,1)">, #cute<space tmem>>
!a = !cute_nvgpu.smem_desc_view<128x16xf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">
!s = memref<128x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (128,64):(64,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!slot = memref<1xi32, #cute<space smem>>
!f = !cute_nvgpu.fragment<8xf32>
func.func @k(%s: !s, %n: index, %b: !b) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 160, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is4 = arith.cmpi eq, %warp, %c4 : index
  %carries = arith.cmpi ult, %warp, %c4 : index
  %row = arith.muli %warp, %c32 : index
  %a = cute_nvgpu.make_smem_desc %s[%c0, %c0] : !s -> !a
  %slot = memref.alloc() : !slot
  %bars = memref.alloc() : !bars
  scf.if %is0 {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 64 : !slot
  }
  scf.if %first {
    cute_nvgpu.mbarrier.init %bars[%c0] count 1 : !bars
    cute_nvgpu.mbarrier.init %bars[%c1] count 128 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : !cells -> !d
  scf.if %is4 {
    %leader = cute_nvgpu.elect.sync
    scf.if %leader {
      cute_nvgpu.sm100.mma %d, %a, %b <128x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
      cute_nvgpu.tcgen05.commit %bars[%c0] : !bars
    }
  }
  "gpu.barrier"() : () -> ()
  scf.if %is0 {
    cute_nvgpu.tcgen05.fence.after_thread_sync
    // expected-error @+1 {{'cute_nvgpu.tmem.dealloc' expected tensor memory that is complete, got what 'cute_nvgpu.sm100.mma' at line 445 writes, and no wait for the mbarrier of its tcgen05.commit is before this; nearest legal: cute_nvgpu.mbarrier.wait before it (PTX ISA, tcgen05.commit); threads 1 to 31 meet thread 128}}
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  func.return
}
