// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_75
// CHECKS: all

// Blocks keep their order and their names.
// CHECK-LABEL: ptx.entry @branches(%n: u32, %out: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.const 0 : !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.const 1 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^head(%1 : !ptx.reg<b32>)
// CHECK-NEXT:    ^head(%3: !ptx.reg<b32>):
// CHECK-NEXT:    %4 = ptx.setp lt.s32 %3, %n
// CHECK-NEXT:    ptx.cond_bra %4, ^body, ^end(%3 : !ptx.reg<b32>)
// CHECK-NEXT:    ^body:
// CHECK-NEXT:    %5 = ptx.add s32 %3, %2
// CHECK-NEXT:    ptx.bra ^head(%5 : !ptx.reg<b32>)
// CHECK-NEXT:    ^end(%6: !ptx.reg<b32>):
// CHECK-NEXT:    ptx.st "global" "b32" %0, 0, %6 : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @branches(%n: i32, %out: memref<1xi32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%zero : i32)
^head(%i: i32):
  %more = arith.cmpi slt, %i, %n : i32
  cf.cond_br %more, ^body, ^end(%i : i32)
^body:
  %next = arith.addi %i, %one : i32
  cf.br ^head(%next : i32)
^end(%last: i32):
  memref.store %last, %out[%c0] : memref<1xi32>
  func.return
}

// A loop of scf in a block of cf.
// CHECK-LABEL: ptx.entry @loop_in_block(%p: u8, %n: u64, %x: f32, %out: u64) {
// CHECK-NEXT:    %0 = ptx.const 0 : !ptx.reg<b16>
// CHECK-NEXT:    %1 = ptx.setp ne.u16 %p, %0
// CHECK-NEXT:    %2 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %3 = ptx.const 0 : !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.const 1 : !ptx.reg<b64>
// CHECK-NEXT:    ptx.cond_bra %1, ^then, ^end
// CHECK-NEXT:    ^then:
// CHECK-NEXT:    %5 = ptx.const 2 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^for1(%3 : !ptx.reg<b64>)
// CHECK-NEXT:    ^for1(%6: !ptx.reg<b64>):
// CHECK-NEXT:    %7 = ptx.setp lt.s64 %6, %n
// CHECK-NEXT:    ptx.cond_bra %7, ^for1_body, ^for1_end
// CHECK-NEXT:    ^for1_body:
// CHECK-NEXT:    %8 = ptx.shl b64 %6, %5
// CHECK-NEXT:    %9 = ptx.add s64 %8, %2
// CHECK-NEXT:    ptx.st "global" "f32" %9, 0, %x : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %10 = ptx.add s64 %6, %4
// CHECK-NEXT:    ptx.bra ^for1(%10 : !ptx.reg<b64>)
// CHECK-NEXT:    ^for1_end:
// CHECK-NEXT:    ptx.bra ^end
// CHECK-NEXT:    ^end:
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @loop_in_block(%p: i1, %n: index, %x: f32, %out: memref<?xf32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.cond_br %p, ^then, ^end
^then:
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %out[%i] : memref<?xf32>
  }
  cf.br ^end
^end:
  func.return
}

// Blocks do not see each other's values: the product is computed in both.
// CHECK-LABEL: ptx.entry @no_value_crosses(%p: u8, %x: f32, %out: u64) {
// CHECK-NEXT:    %0 = ptx.const 0 : !ptx.reg<b16>
// CHECK-NEXT:    %1 = ptx.setp ne.u16 %p, %0
// CHECK-NEXT:    %2 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    ptx.cond_bra %1, ^then, ^else
// CHECK-NEXT:    ^then:
// CHECK-NEXT:    %3 = ptx.mul rn.f32 %x, %x
// CHECK-NEXT:    ptx.st "global" "f32" %2, 0, %3 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    ^else:
// CHECK-NEXT:    %4 = ptx.mul rn.f32 %x, %x
// CHECK-NEXT:    ptx.st "global" "f32" %2, 0, %4 : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @no_value_crosses(%p: i1, %x: f32, %out: memref<2xf32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  cf.cond_br %p, ^then, ^else
^then:
  %a = arith.mulf %x, %x : f32
  memref.store %a, %out[%c0] : memref<2xf32>
  func.return
^else:
  %b = arith.mulf %x, %x : f32
  memref.store %b, %out[%c0] : memref<2xf32>
  func.return
}
