// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_75
// CHECKS: all

// A loop: the header tests, and what it carries are its block arguments.
// CHECK-LABEL: ptx.entry @for(%n: u32, %x: f32, %out: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.const 0 : !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.const 1 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^for1(%1, %x : !ptx.reg<b32>, !ptx.reg<f32>)
// CHECK-NEXT:    ^for1(%3: !ptx.reg<b32>, %4: !ptx.reg<f32>):
// CHECK-NEXT:    %5 = ptx.setp lt.s32 %3, %n
// CHECK-NEXT:    ptx.cond_bra %5, ^for1_body, ^for1_end
// CHECK-NEXT:    ^for1_body:
// CHECK-NEXT:    %6 = ptx.add rn.f32 %4, %x
// CHECK-NEXT:    %7 = ptx.add s32 %3, %2
// CHECK-NEXT:    ptx.bra ^for1(%7, %6 : !ptx.reg<b32>, !ptx.reg<f32>)
// CHECK-NEXT:    ^for1_end:
// CHECK-NEXT:    ptx.st "global" "f32" %0, 0, %4 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @for(%n: i32, %x: f32, %out: memref<1xf32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (f32) : i32 {
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  %i0 = arith.constant 0 : index
  memref.store %sum, %out[%i0] : memref<1xf32>
  func.return
}

// Two loops in each other, each carrying a value of the other; the inner header follows the outer
// body.
// CHECK-LABEL: ptx.entry @nested(%n: u64, %x: f32, %out: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.const 0 : !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.const 1 : !ptx.reg<b64>
// CHECK-NEXT:    ptx.bra ^for1(%1, %x : !ptx.reg<b64>, !ptx.reg<f32>)
// CHECK-NEXT:    ^for1(%3: !ptx.reg<b64>, %4: !ptx.reg<f32>):
// CHECK-NEXT:    %5 = ptx.setp lt.s64 %3, %n
// CHECK-NEXT:    ptx.cond_bra %5, ^for1_body, ^for1_end
// CHECK-NEXT:    ^for1_body:
// CHECK-NEXT:    ptx.bra ^for2(%3, %4 : !ptx.reg<b64>, !ptx.reg<f32>)
// CHECK-NEXT:    ^for2(%6: !ptx.reg<b64>, %7: !ptx.reg<f32>):
// CHECK-NEXT:    %8 = ptx.setp lt.s64 %6, %n
// CHECK-NEXT:    ptx.cond_bra %8, ^for2_body, ^for2_end
// CHECK-NEXT:    ^for2_body:
// CHECK-NEXT:    %9 = ptx.mul rn.f32 %7, %4
// CHECK-NEXT:    %10 = ptx.add s64 %6, %2
// CHECK-NEXT:    ptx.bra ^for2(%10, %9 : !ptx.reg<b64>, !ptx.reg<f32>)
// CHECK-NEXT:    ^for2_end:
// CHECK-NEXT:    %11 = ptx.add s64 %3, %2
// CHECK-NEXT:    ptx.bra ^for1(%11, %7 : !ptx.reg<b64>, !ptx.reg<f32>)
// CHECK-NEXT:    ^for1_end:
// CHECK-NEXT:    ptx.st "global" "f32" %0, 0, %4 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @nested(%n: index, %x: f32, %out: memref<1xf32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%outer = %x) -> (f32) {
    %inner = scf.for %j = %i to %n step %c1 iter_args(%acc = %outer) -> (f32) {
      %next = arith.mulf %acc, %outer : f32
      scf.yield %next : f32
    }
    scf.yield %inner : f32
  }
  memref.store %sum, %out[%c0] : memref<1xf32>
  func.return
}

// Values that change places.
// CHECK-LABEL: ptx.entry @swap(%n: u64, %x: f32, %y: f32, %out: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.const 0 : !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.const 1 : !ptx.reg<b64>
// CHECK-NEXT:    ptx.bra ^for1(%1, %x, %y : !ptx.reg<b64>, !ptx.reg<f32>, !ptx.reg<f32>)
// CHECK-NEXT:    ^for1(%3: !ptx.reg<b64>, %4: !ptx.reg<f32>, %5: !ptx.reg<f32>):
// CHECK-NEXT:    %6 = ptx.setp lt.s64 %3, %n
// CHECK-NEXT:    ptx.cond_bra %6, ^for1_body, ^for1_end
// CHECK-NEXT:    ^for1_body:
// CHECK-NEXT:    %7 = ptx.add s64 %3, %2
// CHECK-NEXT:    ptx.bra ^for1(%7, %5, %4 : !ptx.reg<b64>, !ptx.reg<f32>, !ptx.reg<f32>)
// CHECK-NEXT:    ^for1_end:
// CHECK-NEXT:    ptx.st "global" "f32" %0, 0, %4 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.st "global" "f32" %0, 4, %5 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @swap(%n: index, %x: f32, %y: f32, %out: memref<2xf32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a, %b = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %y) -> (f32, f32) {
    scf.yield %v, %u : f32, f32
  }
  memref.store %a, %out[%c0] : memref<2xf32>
  memref.store %b, %out[%c1] : memref<2xf32>
  func.return
}

// Without results, and over 16-bit integers.
// CHECK-LABEL: ptx.entry @for_i16(%n: u16, %out: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.const 0 : !ptx.reg<b16>
// CHECK-NEXT:    %2 = ptx.const 1 : !ptx.reg<b16>
// CHECK-NEXT:    %3 = ptx.const 1 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^for1(%1 : !ptx.reg<b16>)
// CHECK-NEXT:    ^for1(%4: !ptx.reg<b16>):
// CHECK-NEXT:    %5 = ptx.setp lt.s16 %4, %n
// CHECK-NEXT:    ptx.cond_bra %5, ^for1_body, ^for1_end
// CHECK-NEXT:    ^for1_body:
// CHECK-NEXT:    %6 = ptx.cvt s64.s16 %4
// CHECK-NEXT:    %7 = ptx.shl b64 %6, %3
// CHECK-NEXT:    %8 = ptx.add s64 %7, %0
// CHECK-NEXT:    ptx.st "global" "b16" %8, 0, %4 : !ptx.reg<b64>, !ptx.reg<b16>
// CHECK-NEXT:    %9 = ptx.add s16 %4, %2
// CHECK-NEXT:    ptx.bra ^for1(%9 : !ptx.reg<b16>)
// CHECK-NEXT:    ^for1_end:
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @for_i16(%n: i16, %out: memref<?xi16>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : i16
  %c1 = arith.constant 1 : i16
  scf.for %i = %c0 to %n step %c1 : i16 {
    %j = arith.index_cast %i : i16 to index
    memref.store %i, %out[%j] : memref<?xi16>
  }
  func.return
}

// CHECK-LABEL: ptx.entry @if(%p: u8, %x: f32, %y: f32, %out: u64) {
// CHECK-NEXT:    %0 = ptx.const 0 : !ptx.reg<b16>
// CHECK-NEXT:    %1 = ptx.setp ne.u16 %p, %0
// CHECK-NEXT:    %2 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    ptx.cond_bra %1, ^if1_then, ^if1_else
// CHECK-NEXT:    ^if1_then:
// CHECK-NEXT:    %3 = ptx.add rn.f32 %x, %y
// CHECK-NEXT:    ptx.bra ^if1_end(%3 : !ptx.reg<f32>)
// CHECK-NEXT:    ^if1_else:
// CHECK-NEXT:    ptx.bra ^if1_end(%y : !ptx.reg<f32>)
// CHECK-NEXT:    ^if1_end(%4: !ptx.reg<f32>):
// CHECK-NEXT:    ptx.st "global" "f32" %2, 0, %4 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @if(%p: i1, %x: f32, %y: f32, %out: memref<1xf32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %z = scf.if %p -> (f32) {
    %sum = arith.addf %x, %y : f32
    scf.yield %sum : f32
  } else {
    scf.yield %y : f32
  }
  memref.store %z, %out[%c0] : memref<1xf32>
  func.return
}

// No else, and one in another.
// CHECK-LABEL: ptx.entry @bare_if(%p: u8, %q: u8, %x: f32, %out: u64) {
// CHECK-NEXT:    %0 = ptx.const 0 : !ptx.reg<b16>
// CHECK-NEXT:    %1 = ptx.setp ne.u16 %p, %0
// CHECK-NEXT:    %2 = ptx.setp ne.u16 %q, %0
// CHECK-NEXT:    %3 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    ptx.cond_bra %1, ^if1_then, ^if1_end
// CHECK-NEXT:    ^if1_then:
// CHECK-NEXT:    ptx.cond_bra %2, ^if2_then, ^if2_end
// CHECK-NEXT:    ^if2_then:
// CHECK-NEXT:    ptx.st "global" "f32" %3, 0, %x : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.bra ^if2_end
// CHECK-NEXT:    ^if2_end:
// CHECK-NEXT:    ptx.bra ^if1_end
// CHECK-NEXT:    ^if1_end:
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @bare_if(%p: i1, %q: i1, %x: f32, %out: memref<1xf32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  scf.if %p {
    scf.if %q {
      memref.store %x, %out[%c0] : memref<1xf32>
    }
  }
  func.return
}

// The header holds the first region; what it passes on may differ from what it carries.
// CHECK-LABEL: ptx.entry @while(%n: u32, %x: f32, %out: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.const 1 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^while1(%1, %x : !ptx.reg<b32>, !ptx.reg<f32>)
// CHECK-NEXT:    ^while1(%2: !ptx.reg<b32>, %3: !ptx.reg<f32>):
// CHECK-NEXT:    %4 = ptx.setp lt.s32 %2, %n
// CHECK-NEXT:    %5 = ptx.add s32 %2, %2
// CHECK-NEXT:    ptx.cond_bra %4, ^while1_body, ^while1_end
// CHECK-NEXT:    ^while1_body:
// CHECK-NEXT:    %6 = ptx.mul rn.f32 %3, %3
// CHECK-NEXT:    ptx.bra ^while1(%5, %6 : !ptx.reg<b32>, !ptx.reg<f32>)
// CHECK-NEXT:    ^while1_end:
// CHECK-NEXT:    ptx.st "global" "f32" %0, 0, %3 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @while(%n: i32, %x: f32, %out: memref<1xf32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %start = arith.constant 1 : i32
  %last, %value = scf.while (%i = %start, %v = %x) : (i32, f32) -> (i32, f32) {
    %more = arith.cmpi slt, %i, %n : i32
    %twice = arith.addi %i, %i : i32
    scf.condition(%more) %twice, %v : i32, f32
  } do {
  ^bb0(%j: i32, %w: f32):
    %next = arith.mulf %w, %w : f32
    scf.yield %j, %next : i32, f32
  }
  memref.store %value, %out[%c0] : memref<1xf32>
  func.return
}

// A predicate may be carried.
// CHECK-LABEL: ptx.entry @carried_predicate(%n: u64, %p: u8, %out: u64) {
// CHECK-NEXT:    %0 = ptx.const 0 : !ptx.reg<b16>
// CHECK-NEXT:    %1 = ptx.setp ne.u16 %p, %0
// CHECK-NEXT:    %2 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %3 = ptx.const 0 : !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.const 1 : !ptx.reg<b64>
// CHECK-NEXT:    %5 = ptx.const 0 : !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.setp eq.s32 %5, %5
// CHECK-NEXT:    ptx.bra ^for1(%3, %1 : !ptx.reg<b64>, !ptx.reg<pred>)
// CHECK-NEXT:    ^for1(%7: !ptx.reg<b64>, %8: !ptx.reg<pred>):
// CHECK-NEXT:    %9 = ptx.setp lt.s64 %7, %n
// CHECK-NEXT:    ptx.cond_bra %9, ^for1_body, ^for1_end
// CHECK-NEXT:    ^for1_body:
// CHECK-NEXT:    %10 = ptx.xor pred %8, %6
// CHECK-NEXT:    %11 = ptx.add s64 %7, %4
// CHECK-NEXT:    ptx.bra ^for1(%11, %10 : !ptx.reg<b64>, !ptx.reg<pred>)
// CHECK-NEXT:    ^for1_end:
// CHECK-NEXT:    %12 = ptx.const 1 : !ptx.reg<b16>
// CHECK-NEXT:    %13 = ptx.selp b16 %12, %0, %8
// CHECK-NEXT:    ptx.st "global" "b8" %2, 0, %13 : !ptx.reg<b64>, !ptx.reg<b16>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @carried_predicate(%n: index, %p: i1, %out: memref<1xi1>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%r = %p) -> (i1) {
    %next = arith.xori %r, %true : i1
    scf.yield %next : i1
  }
  memref.store %q, %out[%c0] : memref<1xi1>
  func.return
}
