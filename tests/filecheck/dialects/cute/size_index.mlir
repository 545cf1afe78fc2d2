// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @size
func.func @size(%a0: !cute.shape<"(4,(?,8))">, %a1: !cute.layout<"(4,(?,8)):(1,(4,?))">) {
  // CHECK-NEXT: %r0 = cute.size (%a0) : (!cute.shape<"(4,(?,8))">) -> !cute.int_tuple<"?">
  %r0 = cute.size (%a0) : (!cute.shape<"(4,(?,8))">) -> !cute.int_tuple<"?">
  // CHECK-NEXT: %r1 = cute.size<[1, 1]> (%a1) : (!cute.layout<"(4,(?,8)):(1,(4,?))">) -> !cute.int_tuple<"8">
  %r1 = cute.size<[1, 1]> (%a1) : (!cute.layout<"(4,(?,8)):(1,(4,?))">) -> !cute.int_tuple<"8">
  func.return
}

// CHECK-LABEL: func.func @cosize
func.func @cosize(%a0: !cute.layout<"(4,8):(1,5)">, %a1: !cute.composed_layout<"S<3,4,3> o 0 o (8,?):(64,1)">) {
  // CHECK-NEXT: %r0 = cute.cosize (%a0) : (!cute.layout<"(4,8):(1,5)">) -> !cute.int_tuple<"39">
  %r0 = cute.cosize (%a0) : (!cute.layout<"(4,8):(1,5)">) -> !cute.int_tuple<"39">
  // CHECK-NEXT: %r1 = cute.cosize<[0]> (%a1) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,?):(64,1)">) -> !cute.int_tuple<"449">
  %r1 = cute.cosize<[0]> (%a1) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,?):(64,1)">) -> !cute.int_tuple<"449">
  func.return
}

// CHECK-LABEL: func.func @tuple_product
func.func @tuple_product(%a0: !cute.int_tuple<"(2,(?{i64},3))">) {
  // CHECK-NEXT: %r0 = cute.tuple_product(%a0) : (!cute.int_tuple<"(2,(?{i64},3))">) -> !cute.int_tuple<"?{i64}">
  %r0 = cute.tuple_product(%a0) : (!cute.int_tuple<"(2,(?{i64},3))">) -> !cute.int_tuple<"?{i64}">
  func.return
}

// CHECK-LABEL: func.func @tuple_product_each
func.func @tuple_product_each(%a0: !cute.shape<"((2,3),?)">) {
  // CHECK-NEXT: %r0 = cute.tuple_product_each(%a0) : (!cute.shape<"((2,3),?)">) -> !cute.shape<"(6,?)">
  %r0 = cute.tuple_product_each(%a0) : (!cute.shape<"((2,3),?)">) -> !cute.shape<"(6,?)">
  func.return
}

// CHECK-LABEL: func.func @layout_eval
func.func @layout_eval(%a0: !cute.coord<"(1,(_,2))">, %b0: !cute.layout<"(4,(2,8)):(1,(4,?))">, %a1: !cute.coord<"?">, %b1: !cute.layout<"(4,8):(1@0,1@1)">, %a2: !cute.coord<"(1,2)">, %b2: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">) {
  // CHECK-NEXT: %r0 = cute.layout_eval(%a0, %b0) : (!cute.coord<"(1,(_,2))">, !cute.layout<"(4,(2,8)):(1,(4,?))">) -> !cute.int_tuple<"?">
  %r0 = cute.layout_eval(%a0, %b0) : (!cute.coord<"(1,(_,2))">, !cute.layout<"(4,(2,8)):(1,(4,?))">) -> !cute.int_tuple<"?">
  // CHECK-NEXT: %r1 = cute.layout_eval(%a1, %b1) : (!cute.coord<"?">, !cute.layout<"(4,8):(1@0,1@1)">) -> !cute.int_tuple<"(?,?)">
  %r1 = cute.layout_eval(%a1, %b1) : (!cute.coord<"?">, !cute.layout<"(4,8):(1@0,1@1)">) -> !cute.int_tuple<"(?,?)">
  // CHECK-NEXT: %r2 = cute.layout_eval(%a2, %b2) : (!cute.coord<"(1,2)">, !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">) -> !cute.int_tuple<"66">
  %r2 = cute.layout_eval(%a2, %b2) : (!cute.coord<"(1,2)">, !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">) -> !cute.int_tuple<"66">
  func.return
}

// CHECK-LABEL: func.func @crd2idx
func.func @crd2idx(%a0: !cute.coord<"(1,?)">, %b0: !cute.shape<"(4,8)">) {
  // CHECK-NEXT: %r0 = cute.crd2idx(%a0, %b0) : (!cute.coord<"(1,?)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"?">
  %r0 = cute.crd2idx(%a0, %b0) : (!cute.coord<"(1,?)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"?">
  func.return
}

// CHECK-LABEL: func.func @idx2crd
func.func @idx2crd(%a0: !cute.int_tuple<"9">, %b0: !cute.shape<"(4,(2,?))">) {
  // CHECK-NEXT: %r0 = cute.idx2crd(%a0, %b0) : (!cute.int_tuple<"9">, !cute.shape<"(4,(2,?))">) -> !cute.coord<"(1,(0,1))">
  %r0 = cute.idx2crd(%a0, %b0) : (!cute.int_tuple<"9">, !cute.shape<"(4,(2,?))">) -> !cute.coord<"(1,(0,1))">
  func.return
}

// CHECK-LABEL: func.func @increment_coord
func.func @increment_coord(%a0: !cute.coord<"(3,(1,?))">, %b0: !cute.shape<"(4,(2,?))">) {
  // CHECK-NEXT: %r0 = cute.increment_coord(%a0, %b0) : (!cute.coord<"(3,(1,?))">, !cute.shape<"(4,(2,?))">) -> !cute.coord<"(0,(0,?))">
  %r0 = cute.increment_coord(%a0, %b0) : (!cute.coord<"(3,(1,?))">, !cute.shape<"(4,(2,?))">) -> !cute.coord<"(0,(0,?))">
  func.return
}

// CHECK-LABEL: func.func @append_to_rank
func.func @append_to_rank(%a0: !cute.layout<"(4,?):(1,4)">, %b0: !cute.layout<"1:0">) {
  // CHECK-NEXT: %r0 = cute.append_to_rank<3> (%a0, %b0) : !cute.layout<"(4,?):(1,4)">, !cute.layout<"1:0">
  %r0 = cute.append_to_rank<3> (%a0, %b0) : !cute.layout<"(4,?):(1,4)">, !cute.layout<"1:0">
  // CHECK-NEXT: cute.print(%r0) : !cute.layout<"(4,?,1):(1,4,0)">
  cute.print(%r0) : !cute.layout<"(4,?,1):(1,4,0)">
  func.return
}

// CHECK-LABEL: func.func @prepend_to_rank
func.func @prepend_to_rank(%a0: !cute.shape<"8">, %b0: !cute.shape<"?">) {
  // CHECK-NEXT: %r0 = cute.prepend_to_rank<2> (%a0, %b0) : !cute.shape<"8">, !cute.shape<"?">
  %r0 = cute.prepend_to_rank<2> (%a0, %b0) : !cute.shape<"8">, !cute.shape<"?">
  // CHECK-NEXT: cute.print(%r0) : !cute.shape<"(?,8)">
  cute.print(%r0) : !cute.shape<"(?,8)">
  func.return
}
