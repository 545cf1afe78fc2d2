// RUN: tilewright-opt %s -p inline-calls | filecheck %s

// Of a callee of several blocks the caller's block is split; calls inside callees come along.

func.func @twice(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  func.return %y : i32
}

func.func @clamped(%x: i32, %most: i32) -> i32 {
  %over = arith.cmpi sgt, %x, %most : i32
  cf.cond_br %over, ^most, ^doubled
^most:
  func.return %most : i32
^doubled:
  %y = func.call @twice(%x) : (i32) -> i32
  func.return %y : i32
}

// CHECK-NOT: @twice
// CHECK: func.func @k(%n: i32, %out: memref<?xi32>)
func.func @k(%n: i32, %out: memref<?xi32>) attributes {gpu.kernel} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = arith.constant 9 : i32
  // CHECK: scf.for
  // CHECK-NEXT: %y = arith.addi %n, %n : i32
  // CHECK-NEXT: memref.store %y, %out
  scf.for %i = %zero to %one step %one {
    %y = func.call @twice(%n) : (i32) -> i32
    memref.store %y, %out[%i] : memref<?xi32>
  }
  // CHECK: cf.br ^[[entry:\S+]](%n, %c : i32, i32)
  // CHECK-NEXT: ^[[entry]](%x: i32, %most: i32):
  // CHECK: cf.cond_br %over, ^[[most:\S+]], ^[[doubled:\S+]]
  // CHECK-NEXT: ^[[most]]:
  // CHECK-NEXT: cf.br ^[[after:\S+]](%most : i32)
  // CHECK-NEXT: ^[[doubled]]:
  // CHECK-NEXT: arith.addi %x, %x
  // CHECK-NEXT: cf.br ^[[after]]
  // CHECK-NEXT: ^[[after]]([[r:%\S+]]: i32):
  // CHECK-NEXT: memref.store [[r]], %out
  // CHECK-NEXT: func.return
  %z = func.call @clamped(%n, %c) : (i32, i32) -> i32
  memref.store %z, %out[%one] : memref<?xi32>
  func.return
}
