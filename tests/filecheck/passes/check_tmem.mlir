// RUN: tilewright-opt %s -p cute-nvgpu-check-tmem | filecheck %s

!slot = memref<1xi32, #cute<space smem>>
!slots = memref<2xi32, #cute<space smem>>
!cells = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!half = memref<128x64xi32, !cute.layout<"(128,64):(65536,1)">, #cute<space tmem>>
!f = !cute_nvgpu.fragment<8xi32>

// One warp allocates and gives back; the condition is computed twice.
// CHECK-LABEL: func.func @roles(
func.func @roles() {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %slot = memref.alloc() : !slot
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %w = arith.divui %t, %c32 : index
  %leads = arith.cmpi eq, %w, %c0 : index
  scf.if %leads {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
    cute_nvgpu.tmem.relinquish_alloc_permit
  }
  "gpu.barrier"() : () -> ()
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %f = cute_nvgpu.tmem.load %m[%c0, %c0] shape 32x32b : !cells -> !f
  "gpu.barrier"() : () -> ()
  %again = arith.cmpi eq, %w, %c0 : index
  scf.if %again {
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  func.return
}

// What is allocated on a condition is given back on the same one, also where another has been asked.
// CHECK-LABEL: func.func @conditions(
func.func @conditions(%n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %slot = memref.alloc() : !slot
  %big = arith.cmpi ugt, %n, %c0 : index
  scf.if %big {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  }
  scf.if %p {
    "gpu.barrier"() : () -> ()
  }
  %same = arith.cmpi ugt, %n, %c0 : index
  scf.if %same {
    %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  func.return
}

// In every round anew.
// CHECK-LABEL: func.func @rounds(
func.func @rounds(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  scf.for %i = %c0 to %n step %c1 {
    cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
    %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  cute_nvgpu.tmem.relinquish_alloc_permit
  func.return
}

// A loop that runs once gives back what was allocated before it.
// CHECK-LABEL: func.func @once(
func.func @once() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = memref.alloc() : !slot
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  scf.for %i = %c0 to %c1 step %c1 {
    %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
    cute_nvgpu.tmem.dealloc %m : !cells
  }
  func.return
}

// Two allocations in two words, carried through a loop that swaps nothing.
// CHECK-LABEL: func.func @two(
func.func @two(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slots = memref.alloc() : !slots
  cute_nvgpu.tmem.alloc %slots[%c0] columns 128 : !slots
  cute_nvgpu.tmem.alloc %slots[%c1] columns 64 : !slots
  %a = cute_nvgpu.tmem.retrieve %slots[%c0] : !slots -> !cells
  %b = cute_nvgpu.tmem.retrieve %slots[%c1] : !slots -> !half
  %c, %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (!cells, !half) {
    %f = cute_nvgpu.tmem.load %x[%c0, %c0] shape 32x32b : !cells -> !f
    scf.yield %x, %y : !cells, !half
  }
  cute_nvgpu.tmem.dealloc %c : !cells
  cute_nvgpu.tmem.dealloc %d : !half
  func.return
}

// Branches between blocks, and a loop of `scf.while`.
// CHECK-LABEL: func.func @blocks(
func.func @blocks(%p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %slot = memref.alloc() : !slot
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  cute_nvgpu.tmem.alloc %slot[%c0] columns 128 : !slot
  cf.br ^bb2
^bb2:
  scf.while (%i = %n) : (index) -> index {
    %more = arith.cmpi ugt, %i, %c0 : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%j: index):
    %h = arith.shrui %j, %j : index
    scf.yield %h : index
  }
  cf.cond_br %p, ^bb3, ^bb4
^bb3:
  %m = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  cute_nvgpu.tmem.dealloc %m : !cells
  cf.br ^bb4
^bb4:
  func.return
}

// A tensor of unknown origin, and an address of it, count for the allocation of as many columns.
// CHECK-LABEL: func.func @unknown(
func.func @unknown(%m: !cells, %i: index) {
  %c0 = arith.constant 0 : index
  %slots = memref.alloc() : !slots
  cute_nvgpu.tmem.alloc %slots[%c0] columns 128 : !slots
  %a = cute_nvgpu.tmem.retrieve %slots[%i] : !slots -> !cells
  %f = cute_nvgpu.tmem.load %m[%c0, %c0] shape 32x32b : !cells -> !f
  cute_nvgpu.tmem.dealloc %a : !cells
  func.return
}
