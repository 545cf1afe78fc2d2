// RUN: tilewright-opt %s -p cute-fold-static --split-input-file | filecheck %s

// CHECK-LABEL: func.func @known
// CHECK-NEXT:    %l = cute.static : !cute.layout<"(2,4):(1,2)">
// CHECK-NEXT:    func.return %l
func.func @known() -> !cute.layout<"(2,4):(1,2)"> {
  %s = cute.make_shape() : () -> !cute.shape<"(2,4)">
  %d = cute.make_stride() : () -> !cute.stride<"(1,2)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(2,4)">, !cute.stride<"(1,2)">) -> !cute.layout<"(2,4):(1,2)">
  func.return %l : !cute.layout<"(2,4):(1,2)">
}

// -----

// A part of a dynamic value is known; what nobody uses goes, what acts stays.
// CHECK-LABEL: func.func @known_in_part
// CHECK-NEXT:    cute.print(%s) : !cute.shape<"(4,?)">
// CHECK-NEXT:    %m = cute.static : !cute.shape<"4">
// CHECK-NEXT:    func.return %m
func.func @known_in_part(%s: !cute.shape<"(4,?)">) -> !cute.shape<"4"> {
  cute.print(%s) : !cute.shape<"(4,?)">
  %n = cute.size(%s) : (!cute.shape<"(4,?)">) -> !cute.int_tuple<"?">
  %m = cute.get<[0]> (%s) : !cute.shape<"(4,?)"> -> !cute.shape<"4">
  func.return %m : !cute.shape<"4">
}

// -----

// CHECK-LABEL: func.func @one_of_two_results
// CHECK-NEXT:    %m = cute.static : !cute.shape<"4">
// CHECK-NEXT:    %m_1, %n = cute.get_leaves
// CHECK-NEXT:    func.return %m, %n
func.func @one_of_two_results(%s: !cute.shape<"(4,?)">) -> (!cute.shape<"4">, !cute.shape<"?">) {
  %m, %n = cute.get_leaves(%s) : !cute.shape<"(4,?)">
  func.return %m, %n : !cute.shape<"4">, !cute.shape<"?">
}

// -----

// CHECK-LABEL: func.func @compared
// CHECK-NEXT:    %less = arith.constant true
// CHECK-NEXT:    %more = arith.constant false
// CHECK-NEXT:    %same = arith.constant false
// CHECK-NEXT:    %unknown = cute.equal
// CHECK-NEXT:    func.return %less, %more, %same, %unknown
func.func @compared(%a: !cute.shape<"(1,2)">, %b: !cute.shape<"(2,3)">, %c: !cute.shape<"(2,?)">) -> (i1, i1, i1, i1) {
  %less = cute.elem_less(%a, %b) : (!cute.shape<"(1,2)">, !cute.shape<"(2,3)">) -> i1
  %more = cute.elem_less(%a, %a) : (!cute.shape<"(1,2)">, !cute.shape<"(1,2)">) -> i1
  %same = cute.equal(%a, %b) : (!cute.shape<"(1,2)">, !cute.shape<"(2,3)">) -> i1
  %unknown = cute.equal(%b, %c) : (!cute.shape<"(2,3)">, !cute.shape<"(2,?)">) -> i1
  func.return %less, %more, %same, %unknown : i1, i1, i1, i1
}
