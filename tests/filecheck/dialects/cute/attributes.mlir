// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK:      func.func @memrefs
// CHECK-SAME:   %plain: memref<4x8xf32, !cute.layout<"(4,8):(1,4)">>
// CHECK-SAME:   %nested: memref<8x4xf32, !cute.layout<"((2,4),4):((1,8),2)">, #cute<space gmem>>
// CHECK-SAME:   %swizzled: memref<64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,32):(32,1)">, #cute<space smem>>
// CHECK-SAME:   %registers: memref<4xf32, #cute<space rmem>>
// CHECK-SAME:   %tensor: memref<4xf32, #cute<space tmem>>
// CHECK-SAME:   %generic: memref<4xf32, #cute<space generic>>
func.func @memrefs(%plain: memref<4x8xf32, !cute.layout<"(4,8):(1,4)">>,
                   %nested: memref<8x4xf32, !cute.layout<" ( (2, 4), 4 ) : ((1,8),2)">, #cute<space gmem>>,
                   %swizzled: memref<64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,32):(32,1)">, #cute<space smem>>,
                   %registers: memref<4xf32, #cute<space rmem>>,
                   %tensor: memref<4xf32, #cute<space tmem>>,
                   %generic: memref<4xf32, #cute<space generic>>) {
  func.return
}

// CHECK:      func.func @types(%layout: !cute.layout<"(4,8):(1,4)">, %basis: !cute.layout<"(4,8):(1@0,1@1)">)
func.func @types(%layout: !cute.layout<"(4,8):(1,4)">, %basis: !cute.layout<"(4,8):(1@0,1@1)">) {
  func.return
}
