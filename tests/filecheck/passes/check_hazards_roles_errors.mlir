// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p cute-nvgpu-check-hazards

// Neighbours' elements, and no barrier.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %s = memref.alloc() : !line
  memref.store %even, %s[%t] : !line
  %next = arith.xori %t, %c32 : index
  // expected-error @+1 {{'memref.load' expected shared memory that other threads are done with, got what 'memref.store' at line 23 writes, and no barrier or mbarrier orders them; nearest legal: cute_nvgpu.bar.sync between, or an arrival after it and a wait before this (PTX ISA, memory consistency model); threads 0 to 31 meet threads 32 to 63}}
  %v = memref.load %s[%next] : !line
  func.return
}

// -----

// Elements of a thread of the same warp.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %s = memref.alloc() : !line
  memref.store %even, %s[%t] : !line
  %next = arith.xori %t, %c1 : index
  // expected-error @+1 {{'memref.load' expected shared memory that other threads are done with, got what 'memref.store' at line 52 writes, and no barrier or mbarrier orders them; nearest legal: cute_nvgpu.bar.sync between, or an arrival after it and a wait before this (PTX ISA, memory consistency model); threads 0 to 31 meet threads 0 to 31}}
  %v = memref.load %s[%next] : !line
  func.return
}

// -----

// Overwritten while others may still read.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %s = memref.alloc() : !line
  memref.store %even, %s[%t] : !line
  "gpu.barrier"() : () -> ()
  %next = arith.xori %t, %c32 : index
  %v = memref.load %s[%next] : !line
  // expected-error @+1 {{'memref.store' expected shared memory that other threads are done with, got what 'memref.load' at line 84 reads, and no barrier or mbarrier orders them; nearest legal: cute_nvgpu.bar.sync between, or an arrival after it and a wait before this (PTX ISA, memory consistency model); threads 0 to 31 meet threads 32 to 63}}
  memref.store %odd, %s[%t] : !line
  func.return
}

// -----

// In the next round.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %s = memref.alloc() : !line
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+1 {{'memref.store' expected shared memory that other threads are done with, got what 'memref.load' at line 117 reads, and no barrier or mbarrier orders them; nearest legal: cute_nvgpu.bar.sync between, or an arrival after it and a wait before this (PTX ISA, memory consistency model); threads 0 to 31 in round 1 of the loop at line 112 meet threads 32 to 63 in round 0 of the loop at line 112}}
    memref.store %even, %s[%t] : !line
    "gpu.barrier"() : () -> ()
    %next = arith.xori %t, %c32 : index
    %v = memref.load %s[%next] : !line
  }
  func.return
}

// -----

// Read before the copy is waited for.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 1 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  scf.if %first {
    cute_nvgpu.mbarrier.arrive.expect_tx %full[%c0] bytes 512 : !bars
    cute_nvgpu.tma.load %m[%c0, %c0] to %x[%c0, %c0, %c0] mbarrier %full[%c0] : !map to !box, !bars
  }
  // expected-error @+1 {{'memref.load' expected shared memory that is copied, got what 'cute_nvgpu.tma.load' at line 152 writes, and no wait for its mbarrier is before this; nearest legal: cute_nvgpu.mbarrier.wait before it (PTX ISA, cp.async.bulk); threads 1 to 31 meet thread 0}}
  %v = memref.load %x[%c0, %c0, %c0] : !box
  func.return
}

// -----

// Waited for in one role, read in another.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 1 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  scf.if %first {
    cute_nvgpu.mbarrier.arrive.expect_tx %full[%c0] bytes 512 : !bars
    cute_nvgpu.tma.load %m[%c0, %c0] to %x[%c0, %c0, %c0] mbarrier %full[%c0] : !map to !box, !bars
  }
  scf.if %is0 {
    cute_nvgpu.mbarrier.wait %full[%c0] parity %even : !bars
  }
  scf.if %is1 {
    // expected-error @+1 {{'memref.load' expected shared memory that is copied, got what 'cute_nvgpu.tma.load' at line 189 writes, and no wait for its mbarrier is before this; nearest legal: cute_nvgpu.mbarrier.wait before it (PTX ISA, cp.async.bulk); threads 32 to 63 meet thread 0}}
    %v = memref.load %x[%c0, %c0, %c0] : !box
  }
  func.return
}

// -----

// A wait for the parity before the first phase waits for nothing.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 1 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  scf.if %first {
    cute_nvgpu.mbarrier.arrive.expect_tx %full[%c0] bytes 512 : !bars
    cute_nvgpu.tma.load %m[%c0, %c0] to %x[%c0, %c0, %c0] mbarrier %full[%c0] : !map to !box, !bars
  }
  cute_nvgpu.mbarrier.wait %full[%c0] parity %odd : !bars
  // expected-error @+1 {{'memref.load' expected shared memory that is copied, got what 'cute_nvgpu.tma.load' at line 231 writes, and no wait for its mbarrier is before this; nearest legal: cute_nvgpu.mbarrier.wait before it (PTX ISA, cp.async.bulk); threads 1 to 31 meet thread 0}}
  %v = memref.load %x[%c0, %c0, %c0] : !box
  func.return
}

// -----

// Copied over what others may still read: no arrival says that they are done.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 1 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  scf.for %i = %c0 to %n step %c1 {
    %number = arith.index_cast %i : index to i32
    %parity = arith.andi %number, %odd : i32
    scf.if %first {
      cute_nvgpu.mbarrier.arrive.expect_tx %full[%c0] bytes 512 : !bars
      cute_nvgpu.tma.load %m[%c0, %c0] to %x[%c0, %c0, %c0] mbarrier %full[%c0] : !map to !box, !bars
    }
    // expected-error @+1 {{'cute_nvgpu.mbarrier.wait' expected to see each phase before the next one is over, got a wait that may come after the phase that follows it, 1, is over too: nothing that phase 1 waits for is behind this; nearest legal: an arrival behind this wait that the next phase waits for (PTX ISA, mbarrier.try_wait)}}
    cute_nvgpu.mbarrier.wait %full[%c0] parity %parity : !bars
    %v = memref.load %x[%c0, %c0, %c0] : !box
  }
  func.return
}

// -----

// An arrival too many.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 63 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  // expected-error @+1 {{'cute_nvgpu.mbarrier.arrive' expected to arrive behind the phase before, got an arrival that may come while phase 0 of the mbarrier of 'cute_nvgpu.mbarrier.init' at line 305 goes on: its thread has not waited for it; nearest legal: cute_nvgpu.mbarrier.wait before it (PTX ISA, mbarrier); threads 32 to 63}}
  cute_nvgpu.mbarrier.arrive %full[%c0] : !bars
  cute_nvgpu.mbarrier.wait %full[%c0] parity %even : !bars
  func.return
}

// -----

// An arrival too few.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 65 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  cute_nvgpu.mbarrier.arrive %full[%c0] : !bars
  // expected-error @+1 {{'cute_nvgpu.mbarrier.wait' expected to go on, got a wait that nothing ends: phase 0 of the mbarrier of 'cute_nvgpu.mbarrier.init' at line 339 waits for 65 arrivals, and 64 come; nearest legal: count 64; threads 1 to 31}}
  cute_nvgpu.mbarrier.wait %full[%c0] parity %even : !bars
  func.return
}

// -----

// Bytes that no copy brings.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 1 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  scf.if %first {
    cute_nvgpu.mbarrier.arrive.expect_tx %full[%c0] bytes 528 : !bars
    cute_nvgpu.tma.load %m[%c0, %c0] to %x[%c0, %c0, %c0] mbarrier %full[%c0] : !map to !box, !bars
  }
  // expected-error @+1 {{'cute_nvgpu.mbarrier.wait' expected to go on, got a wait that nothing ends: phase 0 of the mbarrier of 'cute_nvgpu.mbarrier.init' at line 373 expects 16 bytes more than copies bring; nearest legal: the bytes of the copies; threads 1 to 31}}
  cute_nvgpu.mbarrier.wait %full[%c0] parity %even : !bars
  func.return
}

// -----

// The parity of a phase that never comes.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 1 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  scf.if %first {
    cute_nvgpu.mbarrier.arrive.expect_tx %full[%c0] bytes 512 : !bars
    cute_nvgpu.tma.load %m[%c0, %c0] to %x[%c0, %c0, %c0] mbarrier %full[%c0] : !map to !box, !bars
  }
  cute_nvgpu.mbarrier.wait %full[%c0] parity %even : !bars
  // expected-error @+1 {{'cute_nvgpu.mbarrier.wait' expected to go on, got a wait that nothing ends: phase 1 of the mbarrier of 'cute_nvgpu.mbarrier.init' at line 410 waits for 1 arrivals, and 0 come; nearest legal: an arrival; threads 1 to 31}}
  cute_nvgpu.mbarrier.wait %full[%c0] parity %odd : !bars
  func.return
}

// -----

// Two phases that nothing keeps apart: the second arrival may come in the first phase.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 2 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  scf.if %leads {
    cute_nvgpu.mbarrier.arrive %full[%c0] : !bars
    // expected-error @+1 {{'cute_nvgpu.mbarrier.arrive' expected to arrive behind the phase before, got an arrival that may come while phase 0 of the mbarrier of 'cute_nvgpu.mbarrier.init' at line 448 goes on: its thread has not waited for it; nearest legal: cute_nvgpu.mbarrier.wait before it (PTX ISA, mbarrier); thread 0}}
    cute_nvgpu.mbarrier.arrive %full[%c0] : !bars
  }
  func.return
}

// -----

// A wait that may come when the phase behind the one that it waits for is over as well.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 1 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  scf.if %first {
    cute_nvgpu.mbarrier.arrive %full[%c0] : !bars
    cute_nvgpu.mbarrier.wait %full[%c0] parity %even : !bars
    cute_nvgpu.mbarrier.arrive %full[%c0] : !bars
  }
  scf.if %is1 {
    // expected-error @+1 {{'cute_nvgpu.mbarrier.wait' expected to see each phase before the next one is over, got a wait that waits for phase 0 and may come after phase 1 is over too; nearest legal: an arrival behind this wait that the next phase waits for (PTX ISA, mbarrier.try_wait); threads 32 to 63}}
    cute_nvgpu.mbarrier.wait %full[%c0] parity %even : !bars
  }
  func.return
}

// -----

// An mbarrier whose making no barrier orders.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 64 : !bars
  }
  // expected-error @+1 {{'cute_nvgpu.mbarrier.arrive' expected an mbarrier that is made, got that of 'cute_nvgpu.mbarrier.init' at line 523, which no barrier orders before this; nearest legal: gpu.barrier after it (PTX ISA, mbarrier.init)}}
  cute_nvgpu.mbarrier.arrive %full[%c0] : !bars
  func.return
}

// -----

// An mbarrier that nobody makes.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %full = memref.alloc() : !bars
  // expected-error @+1 {{'cute_nvgpu.mbarrier.arrive' expected an mbarrier that is made, got one that no mbarrier.init makes before this; nearest legal: cute_nvgpu.mbarrier.init and a barrier before it (PTX ISA, mbarrier.init)}}
  cute_nvgpu.mbarrier.arrive %full[%c0] : !bars
  func.return
}

// -----

// An mbarrier that every thread makes.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %full = memref.alloc() : !bars
  // expected-error @+1 {{'cute_nvgpu.mbarrier.init' expected an mbarrier to be made once, by one thread, got 32 threads; nearest legal: in a branch of one thread (PTX ISA, mbarrier.init)}}
  cute_nvgpu.mbarrier.init %full[%c0] count 1 : !bars
  func.return
}

// -----

// An mbarrier that copies do not see.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 1 : !bars
  }
  "gpu.barrier"() : () -> ()
  scf.if %first {
    cute_nvgpu.mbarrier.arrive.expect_tx %full[%c0] bytes 512 : !bars
    // expected-error @+1 {{'cute_nvgpu.tma.load' expected an mbarrier that the async proxy sees, got that of 'cute_nvgpu.mbarrier.init' at line 608, which no fence.mbarrier_init follows; nearest legal: cute_nvgpu.fence.mbarrier_init after it (PTX ISA, fence.mbarrier_init)}}
    cute_nvgpu.tma.load %m[%c0, %c0] to %x[%c0, %c0, %c0] mbarrier %full[%c0] : !map to !box, !bars
  }
  func.return
}

// -----

// An mbarrier behind its ring.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 1 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  scf.if %first {
    // expected-error @+1 {{'cute_nvgpu.mbarrier.arrive' expected one of 2 mbarriers, got number 2; nearest legal: 0 (PTX ISA, mbarrier)}}
    cute_nvgpu.mbarrier.arrive %full[%c2] : !bars
  }
  func.return
}

// -----

// Stored by threads, and not seen by the async proxy.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  memref.store %even, %x[%c0, %warp, %c0] : !box
  "gpu.barrier"() : () -> ()
  scf.if %first {
    // expected-error @+1 {{'cute_nvgpu.tma.store' expected memory that the async proxy sees, got what 'memref.store' at line 675 wrote; nearest legal: cute_nvgpu.fence.proxy.async after it, in the thread that wrote (PTX ISA, 9.7.13.4); thread 0 meets threads 1 to 31}}
    cute_nvgpu.tma.store %x[%c0, %c0, %c0] to %m[%c0, %c0] : !box to !map
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0
  }
  func.return
}

// -----

// Overwritten while a copy reads it.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  scf.for %i = %c0 to %n step %c1 {
    "gpu.barrier"() : () -> ()
    // expected-error @+1 {{'memref.store' expected shared memory that nothing reads, got what 'cute_nvgpu.tma.store' at line 715 reads, which no cp.async.bulk.wait_group has completed; nearest legal: cute_nvgpu.cp.async.bulk.wait_group 0 before it (PTX ISA, cp.async.bulk.wait_group); threads 1 to 31 in round 1 of the loop at line 708 meet thread 0 in round 0 of the loop at line 708}}
    memref.store %even, %x[%c0, %warp, %c0] : !box
    cute_nvgpu.fence.proxy.async
    "gpu.barrier"() : () -> ()
    scf.if %first {
      cute_nvgpu.tma.store %x[%c0, %c0, %c0] to %m[%c0, %c0] : !box to !map
      cute_nvgpu.cp.async.bulk.commit_group
      cute_nvgpu.cp.async.bulk.wait_group 1 read
    }
  }
  cute_nvgpu.cp.async.bulk.wait_group 0
  func.return
}

// -----

// Waited for, but no barrier tells the others.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+1 {{'memref.store' expected shared memory that nothing reads, got what 'cute_nvgpu.tma.store' at line 752 reads, which no barrier orders behind its cp.async.bulk.wait_group; nearest legal: a barrier behind it (PTX ISA, cp.async.bulk.wait_group); threads 1 to 31 in round 1 of the loop at line 746 meet thread 0 in round 0 of the loop at line 746}}
    memref.store %even, %x[%c0, %warp, %c0] : !box
    cute_nvgpu.fence.proxy.async
    "gpu.barrier"() : () -> ()
    scf.if %first {
      cute_nvgpu.tma.store %x[%c0, %c0, %c0] to %m[%c0, %c0] : !box to !map
      cute_nvgpu.cp.async.bulk.commit_group
      cute_nvgpu.cp.async.bulk.wait_group 0 read
    }
  }
  func.return
}

// -----

// A copy in flight at the end.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  memref.store %even, %x[%c0, %warp, %c0] : !box
  cute_nvgpu.fence.proxy.async
  "gpu.barrier"() : () -> ()
  scf.if %first {
    cute_nvgpu.tma.store %x[%c0, %c0, %c0] to %m[%c0, %c0] : !box to !map
    // expected-error @+1 {{'cute_nvgpu.cp.async.bulk.commit_group' expected to end with no copy in flight, got 'cute_nvgpu.tma.store' at line 786, which no cp.async.bulk.wait_group has completed; nearest legal: cute_nvgpu.cp.async.bulk.wait_group 0 before it (PTX ISA, cp.async.bulk.wait_group)}}
    cute_nvgpu.cp.async.bulk.commit_group
  }
  func.return
}

// -----

// Nothing was written there.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %x = memref.alloc() : !box
  scf.if %first {
    // expected-error @+1 {{'cute_nvgpu.tma.store' expected shared memory that something has written, got what nothing writes before this; nearest legal: what writes it, and a barrier or a wait, before this}}
    cute_nvgpu.tma.store %x[%c0, %c0, %c0] to %m[%c0, %c0] : !box to !map
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0
  }
  func.return
}

// -----

// A copy by cp.async that was not waited for.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %c4 = arith.constant 4 : index
  %s = memref.alloc() : !line
  %at = arith.muli %t, %c4 : index
  cute_nvgpu.cp.async %p[%at] to %s[%at] size 16 cache cg : memref<?xi32> to !line
  cute_nvgpu.cp.async.commit_group
  // expected-error @+1 {{'memref.load' expected shared memory that is copied, got what 'cute_nvgpu.cp.async' at line 848 writes, which no cp.async.wait_group has completed; nearest legal: cute_nvgpu.cp.async.wait_group 0 before it (PTX ISA, cp.async.wait_group); threads 0 to 31 meet threads 0 to 31}}
  %v = memref.load %s[%at] : !line
  func.return
}

// -----

// Waited for by each thread, but read by others.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %c4 = arith.constant 4 : index
  %s = memref.alloc() : !line
  %at = arith.muli %t, %c4 : index
  cute_nvgpu.cp.async %p[%at] to %s[%at] size 16 cache cg : memref<?xi32> to !line
  cute_nvgpu.cp.async.commit_group
  cute_nvgpu.cp.async.wait_group 0
  // expected-error @+1 {{'memref.load' expected shared memory that is copied, got what 'cute_nvgpu.cp.async' at line 879 writes, which no barrier orders behind its cp.async.wait_group; nearest legal: a barrier behind it (PTX ISA, cp.async.wait_group); threads 0 to 31 meet threads 0 to 31}}
  %v = memref.load %s[%c0] : !line
  func.return
}

// -----

// A barrier that counts more threads than come.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  scf.if %is0 {
    // expected-error @+1 {{'cute_nvgpu.bar.sync' expected to go on, got a wait that nothing ends: the barrier counts 64 threads, and 32 arrive; nearest legal: 32 threads; threads 0 to 31}}
    cute_nvgpu.bar.sync 1 threads 64
  }
  func.return
}

// -----

// A barrier that counts fewer.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 96, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  // expected-error @+1 {{'cute_nvgpu.bar.sync' expected to arrive behind the barrier's last round, got an arrival that may come before it is over, so that it counts for that one; nearest legal: another barrier number (PTX ISA, bar)}}
  cute_nvgpu.bar.sync 1 threads 64
  func.return
}

// -----

// A warp that comes to a barrier for the second time may be counted in its first round.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 96, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %is2 = arith.cmpi eq, %warp, %c2 : index
  scf.if %is2 {
    cute_nvgpu.bar.sync 1 threads 64
  } else {
    scf.if %is0 {
      cute_nvgpu.bar.arrive 1 threads 64
      // expected-error @+1 {{'cute_nvgpu.bar.arrive' expected to arrive behind the barrier's last round, got an arrival that may come before it is over, so that it counts for that one; nearest legal: another barrier number (PTX ISA, bar)}}
      cute_nvgpu.bar.arrive 1 threads 64
    } else {
      cute_nvgpu.bar.sync 1 threads 64
    }
  }
  func.return
}

// -----

// A warp of which half comes.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 1 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  %low = arith.cmpi ult, %t, %c2 : index
  scf.if %low {
    // expected-error @+1 {{'cute_nvgpu.bar.warp.sync' expected to go on, got a wait that nothing ends: others of its threads never come here; nearest legal: a way that they all take; thread 1}}
    cute_nvgpu.bar.warp.sync
  } else {
    cute_nvgpu.mbarrier.wait %full[%c0] parity %even : !bars
  }
  func.return
}

// -----

// Registers that nobody gives back.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %c128 = arith.constant 128 : index
  %high = arith.cmpi uge, %t, %c128 : index
  scf.if %high {
    // expected-error @+1 {{'cute_nvgpu.setmaxnreg' expected to go on, got a wait that nothing ends: its warpgroup asks for 240 registers a thread, has 168, and others have given back 0; nearest legal: 168, or a setmaxnreg dec in another warpgroup; threads 128 to 159}}
    cute_nvgpu.setmaxnreg inc 240
  }
  %c3 = arith.constant 3 : index
  func.return
}

// -----

// setmaxnreg in a branch of some threads of a warpgroup.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  scf.if %is0 {
    // expected-error @+1 {{'cute_nvgpu.setmaxnreg' expected all threads of a warpgroup together, got 32 of 128; nearest legal: outside of branches that threads of a warp take differently (PTX ISA, .sync.aligned)}}
    cute_nvgpu.setmaxnreg dec 40
  }
  func.return
}

// -----

// A CTA that ends while another one may still arrive at its mbarrier.
!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>
!line = memref<256xi32, #cute<space smem>>
func.func @k(%p: memref<?xi32>, %m: !map, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 32, 1, 1>, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 1 : !bars
    cute_nvgpu.fence.mbarrier_init
  }
  cute_nvgpu.cluster.arrive
  // expected-error @+1 {{'cute_nvgpu.cluster.wait' expected to end when other CTAs of the cluster are done with its shared memory, got 'cute_nvgpu.cluster.mbarrier_arrive' at line 1106 that may still reach it; nearest legal: cute_nvgpu.cluster.arrive and cute_nvgpu.cluster.wait before the end (PTX ISA, barrier.cluster)}}
  cute_nvgpu.cluster.wait
  %rank = cute_nvgpu.cluster.rank
  %tells = arith.cmpi eq, %rank, %odd : i32
  %one = arith.andi %tells, %first : i1
  scf.if %one {
    cute_nvgpu.cluster.mbarrier_arrive %full[%c0] rank %even : !bars
  }
  func.return
}

// -----

// An index that wraps one stage too late: it comes back, so the fourth stage of three is meant.
!ring = memref<3x1x32xi32, #cute<space smem>>
func.func @wraps_late(%v: i32, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %s = memref.alloc() : !ring
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%stage = %c0) -> (index) {
    // expected-error @+1 {{'memref.store' expected a stage of its memory, got the one behind the last, from where its index comes back to the first; nearest legal: an index that wraps one earlier}}
    memref.store %v, %s[%stage, %c0, %t] : !ring
    %up = arith.addi %stage, %c1 : index
    %wraps = arith.cmpi eq, %up, %c4 : index
    %next = arith.select %wraps, %c0, %up : index
    scf.yield %next : index
  }
  func.return
}

// -----

// One that runs on is meant for other arguments.
!lines = memref<3x1x32xi32, #cute<space smem>>
func.func @runs_on(%v: i32, %n: index) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %s = memref.alloc() : !lines
  scf.for %i = %c0 to %n step %c1 {
    memref.store %v, %s[%i, %c0, %t] : !lines
  }
  func.return
}

// -----

// Copies that arrive at an mbarrier, for whose phase nobody waits.
!bars = memref<1xi64, #cute<space smem>>
!line = memref<32x4xi32, #cute<space smem>>
func.func @k(%g: memref<32x4xi32>) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %first = arith.cmpi eq, %t, %c0 : index
  %copies = arith.cmpi ult, %t, %c32 : index
  %x = memref.alloc() : !line
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 32 : !bars
  }
  "gpu.barrier"() : () -> ()
  scf.if %copies {
    cute_nvgpu.cp.async %g[%t, %c0] to %x[%t, %c0] size 16 cache cg : memref<32x4xi32> to !line
    cute_nvgpu.cp.async.mbarrier.arrive %full[%c0] noinc : !bars
  } else {
    // expected-error @+1 {{'memref.load' expected shared memory that is copied, got what 'cute_nvgpu.cp.async' at line 1166 writes, and no wait for its mbarrier is before this}}
    %v = memref.load %x[%c0, %c0] : !line
  }
  func.return
}
