// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK: func.func @types(%i: !cute.int_tuple<"(?{i64},(1,?))">, %c: !cute.coord<"(_,(0,?))">, %s: !cute.shape<"(?,8)">, %d: !cute.stride<"(?@1@0,0)">, %l: !cute.layout<"(?,8):(8,1)">, %t: !cute.tile<"[4:1;_;[?:1;_]]">, %w: !cute.swizzle<"S<3,4,-3>">, %o: !cute.composed_layout<"S<3,4,3> o ? o (8,?):(1,8)">)
func.func @types(%i: !cute.int_tuple<" ( ?{ i64 } , (1,?))">, %c: !cute.coord<"(_,(0,?))">, %s: !cute.shape<"(?,8)">, %d: !cute.stride<"(?@1@0,0)">, %l: !cute.layout<"(?,8):(8,1)">, %t: !cute.tile<"[4:1;_;[?:1;_]]">, %w: !cute.swizzle<"S<3,4,-3>">, %o: !cute.composed_layout<"S<3,4,3>  o  ?  o (8,?):(1,8)">) {
  func.return
}

// CHECK: func.func @attributes() attributes {a = #cute.shape<"(4,?)">, b = #cute.tile<"[4:1;_]">, c = #cute.swizzle<"S<0,0,0>">}
func.func @attributes() attributes {a = #cute.shape<"(4,?)">, b = #cute.tile<"[4:1;_]">, c = #cute.swizzle<"S<0,0,0>">} {
  func.return
}

// CHECK-LABEL: func.func @leaves
func.func @leaves(%n: i32, %m: i64, %k: !cute.int_tuple<"?">, %two: !cute.int_tuple<"2">) {
  // CHECK-NEXT: %i = cute.make_int_tuple(%n, %m) : (i32, i64) -> !cute.int_tuple<"(?,?{i64})">
  %i = cute.make_int_tuple(%n, %m) : (i32, i64) -> !cute.int_tuple<"(?,?{i64})">
  // CHECK-NEXT: %s = cute.make_shape(%k, %two) : (!cute.int_tuple<"?">, !cute.int_tuple<"2">) -> !cute.shape<"(?,4,?)">
  %s = cute.make_shape(%k, %two) : (!cute.int_tuple<"?">, !cute.int_tuple<"2">) -> !cute.shape<"(?,4,?)">
  // CHECK-NEXT: %d = cute.make_stride(%n) : (i32) -> !cute.stride<"(1,4,?)">
  %d = cute.make_stride(%n) : (i32) -> !cute.stride<"(1,4,?)">
  // CHECK-NEXT: %c = cute.make_coord(%n) {note = "kept"} : (i32) -> !cute.coord<"(?,_)">
  %c = cute.make_coord(%n) {note = "kept"} : (i32) -> !cute.coord<"(?,_)">
  // CHECK-NEXT: %t = cute.make_tile(%n, %n) : (i32, i32) -> !cute.tile<"[?:1;_;4:?]">
  %t = cute.make_tile(%n, %n) : (i32, i32) -> !cute.tile<"[?:1;_;4:?]">
  // CHECK-NEXT: %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,4,?)">, !cute.stride<"(1,4,?)">) -> !cute.layout<"(?,4,?):(1,4,?)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,4,?)">, !cute.stride<"(1,4,?)">) -> !cute.layout<"(?,4,?):(1,4,?)">
  // CHECK-NEXT: cute.print(%l) : !cute.layout<"(?,4,?):(1,4,?)">
  cute.print(%l) : !cute.layout<"(?,4,?):(1,4,?)">
  func.return
}

// CHECK-LABEL: func.func @layouts
func.func @layouts(%l: !cute.layout<"(?,4):(4,1)">, %o: !cute.composed_layout<"S<3,4,3> o 0 o (8,4,2):(4,1,0)">) {
  // CHECK-NEXT: %w = cute.static : !cute.swizzle<"S<3,4,3>">
  %w = cute.static : !cute.swizzle<"S<3,4,3>">
  // CHECK-NEXT: %z = cute.static : !cute.int_tuple<"0">
  %z = cute.static : !cute.int_tuple<"0">
  // CHECK-NEXT: %c = cute.make_composed_layout(%w, %z, %l) : (!cute.swizzle<"S<3,4,3>">, <"0">, <"(?,4):(4,1)">) -> <"S<3,4,3> o 0 o (?,4):(4,1)">
  %c = cute.make_composed_layout(%w, %z, %l) : (!cute.swizzle<"S<3,4,3>">, !cute.int_tuple<"0">, !cute.layout<"(?,4):(4,1)">) -> !cute.composed_layout<"S<3,4,3> o 0 o (?,4):(4,1)">
  // CHECK-NEXT: %like = cute.make_layout_like(%o) : !cute.composed_layout<"S<3,4,3> o 0 o (8,4,2):(4,1,0)"> -> !cute.layout<"(8,4,2):(4,1,0)">
  %like = cute.make_layout_like(%o) : !cute.composed_layout<"S<3,4,3> o 0 o (8,4,2):(4,1,0)"> -> !cute.layout<"(8,4,2):(4,1,0)">
  %s = cute.static : !cute.shape<"(3,(4,5))">
  %order = cute.static : !cute.int_tuple<"(1,0)">
  // CHECK: %ordered = cute.make_ordered_layout(%s, %order) : (!cute.shape<"(3,(4,5))">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"(3,(4,5)):(20,(1,4))">
  %ordered = cute.make_ordered_layout(%s, %order) : (!cute.shape<"(3,(4,5))">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"(3,(4,5)):(20,(1,4))">
  // CHECK-NEXT: %identity = cute.make_identity_layout(%s) : !cute.shape<"(3,(4,5))"> -> !cute.layout<"(3,(4,5)):(1@0,(1@0@1,1@1@1))">
  %identity = cute.make_identity_layout(%s) : !cute.shape<"(3,(4,5))"> -> !cute.layout<"(3,(4,5)):(1@0,(1@0@1,1@1@1))">
  func.return
}
