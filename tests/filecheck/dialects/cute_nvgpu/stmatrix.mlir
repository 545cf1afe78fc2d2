// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @stmatrix
// CHECK-NEXT:    cute_nvgpu.stmatrix %x1, %s[%i, %j] : !cute_nvgpu.fragment<2xbf16>, memref<64x32xbf16, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.stmatrix %x2, %s[%i, %j] trans : !cute_nvgpu.fragment<4xbf16>, memref<64x32xbf16, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.stmatrix %x4, %s[%i, %j] {name = "x"} : !cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(16,8,128))">, memref<64x32xbf16, #cute<space smem>>
func.func @stmatrix(%s: memref<64x32xbf16, #cute<space smem>>, %i: index, %j: index,
                    %x1: !cute_nvgpu.fragment<2xbf16>, %x2: !cute_nvgpu.fragment<4xbf16>,
                    %x4: !cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(16,8,128))">) {
  cute_nvgpu.stmatrix %x1, %s[%i, %j] : !cute_nvgpu.fragment<2xbf16>, memref<64x32xbf16, #cute<space smem>>
  cute_nvgpu.stmatrix %x2, %s[%i, %j] trans : !cute_nvgpu.fragment<4xbf16>, memref<64x32xbf16, #cute<space smem>>
  cute_nvgpu.stmatrix %x4, %s[%i, %j] {name = "x"} : !cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(16,8,128))">, memref<64x32xbf16, #cute<space smem>>
  func.return
}

// CHECK-LABEL: func.func @elements
// CHECK-COUNT-2: cute_nvgpu.stmatrix
func.func @elements(%s8: memref<64x64xsi8, 3>, %swizzled: memref<64x32xf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,32):(32,1)">, #cute<space smem>>,
                    %i: index, %a: !cute_nvgpu.fragment<16xsi8>, %b: !cute_nvgpu.fragment<8xf16>) {
  cute_nvgpu.stmatrix %a, %s8[%i, %i] : !cute_nvgpu.fragment<16xsi8>, memref<64x64xsi8, 3>
  cute_nvgpu.stmatrix %b, %swizzled[%i, %i] trans : !cute_nvgpu.fragment<8xf16>, memref<64x32xf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,32):(32,1)">, #cute<space smem>>
  func.return
}

// Bytes, always transposed; the accumulator's layout of an m16n8 MMA.
// CHECK-LABEL: func.func @shapes
// CHECK-NEXT:    cute_nvgpu.stmatrix %a, %s8[%i, %j] trans shape 16x8 : !cute_nvgpu.fragment<4xsi8>, memref<64x64xsi8, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.stmatrix %b, %e5m2[%i, %j] trans shape 16x8 {name = "x"} : !cute_nvgpu.fragment<16xf8E5M2>, memref<64x64xf8E5M2, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.stmatrix %c, %s8[%i, %j] trans shape 16x8 : !cute_nvgpu.fragment<4xsi8, "((4,8),(2,2)):((32,1),(16,8))">, memref<64x64xsi8, #cute<space smem>>
func.func @shapes(%s8: memref<64x64xsi8, #cute<space smem>>, %e5m2: memref<64x64xf8E5M2, #cute<space smem>>,
                  %i: index, %j: index, %a: !cute_nvgpu.fragment<4xsi8>, %b: !cute_nvgpu.fragment<16xf8E5M2>,
                  %c: !cute_nvgpu.fragment<4xsi8, "((4,8),(2,2)):((32,1),(16,8))">) {
  cute_nvgpu.stmatrix %a, %s8[%i, %j] trans shape 16x8 : !cute_nvgpu.fragment<4xsi8>, memref<64x64xsi8, #cute<space smem>>
  cute_nvgpu.stmatrix %b, %e5m2[%i, %j] trans shape 16x8 {name = "x"} : !cute_nvgpu.fragment<16xf8E5M2>, memref<64x64xf8E5M2, #cute<space smem>>
  cute_nvgpu.stmatrix %c, %s8[%i, %j] trans shape 16x8 : !cute_nvgpu.fragment<4xsi8, "((4,8),(2,2)):((32,1),(16,8))">, memref<64x64xsi8, #cute<space smem>>
  func.return
}
