// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: i32) {
  // expected-error @+1 {{'cute.make_shape' op expects 2 dynamic operand(s) for result type '!cute.shape<"(?,?)">', but got 1}}
  %r = cute.make_shape(%a) : (i32) -> !cute.shape<"(?,?)">
  func.return
}

// -----

func.func @f(%a: i64) {
  // expected-error @+1 {{'cute.make_shape' op expects operand #0 to have (width=32), but got (width=64)}}
  %r = cute.make_shape(%a) : (i64) -> !cute.shape<"(?,4)">
  func.return
}

// -----

func.func @f(%a: !cute.int_tuple<"4294967296">) {
  // expected-error @+1 {{'cute.make_stride' op expects operand #0 to be compatible with (width=32), but got static constant 4294967296}}
  %r = cute.make_stride(%a) : (!cute.int_tuple<"4294967296">) -> !cute.stride<"?">
  func.return
}

// -----

func.func @f(%a: i16) {
  // expected-error @+1 {{'cute.make_coord' op operand #0 must be variadic of i32, i64, or depth-0 !cute.int_tuple, but got 'i16'}}
  %r = cute.make_coord(%a) : (i16) -> !cute.coord<"?">
  func.return
}

// -----

func.func @f(%a: i32) {
  // expected-error @+1 {{'cute.make_int_tuple' op result #0 must be Scalar integer or recursive tuple of integers, but got '!cute.shape<"?">'}}
  %r = cute.make_int_tuple(%a) : (i32) -> !cute.shape<"?">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"4">, %b: !cute.stride<"1">) {
  // expected-error @+1 {{'cute.make_layout' op inferred type(s) '!cute.layout<"4:1">' are incompatible with return type(s) of operation '!cute.layout<"4:2">' ('cute.make_layout' op failed to infer returned types)}}
  %r = cute.make_layout(%a, %b) : (!cute.shape<"4">, !cute.stride<"1">) -> !cute.layout<"4:2">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(4,8)">, %b: !cute.stride<"1">) {
  // expected-error @+1 {{'cute.make_layout' op failed to infer returned types: expects no error(`x`) in layout, but got "x:x" (no layout is written (4,8):1)}}
  %r = cute.make_layout(%a, %b) : (!cute.shape<"(4,8)">, !cute.stride<"1">) -> !cute.layout<"4:2">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"0">, %b: !cute.stride<"1">) {
  // expected-error @+1 {{'cute.make_layout' op failed to infer returned types: expects positive shape mode, but got "0:1"}}
  %r = cute.make_layout(%a, %b) : (!cute.shape<"0">, !cute.stride<"1">) -> !cute.layout<"4:2">
  func.return
}

// -----

func.func @f(%a: !cute.swizzle<"S<0,4,3>">, %b: !cute.int_tuple<"0">, %c: !cute.layout<"4:1">) {
  // expected-error @+1 {{'cute.make_composed_layout' op failed to infer returned types: expects a non-trivial composed layout (with swizzle bits or non-zero offset); use `!cute.layout` for trivial wraps, but got "S<0,4,3> o 0 o 4:1"}}
  %r = cute.make_composed_layout(%a, %b, %c) : (!cute.swizzle<"S<0,4,3>">, !cute.int_tuple<"0">, !cute.layout<"4:1">) -> !cute.composed_layout<"S<1,4,3> o 0 o 4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4:1@0">) {
  // expected-error @+1 {{'cute.make_layout_like' op failed to infer returned types: expects plain integer strides in source layout, but got scaled-basis strides}}
  %r = cute.make_layout_like(%a) : !cute.layout<"4:1@0"> -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.composed_layout<"4:1 o 1 o 2:1">) {
  // expected-error @+1 {{'cute.make_layout_like' op failed to infer returned types: expects source composed layout to have a Swizzle A component, but got a layout A}}
  %r = cute.make_layout_like(%a) : !cute.composed_layout<"4:1 o 1 o 2:1"> -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(4,8)">, %b: !cute.int_tuple<"(0,?)">) {
  // expected-error @+1 {{'cute.make_ordered_layout' op failed to infer returned types: expects order to be a static int_tuple, but got '!cute.int_tuple<"(0,?)">'}}
  %r = cute.make_ordered_layout(%a, %b) : (!cute.shape<"(4,8)">, !cute.int_tuple<"(0,?)">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(4,8)">, %b: !cute.int_tuple<"(0,1,2)">) {
  // expected-error @+1 {{'cute.make_ordered_layout' op failed to infer returned types: expects order to be weakly congruent to shape '!cute.shape<"(4,8)">', but got '!cute.int_tuple<"(0,1,2)">'}}
  %r = cute.make_ordered_layout(%a, %b) : (!cute.shape<"(4,8)">, !cute.int_tuple<"(0,1,2)">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(0,8)">, %b: !cute.int_tuple<"(0,1)">) {
  // expected-error @+1 {{'cute.make_ordered_layout' op failed to infer returned types: expects a valid ordered layout, but construction failed}}
  %r = cute.make_ordered_layout(%a, %b) : (!cute.shape<"(0,8)">, !cute.int_tuple<"(0,1)">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"0">) {
  // expected-error @+1 {{'cute.make_identity_layout' op failed to infer returned types: expects a valid identity layout from '!cute.shape<"0">', but construction failed}}
  %r = cute.make_identity_layout(%a) : !cute.shape<"0"> -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute.static' op expects result to be static, but got '!cute.shape<"(4,?)">'}}
  %r = cute.static : !cute.shape<"(4,?)">
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute.static' op result #0 must be any CuTe type, but got 'i32'}}
  %r = cute.static : i32
  func.return
}

// -----

func.func @f(%a: !cute.shape<"x">, %b: !cute.int_tuple<"8">) {
  // expected-error @+1 {{'cute.make_ordered_layout' op failed to infer returned types: expects a valid ordered layout, but construction failed (expected an order of x, got 8)}}
  %r = "cute.make_ordered_layout"(%a, %b) : (!cute.shape<"x">, !cute.int_tuple<"8">) -> !cute.layout<"1:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"1:?">, %b: !cute.int_tuple<"2">, %c: !cute.layout<"8:2@0">) {
  // expected-error @+1 {{'cute.make_composed_layout' op failed to infer returned types: expects offset and `layout_eval(0, outer)` to be addable, but got 2 and (0)}}
  %r = "cute.make_composed_layout"(%a, %b, %c) : (!cute.layout<"1:?">, !cute.int_tuple<"2">, !cute.layout<"8:2@0">) -> !cute.composed_layout<"S<1,0,1> o 1 o 1:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"((),((4,9223372036854775807,2))):((),((1,16,?)))">) {
  // expected-error @+1 {{'cute.make_layout_like' op failed to infer returned types: expects a valid layout-like result, but construction failed (expected 64-bit integers, got 36893488147419103228)}}
  %r = "cute.make_layout_like"(%a) : (!cute.layout<"((),((4,9223372036854775807,2))):((),((1,16,?)))">) -> !cute.layout<"1:1">
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected 2 operand types but had 0}}
  %r = cute.make_shape() : (i32, i32) -> !cute.shape<"(?,?)">
  func.return
}
