// RUN: tilewright-opt %s -p cute-nvgpu-synthesize-layouts | filecheck %s
// RUN: tilewright-opt %s -p cute-nvgpu-synthesize-layouts,cute-nvgpu-synthesize-layouts | filecheck %s

!a = !cute_nvgpu.fragment<16xf16>
!c = !cute_nvgpu.fragment<8xf32>

// A load, an MMA and a store give the same fragments the same layouts, however the matrices lie.
// CHECK-LABEL: func.func @product
// CHECK-NEXT:    %a = cute_nvgpu.wmma.load {{.*}} -> !cute_nvgpu.fragment<16xf16, "((4,8),(2,2,2,2)):((32,1),(16,8,128,0))">
// CHECK-NEXT:    %b = cute_nvgpu.wmma.load {{.*}} -> !cute_nvgpu.fragment<16xf16, "((4,8),(2,2,2,2)):((32,1),(16,128,8,0))">
// CHECK-NEXT:    cute_nvgpu.wmma.mma {{.*}} -> !cute_nvgpu.fragment<8xf32, "((4,8),(2,2,2)):((32,1),(16,8,128))">
// CHECK-NEXT:    cute_nvgpu.wmma.store {{.*}} : !cute_nvgpu.fragment<8xf32, "((4,8),(2,2,2)):((32,1),(16,8,128))">, memref<64x64xf32>
func.func @product(%s: memref<64x64xf16>, %o: memref<64x64xf32>, %c: !c, %i: index) {
  %a = cute_nvgpu.wmma.load %s[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row> : memref<64x64xf16> -> !a
  %b = cute_nvgpu.wmma.load %s[%i, %i] <16x16x16, operand = b, elem_type = f16, layout = row> : memref<64x64xf16> -> !a
  %d = cute_nvgpu.wmma.mma %a, %b, %c <16x16x16, elem_type = (f16, f16, f32), layouts = (row, row)> : (!a, !a, !c) -> !c
  cute_nvgpu.wmma.store %d, %o[%i, %i] <16x16x16, operand = d, elem_type = f32, layout = row> : !c, memref<64x64xf32>
  func.return
}

// From a store back to what is before it.
// CHECK-LABEL: func.func @store
// CHECK:         cute_nvgpu.fragment.splat %x : f32 -> !cute_nvgpu.fragment<8xf32, "((4,8),(2,2,2)):((32,1),(16,8,128))">
func.func @store(%o: memref<64x64xf32>, %x: f32, %i: index) {
  %d = cute_nvgpu.fragment.splat %x : f32 -> !c
  cute_nvgpu.wmma.store %d, %o[%i, %i] <16x16x16, operand = d, elem_type = f32, layout = row> : !c, memref<64x64xf32>
  func.return
}
