// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!g = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
!s = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,4):(64,1,8192)">
!r = !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">
!c = !cute.coord_tensor<"(0,?{div=8})", "(128,32):(1@0,1@1)">

// A slice moves the first element: of a plain layout the pointer, of a swizzled one the offset.
// CHECK-LABEL: func.func @slice
func.func @slice(%g: !g, %s: !s, %c: !c, %i: !cute.coord<"(?,_)">, %p: !cute.coord<"(_,_,?)">, %k: !cute.coord<"(8,_)">) {
  // CHECK-NEXT: %a = cute.slice(%g, %i) : !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">, !cute.coord<"(?,_)">
  %a = cute.slice(%g, %i)
  // CHECK-NEXT: %b = cute.slice(%s, %p) : !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,4):(64,1,8192)">, !cute.coord<"(_,_,?)">
  %b = cute.slice(%s, %p)
  // CHECK-NEXT: %d = cute.slice(%c, %i) : !cute.coord_tensor<"(0,?{div=8})", "(128,32):(1@0,1@1)">, !cute.coord<"(?,_)">
  %d = cute.slice(%c, %i)
  // CHECK-NEXT: %e = cute.slice(%s, %p) : !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,4):(64,1,8192)">, !cute.coord<"(_,_,?)">
  %e = cute.slice(%s, %p) : !s, !cute.coord<"(_,_,?)">
  func.return
}

// What an op does to a layout it does to a tensor's.
// CHECK-LABEL: func.func @layouts
func.func @layouts(%g: !g, %s: !s, %r: !r, %c: !c, %tile: !cute.tile<"[32:1;16:1]">, %shape: !cute.shape<"(64,32)">) {
  // CHECK-NEXT: %a = cute.group_modes<0, 2> (%s) : (!cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,4):(64,1,8192)">) -> !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o ((128,64),4):((64,1),8192)">
  %a = cute.group_modes<0, 2> (%s)
  // CHECK-NEXT: %b = cute.select<[1, 0]> (%g) : !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)"> -> !cute.memref<f16, gmem, align<16>, "(?,?):(1,?{i64 div=8})">
  %b = cute.select<[1, 0]> (%g)
  // CHECK-NEXT: %d = cute.coalesce(%r) : (!cute.memref<f32, rmem, "((2,2),4):((1,2),4)">) -> !cute.memref<f32, rmem, "16:1">
  %d = cute.coalesce(%r)
  // CHECK-NEXT: %e0 = cute.static : !cute.layout<"8:2">
  %e0 = cute.static : !cute.layout<"8:2">
  // CHECK-NEXT: %e = cute.composition(%r, %e0) : (!cute.memref<f32, rmem, "((2,2),4):((1,2),4)">, !cute.layout<"8:2">) -> !cute.memref<f32, rmem, "8:2">
  %e = cute.composition(%r, %e0) : (!r, !cute.layout<"8:2">) -> !cute.memref<f32, rmem, "8:2">
  // CHECK-NEXT: %f = cute.logical_divide(%s, %tile) : (!cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,4):(64,1,8192)">, !cute.tile<"[32:1;16:1]">) -> !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o ((32,4),(16,4),4):((64,2048),(1,16),8192)">
  %f = cute.logical_divide(%s, %tile)
  // CHECK-NEXT: %h = cute.zipped_divide(%g, %tile) : (!cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">, !cute.tile<"[32:1;16:1]">) -> !cute.memref<f16, gmem, align<16>, "((32,16),(?,?)):((?{i64 div=8},1),(?{i64 div=256},16))">
  %h = cute.zipped_divide(%g, %tile)
  // CHECK-NEXT: %i = cute.tiled_divide(%g, %shape) : (!cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">, !cute.shape<"(64,32)">) -> !cute.memref<f16, gmem, align<16>, "((64,32),?,?):((?{i64 div=8},1),?{i64 div=512},32)">
  %i = cute.tiled_divide(%g, %shape)
  // CHECK-NEXT: %j = cute.flat_divide(%c, %tile) : (!cute.coord_tensor<"(0,?{div=8})", "(128,32):(1@0,1@1)">, !cute.tile<"[32:1;16:1]">) -> !cute.coord_tensor<"(0,?{div=8})", "(32,16,4,2):(1@0,1@1,32@0,16@1)">
  %j = cute.flat_divide(%c, %tile)
  // CHECK-NEXT: %k = cute.get<[0]> (%r) : !cute.memref<f32, rmem, "((2,2),4):((1,2),4)"> -> !cute.memref<f32, rmem, "(2,2):(1,2)">
  %k = cute.get<[0]> (%r)
  func.return
}

// CHECK-LABEL: func.func @properties
func.func @properties(%g: !g, %s: !s, %c: !c) {
  // CHECK-NEXT: %a = cute.get_shape(%g) : !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)"> -> !cute.shape<"(?,?)">
  %a = cute.get_shape(%g)
  // CHECK-NEXT: %b = cute.size<[2]> (%s) : (!cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,4):(64,1,8192)">) -> !cute.int_tuple<"4">
  %b = cute.size<[2]> (%s)
  // CHECK-NEXT: %d = cute.get_layout(%s) : (!cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,4):(64,1,8192)">) -> !cute.composed_layout<"S<3,3,3> o 0 o (128,64,4):(64,1,8192)">
  %d = cute.get_layout(%s)
  // CHECK-NEXT: %e = cute.get_layout(%c) : (!cute.coord_tensor<"(0,?{div=8})", "(128,32):(1@0,1@1)">) -> !cute.layout<"(128,32):(1@0,1@1)">
  %e = cute.get_layout(%c)
  func.return
}

// CHECK-LABEL: func.func @views
func.func @views(%g: !g, %line: !cute.layout<"256:1">, %shape: !cute.shape<"(?,8,?{i64})">) {
  // CHECK-NEXT: %a = cute.make_view(%g, %line) : (!cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">, !cute.layout<"256:1">) -> !cute.memref<f16, gmem, align<16>, "256:1">
  %a = cute.make_view(%g, %line)
  // CHECK-NEXT: %b = cute.make_identity_tensor(%shape) : (!cute.shape<"(?,8,?{i64})">) -> !cute.coord_tensor<"(0,0,0)", "(?,8,?{i64}):(1@0,1@1,1@2)">
  %b = cute.make_identity_tensor(%shape)
  func.return
}

// The tile's modes, then the coordinate's underscores; `proj` leaves modes of the tile out.
// CHECK-LABEL: func.func @local_tile
func.func @local_tile(%g: !g, %c: !c, %tiler: !cute.shape<"(128,256,64)">, %tile: !cute.tile<"[128:1;64:1]">, %at: !cute.coord<"(?,?,_)">, %m: !cute.coord<"(?,_)">, %i: i32) {
  // CHECK-NEXT: %a = cute.local_tile(%g, %tile, %m) : (!cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">, !cute.tile<"[128:1;64:1]">, !cute.coord<"(?,_)">) -> !cute.memref<f16, gmem, align<16>, "(128,64,?):(?{i64 div=8},1,64)">
  %a = cute.local_tile(%g, %tile, %m)
  // CHECK-NEXT: %b = cute.local_tile<"(1,_,1)"> (%g, %tiler, %at) : (!cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">, !cute.shape<"(128,256,64)">, !cute.coord<"(?,?,_)">) -> !cute.memref<f16, gmem, align<16>, "(128,64,?):(?{i64 div=8},1,64)">
  %b = cute.local_tile<"(1,_,1)"> (%g, %tiler, %at)
  // CHECK-NEXT: %d = cute.local_tile<"(_,1,1)"> (%g, %tiler, %at) : (!cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">, !cute.shape<"(128,256,64)">, !cute.coord<"(?,?,_)">) -> !cute.memref<f16, gmem, align<16>, "(256,64,?):(?{i64 div=8},1,64)">
  %d = cute.local_tile<"(_,1,1)"> (%g, %tiler, %at)
  // CHECK-NEXT: %e = cute.local_tile(%g, %tile, %i) : (!cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">, !cute.tile<"[128:1;64:1]">, i32) -> !cute.memref<f16, gmem, align<16>, "(128,64,?):(?{i64 div=8},1,64)">
  %e = cute.local_tile(%g, %tile, %i)
  func.return
}

// CHECK-LABEL: func.func @local_partition
func.func @local_partition(%g: !g, %s: !s, %threads: !cute.layout<"(16,8):(8,1)">, %t: i32) {
  // CHECK-NEXT: %a = cute.local_partition(%s, %threads, %t) : (!cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,4):(64,1,8192)">, !cute.layout<"(16,8):(8,1)">, i32) -> !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ? o (8,8,4):(1024,8,8192)">
  %a = cute.local_partition(%s, %threads, %t)
  func.return
}

// CHECK-LABEL: func.func @make_fragment_like
func.func @make_fragment_like(%r: !r, %part: !cute.memref<f16, gmem, "((8,1),4,2):((1,0),?{div=256},32)">, %row: !cute.memref<f32, gmem, "((2,2),4):((1,0),0)">) {
  // CHECK-NEXT: %a = cute.make_fragment_like (%part) : (!cute.memref<f16, gmem, "((8,1),4,2):((1,0),?{div=256},32)">) -> !cute.memref<f16, rmem, "((8,1),4,2):((1,0),8,32)">
  %a = cute.make_fragment_like(%part)
  // CHECK-NEXT: %b = cute.make_fragment_like<bf16> (%r) : (!cute.memref<f32, rmem, "((2,2),4):((1,2),4)">) -> !cute.memref<bf16, rmem, "((2,2),4):((1,2),4)">
  %b = cute.make_fragment_like<bf16> (%r)
  // CHECK-NEXT: %c = cute.make_fragment_like (%row) : (!cute.memref<f32, gmem, "((2,2),4):((1,0),0)">) -> !cute.memref<f32, rmem, "((2,2),4):((1,0),0)">
  %c = cute.make_fragment_like(%row)
  func.return
}

// CHECK-LABEL: func.func @allocations
func.func @allocations() {
  // CHECK-NEXT: %a = cute.memref.alloc() : !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,4):(64,1,8192)">
  %a = cute.memref.alloc() : !s
  // CHECK-NEXT: %b = cute.memref.alloca() : !cute.memref<f32, rmem, "((2,2),4):((1,2),4)">
  %b = cute.memref.alloca() : !r
  func.return
}

// The same place in the shared memory of another CTA.
// CHECK-LABEL: func.func @of_another_cta
func.func @of_another_cta(%s: !s, %rank: i32) {
  // CHECK-NEXT: %a = cute.map_shared(%s, %rank) : (!cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,4):(64,1,8192)">, i32) -> !cute.memref<bf16, dsmem, align<1024>, "S<3,3,3> o 0 o (128,64,4):(64,1,8192)">
  %a = cute.map_shared(%s, %rank)
  func.return
}
