// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: !cute.layout<"(2,4):(1,2)">) {
  // expected-error @+1 {{'cute.size' op inferred type(s) '!cute.int_tuple<"8">' are incompatible with return type(s) of operation '!cute.int_tuple<"9">' ('cute.size' op failed to infer returned types)}}
  %r = cute.size(%a) : (!cute.layout<"(2,4):(1,2)">) -> !cute.int_tuple<"9">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(2,4)">) {
  // expected-error @+1 {{'cute.size' op failed to infer returned types: expects mode index in [0, 2) at depth 0, but got -1}}
  %r = cute.size<[-1]> (%a) : (!cute.shape<"(2,4)">) -> !cute.int_tuple<"9">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"x">) {
  // expected-error @+1 {{'cute.size' op failed to infer returned types: unable to compute size for input '!cute.shape<"x">' and mode [] (expected numbers, got x)}}
  %r = cute.size(%a) : (!cute.shape<"x">) -> !cute.int_tuple<"9">
  func.return
}

// -----

func.func @f(%a: !cute.composed_layout<"4:1 o 1 o 2:1">) {
  // expected-error @+1 {{'cute.cosize' op failed to infer returned types: expects composed_layout inner to be a swizzle (cosize is undefined for affine inner), but got '!cute.composed_layout<"4:1 o 1 o 2:1">'}}
  %r = cute.cosize(%a) : (!cute.composed_layout<"4:1 o 1 o 2:1">) -> !cute.int_tuple<"9">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4611686018427387904:4">) {
  // expected-error @+1 {{'cute.cosize' op failed to infer returned types: unable to compute cosize for input '!cute.layout<"4611686018427387904:4">' and mode [] (expected 64-bit integers, got 18446744073709551612)}}
  %r = cute.cosize(%a) : (!cute.layout<"4611686018427387904:4">) -> !cute.int_tuple<"9">
  func.return
}

// -----

func.func @f(%a: !cute.int_tuple<"(4611686018427387904,4)">) {
  // expected-error @+1 {{'cute.tuple_product' op failed to infer returned types: unable to compute tuple_product for input '!cute.int_tuple<"(4611686018427387904,4)">' (expected 64-bit integers, got 18446744073709551616)}}
  %r = cute.tuple_product(%a) : (!cute.int_tuple<"(4611686018427387904,4)">) -> !cute.int_tuple<"9">
  func.return
}

// -----

func.func @f(%a: !cute.coord<"(1,2,3)">, %b: !cute.layout<"(2,4):(1,2)">) {
  // expected-error @+1 {{'cute.layout_eval' op failed to infer returned types: expects coordinate rank 2 (to match layout shape rank) or be a leaf, but got 3}}
  %r = cute.layout_eval(%a, %b) : (!cute.coord<"(1,2,3)">, !cute.layout<"(2,4):(1,2)">) -> !cute.int_tuple<"9">
  func.return
}

// -----

func.func @f(%a: !cute.coord<"(1,(2,3))">, %b: !cute.layout<"(2,4):(1,2)">) {
  // expected-error @+1 {{'cute.layout_eval' op failed to infer returned types: unable to compute layout_eval for coordinate '!cute.coord<"(1,(2,3))">' and layout '!cute.layout<"(2,4):(1,2)">' (expected a coordinate of 4, got (2,3))}}
  %r = cute.layout_eval(%a, %b) : (!cute.coord<"(1,(2,3))">, !cute.layout<"(2,4):(1,2)">) -> !cute.int_tuple<"9">
  func.return
}

// -----

func.func @f(%a: !cute.coord<"(1,2,3)">, %b: !cute.shape<"(2,4)">) {
  // expected-error @+1 {{'cute.crd2idx' op failed to infer returned types: expects coord and shape to be weakly congruent, but got coord '!cute.coord<"(1,2,3)">' and shape '!cute.shape<"(2,4)">'}}
  %r = cute.crd2idx(%a, %b) : (!cute.coord<"(1,2,3)">, !cute.shape<"(2,4)">) -> !cute.int_tuple<"9">
  func.return
}

// -----

func.func @f(%a: !cute.int_tuple<"(1,2,3)">, %b: !cute.shape<"(2,4)">) {
  // expected-error @+1 {{'cute.idx2crd' op failed to infer returned types: expects index rank 2 (to match shape rank) or scalar, but got 3}}
  %r = cute.idx2crd(%a, %b) : (!cute.int_tuple<"(1,2,3)">, !cute.shape<"(2,4)">) -> !cute.coord<"9">
  func.return
}

// -----

func.func @f(%a: !cute.int_tuple<"(1,(2,3))">, %b: !cute.shape<"(2,4)">) {
  // expected-error @+1 {{'cute.idx2crd' op failed to infer returned types: unable to compute idx2crd for index '!cute.int_tuple<"(1,(2,3))">' and shape '!cute.shape<"(2,4)">' (expected an index of 4, got (2,3))}}
  %r = cute.idx2crd(%a, %b) : (!cute.int_tuple<"(1,(2,3))">, !cute.shape<"(2,4)">) -> !cute.coord<"9">
  func.return
}

// -----

func.func @f(%a: !cute.coord<"1">, %b: !cute.shape<"(2,4)">) {
  // expected-error @+1 {{'cute.increment_coord' op failed to infer returned types: expects coord to be congruent with shape, but got '!cute.coord<"1">' and '!cute.shape<"(2,4)">'}}
  %r = cute.increment_coord(%a, %b) : (!cute.coord<"1">, !cute.shape<"(2,4)">) -> !cute.coord<"9">
  func.return
}

// -----

func.func @f(%a: !cute.coord<"(_,1)">, %b: !cute.shape<"(2,4)">) {
  // expected-error @+1 {{'cute.increment_coord' op failed to infer returned types: expects coord to be free of underscore wildcards, but got '!cute.coord<"(_,1)">'}}
  %r = cute.increment_coord(%a, %b) : (!cute.coord<"(_,1)">, !cute.shape<"(2,4)">) -> !cute.coord<"9">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"4">, %b: !cute.shape<"1">) {
  // expected-error @+1 {{'cute.append_to_rank' op failed to infer returned types: expects rank to be a positive integer, but got 0}}
  %r = cute.append_to_rank<0> (%a, %b) : !cute.shape<"4">, !cute.shape<"1">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"4">, %b: !cute.coord<"1">) {
  // expected-error @+1 {{'cute.append_to_rank' op failed to infer returned types: expects input and element to have the same kind, but got '!cute.shape<"4">' and '!cute.coord<"1">'}}
  %r = cute.append_to_rank<2> (%a, %b) : !cute.shape<"4">, !cute.coord<"1">
  func.return
}

// -----

func.func @f(%a: !cute.composed_layout<"4:1 o 1 o 2:1">, %b: !cute.composed_layout<"4:1 o 1 o 2:1">) {
  // expected-error @+1 {{'cute.prepend_to_rank' op failed to infer returned types: expects element to be !cute.layout when input is !cute.composed_layout, but got '!cute.composed_layout<"4:1 o 1 o 2:1">'}}
  %r = cute.prepend_to_rank<2> (%a, %b) : !cute.composed_layout<"4:1 o 1 o 2:1">, !cute.composed_layout<"4:1 o 1 o 2:1">
  func.return
}

// -----

func.func @f(%a: !cute.tile<"4:1">, %b: !cute.tile<"_">) {
  // expected-error @+1 {{'cute.prepend_to_rank' op failed to infer returned types: expects $input to be !cute.int_tuple, !cute.coord, !cute.stride, !cute.shape, !cute.layout, or !cute.composed_layout, but got '!cute.tile<"4:1">'}}
  %r = cute.prepend_to_rank<2> (%a, %b) : !cute.tile<"4:1">, !cute.tile<"_">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"x">) {
  // expected-error @+1 {{'cute.tuple_product' op failed to infer returned types: unable to compute tuple_product for input '!cute.shape<"x">' (expected numbers to multiply, got 1 and x)}}
  %r = "cute.tuple_product"(%a) : (!cute.shape<"x">) -> !cute.int_tuple<"1">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"x">) {
  // expected-error @+1 {{'cute.tuple_product_each' op failed to infer returned types: unable to compute tuple_product_each for input '!cute.shape<"x">' (expected numbers to multiply, got 1 and x)}}
  %r = "cute.tuple_product_each"(%a) : (!cute.shape<"x">) -> !cute.int_tuple<"1">
  func.return
}

// -----

func.func @f(%a: !cute.coord<"x">, %b: !cute.shape<"1">) {
  // expected-error @+1 {{'cute.crd2idx' op failed to infer returned types: unable to pack coordinate '!cute.coord<"x">' into shape '!cute.shape<"1">' (expected a number, got x)}}
  %r = "cute.crd2idx"(%a, %b) : (!cute.coord<"x">, !cute.shape<"1">) -> !cute.int_tuple<"1">
  func.return
}

// -----

func.func @f(%a: !cute.coord<"x">, %b: !cute.shape<"2">) {
  // expected-error @+1 {{'cute.increment_coord' op failed to infer returned types: unable to compute increment_coord for coord '!cute.coord<"x">' and shape '!cute.shape<"2">' (expected numbers, got x, 1)}}
  %r = "cute.increment_coord"(%a, %b) : (!cute.coord<"x">, !cute.shape<"2">) -> !cute.coord<"1">
  func.return
}
