// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p cute-nvgpu-check-hazards

// Each of 32 threads ends an mbarrier that another one may have made anew.
!bar = memref<1xi64, #cute<space smem>>
func.func @k() attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %first = arith.cmpi eq, %t, %c0 : index
  %bar = memref.alloc() : !bar
  scf.if %first {
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : !bar
  }
  "gpu.barrier"() : () -> ()
  // expected-error @+1 {{'cute_nvgpu.mbarrier.inval' expected one thread, got 31 threads; nearest legal: in a branch of one thread (cute_nvgpu.elect.sync)}}
  cute_nvgpu.mbarrier.inval %bar[%c0] : !bar
  scf.if %first {
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : !bar
  }
  func.return
}

// -----

// A wait for a phase that is over may come when the next one is over too, and waits for the one behind.
!bar = memref<1xi64, #cute<space smem>>
func.func @k() attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %even = arith.constant 0 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %first = arith.cmpi eq, %t, %c0 : index
  %bar = memref.alloc() : !bar
  scf.if %first {
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : !bar
    cute_nvgpu.mbarrier.arrive %bar[%c0] : !bar
  }
  "gpu.barrier"() : () -> ()
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : !bar
  "gpu.barrier"() : () -> ()
  scf.if %first {
    cute_nvgpu.mbarrier.arrive %bar[%c0] : !bar
  }
  // expected-error @+1 {{'cute_nvgpu.mbarrier.wait' expected to see each phase before the next one is over, got a wait that waits for phase 0 and may come after phase 1 is over too; nearest legal: an arrival behind this wait that the next phase waits for (PTX ISA, mbarrier.try_wait)}}
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : !bar
  func.return
}
