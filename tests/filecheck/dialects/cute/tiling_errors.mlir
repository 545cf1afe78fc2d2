// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: !cute.layout<"?:1">, %b: !cute.layout<"2:1">) {
  // expected-error @+1 {{'cute.logical_product' op failed to infer returned types: expects lhs to be static, but got '!cute.layout<"?:1">'}}
  %r = cute.logical_product(%a, %b) : (!cute.layout<"?:1">, !cute.layout<"2:1">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4:1">, %b: !cute.layout<"2:1@0">) {
  // expected-error @+1 {{'cute.zipped_product' op failed to infer returned types: expects rhs stride to be integer-only (scaled-basis strides like `N@M` are not supported), but got '!cute.layout<"2:1@0">'}}
  %r = cute.zipped_product(%a, %b) : (!cute.layout<"4:1">, !cute.layout<"2:1@0">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4:1@0">, %b: !cute.layout<"?:1">) {
  // expected-error @+1 {{'cute.tiled_product' op failed to infer returned types: expects rhs to be static when lhs has scaled-basis strides (`N@M`), but got rhs '!cute.layout<"?:1">'}}
  %r = cute.tiled_product(%a, %b) : (!cute.layout<"4:1@0">, !cute.layout<"?:1">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(4,4):(1,2)">, %b: !cute.layout<"2:1">) {
  // expected-error @+1 {{'cute.raked_product' op failed to infer returned types: expects valid operands, but cannot compute product for '!cute.layout<"(4,4):(1,2)">' and '!cute.layout<"2:1">' (complement: expected an injective layout, got (4,4):(1,2))}}
  %r = cute.raked_product(%a, %b) : (!cute.layout<"(4,4):(1,2)">, !cute.layout<"2:1">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"6:1">, %b: !cute.shape<"(2,3)">) {
  // expected-error @+1 {{'cute.logical_divide' op failed to infer returned types: expects rank(tiler) <= rank(input), but got rank 2 tiler and rank 1 input}}
  %r = cute.logical_divide(%a, %b) : (!cute.layout<"6:1">, !cute.shape<"(2,3)">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"6:1">, %b: !cute.layout<"(2,3):(1,?)">) {
  // expected-error @+1 {{'cute.zipped_divide' op failed to infer returned types: expects tiler to have a static stride or to be rank-1, but got tiler (2,3):(1,?)}}
  %r = cute.zipped_divide(%a, %b) : (!cute.layout<"6:1">, !cute.layout<"(2,3):(1,?)">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(6,4):(1,6)">, %b: !cute.tile<"[_;[(2,3):(1,?)]]">) {
  // expected-error @+1 {{'cute.tiled_divide' op failed to infer returned types: expects tiler to have a static stride or to be rank-1, but got tiler (2,3):(1,?) at mode path [1, 0]}}
  %r = cute.tiled_divide(%a, %b) : (!cute.layout<"(6,4):(1,6)">, !cute.tile<"[_;[(2,3):(1,?)]]">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"6:1">, %b: !cute.tile<"[2:1@0]">) {
  // expected-error @+1 {{'cute.flat_divide' op failed to infer returned types: expects layout components of a tile tiler to have integer-only strides (scaled-basis strides like `N@M` are not supported), but got tiler 2:1@0 at mode path [0]}}
  %r = cute.flat_divide(%a, %b) : (!cute.layout<"6:1">, !cute.tile<"[2:1@0]">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(12,32):(1,128)">, %b: !cute.layout<"(4,8):(1,4)">) {
  // expected-error @+1 {{'cute.flat_divide' op failed to infer returned types: expects valid operands, but cannot compute divide for '!cute.layout<"(12,32):(1,128)">' and '!cute.layout<"(4,8):(1,4)">' (expected an extent that 3 divides, got 8)}}
  %r = cute.flat_divide(%a, %b) : (!cute.layout<"(12,32):(1,128)">, !cute.layout<"(4,8):(1,4)">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4:1">, %b: !cute.shape<"(8,8)">, %c: !cute.int_tuple<"(0,?)">) {
  // expected-error @+1 {{'cute.tile_to_shape' op failed to infer returned types: expects static order, but got (0,?)}}
  %r = cute.tile_to_shape(%a, %b, %c) : (!cute.layout<"4:1">, !cute.shape<"(8,8)">, !cute.int_tuple<"(0,?)">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4:1">, %b: !cute.shape<"(8,8)">, %c: !cute.int_tuple<"0">) {
  // expected-error @+1 {{'cute.tile_to_shape' op failed to infer returned types: expects order rank (1) to equal target-shape rank (2)}}
  %r = cute.tile_to_shape(%a, %b, %c) : (!cute.layout<"4:1">, !cute.shape<"(8,8)">, !cute.int_tuple<"0">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4:1">, %b: !cute.shape<"(8,8)">, %c: !cute.int_tuple<"(0,2)">) {
  // expected-error @+1 {{'cute.tile_to_shape' op failed to infer returned types: expects $order to be a permutation of [0, 2), but got out-of-range index 2 at mode 1}}
  %r = cute.tile_to_shape(%a, %b, %c) : (!cute.layout<"4:1">, !cute.shape<"(8,8)">, !cute.int_tuple<"(0,2)">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4:1">, %b: !cute.shape<"(8,8)">, %c: !cute.int_tuple<"(1,1)">) {
  // expected-error @+1 {{'cute.tile_to_shape' op failed to infer returned types: expects $order to be a permutation of [0, 2), but index 1 appears more than once}}
  %r = cute.tile_to_shape(%a, %b, %c) : (!cute.layout<"4:1">, !cute.shape<"(8,8)">, !cute.int_tuple<"(1,1)">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4:1">, %b: !cute.shape<"(8,8)">, %c: !cute.int_tuple<"(0,(1,2))">) {
  // expected-error @+1 {{'cute.tile_to_shape' op failed to infer returned types: expects $order to be a permutation of [0, 2), but mode 1 is not a static integer}}
  %r = cute.tile_to_shape(%a, %b, %c) : (!cute.layout<"4:1">, !cute.shape<"(8,8)">, !cute.int_tuple<"(0,(1,2))">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(4,4):(1,4)">, %b: !cute.shape<"8">) {
  // expected-error @+1 {{'cute.tile_to_shape' op failed to infer returned types: expects block layout rank <= target shape rank, but got rank 2 block and rank 1 target shape}}
  %r = cute.tile_to_shape(%a, %b) : (!cute.layout<"(4,4):(1,4)">, !cute.shape<"8">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"?:?">, %b: !cute.shape<"8">) {
  // expected-error @+1 {{'cute.tile_to_shape' op inferred type(s) '!cute.layout<"((?,((?,?)))):((?,((1,?))))">' are incompatible with return type(s) of operation '!cute.layout<"4:1">' ('cute.tile_to_shape' op failed to infer returned types)}}
  %r = cute.tile_to_shape(%a, %b) : (!cute.layout<"?:?">, !cute.shape<"8">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"2:3">, %b: !cute.shape<"x">) {
  // expected-error @+1 {{'cute.tile_to_shape' op failed to infer returned types: expects valid operands, but cannot compute tile_to_shape for '!cute.layout<"2:3">' and '!cute.shape<"x">' (expected numbers to multiply, got 1 and x)}}
  %r = "cute.tile_to_shape"(%a, %b) : (!cute.layout<"2:3">, !cute.shape<"x">) -> !cute.layout<"1:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"2:8">, %b: !cute.tile<"[_]">) {
  // expected-error @+1 {{'cute.tiled_divide' op failed to infer returned types: expects valid operands, but cannot compute divide for '!cute.layout<"2:8">' and '!cute.tile<"[_]">' (expected every mode to be tiled)}}
  %r = "cute.tiled_divide"(%a, %b) : (!cute.layout<"2:8">, !cute.tile<"[_]">) -> !cute.layout<"1:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"3:2">, %b: !cute.layout<"4:?">) {
  // expected-error @+1 {{'cute.raked_product' op failed to infer returned types: expects valid operands, but cannot compute product for '!cute.layout<"3:2">' and '!cute.layout<"4:?">' (expected modes of one rank)}}
  %r = "cute.raked_product"(%a, %b) : (!cute.layout<"3:2">, !cute.layout<"4:?">) -> !cute.layout<"1:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"8:4">, %b: !cute.layout<"6:6">) {
  // expected-error @+1 {{'cute.raked_product' op failed to infer returned types: expects valid operands, but cannot compute product for '!cute.layout<"8:4">' and '!cute.layout<"6:6">' (expected a step that 4 divides, got 6)}}
  %r = "cute.raked_product"(%a, %b) : (!cute.layout<"8:4">, !cute.layout<"6:6">) -> !cute.layout<"1:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"2:2">, %b: !cute.layout<"4:2@1">) {
  // expected-error @+1 {{'cute.flat_divide' op failed to infer returned types: expects valid operands, but cannot compute divide for '!cute.layout<"2:2">' and '!cute.layout<"4:2@1">' (expected images within 2:2, got (4,(2,2)):(2@1,(1@0,1@1)))}}
  %r = "cute.flat_divide"(%a, %b) : (!cute.layout<"2:2">, !cute.layout<"4:2@1">) -> !cute.layout<"1:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"?:2">, %b: !cute.shape<"((2,2))">) {
  // expected-error @+1 {{'cute.tiled_divide' op failed to infer returned types: expects valid operands, but cannot compute divide for '!cute.layout<"?:2">' and '!cute.shape<"((2,2))">' (expected at most 1 tilers, got 2)}}
  %r = "cute.tiled_divide"(%a, %b) : (!cute.layout<"?:2">, !cute.shape<"((2,2))">) -> !cute.layout<"1:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"3:?">, %b: !cute.shape<"(1,1,?)">) {
  // expected-error @+1 {{'cute.tile_to_shape' op failed to infer returned types: expects valid operands, but cannot compute tile_to_shape for '!cute.layout<"3:?">' and '!cute.shape<"(1,1,?)">' (complement: expected known strides, got (3,1,1):(?,0,0))}}
  %r = "cute.tile_to_shape"(%a, %b) : (!cute.layout<"3:?">, !cute.shape<"(1,1,?)">) -> !cute.layout<"1:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"?:4">, %b: !cute.layout<"?:2@1@0">) {
  // expected-error @+1 {{'cute.flat_divide' op failed to infer returned types: expects valid operands, but cannot compute divide for '!cute.layout<"?:4">' and '!cute.layout<"?:2@1@0">' (expected at most 1 modes, got (0,0))}}
  %r = "cute.flat_divide"(%a, %b) : (!cute.layout<"?:4">, !cute.layout<"?:2@1@0">) -> !cute.layout<"1:1">
  func.return
}
