// RUN: tilewright-opt %s | tilewright-opt | filecheck %s
// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | filecheck %s

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
