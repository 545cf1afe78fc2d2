// RUN: tilewright-opt %s --split-input-file | tilewright-opt --split-input-file | filecheck %s

// CHECK-LABEL: @global
// CHECK: %f = cute_nvgpu.fragment.load %m[%i] : memref<?xbf16> -> !cute_nvgpu.fragment<8xbf16>
// CHECK: cute_nvgpu.fragment.store %f, %m[%i] : !cute_nvgpu.fragment<8xbf16>, memref<?xbf16>
func.func @global(%m: memref<?xbf16>, %i: index) {
  %f = cute_nvgpu.fragment.load %m[%i] : memref<?xbf16> -> !cute_nvgpu.fragment<8xbf16>
  cute_nvgpu.fragment.store %f, %m[%i] : !cute_nvgpu.fragment<8xbf16>, memref<?xbf16>
  func.return
}

// -----

// Bytes without a sign hold those with one.

// CHECK-LABEL: @bytes
// CHECK: %f = cute_nvgpu.fragment.load %m[%i, %i] : memref<4x16xi8> -> !cute_nvgpu.fragment<4xsi8>
func.func @bytes(%m: memref<4x16xi8>, %i: index) {
  %f = cute_nvgpu.fragment.load %m[%i, %i] : memref<4x16xi8> -> !cute_nvgpu.fragment<4xsi8>
  func.return
}
