// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p 'cute-nvgpu-check-hazards{unproven=error}'

// Threads that part between blocks meet again: the barrier is one of all 64.
ptx.entry @meets(%n: u32) shared 512 align 16 reqntid(64, 1, 1) {
  %s = ptx.shared_address 0
  %t = ptx.sreg "tid.x"
  %c2 = ptx.const 2 : !ptx.reg<b32>
  %c4 = ptx.const 4 : !ptx.reg<b32>
  %at = ptx.shl b32 %t, %c2
  %own = ptx.add u32 %s, %at
  %few = ptx.setp lt.u32 %t, %c4
  ptx.cond_bra %few, ^some, ^all
^some:
  ptx.st "shared" "b32" %own, 0, %t : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.bra ^all
^all:
  ptx.bar.sync 0
  %v = ptx.ld "shared" "b32" %s, 0 : !ptx.reg<b32> -> !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @race() shared 512 align 16 reqntid(64, 1, 1) {
  %s = ptx.shared_address 0
  %t = ptx.sreg "tid.x"
  %c2 = ptx.const 2 : !ptx.reg<b32>
  %c252 = ptx.const 252 : !ptx.reg<b32>
  %at = ptx.shl b32 %t, %c2
  %own = ptx.add u32 %s, %at
  ptx.st "shared" "b32" %own, 0, %t : !ptx.reg<b32>, !ptx.reg<b32>
  %across = ptx.sub u32 %c252, %at
  %other = ptx.add u32 %s, %across
  // expected-error @+1 {{'ptx.ld' expected shared memory that other threads are done with, got what 'ptx.st' at line 31 writes, and no barrier or mbarrier orders them}}
  %v = ptx.ld "shared" "b32" %other, 0 : !ptx.reg<b32> -> !ptx.reg<b32>
  ptx.ret
}

// -----

// One arrival less than the phase waits for.
ptx.entry @count() shared 16 align 16 reqntid(64, 1, 1) {
  %s = ptx.shared_address 0
  %t = ptx.sreg "tid.x"
  %zero = ptx.const 0 : !ptx.reg<b32>
  %first = ptx.setp eq.s32 %t, %zero
  ptx.cond_bra %first, ^make, ^made
^make:
  ptx.mbarrier.init %s, 8, 65
  ptx.bra ^made
^made:
  ptx.bar.sync 0
  ptx.mbarrier.arrive %s, 8
  // expected-error @+1 {{'ptx.mbarrier.try_wait.parity' expected to go on, got a wait that nothing ends: phase 0 of the mbarrier of 'ptx.mbarrier.init' at line 49 waits for 65 arrivals, and 64 come; nearest legal: count 64}}
  ptx.mbarrier.try_wait.parity %s, 8, %zero
  ptx.ret
}

// -----

ptx.entry @store(%m: tensormap {cute_nvgpu.tensor_map = !cute_nvgpu.tma_descriptor<8x16xi32>}) shared 512 align 128 reqntid(32, 1, 1) {
  %s = ptx.shared_address 0
  %t = ptx.sreg "tid.x"
  %zero = ptx.const 0 : !ptx.reg<b32>
  %c4 = ptx.const 4 : !ptx.reg<b32>
  %at = ptx.shl b32 %t, %c4
  %own = ptx.add u32 %s, %at
  ptx.st "shared" "b32" %own, 0, %t : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.bar.warp.sync
  %first = ptx.elect.sync
  ptx.cond_bra %first, ^one, ^end
^one:
  // expected-error @+1 {{'ptx.cp.async.bulk.tensor.store' expected memory that the async proxy sees, got what 'ptx.st' at line 68 wrote}}
  ptx.cp.async.bulk.tensor.store %m, [%zero, %zero], %s
  ptx.cp.async.bulk.commit_group
  ptx.cp.async.bulk.wait_group 0 read
  ptx.bra ^end
^end:
  ptx.ret
}

// -----

// The box of a tensor map of which the parameter says nothing.
ptx.entry @box(%m: tensormap) shared 512 align 128 reqntid(1, 1, 1) {
  %s = ptx.shared_address 0
  %zero = ptx.const 0 : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.cp.async.bulk.tensor.load' is not proven to be free of hazards: what it does is not known before it runs}}
  ptx.cp.async.bulk.tensor.load %s, %m, [%zero, %zero], %s
  ptx.ret
}

// -----

ptx.entry @accumulator(%a: u64, %b: u64, %p: u64) reqntid(128, 1, 1) {
  %zero = ptx.const 0 : !ptx.reg<f32>
  %c = ptx.list.make %zero, %zero, %zero, %zero : !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32 x 4>
  ptx.wgmma.fence
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %a, %b, %c immediates [1, 1, 0, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.wgmma.commit_group
  %e = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %a, %b, %d immediates [1, 1, 0, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.wgmma.commit_group
  ptx.wgmma.wait_group 1
  %x = ptx.list.get %e[0] : !ptx.reg<f32 x 4> -> !ptx.reg<f32>
  // expected-error @+1 {{'ptx.st' expected registers that are complete, got those of 'ptx.wgmma.mma_async' at line 101, which no wgmma.wait_group has completed}}
  ptx.st "global" "f32" %p, 0, %x : !ptx.reg<b64>, !ptx.reg<f32>
  ptx.wgmma.wait_group 0
  ptx.ret
}

// -----

// Tensor memory: its address comes back from shared memory, and a load is waited for.
ptx.entry @tensor(%p: u64) shared 16 align 16 reqntid(128, 1, 1) {
  %slot = ptx.shared_address 0
  %t = ptx.sreg "tid.x"
  %c5 = ptx.const 5 : !ptx.reg<b32>
  %c16 = ptx.const 16 : !ptx.reg<b32>
  %zero = ptx.const 0 : !ptx.reg<b32>
  %warp = ptx.shr u32 %t, %c5
  %first = ptx.setp eq.s32 %warp, %zero
  ptx.cond_bra %first, ^allocate, ^go
^allocate:
  ptx.tcgen05.alloc group 1 %slot, 0, 32
  ptx.tcgen05.relinquish_alloc_permit group 1
  ptx.bra ^go
^go:
  ptx.bar.sync 0
  %base = ptx.ld "shared" "b32" %slot, 0 : !ptx.reg<b32> -> !ptx.reg<b32>
  %lanes = ptx.shl b32 %warp, %c5
  %high = ptx.shl b32 %lanes, %c16
  %own = ptx.add u32 %base, %high
  ptx.tcgen05.st "32x32b" %own, 0, %t : !ptx.reg<b32>
  // expected-error @+1 {{'ptx.tcgen05.ld' expected tensor memory that is stored, got what 'ptx.tcgen05.st' at line 133 writes, which no tmem.wait_store has completed}}
  %x = ptx.tcgen05.ld "32x32b" %own, 0 : !ptx.reg<b32>
  ptx.tcgen05.wait.ld
  ptx.bar.sync 0
  ptx.cond_bra %first, ^free, ^end
^free:
  ptx.tcgen05.dealloc group 1 %base, 32
  ptx.bra ^end
^end:
  ptx.ret
}
