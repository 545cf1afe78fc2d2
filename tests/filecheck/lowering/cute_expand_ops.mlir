// RUN: tilewright-opt %s -p cute-expand-ops --split-input-file | filecheck %s

// Known results need no arithmetic.
// CHECK-LABEL: func.func @known
// CHECK-NEXT:    %r = cute.static : !cute.int_tuple<"9">
// CHECK-NEXT:    func.return %r
func.func @known(%c: !cute.coord<"(1,2)">, %s: !cute.shape<"(4,8)">) -> !cute.int_tuple<"9"> {
  %r = cute.crd2idx(%c, %s) : (!cute.coord<"(1,2)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"9">
  func.return %r : !cute.int_tuple<"9">
}

// -----

// CHECK-LABEL: func.func @widened
// CHECK-NEXT:    %0 = cute.get_scalars<{only_dynamic}> (%a) : !cute.shape<"(4,?)">
// CHECK-NEXT:    %1 = cute.get_scalars<{only_dynamic}> (%b) : !cute.shape<"(1,?{i64})">
// CHECK-NEXT:    %2 = arith.extsi %0 : i32 to i64
// CHECK-NEXT:    %3 = arith.addi %2, %1 overflow<nsw> : i64
// CHECK-NEXT:    %r = cute.make_shape(%3) : (i64) -> !cute.shape<"(5,?{i64})">
func.func @widened(%a: !cute.shape<"(4,?)">, %b: !cute.shape<"(1,?{i64})">) -> !cute.shape<"(5,?{i64})"> {
  %r = cute.tuple_add(%a, %b) : (!cute.shape<"(4,?)">, !cute.shape<"(1,?{i64})">) -> !cute.shape<"(5,?{i64})">
  func.return %r : !cute.shape<"(5,?{i64})">
}

// -----

// CHECK-LABEL: func.func @evaluated
// CHECK-NEXT:    %0 = cute.get_scalars<{only_dynamic}> (%c) : !cute.coord<"?">
// CHECK-NEXT:    %1 = arith.constant 4 : i32
// CHECK-NEXT:    %2 = arith.divsi %0, %1 : i32
// CHECK-NEXT:    %3 = arith.constant 4 : i32
// CHECK-NEXT:    %4 = arith.remsi %0, %3 : i32
// CHECK-NEXT:    %5 = arith.constant 8 : i32
// CHECK-NEXT:    %6 = arith.muli %4, %5 overflow<nsw> : i32
// CHECK-NEXT:    %7 = arith.addi %6, %2 overflow<nsw> : i32
// CHECK-NEXT:    %r = cute.make_int_tuple(%7) : (i32) -> !cute.int_tuple<"?">
func.func @evaluated(%c: !cute.coord<"?">, %l: !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"?"> {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"?">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"?">
  func.return %r : !cute.int_tuple<"?">
}

// -----

// CHECK-LABEL: func.func @chosen
// CHECK:         arith.divsi
// CHECK:         %[[NONZERO:.+]] = arith.cmpi ne
// CHECK-NEXT:    %[[R:.+]] = scf.if %[[NONZERO]] -> (i32) {
// CHECK:           scf.yield
// CHECK:         } else {
// CHECK:           arith.cmpi sgt
// CHECK:           scf.yield
// CHECK:         %r = cute.make_shape(%[[R]]) : (i32) -> !cute.shape<"?">
func.func @chosen(%a: !cute.shape<"?">, %b: !cute.shape<"4">) -> !cute.shape<"?"> {
  %r = cute.shape_div(%a, %b) : (!cute.shape<"?">, !cute.shape<"4">) -> !cute.shape<"?">
  func.return %r : !cute.shape<"?">
}

// -----

// CHECK-LABEL: func.func @rebuilt
// CHECK:         %[[S:.+]] = cute.make_shape() : () -> !cute.shape<"((4,2))">
// CHECK-NEXT:    %[[D:.+]] = cute.make_stride(%{{.+}}) : (i32) -> !cute.stride<"((1,?))">
// CHECK-NEXT:    cute.make_layout(%[[S]], %[[D]])
func.func @rebuilt(%l: !cute.layout<"((4,2),8):((1,?),8)">, %c: !cute.coord<"(_,3)">) {
  %r = cute.slice(%l, %c) : !cute.layout<"((4,2),8):((1,?),8)">, !cute.coord<"(_,3)">
  cute.print(%r) : !cute.layout<"((4,2)):((1,?))">
  func.return
}

// -----

// A mode that is the whole value is built again, or known.
// CHECK-LABEL: func.func @whole
// CHECK-NEXT:    %0 = cute.get_scalars<{only_dynamic}> (%s) : !cute.shape<"?">
// CHECK-NEXT:    %r = cute.make_shape(%0) : (i32) -> !cute.shape<"?">
// CHECK-NEXT:    %q = cute.static : !cute.layout<"4:1">
// CHECK-NEXT:    func.return %r, %q
func.func @whole(%s: !cute.shape<"?">, %l: !cute.layout<"4:1">) -> (!cute.shape<"?">, !cute.layout<"4:1">) {
  %r = cute.get<[0]> (%s) : !cute.shape<"?"> -> !cute.shape<"?">
  %q = cute.get<[]> (%l) : !cute.layout<"4:1"> -> !cute.layout<"4:1">
  func.return %r, %q : !cute.shape<"?">, !cute.layout<"4:1">
}

// -----

// CHECK-LABEL: func.func @compared
// CHECK-NEXT:    %0, %1 = cute.get_scalars (%a) : !cute.shape<"(1,?)">
// CHECK-NEXT:    %2, %3 = cute.get_scalars (%b) : !cute.shape<"(2,?)">
// CHECK-NEXT:    %4 = arith.cmpi slt, %0, %2 : i32
// CHECK-NEXT:    %5 = arith.cmpi slt, %1, %3 : i32
// CHECK-NEXT:    %less = arith.andi %4, %5 : i1
// CHECK-NEXT:    %same = arith.constant false
// CHECK-NEXT:    func.return %less, %same
func.func @compared(%a: !cute.shape<"(1,?)">, %b: !cute.shape<"(2,?)">, %c: !cute.shape<"?">) -> (i1, i1) {
  %less = cute.elem_less(%a, %b) : (!cute.shape<"(1,?)">, !cute.shape<"(2,?)">) -> i1
  %same = cute.equal(%a, %c) : (!cute.shape<"(1,?)">, !cute.shape<"?">) -> i1
  func.return %less, %same : i1, i1
}
