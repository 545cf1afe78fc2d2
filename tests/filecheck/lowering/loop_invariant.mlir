// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_75
// CHECKS: all

// What does not change in a loop is computed before it, out of every loop that it does not change
// in; what was computed already is not computed again.
// CHECK-LABEL: ptx.entry @hoisted(%n: u64, %m: u64, %x: f32, %out: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.const 0 : !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.const 1 : !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.mul rn.f32 %x, %x
// CHECK-NEXT:    %4 = ptx.const 5 : !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.const 2 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^for1(%1 : !ptx.reg<b64>)
// CHECK-NEXT:    ^for1(%6: !ptx.reg<b64>):
// CHECK-NEXT:    %7 = ptx.setp lt.s64 %6, %n
// CHECK-NEXT:    ptx.cond_bra %7, ^for1_body, ^for1_end
// CHECK-NEXT:    ^for1_body:
// CHECK-NEXT:    %8 = ptx.shl b64 %6, %4
// CHECK-NEXT:    %9 = ptx.add s64 %8, %0
// CHECK-NEXT:    ptx.bra ^for2(%1 : !ptx.reg<b64>)
// CHECK-NEXT:    ^for2(%10: !ptx.reg<b64>):
// CHECK-NEXT:    %11 = ptx.setp lt.s64 %10, %m
// CHECK-NEXT:    ptx.cond_bra %11, ^for2_body, ^for2_end
// CHECK-NEXT:    ^for2_body:
// CHECK-NEXT:    ptx.st "global" "f32" %9, 4, %3 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %12 = ptx.shl b64 %10, %5
// CHECK-NEXT:    %13 = ptx.add s64 %12, %9
// CHECK-NEXT:    ptx.st "global" "f32" %13, 0, %3 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %14 = ptx.add s64 %10, %2
// CHECK-NEXT:    ptx.bra ^for2(%14 : !ptx.reg<b64>)
// CHECK-NEXT:    ^for2_end:
// CHECK-NEXT:    %15 = ptx.add s64 %6, %2
// CHECK-NEXT:    ptx.bra ^for1(%15 : !ptx.reg<b64>)
// CHECK-NEXT:    ^for1_end:
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @hoisted(%n: index, %m: index, %x: f32, %out: memref<?x8xf32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %square = arith.mulf %x, %x : f32
      memref.store %square, %out[%i, %c1] : memref<?x8xf32>
      %same = arith.mulf %x, %x : f32
      memref.store %same, %out[%i, %j] : memref<?x8xf32>
    }
  }
  func.return
}

// Not out of a branch, which may not be taken; memory and division stay where they are.
// CHECK-LABEL: ptx.entry @stays(%n: u64, %p: u8, %d: u32, %x: f32, %in: u64, %out: u64, %ints: u64) {
// CHECK-NEXT:    %0 = ptx.const 0 : !ptx.reg<b16>
// CHECK-NEXT:    %1 = ptx.setp ne.u16 %p, %0
// CHECK-NEXT:    %2 = ptx.cvta to.global.u64 %in
// CHECK-NEXT:    %3 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %4 = ptx.cvta to.global.u64 %ints
// CHECK-NEXT:    %5 = ptx.const 0 : !ptx.reg<b64>
// CHECK-NEXT:    %6 = ptx.const 1 : !ptx.reg<b64>
// CHECK-NEXT:    %7 = ptx.const 2 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^for1(%5 : !ptx.reg<b64>)
// CHECK-NEXT:    ^for1(%8: !ptx.reg<b64>):
// CHECK-NEXT:    %9 = ptx.setp lt.s64 %8, %n
// CHECK-NEXT:    ptx.cond_bra %9, ^for1_body, ^for1_end
// CHECK-NEXT:    ^for1_body:
// CHECK-NEXT:    %10 = ptx.ld "global" "f32" %2, 0 : !ptx.reg<b64> -> !ptx.reg<f32>
// CHECK-NEXT:    %11 = ptx.shl b64 %8, %7
// CHECK-NEXT:    %12 = ptx.add s64 %11, %3
// CHECK-NEXT:    ptx.st "global" "f32" %12, 0, %10 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %13 = ptx.div s32 %d, %d
// CHECK-NEXT:    %14 = ptx.add s64 %11, %4
// CHECK-NEXT:    ptx.st "global" "b32" %14, 0, %13 : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.cond_bra %1, ^if2_then, ^if2_end
// CHECK-NEXT:    ^if2_then:
// CHECK-NEXT:    %15 = ptx.mul rn.f32 %x, %x
// CHECK-NEXT:    ptx.st "global" "f32" %3, 4, %15 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.bra ^if2_end
// CHECK-NEXT:    ^if2_end:
// CHECK-NEXT:    %16 = ptx.add s64 %8, %6
// CHECK-NEXT:    ptx.bra ^for1(%16 : !ptx.reg<b64>)
// CHECK-NEXT:    ^for1_end:
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @stays(%n: index, %p: i1, %d: i32, %x: f32, %in: memref<?xf32>, %out: memref<?xf32>, %ints: memref<?xi32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %loaded = memref.load %in[%c0] : memref<?xf32>
    memref.store %loaded, %out[%i] : memref<?xf32>
    %quotient = arith.divsi %d, %d : i32
    memref.store %quotient, %ints[%i] : memref<?xi32>
    scf.if %p {
      %square = arith.mulf %x, %x : f32
      memref.store %square, %out[%c1] : memref<?xf32>
    }
  }
  func.return
}

// Out of the loop that is in the branch, not out of the branch.
// CHECK-LABEL: ptx.entry @loop_in_branch(%n: u64, %p: u8, %x: f32, %out: u64) {
// CHECK-NEXT:    %0 = ptx.const 0 : !ptx.reg<b16>
// CHECK-NEXT:    %1 = ptx.setp ne.u16 %p, %0
// CHECK-NEXT:    %2 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %3 = ptx.const 0 : !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.const 1 : !ptx.reg<b64>
// CHECK-NEXT:    ptx.cond_bra %1, ^if1_then, ^if1_end
// CHECK-NEXT:    ^if1_then:
// CHECK-NEXT:    %5 = ptx.mul rn.f32 %x, %x
// CHECK-NEXT:    %6 = ptx.const 2 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^for2(%3 : !ptx.reg<b64>)
// CHECK-NEXT:    ^for2(%7: !ptx.reg<b64>):
// CHECK-NEXT:    %8 = ptx.setp lt.s64 %7, %n
// CHECK-NEXT:    ptx.cond_bra %8, ^for2_body, ^for2_end
// CHECK-NEXT:    ^for2_body:
// CHECK-NEXT:    %9 = ptx.shl b64 %7, %6
// CHECK-NEXT:    %10 = ptx.add s64 %9, %2
// CHECK-NEXT:    ptx.st "global" "f32" %10, 0, %5 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %11 = ptx.add s64 %7, %4
// CHECK-NEXT:    ptx.bra ^for2(%11 : !ptx.reg<b64>)
// CHECK-NEXT:    ^for2_end:
// CHECK-NEXT:    ptx.bra ^if1_end
// CHECK-NEXT:    ^if1_end:
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @loop_in_branch(%n: index, %p: i1, %x: f32, %out: memref<?xf32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.if %p {
    scf.for %i = %c0 to %n step %c1 {
      %square = arith.mulf %x, %x : f32
      memref.store %square, %out[%i] : memref<?xf32>
    }
  }
  func.return
}

// What only the test of a while reads stays before the loop too.
// CHECK-LABEL: ptx.entry @while(%n: u32, %x: f32, %out: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.const 0 : !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.mul lo.s32 %n, %n
// CHECK-NEXT:    %3 = ptx.const 1 : !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.mul rn.f32 %x, %x
// CHECK-NEXT:    ptx.bra ^while1(%1 : !ptx.reg<b32>)
// CHECK-NEXT:    ^while1(%5: !ptx.reg<b32>):
// CHECK-NEXT:    %6 = ptx.setp lt.s32 %5, %2
// CHECK-NEXT:    ptx.cond_bra %6, ^while1_body, ^while1_end
// CHECK-NEXT:    ^while1_body:
// CHECK-NEXT:    %7 = ptx.add s32 %5, %3
// CHECK-NEXT:    ptx.st "global" "f32" %0, 0, %4 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.bra ^while1(%7 : !ptx.reg<b32>)
// CHECK-NEXT:    ^while1_end:
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @while(%n: i32, %x: f32, %out: memref<?xf32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %start = arith.constant 0 : i32
  %last = scf.while (%i = %start) : (i32) -> i32 {
    %end = arith.muli %n, %n : i32
    %more = arith.cmpi slt, %i, %end : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%j: i32):
    %one = arith.constant 1 : i32
    %next = arith.addi %j, %one : i32
    %square = arith.mulf %x, %x : f32
    memref.store %square, %out[%c0] : memref<?xf32>
    scf.yield %next : i32
  }
  func.return
}

// What nobody reads is not there.
// CHECK-LABEL: ptx.entry @dead(%x: f32) {
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @dead(%x: f32) attributes {gpu.kernel} {
  %a = arith.mulf %x, %x : f32
  %b = arith.addf %a, %x : f32
  func.return
}
