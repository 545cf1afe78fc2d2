// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: !cute.layout<"(6,2):(1,7)">, %b: !cute.layout<"4:4">) {
  // expected-error @+1 {{'cute.composition' op inferred type(s) '!cute.layout<"(2,2):(4,7)">' are incompatible with return type(s) of operation '!cute.layout<"4:1">' ('cute.composition' op failed to infer returned types)}}
  %r = cute.composition(%a, %b) : (!cute.layout<"(6,2):(1,7)">, !cute.layout<"4:4">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"6:1">, %b: !cute.tile<"[2:1;2:1]">) {
  // expected-error @+1 {{'cute.composition' op failed to infer returned types: expects a valid composition result, but construction failed (expected at most 1 tilers, got 2)}}
  %r = cute.composition(%a, %b) : (!cute.layout<"6:1">, !cute.tile<"[2:1;2:1]">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(3,4):(1,3)">, %b: !cute.layout<"(?,4):(1@0,1@1)">) {
  // expected-error @+1 {{'cute.composition' op failed to infer returned types: expects a valid composition result, but construction failed (expected a known extent along 1@0, got ?)}}
  %r = cute.composition(%a, %b) : (!cute.layout<"(3,4):(1,3)">, !cute.layout<"(?,4):(1@0,1@1)">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(2,4):(1,2)">, %b: !cute.coord<"((1,1),1)">) {
  // expected-error @+1 {{'cute.coalesce' op failed to infer returned types: expects target_profile rank (2) to not exceed the layout rank (1) at mode path [0]}}
  %r = cute.coalesce(%a, %b) : (!cute.layout<"(2,4):(1,2)">, !cute.coord<"((1,1),1)">) -> !cute.layout<"8:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"?:1">) {
  // expected-error @+1 {{'cute.complement' op failed to infer returned types: expects input with static layout, but got '!cute.layout<"?:1">' with dynamic layout}}
  %r = cute.complement(%a) : (!cute.layout<"?:1">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(4,4):(1,2)">) {
  // expected-error @+1 {{'cute.complement' op failed to infer returned types: expects a valid intrinsic complement result, but construction failed for input '!cute.layout<"(4,4):(1,2)">' (complement: expected an injective layout, got (4,4):(1,2))}}
  %r = cute.complement(%a) : (!cute.layout<"(4,4):(1,2)">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4:1@0">, %b: !cute.shape<"8">) {
  // expected-error @+1 {{'cute.complement' op failed to infer returned types: expects input with integer strides, but '!cute.layout<"4:1@0">' has non-integer strides}}
  %r = cute.complement(%a, %b) : (!cute.layout<"4:1@0">, !cute.shape<"8">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(4,2):(1,?)">, %b: !cute.shape<"8">) {
  // expected-error @+1 {{'cute.complement' op failed to infer returned types: expects input with static strides for layouts with more than one mode, but '!cute.layout<"(4,2):(1,?)">' has dynamic strides with rank 2}}
  %r = cute.complement(%a, %b) : (!cute.layout<"(4,2):(1,?)">, !cute.shape<"8">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(4,2):(1,1)">, %b: !cute.shape<"8">) {
  // expected-error @+1 {{'cute.complement' op failed to infer returned types: expects a valid complement result, but construction failed for input '!cute.layout<"(4,2):(1,1)">' with cotarget '!cute.shape<"8">'}}
  %r = cute.complement(%a, %b) : (!cute.layout<"(4,2):(1,1)">, !cute.shape<"8">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"?:1">) {
  // expected-error @+1 {{'cute.right_inverse' op failed to infer returned types: expects a static-shape input layout, but got '!cute.layout<"?:1">'}}
  %r = cute.right_inverse(%a) : (!cute.layout<"?:1">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4:?">) {
  // expected-error @+1 {{'cute.left_inverse' op failed to infer returned types: expects a static-stride input layout for left inverse, but got '!cute.layout<"4:?">'}}
  %r = cute.left_inverse(%a) : (!cute.layout<"4:?">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(4,2):(1,5)">) {
  // expected-error @+1 {{'cute.left_inverse' op inferred type(s) '!cute.layout<"(5,2):(1,4)">' are incompatible with return type(s) of operation '!cute.layout<"4:1">' ('cute.left_inverse' op failed to infer returned types)}}
  %r = cute.left_inverse(%a) : (!cute.layout<"(4,2):(1,5)">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(8,4,2):(13,2,1)">) {
  // expected-error @+1 {{'cute.left_inverse' op failed to infer returned types: unable to compute a left inverse for '!cute.layout<"(8,4,2):(13,2,1)">' (left_inverse: expected an injective layout, got (8,4,2):(13,2,1))}}
  %r = cute.left_inverse(%a) : (!cute.layout<"(8,4,2):(13,2,1)">) -> !cute.layout<"4:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(2,4):(1,2)">) {
  // expected-error @+1 {{'cute.group_modes' op failed to infer returned types: expects 0 <= begin, but got begin=-1}}
  %r = cute.group_modes<-1, 2> (%a) : (!cute.layout<"(2,4):(1,2)">) -> !cute.layout<"8:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(2,4):(1,2)">) {
  // expected-error @+1 {{'cute.group_modes' op failed to infer returned types: expects begin < end, but got begin=1, end=1}}
  %r = cute.group_modes<1, 1> (%a) : (!cute.layout<"(2,4):(1,2)">) -> !cute.layout<"8:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(2,4):(1,2)">) {
  // expected-error @+1 {{'cute.group_modes' op failed to infer returned types: expects end <= rank(input)=2, but got end=3}}
  %r = cute.group_modes<0, 3> (%a) : (!cute.layout<"(2,4):(1,2)">) -> !cute.layout<"8:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4:1">) {
  // expected-error @+1 {{'cute.recast_layout' op failed to infer returned types: expects new_type_bits to be positive, but got 0}}
  %r = cute.recast_layout<0, 8> (%a) : !cute.layout<"4:1"> -> !cute.layout<"8:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"4:1@0">) {
  // expected-error @+1 {{'cute.recast_layout' op failed to infer returned types: expects integer or dynamic strides, but '!cute.layout<"4:1@0">' has scaled-basis strides}}
  %r = cute.recast_layout<8, 16> (%a) : !cute.layout<"4:1@0"> -> !cute.layout<"8:1">
  func.return
}

// -----

func.func @f(%a: !cute.composed_layout<"S<1,4,3> o 1 o 4:1">) {
  // expected-error @+1 {{'cute.recast_layout' op failed to infer returned types: unable to recast '!cute.composed_layout<"S<1,4,3> o 1 o 4:1">' from 8 bits to 16 bits (recast: expected an offset that 2 divides, got 1)}}
  %r = cute.recast_layout<16, 8> (%a) : !cute.composed_layout<"S<1,4,3> o 1 o 4:1"> -> !cute.layout<"8:1">
  func.return
}

// -----

func.func @f(%a: !cute.composed_layout<"S<1,4,3> o ? o 4:1">) {
  // expected-error @+1 {{'cute.recast_layout' op failed to infer returned types: unable to recast '!cute.composed_layout<"S<1,4,3> o ? o 4:1">' from 8 bits to 16 bits (recast: expected a known offset, got ?)}}
  %r = cute.recast_layout<16, 8> (%a) : !cute.composed_layout<"S<1,4,3> o ? o 4:1"> -> !cute.layout<"8:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(2,4):(1,2)">, %b: !cute.coord<"(_,1,2)">) {
  // expected-error @+1 {{'cute.slice' op failed to infer returned types: expects coord to be weakly congruent with input shape, but got '!cute.layout<"(2,4):(1,2)">' and '!cute.coord<"(_,1,2)">'}}
  %r = cute.slice(%a, %b) : !cute.layout<"(2,4):(1,2)">, !cute.coord<"(_,1,2)">
  func.return
}

// -----

func.func @f(%a: !cute.swizzle<"S<3,4,3>">, %b: !cute.coord<"_">) {
  // expected-error @+1 {{'cute.slice' op failed to infer returned types: expects $input to be !cute.shape, !cute.stride, !cute.int_tuple, !cute.coord, !cute.layout, or !cute.composed_layout, but got '!cute.swizzle<"S<3,4,3>">'}}
  %r = cute.slice(%a, %b) : !cute.swizzle<"S<3,4,3>">, !cute.coord<"_">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"4">, %b: !cute.shape<"4">) {
  // expected-error @+1 {{'cute.slice' op operand #1 must be Scalar integer, underscore wildcard, or recursive tuple of coordinates, but got '!cute.shape<"4">'}}
  %r = cute.slice(%a, %b) : !cute.shape<"4">, !cute.shape<"4">
  func.return
}

// -----

func.func @f(%a: !cute.composed_layout<"S<3,4,3> o 0 o (?,4):(4,1)">, %b: !cute.coord<"(_,1)">) {
  // expected-error @+1 {{'cute.slice' op failed to infer returned types: expects swizzle-A composed slice's outer layout to be static, but got '!cute.composed_layout<"S<3,4,3> o 0 o (?,4):(4,1)">'}}
  %r = cute.slice(%a, %b) : !cute.composed_layout<"S<3,4,3> o 0 o (?,4):(4,1)">, !cute.coord<"(_,1)">
  func.return
}

// -----

func.func @f(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,4):(4,1)">, %b: !cute.coord<"(1,1)">) {
  // expected-error @+1 {{'cute.slice' op failed to infer returned types: expects swizzle-A composed slice's coord to contain at least one underscore, but got '!cute.coord<"(1,1)">'}}
  %r = cute.slice(%a, %b) : !cute.composed_layout<"S<3,4,3> o 0 o (8,4):(4,1)">, !cute.coord<"(1,1)">
  func.return
}

// -----

func.func @f(%a: !cute.shape<"(4,8)">, %b: !cute.coord<"(_,?)">) {
  // expected-error @+1 {{'cute.dice' op failed to infer returned types: expects coord to be static, but got '!cute.coord<"(_,?)">'}}
  %r = cute.dice(%a, %b) : !cute.shape<"(4,8)">, !cute.coord<"(_,?)">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(9223372036854775807,16):(16,?)">) {
  // expected-error @+1 {{'cute.right_inverse' op failed to infer returned types: unable to compute a right inverse for '!cute.layout<"(9223372036854775807,16):(16,?)">' (expected 64-bit integers, got 147573952589676412912)}}
  %r = "cute.right_inverse"(%a) : (!cute.layout<"(9223372036854775807,16):(16,?)">) -> !cute.layout<"1:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"((8,3)):((8,?))">, %b: !cute.shape<"?{i8}">) {
  // expected-error @+1 {{'cute.complement' op failed to infer returned types: expects a valid complement result, but construction failed for input '!cute.layout<"((8,3)):((8,?))">' with cotarget '!cute.shape<"?{i8}">' (complement: expected known strides, got ((8,3)):((8,?)))}}
  %r = "cute.complement"(%a, %b) : (!cute.layout<"((8,3)):((8,?))">, !cute.shape<"?{i8}">) -> !cute.layout<"1:1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"((1,(2,9223372036854775807))):((?{i8},(8,16)))">) {
  // expected-error @+1 {{'cute.coalesce' op failed to infer returned types: expects a valid coalesce result, but construction failed (expected 64-bit integers, got 18446744073709551614)}}
  %r = "cute.coalesce"(%a) : (!cute.layout<"((1,(2,9223372036854775807))):((?{i8},(8,16)))">) -> !cute.layout<"1:1">
  func.return
}

// -----

func.func @f(%a: !cute.composed_layout<"2:1 o 1 o (?,?{i64}):(?,?)">, %b: !cute.coord<"(_,x)">) {
  // expected-error @+1 {{'cute.slice' op failed to infer returned types: unable to slice '!cute.composed_layout<"2:1 o 1 o (?,?{i64}):(?,?)">' with '!cute.coord<"(_,x)">' (expected a number, got x)}}
  %r = "cute.slice"(%a, %b) : (!cute.composed_layout<"2:1 o 1 o (?,?{i64}):(?,?)">, !cute.coord<"(_,x)">) -> !cute.shape<"1">
  func.return
}

// -----

func.func @f(%a: !cute.layout<"(?{i64},(3,2),?{i64}):(16,(?{i64},?{i64}),?)">, %b: !cute.tile<"[_;(x):(2)]">) {
  // expected-error @+1 {{'cute.composition' op failed to infer returned types: expects a valid composition result, but construction failed (expected numbers to compose with, got x:2)}}
  %r = "cute.composition"(%a, %b) : (!cute.layout<"(?{i64},(3,2),?{i64}):(16,(?{i64},?{i64}),?)">, !cute.tile<"[_;(x):(2)]">) -> !cute.layout<"1:1">
  func.return
}
