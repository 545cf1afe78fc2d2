// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!t = !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">
!rows = !cute.memref<f32, rmem, "((2,2),4):((0,1),2)">
!s = !cute.memref<f32, smem, "(16,16):(16,1)">

// CHECK-LABEL: func.func @elements
func.func @elements(%t: !t, %s: !s, %at: !cute.coord<"((1,?),2)">, %i: i32, %x: f32) {
  // CHECK-NEXT: %v = cute.memref.load_vec(%t) : (!cute.memref<f32, rmem, "((2,2),4):((1,2),4)">) -> vector<16xf32>
  %v = cute.memref.load_vec(%t)
  // CHECK-NEXT: cute.memref.store_vec(%v, %t) : vector<16xf32>, !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">
  cute.memref.store_vec(%v, %t)
  // CHECK-NEXT: %y = cute.memref.load(%t, %at) : (!cute.memref<f32, rmem, "((2,2),4):((1,2),4)">, !cute.coord<"((1,?),2)">) -> f32
  %y = cute.memref.load(%t, %at)
  // CHECK-NEXT: %z = cute.memref.load(%s, %i) : (!cute.memref<f32, smem, "(16,16):(16,1)">, i32) -> f32
  %z = cute.memref.load(%s, %i)
  // CHECK-NEXT: cute.memref.store(%y, %t, %at) : f32, !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">, !cute.coord<"((1,?),2)">
  cute.memref.store(%y, %t, %at)
  // CHECK-NEXT: cute.fill(%t, %x) : !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">, f32
  cute.fill(%t, %x)
  // CHECK-NEXT: cute.fill(%t, %x) : !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">, f32
  cute.fill(%t, %x) : !t, f32
  func.return
}

// CHECK-LABEL: func.func @reduce
func.func @reduce(%t: !t, %rows: !rows) {
  // CHECK-NEXT: cute.reduce<max, [1, 2]> (%t, %rows) : !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">, !cute.memref<f32, rmem, "((2,2),4):((0,1),2)">
  cute.reduce<max, [1, 2]> (%t, %rows)
  // CHECK-NEXT: cute.reduce<add, []> (%t, %rows) : !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">, !cute.memref<f32, rmem, "((2,2),4):((0,1),2)">
  cute.reduce<add> (%t, %rows)
  func.return
}

!coords = !cute.coord_tensor<"(0,?)", "((2,2),4):((1@0,8@0),2@1)">

// CHECK-LABEL: func.func @coordinates
func.func @coordinates(%t: !coords, %at: !cute.coord<"((1,?),2)">, %i: i32, %n: !cute.shape<"(64,?)">) {
  // CHECK-NEXT: %k = cute.coords<[1]> (%t) : (!cute.coord_tensor<"(0,?)", "((2,2),4):((1@0,8@0),2@1)">) -> vector<16xi32>
  %k = cute.coords<[1]> (%t)
  // CHECK-NEXT: %x = cute.memref.load(%t, %at) : (!cute.coord_tensor<"(0,?)", "((2,2),4):((1@0,8@0),2@1)">, !cute.coord<"((1,?),2)">) -> !cute.coord<"(?,?)">
  %x = cute.memref.load(%t, %at)
  // CHECK-NEXT: %y = cute.memref.load(%t, %i) : (!cute.coord_tensor<"(0,?)", "((2,2),4):((1@0,8@0),2@1)">, i32) -> !cute.coord<"(?,?)">
  %y = cute.memref.load(%t, %i)
  // CHECK-NEXT: %z = cute.slice(%t, %at) : !cute.coord_tensor<"(0,?)", "((2,2),4):((1@0,8@0),2@1)">, !cute.coord<"((1,?),2)">
  %z = cute.slice(%t, %at)
  // CHECK-NEXT: %e = cute.layout_eval(%at, %t) : (!cute.coord<"((1,?),2)">, !cute.coord_tensor<"(0,?)", "((2,2),4):((1@0,8@0),2@1)">) -> !cute.int_tuple<"(?,?)">
  %e = cute.layout_eval(%at, %t)
  // CHECK-NEXT: %inside = cute.elem_less(%x, %n) : (!cute.coord<"(?,?)">, !cute.shape<"(64,?)">) -> i1
  %inside = cute.elem_less(%x, %n)
  // CHECK-NEXT: %keep = arith.cmpi slt, %k, %k : vector<16xi32>
  %keep = arith.cmpi slt, %k, %k : vector<16xi32>
  // CHECK-NEXT: %s = arith.select %keep, %k, %k : vector<16xi1>, vector<16xi32>
  %s = arith.select %keep, %k, %k : vector<16xi1>, vector<16xi32>
  // CHECK-NEXT: %o = arith.select %inside, %k, %k : vector<16xi32>
  %o = arith.select %inside, %k, %k : vector<16xi32>
  func.return
}
