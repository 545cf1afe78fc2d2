// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @parts
func.func @parts(%l: !cute.layout<"(?,8):(8,1)">, %o: !cute.composed_layout<"(4,?):(1,4) o 1 o (2,?):(1,2)">, %t: !cute.tile<"[(2,?):(1,2);4:1]">) {
  // CHECK-NEXT: %s = cute.get_shape(%t) : !cute.tile<"[(2,?):(1,2);4:1]"> -> !cute.shape<"((2,?),4)">
  %s = cute.get_shape(%t) : !cute.tile<"[(2,?):(1,2);4:1]"> -> !cute.shape<"((2,?),4)">
  // CHECK-NEXT: %d = cute.get_stride(%l) : <"(?,8):(8,1)"> -> !cute.stride<"(8,1)">
  %d = cute.get_stride(%l) : <"(?,8):(8,1)"> -> !cute.stride<"(8,1)">
  // CHECK-NEXT: %inner = cute.composed_get_inner(%o) : <"(4,?):(1,4) o 1 o (2,?):(1,2)"> -> !cute.layout<"(4,?):(1,4)">
  %inner = cute.composed_get_inner(%o) : !cute.composed_layout<"(4,?):(1,4) o 1 o (2,?):(1,2)"> -> !cute.layout<"(4,?):(1,4)">
  // CHECK-NEXT: %offset = cute.composed_get_offset(%o) : <"(4,?):(1,4) o 1 o (2,?):(1,2)"> -> !cute.int_tuple<"1">
  %offset = cute.composed_get_offset(%o) : <"(4,?):(1,4) o 1 o (2,?):(1,2)"> -> !cute.int_tuple<"1">
  // CHECK-NEXT: %outer = cute.composed_get_outer(%o) : <"(4,?):(1,4) o 1 o (2,?):(1,2)"> -> <"(2,?):(1,2)">
  %outer = cute.composed_get_outer(%o) : <"(4,?):(1,4) o 1 o (2,?):(1,2)"> -> <"(2,?):(1,2)">
  // CHECK-NEXT: %a, %b, %c = cute.get_leaves(%s) : !cute.shape<"((2,?),4)">
  %a, %b, %c = cute.get_leaves(%s) : !cute.shape<"((2,?),4)">
  // CHECK-NEXT: %l0, %l1 = cute.get_layouts_from_tile(%t) : <"[(2,?):(1,2);4:1]">
  %l0, %l1 = cute.get_layouts_from_tile(%t) : <"[(2,?):(1,2);4:1]">
  // CHECK-NEXT: %n0, %n1, %n2, %n3 = cute.get_scalars (%l) : !cute.layout<"(?,8):(8,1)">
  %n0, %n1, %n2, %n3 = cute.get_scalars(%l) : !cute.layout<"(?,8):(8,1)">
  // CHECK-NEXT: %m = cute.get_scalars<{only_dynamic}> (%l) : !cute.layout<"(?,8):(8,1)">
  %m = cute.get_scalars<{only_dynamic}> (%l) : !cute.layout<"(?,8):(8,1)">
  // CHECK-NEXT: %whole = cute.get (%o) : !cute.composed_layout<"(4,?):(1,4) o 1 o (2,?):(1,2)"> -> !cute.composed_layout<"(4,?):(1,4) o 1 o (2,?):(1,2)">
  %whole = cute.get (%o) : !cute.composed_layout<"(4,?):(1,4) o 1 o (2,?):(1,2)"> -> !cute.composed_layout<"(4,?):(1,4) o 1 o (2,?):(1,2)">
  // CHECK-NEXT: %inside = cute.get<[0, 1]> (%s) : !cute.shape<"((2,?),4)"> -> !cute.shape<"?">
  %inside = cute.get<[0, 1]>(%s) : !cute.shape<"((2,?),4)"> -> !cute.shape<"?">
  // CHECK-NEXT: %turned = cute.select<[1, 0]> (%l) : !cute.layout<"(?,8):(8,1)"> -> !cute.layout<"(8,?):(1,8)">
  %turned = cute.select<[1, 0]> (%l) : !cute.layout<"(?,8):(8,1)"> -> !cute.layout<"(8,?):(1,8)">
  // CHECK-NEXT: %i = cute.to_int_tuple(%d) : !cute.stride<"(8,1)"> -> !cute.int_tuple<"(8,1)">
  %i = cute.to_int_tuple(%d) : !cute.stride<"(8,1)"> -> !cute.int_tuple<"(8,1)">
  // CHECK-NEXT: cute.to_shape(%i) : !cute.int_tuple<"(8,1)"> -> !cute.shape<"(8,1)">
  %x = cute.to_shape(%i) : !cute.int_tuple<"(8,1)"> -> !cute.shape<"(8,1)">
  // CHECK-NEXT: cute.to_stride(%i) : !cute.int_tuple<"(8,1)"> -> !cute.stride<"(8,1)">
  %y = cute.to_stride(%i) : !cute.int_tuple<"(8,1)"> -> !cute.stride<"(8,1)">
  // CHECK-NEXT: cute.to_coord(%i) : !cute.int_tuple<"(8,1)"> -> !cute.coord<"(8,1)">
  %z = cute.to_coord(%i) : !cute.int_tuple<"(8,1)"> -> !cute.coord<"(8,1)">
  func.return
}
