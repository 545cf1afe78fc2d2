// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @logical_product
func.func @logical_product(%a0: !cute.layout<"(3,4):(4,1)">, %b0: !cute.layout<"(2,?):(1,2)">) {
  // CHECK-NEXT: %r0 = cute.logical_product(%a0, %b0) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,?):(1,2)">) -> !cute.layout<"((3,4),(2,?)):((4,1),(12,24))">
  %r0 = cute.logical_product(%a0, %b0) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,?):(1,2)">) -> !cute.layout<"((3,4),(2,?)):((4,1),(12,24))">
  func.return
}

// CHECK-LABEL: func.func @zipped_product
func.func @zipped_product(%a0: !cute.layout<"(3,4):(4,1)">, %b0: !cute.layout<"(2,5):(1,2)">) {
  // CHECK-NEXT: %r0 = cute.zipped_product(%a0, %b0) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">) -> !cute.layout<"((3,4),(2,5)):((4,1),(12,24))">
  %r0 = cute.zipped_product(%a0, %b0) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">) -> !cute.layout<"((3,4),(2,5)):((4,1),(12,24))">
  func.return
}

// CHECK-LABEL: func.func @tiled_product
func.func @tiled_product(%a0: !cute.layout<"(3,4):(4,1)">, %b0: !cute.layout<"(2,5):(1,2)">) {
  // CHECK-NEXT: %r0 = cute.tiled_product(%a0, %b0) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">) -> !cute.layout<"((3,4),2,5):((4,1),12,24)">
  %r0 = cute.tiled_product(%a0, %b0) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">) -> !cute.layout<"((3,4),2,5):((4,1),12,24)">
  func.return
}

// CHECK-LABEL: func.func @flat_product
func.func @flat_product(%a0: !cute.layout<"(3,4):(4,1)">, %b0: !cute.layout<"(2,5):(1,2)">) {
  // CHECK-NEXT: %r0 = cute.flat_product(%a0, %b0) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">) -> !cute.layout<"(3,4,2,5):(4,1,12,24)">
  %r0 = cute.flat_product(%a0, %b0) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">) -> !cute.layout<"(3,4,2,5):(4,1,12,24)">
  func.return
}

// CHECK-LABEL: func.func @blocked_product
func.func @blocked_product(%a0: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, %b0: !cute.layout<"(2,5):(1,2)">) {
  // CHECK-NEXT: %r0 = cute.blocked_product(%a0, %b0) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.layout<"(2,5):(1,2)">) -> !cute.composed_layout<"S<3,4,3> o 0 o ((8,2),(64,5)):((64,512),(1,1024))">
  %r0 = cute.blocked_product(%a0, %b0) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.layout<"(2,5):(1,2)">) -> !cute.composed_layout<"S<3,4,3> o 0 o ((8,2),(64,5)):((64,512),(1,1024))">
  func.return
}

// CHECK-LABEL: func.func @raked_product
func.func @raked_product(%a0: !cute.layout<"(3,4):(4,1)">, %b0: !cute.layout<"(2,5):(1,2)">) {
  // CHECK-NEXT: %r0 = cute.raked_product(%a0, %b0) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">) -> !cute.layout<"((2,3),(5,4)):((12,4),(24,1))">
  %r0 = cute.raked_product(%a0, %b0) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">) -> !cute.layout<"((2,3),(5,4)):((12,4),(24,1))">
  func.return
}

// CHECK-LABEL: func.func @logical_divide
func.func @logical_divide(%a0: !cute.layout<"(?,8):(8,1)">, %b0: !cute.tile<"[3:1;_]">) {
  // CHECK-NEXT: %r0 = cute.logical_divide(%a0, %b0) : (!cute.layout<"(?,8):(8,1)">, !cute.tile<"[3:1;_]">) -> !cute.layout<"((3,?),8):((8,24),1)">
  %r0 = cute.logical_divide(%a0, %b0) : (!cute.layout<"(?,8):(8,1)">, !cute.tile<"[3:1;_]">) -> !cute.layout<"((3,?),8):((8,24),1)">
  func.return
}

// CHECK-LABEL: func.func @zipped_divide
func.func @zipped_divide(%a0: !cute.layout<"(6,?):(8,1)">, %b0: !cute.shape<"(3,4)">) {
  // CHECK-NEXT: %r0 = cute.zipped_divide(%a0, %b0) : (!cute.layout<"(6,?):(8,1)">, !cute.shape<"(3,4)">) -> !cute.layout<"((3,4),(2,?)):((8,1),(24,4))">
  %r0 = cute.zipped_divide(%a0, %b0) : (!cute.layout<"(6,?):(8,1)">, !cute.shape<"(3,4)">) -> !cute.layout<"((3,4),(2,?)):((8,1),(24,4))">
  func.return
}

// CHECK-LABEL: func.func @tiled_divide
func.func @tiled_divide(%a0: !cute.layout<"(6,8):(8,1)">, %b0: !cute.shape<"(3,4)">) {
  // CHECK-NEXT: %r0 = cute.tiled_divide(%a0, %b0) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">) -> !cute.layout<"((3,4),2,2):((8,1),24,4)">
  %r0 = cute.tiled_divide(%a0, %b0) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">) -> !cute.layout<"((3,4),2,2):((8,1),24,4)">
  func.return
}

// CHECK-LABEL: func.func @flat_divide
func.func @flat_divide(%a0: !cute.layout<"(6,8):(8,1)">, %b0: !cute.layout<"3:2">) {
  // CHECK-NEXT: %r0 = cute.flat_divide(%a0, %b0) : (!cute.layout<"(6,8):(8,1)">, !cute.layout<"3:2">) -> !cute.layout<"(3,2,8):(16,8,1)">
  %r0 = cute.flat_divide(%a0, %b0) : (!cute.layout<"(6,8):(8,1)">, !cute.layout<"3:2">) -> !cute.layout<"(3,2,8):(16,8,1)">
  func.return
}

// CHECK-LABEL: func.func @tile_to_shape
func.func @tile_to_shape(%a0: !cute.layout<"(3,2):(1,3)">, %b0: !cute.shape<"(6,?)">, %a1: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, %b1: !cute.shape<"(16,128)">, %c1: !cute.int_tuple<"(1,0)">) {
  // CHECK-NEXT: %r0 = cute.tile_to_shape(%a0, %b0) : (!cute.layout<"(3,2):(1,3)">, !cute.shape<"(6,?)">) -> !cute.layout<"((3,2),(2,?)):((1,6),(3,12))">
  %r0 = cute.tile_to_shape(%a0, %b0) : (!cute.layout<"(3,2):(1,3)">, !cute.shape<"(6,?)">) -> !cute.layout<"((3,2),(2,?)):((1,6),(3,12))">
  // CHECK-NEXT: %r1 = cute.tile_to_shape(%a1, %b1, %c1) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.shape<"(16,128)">, !cute.int_tuple<"(1,0)">) -> !cute.composed_layout<"S<3,4,3> o 0 o ((8,2),(64,2)):((64,1024),(1,512))">
  %r1 = cute.tile_to_shape(%a1, %b1, %c1) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.shape<"(16,128)">, !cute.int_tuple<"(1,0)">) -> !cute.composed_layout<"S<3,4,3> o 0 o ((8,2),(64,2)):((64,1024),(1,512))">
  func.return
}
