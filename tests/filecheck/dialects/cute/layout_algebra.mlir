// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @composition
func.func @composition(%a0: !cute.layout<"(?,8):(1,4)">, %b0: !cute.layout<"(2,4):(1,2)">, %a1: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, %b1: !cute.tile<"[4:1;_]">, %a2: !cute.layout<"(6,8):(8,1)">, %b2: !cute.shape<"(3,?)">) {
  // CHECK-NEXT: %r0 = cute.composition(%a0, %b0) : (!cute.layout<"(?,8):(1,4)">, !cute.layout<"(2,4):(1,2)">) -> !cute.layout<"((?,?),(?,?)):((1,?),(2,?))">
  %r0 = cute.composition(%a0, %b0) : (!cute.layout<"(?,8):(1,4)">, !cute.layout<"(2,4):(1,2)">) -> !cute.layout<"((?,?),(?,?)):((1,?),(2,?))">
  // CHECK-NEXT: %r1 = cute.composition(%a1, %b1) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.tile<"[4:1;_]">) -> !cute.composed_layout<"S<3,4,3> o 0 o (4,64):(64,1)">
  %r1 = cute.composition(%a1, %b1) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.tile<"[4:1;_]">) -> !cute.composed_layout<"S<3,4,3> o 0 o (4,64):(64,1)">
  // CHECK-NEXT: %r2 = cute.composition(%a2, %b2) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,?)">) -> !cute.layout<"(3,?):(8,1)">
  %r2 = cute.composition(%a2, %b2) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,?)">) -> !cute.layout<"(3,?):(8,1)">
  func.return
}

// CHECK-LABEL: func.func @coalesce
func.func @coalesce(%a0: !cute.layout<"(2,(1,6)):(1,(6,2))">, %a1: !cute.layout<"(?,(2,4)):(8,(1,2))">, %b1: !cute.coord<"(1,1)">) {
  // CHECK-NEXT: %r0 = cute.coalesce(%a0) : (!cute.layout<"(2,(1,6)):(1,(6,2))">) -> !cute.layout<"12:1">
  %r0 = cute.coalesce(%a0) : (!cute.layout<"(2,(1,6)):(1,(6,2))">) -> !cute.layout<"12:1">
  // CHECK-NEXT: %r1 = cute.coalesce(%a1, %b1) : (!cute.layout<"(?,(2,4)):(8,(1,2))">, !cute.coord<"(1,1)">) -> !cute.layout<"(?,8):(8,1)">
  %r1 = cute.coalesce(%a1, %b1) : (!cute.layout<"(?,(2,4)):(8,(1,2))">, !cute.coord<"(1,1)">) -> !cute.layout<"(?,8):(8,1)">
  func.return
}

// CHECK-LABEL: func.func @flatten
func.func @flatten(%a0: !cute.layout<"((2,?),4):((1,2),?)">, %a1: !cute.tile<"[4:1;[_;8:1]]">) {
  // CHECK-NEXT: %r0 = cute.flatten(%a0) : (!cute.layout<"((2,?),4):((1,2),?)">) -> !cute.layout<"(2,?,4):(1,2,?)">
  %r0 = cute.flatten(%a0) : (!cute.layout<"((2,?),4):((1,2),?)">) -> !cute.layout<"(2,?,4):(1,2,?)">
  // CHECK-NEXT: %r1 = cute.flatten(%a1) : (!cute.tile<"[4:1;[_;8:1]]">) -> !cute.tile<"[4:1;_;8:1]">
  %r1 = cute.flatten(%a1) : (!cute.tile<"[4:1;[_;8:1]]">) -> !cute.tile<"[4:1;_;8:1]">
  func.return
}

// CHECK-LABEL: func.func @complement
func.func @complement(%a0: !cute.layout<"4:2">, %b0: !cute.shape<"16">, %a1: !cute.layout<"(2,3):(1@0,1@1)">, %a2: !cute.layout<"4:?">, %b2: !cute.shape<"(?,8)">) {
  // CHECK-NEXT: %r0 = cute.complement(%a0, %b0) : (!cute.layout<"4:2">, !cute.shape<"16">) -> !cute.layout<"(2,2):(1,8)">
  %r0 = cute.complement(%a0, %b0) : (!cute.layout<"4:2">, !cute.shape<"16">) -> !cute.layout<"(2,2):(1,8)">
  // CHECK-NEXT: %r1 = cute.complement(%a1) : (!cute.layout<"(2,3):(1@0,1@1)">) -> !cute.layout<"(1,1):(2@0,3@1)">
  %r1 = cute.complement(%a1) : (!cute.layout<"(2,3):(1@0,1@1)">) -> !cute.layout<"(1,1):(2@0,3@1)">
  // CHECK-NEXT: %r2 = cute.complement(%a2, %b2) : (!cute.layout<"4:?">, !cute.shape<"(?,8)">) -> !cute.layout<"(?,?):(1,?)">
  %r2 = cute.complement(%a2, %b2) : (!cute.layout<"4:?">, !cute.shape<"(?,8)">) -> !cute.layout<"(?,?):(1,?)">
  func.return
}

// CHECK-LABEL: func.func @right_inverse
func.func @right_inverse(%a0: !cute.layout<"(4,8):(8,1)">) {
  // CHECK-NEXT: %r0 = cute.right_inverse(%a0) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
  %r0 = cute.right_inverse(%a0) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
  func.return
}

// CHECK-LABEL: func.func @left_inverse
func.func @left_inverse(%a0: !cute.layout<"(4,8):(1,5)">) {
  // CHECK-NEXT: %r0 = cute.left_inverse(%a0) : (!cute.layout<"(4,8):(1,5)">) -> !cute.layout<"(5,8):(1,4)">
  %r0 = cute.left_inverse(%a0) : (!cute.layout<"(4,8):(1,5)">) -> !cute.layout<"(5,8):(1,4)">
  func.return
}

// CHECK-LABEL: func.func @group_modes
func.func @group_modes(%a0: !cute.layout<"(2,?,4):(1,2,?)">) {
  // CHECK-NEXT: %r0 = cute.group_modes<0, 2> (%a0) : (!cute.layout<"(2,?,4):(1,2,?)">) -> !cute.layout<"((2,?),4):((1,2),?)">
  %r0 = cute.group_modes<0, 2> (%a0) : (!cute.layout<"(2,?,4):(1,2,?)">) -> !cute.layout<"((2,?),4):((1,2),?)">
  func.return
}

// CHECK-LABEL: func.func @recast_layout
func.func @recast_layout(%a0: !cute.layout<"(32,?):(1,32)">, %a1: !cute.composed_layout<"S<2,2,3> o 4 o (8,4):(1,8)">) {
  // CHECK-NEXT: %r0 = cute.recast_layout<32, 8> (%a0) : !cute.layout<"(32,?):(1,32)"> -> !cute.layout<"(8,?):(1,8)">
  %r0 = cute.recast_layout<32, 8> (%a0) : !cute.layout<"(32,?):(1,32)"> -> !cute.layout<"(8,?):(1,8)">
  // CHECK-NEXT: %r1 = cute.recast_layout<8, 32> (%a1) : !cute.composed_layout<"S<2,2,3> o 4 o (8,4):(1,8)"> -> !cute.composed_layout<"S<2,4,3> o 16 o (32,4):(1,32)">
  %r1 = cute.recast_layout<8, 32> (%a1) : !cute.composed_layout<"S<2,2,3> o 4 o (8,4):(1,8)"> -> !cute.composed_layout<"S<2,4,3> o 16 o (32,4):(1,32)">
  func.return
}

// CHECK-LABEL: func.func @slice
func.func @slice(%a0: !cute.layout<"(4,(?,8)):(1,(4,?))">, %b0: !cute.coord<"(_,(?,_))">, %a1: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, %b1: !cute.coord<"(?,_)">, %a2: !cute.composed_layout<"(8,8):(1,8) o 2 o (4,4):(1,4)">, %b2: !cute.coord<"(2,_)">) {
  // CHECK-NEXT: %r0 = cute.slice(%a0, %b0) : !cute.layout<"(4,(?,8)):(1,(4,?))">, !cute.coord<"(_,(?,_))">
  %r0 = cute.slice(%a0, %b0) : !cute.layout<"(4,(?,8)):(1,(4,?))">, !cute.coord<"(_,(?,_))">
  // CHECK-NEXT: cute.print(%r0) : !cute.layout<"(4,8):(1,?)">
  cute.print(%r0) : !cute.layout<"(4,8):(1,?)">
  // CHECK-NEXT: %r1 = cute.slice(%a1, %b1) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.coord<"(?,_)">
  %r1 = cute.slice(%a1, %b1) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.coord<"(?,_)">
  // CHECK-NEXT: cute.print(%r1) : !cute.layout<"((16,2,2)):((1,?,?))">
  cute.print(%r1) : !cute.layout<"((16,2,2)):((1,?,?))">
  // CHECK-NEXT: %r2 = cute.slice(%a2, %b2) : !cute.composed_layout<"(8,8):(1,8) o 2 o (4,4):(1,4)">, !cute.coord<"(2,_)">
  %r2 = cute.slice(%a2, %b2) : !cute.composed_layout<"(8,8):(1,8) o 2 o (4,4):(1,4)">, !cute.coord<"(2,_)">
  // CHECK-NEXT: cute.print(%r2) : !cute.composed_layout<"(8,8):(1,8) o 4 o (4):(4)">
  cute.print(%r2) : !cute.composed_layout<"(8,8):(1,8) o 4 o (4):(4)">
  func.return
}

// CHECK-LABEL: func.func @dice
func.func @dice(%a0: !cute.shape<"(4,(?,8))">, %b0: !cute.coord<"(_,(1,_))">) {
  // CHECK-NEXT: %r0 = cute.dice(%a0, %b0) : !cute.shape<"(4,(?,8))">, !cute.coord<"(_,(1,_))">
  %r0 = cute.dice(%a0, %b0) : !cute.shape<"(4,(?,8))">, !cute.coord<"(_,(1,_))">
  // CHECK-NEXT: cute.print(%r0) : !cute.shape<"(?)">
  cute.print(%r0) : !cute.shape<"(?)">
  func.return
}
