// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: !cute.shape<"4">, %b: !cute.int_tuple<"1">) {
  // expected-error @+1 {{'cute.tuple_add' op failed to infer returned types: expects lhs and rhs to have the same kind, but got '!cute.shape<"4">' and '!cute.int_tuple<"1">'}}
  %r = cute.tuple_add(%a, %b) : (!cute.shape<"4">, !cute.int_tuple<"1">) -> !cute.shape<"5">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"4">, %b: !cute.shape<"(1,2)">) {
  // expected-error @+1 {{'cute.tuple_add' op failed to infer returned types: expects matching structure, but lhs is a scalar and rhs is a tuple: '!cute.shape<"4">' and '!cute.shape<"(1,2)">'}}
  %r = cute.tuple_add(%a, %b) : (!cute.shape<"4">, !cute.shape<"(1,2)">) -> !cute.shape<"5">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(1,(2,3))">, %b: !cute.shape<"(1,2)">) {
  // expected-error @+1 {{'cute.tuple_add' op failed to infer returned types: expects matching nesting at element 1, but got: '!cute.shape<"(1,(2,3))">' and '!cute.shape<"(1,2)">'}}
  %r = cute.tuple_add(%a, %b) : (!cute.shape<"(1,(2,3))">, !cute.shape<"(1,2)">) -> !cute.shape<"5">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"9223372036854775807">, %b: !cute.shape<"1">) {
  // expected-error @+1 {{'cute.tuple_add' op failed to infer returned types: expects valid operands, but cannot compute result for '!cute.shape<"9223372036854775807">' and '!cute.shape<"1">' (expected 64-bit integers, got 9223372036854775808)}}
  %r = cute.tuple_add(%a, %b) : (!cute.shape<"9223372036854775807">, !cute.shape<"1">) -> !cute.shape<"5">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"0">, %b: !cute.shape<"(1,2)">) {
  // expected-error @+1 {{'cute.tuple_sub' op failed to infer returned types: expects matching structure, but lhs is a scalar and rhs is a tuple: '!cute.shape<"0">' and '!cute.shape<"(1,2)">'}}
  %r = cute.tuple_sub(%a, %b) : (!cute.shape<"0">, !cute.shape<"(1,2)">) -> !cute.shape<"5">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(1,2)">, %b: !cute.shape<"1">) {
  // expected-error @+1 {{'cute.tuple_sub' op failed to infer returned types: expects matching structure, but rhs is a scalar and lhs is a tuple: '!cute.shape<"(1,2)">' and '!cute.shape<"1">'}}
  %r = cute.tuple_sub(%a, %b) : (!cute.shape<"(1,2)">, !cute.shape<"1">) -> !cute.shape<"5">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(4,6)">, %b: !cute.shape<"(2,4)">) {
  // expected-error @+1 {{'cute.shape_div' op failed to infer returned types: expects valid operands, but cannot compute shape_div for '!cute.shape<"(4,6)">' and '!cute.shape<"(2,4)">': 6 is not divisible by 4 (neither 6 % 4 == 0 nor 4 % 6 == 0)}}
  %r = cute.shape_div(%a, %b) : (!cute.shape<"(4,6)">, !cute.shape<"(2,4)">) -> !cute.shape<"5">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"4">, %b: !cute.shape<"0">) {
  // expected-error @+1 {{'cute.shape_div' op failed to infer returned types: expects valid operands, but cannot compute shape_div for '!cute.shape<"4">' and '!cute.shape<"0">': divisor is zero}}
  %r = cute.shape_div(%a, %b) : (!cute.shape<"4">, !cute.shape<"0">) -> !cute.shape<"5">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(4,6)">, %b: !cute.shape<"(2,2,2)">) {
  // expected-error @+1 {{'cute.shape_div' op failed to infer returned types: expects valid operands, but cannot compute shape_div for '!cute.shape<"(4,6)">' and '!cute.shape<"(2,2,2)">' (expected equal ranks, got (4,6), (2,2,2))}}
  %r = cute.shape_div(%a, %b) : (!cute.shape<"(4,6)">, !cute.shape<"(2,2,2)">) -> !cute.shape<"5">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"4">, %b: !cute.shape<"0">) {
  // expected-error @+1 {{'cute.ceil_div' op failed to infer returned types: expects valid operands, but cannot compute ceil_div for '!cute.shape<"4">' and '!cute.shape<"0">': tiler is zero}}
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"4">, !cute.shape<"0">) -> !cute.shape<"5">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(4,6)">, %b: !cute.shape<"(2,2,2)">) {
  // expected-error @+1 {{'cute.ceil_div' op failed to infer returned types: expects valid operands, but cannot compute ceil_div for '!cute.shape<"(4,6)">' and '!cute.shape<"(2,2,2)">': rank(tiler)=3 > rank(input)=2}}
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"(4,6)">, !cute.shape<"(2,2,2)">) -> !cute.shape<"5">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(4,6)">, %b: !cute.shape<"(2,0)">) {
  // expected-error @+1 {{'cute.ceil_div' op failed to infer returned types: expects valid operands, but cannot compute ceil_div for '!cute.shape<"(4,6)">' and '!cute.shape<"(2,0)">' (expected a divisor other than 0)}}
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"(4,6)">, !cute.shape<"(2,0)">) -> !cute.shape<"5">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(4,6)">, %b: !cute.tile<"[2:1;_]">) {
  // expected-error @+1 {{'cute.ceil_div' op failed to infer returned types: expects valid operands, but cannot compute ceil_div for '!cute.shape<"(4,6)">' and '!cute.tile<"[2:1;_]">' (expected a layout to divide by, got _)}}
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"(4,6)">, !cute.tile<"[2:1;_]">) -> !cute.shape<"5">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"4">, %b: !cute.shape<"(1,2)">) {
  // expected-error @+1 {{'cute.elem_less' op expects congruent inputs, but got '!cute.shape<"4">' and '!cute.shape<"(1,2)">'}}
  %r = cute.elem_less(%a, %b) : (!cute.shape<"4">, !cute.shape<"(1,2)">) -> i1
  func.return
}

// -----

func.func @f(%a: !cute.shape<"4">, %b: !cute.coord<"4">) {
  // expected-error @+1 {{'cute.equal' op expects lhs and rhs to be the same kind, but got '!cute.shape<"4">' and '!cute.coord<"4">'}}
  %r = cute.equal(%a, %b) : (!cute.shape<"4">, !cute.coord<"4">) -> i1
  func.return
}

// -----

func.func @f(%a: !cute.tile<"_">, %b: !cute.tile<"_">) {
  // expected-error @+1 {{'cute.equal' op operand #0 must be !cute.int_tuple, !cute.shape, !cute.coord, !cute.stride, or !cute.layout, but got '!cute.tile<"_">'}}
  %r = cute.equal(%a, %b) : (!cute.tile<"_">, !cute.tile<"_">) -> i1
  func.return
}

// -----

func.func @f(%a: !cute.shape<"4">, %b: !cute.shape<"4">) {
  // expected-error @+1 {{'cute.equal' op result #0 must be 1-bit signless integer, but got 'i32'}}
  %r = cute.equal(%a, %b) : (!cute.shape<"4">, !cute.shape<"4">) -> i32
  func.return
}

// -----

func.func @f(%a: !cute.shape<"3">, %b: !cute.shape<"x">) {
  // expected-error @+1 {{'cute.shape_div' op failed to infer returned types: expects valid operands, but cannot compute shape_div for '!cute.shape<"3">' and '!cute.shape<"x">' (expected numbers to divide, got 3 and x)}}
  %r = "cute.shape_div"(%a, %b) : (!cute.shape<"3">, !cute.shape<"x">) -> !cute.shape<"1">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"x">, %b: !cute.shape<"3">) {
  // expected-error @+1 {{'cute.tuple_add' op failed to infer returned types: expects valid operands, but cannot compute result for '!cute.shape<"x">' and '!cute.shape<"3">' (expected numbers, got x and 3)}}
  %r = "cute.tuple_add"(%a, %b) : (!cute.shape<"x">, !cute.shape<"3">) -> !cute.int_tuple<"1">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"?">, %b: !cute.shape<"x">) {
  // expected-error @+1 {{'cute.tuple_sub' op failed to infer returned types: expects valid operands, but cannot compute result for '!cute.shape<"?">' and '!cute.shape<"x">' (expected numbers, got ? and x)}}
  %r = "cute.tuple_sub"(%a, %b) : (!cute.shape<"?">, !cute.shape<"x">) -> !cute.int_tuple<"1">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"2">, %b: !cute.shape<"x">) {
  // expected-error @+1 {{'cute.ceil_div' op failed to infer returned types: expects valid operands, but cannot compute ceil_div for '!cute.shape<"2">' and '!cute.shape<"x">' (expected numbers to divide, got 2 and x)}}
  %r = "cute.ceil_div"(%a, %b) : (!cute.shape<"2">, !cute.shape<"x">) -> !cute.int_tuple<"1">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"?">, %b: !cute.tile<"[_]">) {
  // expected-error @+1 {{'cute.ceil_div' op failed to infer returned types: expects valid operands, but cannot compute ceil_div for '!cute.shape<"?">' and '!cute.tile<"[_]">' (expected a layout, got _)}}
  %r = "cute.ceil_div"(%a, %b) : (!cute.shape<"?">, !cute.tile<"[_]">) -> !cute.int_tuple<"1">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(0)">, %b: !cute.shape<"6">) {
  // expected-error @+1 {{'cute.shape_div' op failed to infer returned types: expects valid operands, but cannot compute shape_div for '!cute.shape<"(0)">' and '!cute.shape<"6">' (expected a divisor other than 0)}}
  %r = "cute.shape_div"(%a, %b) : (!cute.shape<"(0)">, !cute.shape<"6">) -> !cute.shape<"1">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"()">, %b: !cute.tile<"[_]">) {
  // expected-error @+1 {{'cute.ceil_div' op failed to infer returned types: expects valid operands, but cannot compute ceil_div for '!cute.shape<"()">' and '!cute.tile<"[_]">' (expected at most 0 tilers, got 1)}}
  %r = "cute.ceil_div"(%a, %b) : (!cute.shape<"()">, !cute.tile<"[_]">) -> !cute.int_tuple<"1">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"4">, %b: !cute.shape<"(3)">) {
  // expected-error @+1 {{'cute.shape_div' op failed to infer returned types: expects valid operands, but cannot compute shape_div for '!cute.shape<"4">' and '!cute.shape<"(3)">' (expected one to divide the other, got 4 and 3)}}
  %r = "cute.shape_div"(%a, %b) : (!cute.shape<"4">, !cute.shape<"(3)">) -> !cute.shape<"1">
  func.return
}

// -----

func.func @f(%a: !cute.int_tuple<"((),4)">, %b: !cute.int_tuple<"((2))">) {
  // expected-error @+1 {{'cute.ceil_div' op failed to infer returned types: expects valid operands, but cannot compute ceil_div for '!cute.int_tuple<"((),4)">' and '!cute.int_tuple<"((2))">' (expected at most 0 modes, got (2))}}
  %r = "cute.ceil_div"(%a, %b) : (!cute.int_tuple<"((),4)">, !cute.int_tuple<"((2))">) -> !cute.int_tuple<"1">
  func.return
}

// -----

func.func @f(%a: !cute.int_tuple<"((?),0)">, %b: !cute.tile<"[(?):(1@1)]">) {
  // expected-error @+1 {{'cute.ceil_div' op failed to infer returned types: expects valid operands, but cannot compute ceil_div for '!cute.int_tuple<"((?),0)">' and '!cute.tile<"[(?):(1@1)]">' (complement: expected known strides, got 1:1@0)}}
  %r = "cute.ceil_div"(%a, %b) : (!cute.int_tuple<"((?),0)">, !cute.tile<"[(?):(1@1)]">) -> !cute.int_tuple<"1">
  func.return
}
