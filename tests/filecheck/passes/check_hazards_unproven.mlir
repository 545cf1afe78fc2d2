// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p 'cute-nvgpu-check-hazards{unproven=error}'

// A stage that is loaded from memory.
!bars = memref<4xi64, #cute<space smem>>
func.func @stage(%p: memref<?xindex>) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %first = arith.cmpi eq, %t, %c0 : index
  %full = memref.alloc() : !bars
  scf.if %first {
    cute_nvgpu.mbarrier.init %full[%c0] count 32 : !bars
  }
  "gpu.barrier"() : () -> ()
  %stage = memref.load %p[%c0] : memref<?xindex>
  // expected-error @+1 {{'cute_nvgpu.mbarrier.arrive' is not proven to be free of hazards: its mbarrier or parity is not known before it runs}}
  cute_nvgpu.mbarrier.arrive %full[%stage] : !bars
  func.return
}

// -----

// A place that is loaded from memory.
!line = memref<256xi32, #cute<space smem>>
func.func @place(%p: memref<?xindex>, %v: i32) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 32, 1, 1>} {
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %s = memref.alloc() : !line
  %at = memref.load %p[%t] : memref<?xindex>
  // expected-error @+1 {{'memref.store' is not proven to be free of hazards: its place is not known before it runs}}
  memref.store %v, %s[%at] : !line
  func.return
}

// -----

// A condition that is loaded from memory: a hazard on one of two ways is not known to be one.
!line = memref<256xi32, #cute<space smem>>
func.func @condition(%p: memref<?xi32>, %v: i32) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %s = memref.alloc() : !line
  memref.store %v, %s[%t] : !line
  %n = memref.load %p[%c0] : memref<?xi32>
  %waits = arith.cmpi ne, %n, %zero : i32
  // expected-error @+1 {{'scf.if' is not proven to be free of hazards: its condition is not known before it runs}}
  scf.if %waits {
    "gpu.barrier"() : () -> ()
  }
  %next = arith.xori %t, %c32 : index
  %x = memref.load %s[%next] : !line
  func.return
}

// -----

// A loop whose length is loaded from memory.
func.func @length(%p: memref<?xindex>) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.load %p[%c0] : memref<?xindex>
  // expected-error @+1 {{'scf.for' is not proven to be free of hazards: its length is not known before it runs}}
  scf.for %i = %c0 to %n step %c1 {
    "gpu.barrier"() : () -> ()
  }
  func.return
}

// -----

// A box whose bytes the parameter does not say.
ptx.entry @box(%map: tensormap) shared 1024 align 128 reqntid(32, 1, 1) {
  %c = ptx.const 0 : !ptx.reg<b32>
  %s = ptx.shared_address 0
  // expected-error @+1 {{'ptx.cp.async.bulk.tensor.store' is not proven to be free of hazards: what it does is not known before it runs}}
  ptx.cp.async.bulk.tensor.store %map, [%c, %c], %s
  ptx.ret
}

// -----

// An arrival at a CTA that the cluster does not have.
func.func @nowhere() attributes {gpu.kernel, gpu.known_cluster_size = array<i32: 2, 1, 1>, gpu.known_block_size = array<i32: 32, 1, 1>} {
  %b = memref.alloc() : memref<4xi64, #cute<space smem>>
  %c1 = arith.constant 1 : index
  %rank = arith.constant -1 : i32
  // expected-error @+1 {{'cute_nvgpu.cluster.mbarrier_arrive' is not proven to be free of hazards: no cluster is known to have the CTA that it is of}}
  cute_nvgpu.cluster.mbarrier_arrive %b[%c1] rank %rank : memref<4xi64, #cute<space smem>>
  func.return
}

// -----

// Copies that arrive at an mbarrier are there for whoever waits for its phase.
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
    cute_nvgpu.mbarrier.wait %full[%c0] parity %even : !bars
    %v = memref.load %x[%c0, %c0] : !line
  }
  func.return
}
