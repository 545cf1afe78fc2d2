// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @ldmatrix
// CHECK-NEXT:    %x1 = cute_nvgpu.ldmatrix %s[%i, %j] : memref<64x32xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<2xbf16>
// CHECK-NEXT:    %x2 = cute_nvgpu.ldmatrix %s[%i, %j] trans : memref<64x32xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<4xbf16>
// CHECK-NEXT:    %x4 = cute_nvgpu.ldmatrix %s[%i, %j] {name = "x"} : memref<64x32xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(16,8,128))">
func.func @ldmatrix(%s: memref<64x32xbf16, #cute<space smem>>, %i: index, %j: index) {
  %x1 = cute_nvgpu.ldmatrix %s[%i, %j] : memref<64x32xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<2xbf16>
  %x2 = cute_nvgpu.ldmatrix %s[%i, %j] trans : memref<64x32xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<4xbf16>
  %x4 = cute_nvgpu.ldmatrix %s[%i, %j] {name = "x"} : memref<64x32xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(16,8,128))">
  func.return
}

// Other element types ride along in the 16-bit elements; NVVM's number of shared memory is one
// spelling of it; swizzles and nested layouts that keep 16 bytes together are fine.
// CHECK-LABEL: func.func @elements
// CHECK-COUNT-6: cute_nvgpu.ldmatrix
func.func @elements(%s8: memref<64x64xsi8, 3>, %u8: memref<64x64xui8, #cute<space smem>>,
                    %f16: memref<64x32xf16, strided<[40, 1]>, #cute<space smem>>,
                    %tf32: memref<64x32xtf32, #cute<space smem>>,
                    %swizzled: memref<64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,32):(32,1)">, #cute<space smem>>,
                    %nested: memref<64x32xbf16, !cute.layout<"((8,8),(8,4)):((8,256),(1,64))">, #cute<space smem>>,
                    %i: index) {
  %0 = cute_nvgpu.ldmatrix %s8[%i, %i] : memref<64x64xsi8, 3> -> !cute_nvgpu.fragment<16xsi8>
  %1 = cute_nvgpu.ldmatrix %u8[%i, %i] : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<8xui8>
  %2 = cute_nvgpu.ldmatrix %f16[%i, %i] trans : memref<64x32xf16, strided<[40, 1]>, #cute<space smem>> -> !cute_nvgpu.fragment<8xf16>
  %3 = cute_nvgpu.ldmatrix %tf32[%i, %i] : memref<64x32xtf32, #cute<space smem>> -> !cute_nvgpu.fragment<4xtf32, "((4,8),(2,2)):((16,1),(8,64))">
  %4 = cute_nvgpu.ldmatrix %swizzled[%i, %i] : memref<64x32xbf16, !cute.composed_layout<"S<2,3,3> o 0 o (64,32):(32,1)">, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16>
  %5 = cute_nvgpu.ldmatrix %nested[%i, %i] : memref<64x32xbf16, !cute.layout<"((8,8),(8,4)):((8,256),(1,64))">, #cute<space smem>> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// Other shapes than 8x8: bytes, always transposed, and packed rows of 6- and 4-bit elements.
// CHECK-LABEL: func.func @shapes
// CHECK-NEXT:    %0 = cute_nvgpu.ldmatrix %s8[%i, %j] trans shape 16x16 : memref<64x64xsi8, #cute<space smem>> -> !cute_nvgpu.fragment<8xsi8>
// CHECK-NEXT:    %1 = cute_nvgpu.ldmatrix %e4m3[%i, %j] trans shape 16x16 {name = "x"} : memref<64x64xf8E4M3FN, #cute<space smem>> -> !cute_nvgpu.fragment<16xf8E4M3FN, "((4,8),(4,2,2)):((64,1),(16,8,256))">
// CHECK-NEXT:    %2 = cute_nvgpu.ldmatrix %u8[%i, %j] shape 8x16 src_fmt b6x16_p32 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<4xui8>
// CHECK-NEXT:    %3 = cute_nvgpu.ldmatrix %u8[%i, %j] shape 8x16 src_fmt b4x16_p64 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<16xui8>
// CHECK-NEXT:    %4 = cute_nvgpu.ldmatrix %u8[%i, %j] trans shape 16x16 src_fmt b6x16_p32 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<8xf6E3M2FN>
// CHECK-NEXT:    %5 = cute_nvgpu.ldmatrix %u8[%i, %j] trans shape 16x16 src_fmt b4x16_p64 {name = "x"} : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<16xui8>
// CHECK-NEXT:    %6 = cute_nvgpu.ldmatrix %bf16[%i, %j] shape 8x8 : memref<64x64xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<2xbf16>
func.func @shapes(%s8: memref<64x64xsi8, #cute<space smem>>, %e4m3: memref<64x64xf8E4M3FN, #cute<space smem>>,
                  %u8: memref<64x64xui8, #cute<space smem>>, %bf16: memref<64x64xbf16, #cute<space smem>>,
                  %i: index, %j: index) {
  %0 = cute_nvgpu.ldmatrix %s8[%i, %j] trans shape 16x16 : memref<64x64xsi8, #cute<space smem>> -> !cute_nvgpu.fragment<8xsi8>
  %1 = cute_nvgpu.ldmatrix %e4m3[%i, %j] trans shape 16x16 {name = "x"} : memref<64x64xf8E4M3FN, #cute<space smem>> -> !cute_nvgpu.fragment<16xf8E4M3FN, "((4,8),(4,2,2)):((64,1),(16,8,256))">
  %2 = cute_nvgpu.ldmatrix %u8[%i, %j] shape 8x16 src_fmt b6x16_p32 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<4xui8>
  %3 = cute_nvgpu.ldmatrix %u8[%i, %j] shape 8x16 src_fmt b4x16_p64 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<16xui8>
  %4 = cute_nvgpu.ldmatrix %u8[%i, %j] trans shape 16x16 src_fmt b6x16_p32 : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<8xf6E3M2FN>
  %5 = cute_nvgpu.ldmatrix %u8[%i, %j] trans shape 16x16 src_fmt b4x16_p64 {name = "x"} : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<16xui8>
  %6 = cute_nvgpu.ldmatrix %bf16[%i, %j] shape 8x8 : memref<64x64xbf16, #cute<space smem>> -> !cute_nvgpu.fragment<2xbf16>
  func.return
}
