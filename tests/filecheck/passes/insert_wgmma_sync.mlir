// RUN: tilewright-opt %s -p cute-nvgpu-insert-wgmma-sync,cute-nvgpu-check-hazards | filecheck %s

!s = memref<2x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,64,64):(4096,64,1)">, 3>
!a = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<8x16xbf16, "S<3,3,3> o 0 o (8,16):(64,1)">
!f = !cute_nvgpu.fragment<8xbf16>
!c = !cute_nvgpu.fragment<4xf32>

// A chain is one run: a fence before it, a commit behind it, a wait before its result is read.
// CHECK-LABEL: func.func @chain(
// CHECK-NEXT:    cute_nvgpu.wgmma.fence
// CHECK-NEXT:    %d = cute_nvgpu.sm90.mma %a, %b, %c
// CHECK-NEXT:    %e = cute_nvgpu.sm90.mma %a, %b, %d
// CHECK-NEXT:    cute_nvgpu.wgmma.commit_group
// CHECK-NEXT:    %j = arith.addi %i, %i : index
// CHECK-NEXT:    cute_nvgpu.wgmma.wait_group 0
// CHECK-NEXT:    %x = cute_nvgpu.fragment.extract %e
// CHECK-NEXT:    memref.store %x, %out
// CHECK-NEXT:    func.return
func.func @chain(%a: !a, %b: !b, %c: !c, %i: index, %out: memref<?xf32>) {
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  %e = cute_nvgpu.sm90.mma %a, %b, %d <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  %j = arith.addi %i, %i : index
  %x = cute_nvgpu.fragment.extract %e[0] : !c -> f32
  memref.store %x, %out[%j] : memref<?xf32>
  func.return
}

// A loop that only accumulates has none of the three in it.
// CHECK-LABEL: func.func @loop(
// CHECK-NEXT:    cute_nvgpu.wgmma.fence
// CHECK-NEXT:    %r = scf.for %k = %n to %n step %n
// CHECK-NEXT:      %d = cute_nvgpu.sm90.mma %a, %b, %acc
// CHECK-NEXT:      scf.yield %d
// CHECK-NEXT:    }
// CHECK-NEXT:    cute_nvgpu.wgmma.commit_group
// CHECK-NEXT:    cute_nvgpu.wgmma.wait_group 0
// CHECK-NEXT:    scf.for %k_1 = %n to %n step %n {
// CHECK-NEXT:      %x = cute_nvgpu.fragment.extract %r
// CHECK-NEXT:      memref.store %x, %out
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @loop(%a: !a, %b: !b, %c: !c, %n: index, %out: memref<?xf32>) {
  %r = scf.for %k = %n to %n step %n iter_args(%acc = %c) -> (!c) {
    %d = cute_nvgpu.sm90.mma %a, %b, %acc <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
    scf.yield %d : !c
  }
  scf.for %k = %n to %n step %n {
    %x = cute_nvgpu.fragment.extract %r[0] : !c -> f32
    memref.store %x, %out[%k] : memref<?xf32>
  }
  func.return
}

// Two accumulators, of which one is read first: the wait for it lets the other's group go on.
// CHECK-LABEL: func.func @two_groups(
// CHECK-NEXT:    cute_nvgpu.wgmma.fence
// CHECK-NEXT:    %d = cute_nvgpu.sm90.mma %a, %b, %c
// CHECK-NEXT:    cute_nvgpu.wgmma.commit_group
// CHECK-NEXT:    %e = cute_nvgpu.sm90.mma %a, %b, %c2
// CHECK-NEXT:    cute_nvgpu.wgmma.commit_group
// CHECK-NEXT:    cute_nvgpu.wgmma.wait_group 1
// CHECK-NEXT:    %x = cute_nvgpu.fragment.extract %d
// CHECK-NEXT:    memref.store %x, %out
// CHECK-NEXT:    cute_nvgpu.wgmma.wait_group 0
// CHECK-NEXT:    %y = cute_nvgpu.fragment.extract %e
// CHECK-NEXT:    memref.store %y, %out
// CHECK-NEXT:    func.return
func.func @two_groups(%a: !a, %b: !b, %c: !c, %c2: !c, %i: index, %out: memref<?xf32>) {
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  %e = cute_nvgpu.sm90.mma %a, %b, %c2 <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  %x = cute_nvgpu.fragment.extract %d[0] : !c -> f32
  memref.store %x, %out[%i] : memref<?xf32>
  %y = cute_nvgpu.fragment.extract %e[0] : !c -> f32
  memref.store %y, %out[%i] : memref<?xf32>
  func.return
}

// Stores to what is read in the next round wait for this one's; each store is followed by a fence
// of the proxy, before the barrier.
// CHECK-LABEL: func.func @one_stage(
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    cute_nvgpu.wgmma.fence
// CHECK-NEXT:    %r = scf.for %k = %c0 to %n step %n
// CHECK-NEXT:      memref.store %v, %s
// CHECK-NEXT:      cute_nvgpu.fence.proxy.async
// CHECK-NEXT:      "gpu.barrier"() : () -> ()
// CHECK-NEXT:      %a = cute_nvgpu.make_smem_desc %s
// CHECK-NEXT:      %d = cute_nvgpu.sm90.mma %a, %b, %acc
// CHECK-NEXT:      cute_nvgpu.wgmma.commit_group
// CHECK-NEXT:      cute_nvgpu.wgmma.wait_group 0
// CHECK-NEXT:      "gpu.barrier"() : () -> ()
// CHECK-NEXT:      scf.yield %d
// CHECK-NEXT:    }
// CHECK-NEXT:    %x = cute_nvgpu.fragment.extract %r
// CHECK-NEXT:    memref.store %x, %out
// CHECK-NEXT:    func.return
func.func @one_stage(%s: !s, %b: !b, %c: !c, %n: index, %v: bf16, %out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %r = scf.for %k = %c0 to %n step %n iter_args(%acc = %c) -> (!c) {
    memref.store %v, %s[%c0, %k, %k] : !s
    "gpu.barrier"() : () -> ()
    %a = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
    %d = cute_nvgpu.sm90.mma %a, %b, %acc <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
    "gpu.barrier"() : () -> ()
    scf.yield %d : !c
  }
  %x = cute_nvgpu.fragment.extract %r[0] : !c -> f32
  memref.store %x, %out[%c0] : memref<?xf32>
  func.return
}

// Two stages by name: a store waits for the group before the last alone.
// CHECK-LABEL: func.func @two_stages(
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    cute_nvgpu.wgmma.fence
// CHECK-NEXT:    %r = scf.for %k = %c0 to %n step %n
// CHECK-NEXT:      cute_nvgpu.wgmma.wait_group 1
// CHECK-NEXT:      memref.store %v, %s
// CHECK-NEXT:      cute_nvgpu.fence.proxy.async
// CHECK-NEXT:      "gpu.barrier"() : () -> ()
// CHECK-NEXT:      %a0 = cute_nvgpu.make_smem_desc %s
// CHECK-NEXT:      %d = cute_nvgpu.sm90.mma %a0, %b, %acc
// CHECK-NEXT:      cute_nvgpu.wgmma.commit_group
// CHECK-NEXT:      cute_nvgpu.wgmma.wait_group 1
// CHECK-NEXT:      memref.store %v, %s
// CHECK-NEXT:      cute_nvgpu.fence.proxy.async
// CHECK-NEXT:      "gpu.barrier"() : () -> ()
// CHECK-NEXT:      %a1 = cute_nvgpu.make_smem_desc %s
// CHECK-NEXT:      %e = cute_nvgpu.sm90.mma %a1, %b, %d
// CHECK-NEXT:      cute_nvgpu.wgmma.commit_group
// CHECK-NEXT:      scf.yield %e
// CHECK-NEXT:    }
// CHECK-NEXT:    cute_nvgpu.wgmma.wait_group 0
// CHECK-NEXT:    %x = cute_nvgpu.fragment.extract %r
// CHECK-NEXT:    memref.store %x, %out
// CHECK-NEXT:    func.return
func.func @two_stages(%s: !s, %b: !b, %c: !c, %n: index, %v: bf16, %out: memref<?xf32>) attributes {"gpu.known_block_size" = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %n iter_args(%acc = %c) -> (!c) {
    memref.store %v, %s[%c0, %k, %k] : !s
    "gpu.barrier"() : () -> ()
    %a0 = cute_nvgpu.make_smem_desc %s[%c0, %c0, %c0] : !s -> !a
    %d = cute_nvgpu.sm90.mma %a0, %b, %acc <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
    memref.store %v, %s[%c1, %k, %k] : !s
    "gpu.barrier"() : () -> ()
    %a1 = cute_nvgpu.make_smem_desc %s[%c1, %c0, %c0] : !s -> !a
    %e = cute_nvgpu.sm90.mma %a1, %b, %d <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
    scf.yield %e : !c
  }
  %x = cute_nvgpu.fragment.extract %r[0] : !c -> f32
  memref.store %x, %out[%c0] : memref<?xf32>
  func.return
}

// A fragment loaded in the loop needs a fence there, and a wait before it is loaded anew.
// CHECK-LABEL: func.func @fragment(
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %r = scf.for %k = %c0 to %n step %n
// CHECK-NEXT:      cute_nvgpu.wgmma.wait_group 0
// CHECK-NEXT:      %w = cute_nvgpu.ldmatrix %s
// CHECK-NEXT:      cute_nvgpu.wgmma.fence
// CHECK-NEXT:      %d = cute_nvgpu.sm90.mma %w, %b, %acc
// CHECK-NEXT:      cute_nvgpu.wgmma.commit_group
// CHECK-NEXT:      scf.yield %d
// CHECK-NEXT:    }
// CHECK-NEXT:    cute_nvgpu.wgmma.wait_group 0
// CHECK-NEXT:    func.return
func.func @fragment(%s: !s, %b: !b, %c: !c, %n: index) {
  %c0 = arith.constant 0 : index
  %r = scf.for %k = %c0 to %n step %n iter_args(%acc = %c) -> (!c) {
    %w = cute_nvgpu.ldmatrix %s[%c0, %k, %c0] : !s -> !f
    %d = cute_nvgpu.sm90.mma %w, %b, %acc <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = rs> : (!f, !b, !c) -> !c
    scf.yield %d : !c
  }
  func.return
}

// For some warps only: nothing leaves the branch.
// CHECK-LABEL: func.func @branch(
// CHECK-NEXT:    scf.if %p {
// CHECK-NEXT:      cute_nvgpu.wgmma.fence
// CHECK-NEXT:      %r = scf.for %k = %n to %n step %n
// CHECK-NEXT:        %d = cute_nvgpu.sm90.mma %a, %b, %acc
// CHECK-NEXT:        scf.yield %d
// CHECK-NEXT:      }
// CHECK-NEXT:      cute_nvgpu.wgmma.commit_group
// CHECK-NEXT:      cute_nvgpu.wgmma.wait_group 0
// CHECK-NEXT:      %x = cute_nvgpu.fragment.extract %r
// CHECK-NEXT:      memref.store %x, %out
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @branch(%p: i1, %a: !a, %b: !b, %c: !c, %n: index, %out: memref<?xf32>) {
  scf.if %p {
    %r = scf.for %k = %n to %n step %n iter_args(%acc = %c) -> (!c) {
      %d = cute_nvgpu.sm90.mma %a, %b, %acc <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
      scf.yield %d : !c
    }
    %x = cute_nvgpu.fragment.extract %r[0] : !c -> f32
    memref.store %x, %out[%n] : memref<?xf32>
  }
  func.return
}

// A C that is read again is complete before another wgmma accumulates elsewhere.
// CHECK-LABEL: func.func @kept(
// CHECK-NEXT:    cute_nvgpu.wgmma.fence
// CHECK-NEXT:    %d = cute_nvgpu.sm90.mma %a, %b, %c
// CHECK-NEXT:    cute_nvgpu.wgmma.commit_group
// CHECK-NEXT:    cute_nvgpu.wgmma.wait_group 0
// CHECK-NEXT:    %e = cute_nvgpu.sm90.mma %a, %b, %d
// CHECK-NEXT:    cute_nvgpu.wgmma.commit_group
// CHECK-NEXT:    %x = cute_nvgpu.fragment.extract %d
// CHECK-NEXT:    memref.store %x, %out
// CHECK-NEXT:    cute_nvgpu.wgmma.wait_group 0
// CHECK-NEXT:    func.return
func.func @kept(%a: !a, %b: !b, %c: !c, %i: index, %out: memref<?xf32>) {
  %d = cute_nvgpu.sm90.mma %a, %b, %c <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  %e = cute_nvgpu.sm90.mma %a, %b, %d <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  %x = cute_nvgpu.fragment.extract %d[0] : !c -> f32
  memref.store %x, %out[%i] : memref<?xf32>
  func.return
}

// Blocks.
// CHECK-LABEL: func.func @blocks(
// CHECK-NEXT:    cf.br ^loop
// CHECK-NEXT:  ^loop
// CHECK-NEXT:    cute_nvgpu.wgmma.fence
// CHECK-NEXT:    %d = cute_nvgpu.sm90.mma %a, %b, %acc
// CHECK-NEXT:    cute_nvgpu.wgmma.commit_group
// CHECK-NEXT:    cf.cond_br %p, ^loop
// CHECK-NEXT:  ^end
// CHECK-NEXT:    cute_nvgpu.wgmma.wait_group 0
// CHECK-NEXT:    %x = cute_nvgpu.fragment.extract %d
// CHECK-NEXT:    memref.store %x, %out
// CHECK-NEXT:    func.return
func.func @blocks(%a: !a, %b: !b, %c: !c, %p: i1, %out: memref<?xf32>, %i: index) {
  cf.br ^loop(%c : !c)
^loop(%acc: !c):
  %d = cute_nvgpu.sm90.mma %a, %b, %acc <64x8x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!a, !b, !c) -> !c
  cf.cond_br %p, ^loop(%d : !c), ^end
^end:
  %x = cute_nvgpu.fragment.extract %d[0] : !c -> f32
  memref.store %x, %out[%i] : memref<?xf32>
  func.return
}

// What has no wgmma is left alone.
// CHECK-LABEL: func.func @none(
// CHECK-NEXT:    memref.store %v, %s
// CHECK-NEXT:    "gpu.barrier"() : () -> ()
// CHECK-NEXT:    func.return
func.func @none(%i: index, %v: bf16, %s: !s) {
  memref.store %v, %s[%i, %i, %i] : !s
  "gpu.barrier"() : () -> ()
  func.return
}
