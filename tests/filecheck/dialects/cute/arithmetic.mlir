// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @tuple_add
func.func @tuple_add(%a0: !cute.int_tuple<"(1,?)">, %b0: !cute.int_tuple<"(2,?{i64})">, %a1: !cute.int_tuple<"0">, %b1: !cute.int_tuple<"(1,?)">) {
  // CHECK-NEXT: %r0 = cute.tuple_add(%a0, %b0) : (!cute.int_tuple<"(1,?)">, !cute.int_tuple<"(2,?{i64})">) -> !cute.int_tuple<"(3,?{i64})">
  %r0 = cute.tuple_add(%a0, %b0) : (!cute.int_tuple<"(1,?)">, !cute.int_tuple<"(2,?{i64})">) -> !cute.int_tuple<"(3,?{i64})">
  // CHECK-NEXT: %r1 = cute.tuple_add(%a1, %b1) : (!cute.int_tuple<"0">, !cute.int_tuple<"(1,?)">) -> !cute.int_tuple<"(1,?)">
  %r1 = cute.tuple_add(%a1, %b1) : (!cute.int_tuple<"0">, !cute.int_tuple<"(1,?)">) -> !cute.int_tuple<"(1,?)">
  func.return
}

// CHECK-LABEL: func.func @tuple_sub
func.func @tuple_sub(%a0: !cute.shape<"(5,?)">, %b0: !cute.shape<"(2,3)">) {
  // CHECK-NEXT: %r0 = cute.tuple_sub(%a0, %b0) : (!cute.shape<"(5,?)">, !cute.shape<"(2,3)">) -> !cute.shape<"(3,?)">
  %r0 = cute.tuple_sub(%a0, %b0) : (!cute.shape<"(5,?)">, !cute.shape<"(2,3)">) -> !cute.shape<"(3,?)">
  func.return
}

// CHECK-LABEL: func.func @shape_div
func.func @shape_div(%a0: !cute.shape<"(4,(6,?))">, %b0: !cute.shape<"8">) {
  // CHECK-NEXT: %r0 = cute.shape_div(%a0, %b0) : (!cute.shape<"(4,(6,?))">, !cute.shape<"8">) -> !cute.shape<"(1,(3,?))">
  %r0 = cute.shape_div(%a0, %b0) : (!cute.shape<"(4,(6,?))">, !cute.shape<"8">) -> !cute.shape<"(1,(3,?))">
  func.return
}

// CHECK-LABEL: func.func @ceil_div
func.func @ceil_div(%a0: !cute.int_tuple<"(9,?)">, %b0: !cute.tile<"[4:1;2:1]">, %a1: !cute.shape<"(9,(?,8))">, %b1: !cute.shape<"4">) {
  // CHECK-NEXT: %r0 = cute.ceil_div(%a0, %b0) : (!cute.int_tuple<"(9,?)">, !cute.tile<"[4:1;2:1]">) -> !cute.int_tuple<"(3,?)">
  %r0 = cute.ceil_div(%a0, %b0) : (!cute.int_tuple<"(9,?)">, !cute.tile<"[4:1;2:1]">) -> !cute.int_tuple<"(3,?)">
  // CHECK-NEXT: %r1 = cute.ceil_div(%a1, %b1) : (!cute.shape<"(9,(?,8))">, !cute.shape<"4">) -> !cute.shape<"(3,(?,?))">
  %r1 = cute.ceil_div(%a1, %b1) : (!cute.shape<"(9,(?,8))">, !cute.shape<"4">) -> !cute.shape<"(3,(?,?))">
  func.return
}

// CHECK-LABEL: func.func @compare
func.func @compare(%a: !cute.int_tuple<"(1,?)">, %b: !cute.shape<"(2,?)">, %l: !cute.layout<"4:1">) {
  // CHECK-NEXT: %less = cute.elem_less(%a, %b) : (!cute.int_tuple<"(1,?)">, !cute.shape<"(2,?)">) -> i1
  %less = cute.elem_less(%a, %b) : (!cute.int_tuple<"(1,?)">, !cute.shape<"(2,?)">) -> i1
  // CHECK-NEXT: %same = cute.equal(%l, %l) : (!cute.layout<"4:1">, !cute.layout<"4:1">) -> i1
  %same = cute.equal(%l, %l) : (!cute.layout<"4:1">, !cute.layout<"4:1">) -> i1
  func.return
}
