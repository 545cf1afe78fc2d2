// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{memref expected a power of two as alignment, got 12}}
func.func @f(%a: !cute.memref<f16, gmem, align<12>, "4:1">) {
  func.return
}

// -----

// expected-error @+1 {{expected gmem, smem, dsmem, rmem, tmem, got host}}
func.func @f(%a: !cute.memref<f16, host, "4:1">) {
  func.return
}

// -----

// expected-error @+1 {{expected an element type with a width, got index}}
func.func @f(%a: !cute.memref<index, gmem, "4:1">) {
  func.return
}

// -----

// expected-error @+1 {{memref expected integer strides, got (4,2):(1@0,1@1)}}
func.func @f(%a: !cute.memref<f16, gmem, "(4,2):(1@0,1@1)">) {
  func.return
}

// -----

// expected-error @+1 {{memref expects no error(`x`) in layout, but got "x:x" (no layout is written (4,2):1)}}
func.func @f(%a: !cute.memref<f16, gmem, "(4,2):1">) {
  func.return
}

// -----

// expected-error @+1 {{failed to parse layout from "(4,2": expected ',' or ')', got the end at position 4 of '(4,2'}}
func.func @f(%a: !cute.memref<f16, gmem, "(4,2">) {
  func.return
}

// -----

// expected-error @+1 {{memref expected a static layout in rmem, got (4,?):(1,4)}}
func.func @f(%a: !cute.memref<f32, rmem, "(4,?):(1,4)">) {
  func.return
}

// -----

// expected-error @+1 {{memref expected a layout, or one through a swizzle, got (4,2):(1,4) o 0 o (4,2):(1,4)}}
func.func @f(%a: !cute.memref<f16, smem, "(4,2):(1,4) o 0 o (4,2):(1,4)">) {
  func.return
}

// -----

// expected-error @+1 {{coord_tensor expected strides that are bases, such as 1@0, got (4,2):(1,4)}}
func.func @f(%a: !cute.coord_tensor<"(0,0)", "(4,2):(1,4)">) {
  func.return
}

// -----

// expected-error @+1 {{coord_tensor expected a start of the layout's images, got (1,2) (expected congruent tuples, got 1 and (0))}}
func.func @f(%a: !cute.coord_tensor<"0", "(4,(2,2)):(1@0,(1@0@1,1@1@1))">, %b: !cute.coord_tensor<"(1,2)", "4:1@0@0">) {
  func.return
}

// -----

// expected-error @+1 {{failed to parse layout from "?{div=0}:1": expected a divisor of 1 to 31 bits, got '?{div=0}' at position 0 of '?{div=0}:1'}}
func.func @f(%a: !cute.layout<"?{div=0}:1">) {
  func.return
}

// -----

func.func @f(%a: !cute.memref<f16, gmem, "(4,8):(8,1)">, %c: !cute.coord<"(1,2)">) {
  // expected-error @+1 {{'cute.slice' op failed to infer returned types: expected coord with an underscore, weakly congruent with the tensor's shape, got '!cute.memref<f16, gmem, "(4,8):(8,1)">' and '!cute.coord<"(1,2)">'}}
  %r = cute.slice(%a, %c)
  func.return
}

// -----

func.func @f(%a: !cute.memref<f16, gmem, "(4,8):(8,1)">, %c: !cute.coord<"(1,_,_)">) {
  // expected-error @+1 {{'cute.slice' op failed to infer returned types: expected coord with an underscore, weakly congruent with the tensor's shape, got '!cute.memref<f16, gmem, "(4,8):(8,1)">' and '!cute.coord<"(1,_,_)">'}}
  %r = cute.slice(%a, %c)
  func.return
}

// -----

func.func @f(%a: !cute.memref<f16, gmem, "(4,8):(8,1)">, %t: !cute.tile<"[2:1;4:1;8:1]">, %c: !cute.coord<"(1,_)">) {
  // expected-error @+1 {{'cute.local_tile' op failed to infer returned types: expected a tile and a coord of the tensor's modes, got '!cute.memref<f16, gmem, "(4,8):(8,1)">', '!cute.tile<"[2:1;4:1;8:1]">' and '!cute.coord<"(1,_)">'}}
  %r = cute.local_tile(%a, %t, %c)
  func.return
}

// -----

func.func @f(%a: !cute.memref<f16, smem, "(4,8):(8,1)">, %t: !cute.tile<"[2:1;3:1]">, %c: !cute.coord<"(1,_)">) {
  // expected-error @+1 {{'cute.local_tile' op failed to infer returned types: expected tiles that divide '!cute.memref<f16, smem, "(4,8):(8,1)">', got '!cute.tile<"[2:1;3:1]">'}}
  %r = cute.local_tile(%a, %t, %c)
  func.return
}

// -----

func.func @f(%a: !cute.memref<f16, gmem, "(4,8):(8,1)">, %t: !cute.tile<"[2:1;4:1]">, %c: !cute.coord<"(1,_)">) {
  // expected-error @+1 {{'cute.local_tile' op failed to infer returned types: expected tiler and coord with the 3 modes of proj, got '!cute.tile<"[2:1;4:1]">' and '!cute.coord<"(1,_)">'}}
  %r = cute.local_tile<"(1,_,1)"> (%a, %t, %c)
  func.return
}

// -----

func.func @f(%a: !cute.memref<f16, gmem, "(4,8):(8,1)">, %t: !cute.tile<"[2:1;4:1]">, %c: !cute.coord<"(1,_)">) {
  // expected-error @+1 {{'cute.local_tile' op failed to infer returned types: expected a tuple of 1 and _ as proj, got x}}
  %r = cute.local_tile<"x"> (%a, %t, %c)
  func.return
}

// -----

func.func @f(%a: !cute.memref<f16, gmem, "(4,8):(8,1)">, %t: !cute.tile<"[2:1;4:1]">, %c: !cute.coord<"(1,_)">) {
  // expected-error @+1 {{'cute.local_tile' op inferred type(s) '!cute.memref<f16, gmem, "(2,4,2):(8,1,4)">' are incompatible with return type(s) of operation '!cute.memref<f16, gmem, "(2,4,2):(1,2,8)">' ('cute.local_tile' op failed to infer returned types)}}
  %r = cute.local_tile(%a, %t, %c) : (!cute.memref<f16, gmem, "(4,8):(8,1)">, !cute.tile<"[2:1;4:1]">, !cute.coord<"(1,_)">) -> !cute.memref<f16, gmem, "(2,4,2):(1,2,8)">
  func.return
}

// -----

func.func @f(%a: !cute.memref<f16, smem, "(4,8):(8,1)">, %t: !cute.layout<"(3,8):(8,1)">, %i: i32) {
  // expected-error @+1 {{'cute.local_partition' op failed to infer returned types: expected tiles that divide '!cute.memref<f16, smem, "(4,8):(8,1)">', got '!cute.layout<"(3,8):(8,1)">'}}
  %r = cute.local_partition(%a, %t, %i)
  func.return
}

// -----

func.func @f(%a: !cute.memref<f16, gmem, "(4,?):(8,1)">) {
  // expected-error @+1 {{'cute.make_fragment_like' op failed to infer returned types: expected a static shape, got '!cute.memref<f16, gmem, "(4,?):(8,1)">'}}
  %r = cute.make_fragment_like(%a)
  func.return
}

// -----

func.func @f(%a: !cute.coord_tensor<"(0,0)", "(4,8):(1@0,1@1)">) {
  // expected-error @+1 {{'cute.make_fragment_like' op failed to infer returned types: expected an element type beside '!cute.coord_tensor<"(0,0)", "(4,8):(1@0,1@1)">'}}
  %r = cute.make_fragment_like(%a)
  func.return
}

// -----

func.func @f(%a: !cute.coord_tensor<"(0,0)", "(4,8):(1@0,1@1)">, %l: !cute.layout<"4:1">) {
  // expected-error @+1 {{'cute.make_view' op failed to infer returned types: expected a memref, got '!cute.coord_tensor<"(0,0)", "(4,8):(1@0,1@1)">'}}
  %r = cute.make_view(%a, %l)
  func.return
}

// -----

func.func @f(%a: !cute.memref<f16, gmem, "(4,8):(8,1)">) {
  // expected-error @+1 {{'cute.group_modes' op failed to infer returned types: expects end <= rank(input)=2, but got end=3}}
  %r = cute.group_modes<0, 3> (%a)
  func.return
}

// -----

func.func @f(%a: i32) {
  // expected-error @+1 {{'cute.get_layout' op failed to infer returned types: expects CuTe values, but got 'i32'}}
  %r = cute.get_layout(%a)
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute.memref.alloc' expected a tensor in smem or tmem, got !cute.memref<f16, gmem, "(4,8):(8,1)">}}
  %r = cute.memref.alloc() : !cute.memref<f16, gmem, "(4,8):(8,1)">
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute.memref.alloca' expected a tensor in rmem, got !cute.memref<f16, smem, "(4,8):(8,1)">}}
  %r = cute.memref.alloca() : !cute.memref<f16, smem, "(4,8):(8,1)">
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute.memref.alloc' expected a static layout, got !cute.memref<f16, smem, "(4,?):(8,1)">}}
  %r = cute.memref.alloc() : !cute.memref<f16, smem, "(4,?):(8,1)">
  func.return
}

// -----

func.func @f(%a: !cute.memref<f16, gmem, "4:1">, %rank: i32) {
  // expected-error @+1 {{expected a tensor in smem, got}}
  %b = cute.map_shared(%a, %rank)
  func.return
}
