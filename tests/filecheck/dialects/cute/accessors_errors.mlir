// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: !cute.tile<"[4:1;_]">) {
  // expected-error @+1 {{'cute.get_shape' op failed to infer returned types: expects a tile operand with no underscore slots, but got '!cute.tile<"[4:1;_]">'}}
  %r = cute.get_shape(%a) : !cute.tile<"[4:1;_]"> -> !cute.shape<"4">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4:1">) {
  // expected-error @+1 {{'cute.get_stride' op inferred type(s) '!cute.stride<"1">' are incompatible with return type(s) of operation '!cute.stride<"2">' ('cute.get_stride' op failed to infer returned types)}}
  %r = cute.get_stride(%a) : !cute.layout<"4:1"> -> !cute.stride<"2">
  func.return
}

// -----

func.func @f(%a: !cute.tile<"[_;_]">) {
  // expected-error @+1 {{'cute.get_layouts_from_tile' op failed to infer returned types: expects $tile to contain at least one layout slot, but got '!cute.tile<"[_;_]">'}}
  cute.get_layouts_from_tile(%a) : !cute.tile<"[_;_]">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4:1">) {
  // expected-error @+1 {{'cute.get_leaves' op failed to infer returned types: expects $input to be !cute.shape, !cute.stride, !cute.coord, !cute.int_tuple, or !cute.tile, but got '!cute.layout<"4:1">'}}
  cute.get_leaves(%a) : !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: i32) {
  // expected-error @+1 {{'cute.get_leaves' op failed to infer returned types: expects CuTe values, but got 'i32'}}
  cute.get_leaves(%a) : i32
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(4,8)">) {
  // expected-error @+1 {{'cute.get' op failed to infer returned types: expects mode index in [0, 2) at depth 0, but got 2}}
  %r = cute.get<[2]> (%a) : !cute.shape<"(4,8)"> -> !cute.shape<"4">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(4,8)">) {
  // expected-error @+1 {{'cute.get' op failed to infer returned types: expects mode indices to stop at a scalar leaf, but got 2 extra indices after depth 1}}
  %r = cute.get<[0, 0, 1]> (%a) : !cute.shape<"(4,8)"> -> !cute.shape<"4">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(4,8)">) {
  // expected-error @+1 {{'cute.select' op failed to infer returned types: expects mode index in [0, 2), but got -1}}
  %r = cute.select<[0, -1]> (%a) : !cute.shape<"(4,8)"> -> !cute.shape<"4">
  func.return
}

// -----

func.func @f(%a: !cute.swizzle<"S<3,4,3>">) {
  // expected-error @+1 {{'cute.select' op operand #0 must be !cute.shape, !cute.int_tuple, !cute.coord, !cute.stride, !cute.tile, !cute.layout, or !cute.composed_layout, but got '!cute.swizzle<"S<3,4,3>">'}}
  %r = cute.select<[0]> (%a) : !cute.swizzle<"S<3,4,3>"> -> !cute.shape<"4">
  func.return
}

// -----

func.func @f(%a: !cute.coord<"(_,1)">) {
  // expected-error @+1 {{'cute.to_int_tuple' op failed to infer returned types: expects source without underscores (_), but got '!cute.coord<"(_,1)">'}}
  %r = cute.to_int_tuple(%a) : !cute.coord<"(_,1)"> -> !cute.int_tuple<"(1,1)">
  func.return
}

// -----

func.func @f(%a: !cute.stride<"1@0">) {
  // expected-error @+1 {{'cute.to_int_tuple' op failed to infer returned types: expects source without scaled-basis strides, but got '!cute.stride<"1@0">'}}
  %r = cute.to_int_tuple(%a) : !cute.stride<"1@0"> -> !cute.int_tuple<"1">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"x">) {
  // expected-error @+1 {{'cute.to_int_tuple' op failed to infer returned types: expects source without errors (x), but got '!cute.shape<"x">'}}
  %r = cute.to_int_tuple(%a) : !cute.shape<"x"> -> !cute.int_tuple<"1">
  func.return
}

// -----

func.func @f(%a: !cute.int_tuple<"x">) {
  // expected-error @+1 {{'cute.to_shape' op failed to infer returned types: expects source without errors, but got '!cute.int_tuple<"x">'}}
  %r = cute.to_shape(%a) : !cute.int_tuple<"x"> -> !cute.shape<"1">
  func.return
}

// -----

func.func @f(%a: !cute.int_tuple<"1">) {
  // expected-error @+1 {{'cute.to_shape' op result #0 must be Scalar integer or recursive tuple of shape extents, but got '!cute.stride<"1">'}}
  %r = cute.to_shape(%a) : !cute.int_tuple<"1"> -> !cute.stride<"1">
  func.return
}

// -----

func.func @f(%a: !cute.coord<"x">) {
  // expected-error @+1 {{'cute.get_scalars' op failed to infer returned types: expected numbers, got x}}
  "cute.get_scalars"(%a) : (!cute.coord<"x">) -> ()
  func.return
}
