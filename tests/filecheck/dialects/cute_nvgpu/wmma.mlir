// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!a = !cute_nvgpu.fragment<16xf16>
!c = !cute_nvgpu.fragment<8xf32>

// CHECK-LABEL: func.func @product
// CHECK-NEXT:    %a = cute_nvgpu.wmma.load %s[%i, %k] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16, #cute<space smem>> -> !cute_nvgpu.fragment<16xf16>
// CHECK-NEXT:    %b = cute_nvgpu.wmma.load %g[%k, %j] <16x16x16, operand = b, elem_type = f16, layout = col> {name = "x"} : memref<?x64xf16, strided<[1, 80], offset: ?>> -> !cute_nvgpu.fragment<16xf16>
// CHECK-NEXT:    %d = cute_nvgpu.wmma.mma %a, %b, %c <16x16x16, elem_type = (f16, f16, f32), layouts = (row, col)> : (!cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
// CHECK-NEXT:    cute_nvgpu.wmma.store %d, %o[%i, %j] <16x16x16, operand = d, elem_type = f32, layout = row> {name = "x"} : !cute_nvgpu.fragment<8xf32>, memref<64x64xf32>
func.func @product(%s: memref<64x64xf16, #cute<space smem>>, %g: memref<?x64xf16, strided<[1, 80], offset: ?>>, %o: memref<64x64xf32>, %c: !c, %i: index, %j: index, %k: index) {
  %a = cute_nvgpu.wmma.load %s[%i, %k] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16, #cute<space smem>> -> !a
  %b = cute_nvgpu.wmma.load %g[%k, %j] <16x16x16, operand = b, elem_type = f16, layout = col> {name = "x"} : memref<?x64xf16, strided<[1, 80], offset: ?>> -> !a
  %d = cute_nvgpu.wmma.mma %a, %b, %c <16x16x16, elem_type = (f16, f16, f32, f32), layouts = (row, col)> : (!a, !a, !c) -> !c
  cute_nvgpu.wmma.store %d, %o[%i, %j] <16x16x16, operand = d, elem_type = f32, layout = row> {name = "x"} : !c, memref<64x64xf32>
  func.return
}

// What lies in front of the last two dimensions chooses among matrices; bytes hold smaller elements.
// CHECK-LABEL: func.func @memory
// CHECK:         <8x8x32, operand = a, elem_type = si4, layout = row> : memref<3x8x16xi8> -> !cute_nvgpu.fragment<8xsi4>
// CHECK:         <8x8x32, operand = b, elem_type = ui4, layout = col> : memref<16x8xi8, strided<[1, 16]>> -> !cute_nvgpu.fragment<8xui4>
// CHECK:         <8x8x128, operand = b, elem_type = ui1, layout = col> : memref<4x8xi32, strided<[1, 4]>> -> !cute_nvgpu.fragment<32xui1>
// CHECK:         <16x16x8, operand = a, elem_type = tf32, layout = col> : memref<16x8xf32, !cute.layout<"(16,8):(1,16)">, #cute<space smem>> -> !cute_nvgpu.fragment<4xtf32>
func.func @memory(%x: memref<3x8x16xi8>, %y: memref<16x8xi8, strided<[1, 16]>>, %z: memref<4x8xi32, strided<[1, 4]>>, %w: memref<16x8xf32, !cute.layout<"(16,8):(1,16)">, #cute<space smem>>, %i: index) {
  %0 = cute_nvgpu.wmma.load %x[%i, %i, %i] <8x8x32, operand = a, elem_type = si4, layout = row> : memref<3x8x16xi8> -> !cute_nvgpu.fragment<8xsi4>
  %1 = cute_nvgpu.wmma.load %y[%i, %i] <8x8x32, operand = b, elem_type = ui4, layout = col> : memref<16x8xi8, strided<[1, 16]>> -> !cute_nvgpu.fragment<8xui4>
  %2 = cute_nvgpu.wmma.load %z[%i, %i] <8x8x128, operand = b, elem_type = ui1, layout = col> : memref<4x8xi32, strided<[1, 4]>> -> !cute_nvgpu.fragment<32xui1>
  %3 = cute_nvgpu.wmma.load %w[%i, %i] <16x16x8, operand = a, elem_type = tf32, layout = col> : memref<16x8xf32, !cute.layout<"(16,8):(1,16)">, #cute<space smem>> -> !cute_nvgpu.fragment<4xtf32>
  func.return
}

// Modifiers of wmma.mma, and f16 sums whose c and d differ.
// CHECK-LABEL: func.func @modifiers
// CHECK-NEXT:    <16x16x16, elem_type = (f16, f16, f32, f16), layouts = (col, row)> :
// CHECK-NEXT:    <8x32x16, elem_type = (si8, si8, i32), layouts = (row, row), satfinite> :
// CHECK-NEXT:    <8x8x4, elem_type = (f64, f64, f64), layouts = (row, col), rounding = rz> :
// CHECK-NEXT:    <8x8x128, elem_type = (ui1, ui1, i32), bit_op = xor> :
func.func @modifiers(%a: !a, %b: !a, %c: !c, %p: !cute_nvgpu.fragment<4xsi8>, %q: !cute_nvgpu.fragment<16xsi8>, %r: !cute_nvgpu.fragment<8xi32>, %x: !cute_nvgpu.fragment<1xf64>, %y: !cute_nvgpu.fragment<2xf64>, %u: !cute_nvgpu.fragment<32xui1>, %v: !cute_nvgpu.fragment<2xi32>) {
  %0 = cute_nvgpu.wmma.mma %a, %b, %c <16x16x16, elem_type = (f16, f16, f32, f16), layouts = (col, row)> : (!a, !a, !c) -> !cute_nvgpu.fragment<8xf16>
  %1 = cute_nvgpu.wmma.mma %p, %q, %r <8x32x16, elem_type = (si8, si8, i32), layouts = (row, row), satfinite> : (!cute_nvgpu.fragment<4xsi8>, !cute_nvgpu.fragment<16xsi8>, !cute_nvgpu.fragment<8xi32>) -> !cute_nvgpu.fragment<8xi32>
  %2 = cute_nvgpu.wmma.mma %x, %x, %y <8x8x4, elem_type = (f64, f64, f64), rounding = rz> : (!cute_nvgpu.fragment<1xf64>, !cute_nvgpu.fragment<1xf64>, !cute_nvgpu.fragment<2xf64>) -> !cute_nvgpu.fragment<2xf64>
  %3 = cute_nvgpu.wmma.mma %u, %u, %v <8x8x128, elem_type = (ui1, ui1, i32), bit_op = xor> : (!cute_nvgpu.fragment<32xui1>, !cute_nvgpu.fragment<32xui1>, !cute_nvgpu.fragment<2xi32>) -> !cute_nvgpu.fragment<2xi32>
  func.return
}

// CHECK-LABEL: func.func @types(%x: !cute_nvgpu.wmma.load<16x16x16, operand = a, elem_type = bf16, layout = row>, %y: !cute_nvgpu.wmma.store<16x16x16, operand = d, elem_type = f16, layout = col>, %z: !cute_nvgpu.wmma.mma<16x16x16, elem_type = (bf16, bf16, f32), layouts = (row, col)>)
func.func @types(%x: !cute_nvgpu.wmma.load<16x16x16, operand = a, elem_type = bf16, layout = row>, %y: !cute_nvgpu.wmma.store<16x16x16, operand = d, elem_type = f16, layout = col>, %z: !cute_nvgpu.wmma.mma<16x16x16, elem_type = (bf16, bf16, f32), layouts = (row, col)>) {
  func.return
}
