// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%m: memref<?xbf16>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.fragment.load' expected a fragment of the memory's element type bf16, got !cute_nvgpu.fragment<8xf16>}}
  %f = cute_nvgpu.fragment.load %m[%i] : memref<?xbf16> -> !cute_nvgpu.fragment<8xf16>
  func.return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.fragment.load' expected a fragment of 4, 8, 16 bytes, got 12 (one instruction moves so many); nearest legal: 8}}
  %f = cute_nvgpu.fragment.load %m[%i] : memref<?xf32> -> !cute_nvgpu.fragment<3xf32>
  func.return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %f: !cute_nvgpu.fragment<8xf32>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.store' expected a fragment of 4, 8, 16 bytes, got 32 (one instruction moves so many); nearest legal: 16}}
  cute_nvgpu.fragment.store %f, %m[%i] : !cute_nvgpu.fragment<8xf32>, memref<?xf32>
  func.return
}

// -----

func.func @f(%n: memref<8x12xbf16>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.fragment.load' memory expected 8 elements (16 bytes) side by side along the last index, each run on its own 16 bytes, got layout (8,12):(12,1)}}
  %f = cute_nvgpu.fragment.load %n[%i, %i] : memref<8x12xbf16> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

!swizzled = memref<64xf32, !cute.composed_layout<"S<1,1,3> o 0 o 64:1">, #cute<space smem>>
func.func @f(%m: !swizzled, %i: index, %f: !cute_nvgpu.fragment<4xf32>) {
  // expected-error @+1 {{'cute_nvgpu.fragment.store' memory expected a swizzle that keeps 4 elements (16 bytes) together, got S<1,1,3>; nearest legal: S<1,2,3>}}
  cute_nvgpu.fragment.store %f, %m[%i] : !cute_nvgpu.fragment<4xf32>, !swizzled
  func.return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.fragment.load' memory expected 1 indices for memref<?xf32>, got 2}}
  %f = cute_nvgpu.fragment.load %m[%i, %i] : memref<?xf32> -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

func.func @f(%m: memref<?xf32, #cute<space tmem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.fragment.load' memory expected memory space gmem, got memref<?xf32, #cute<space tmem>>}}
  %f = cute_nvgpu.fragment.load %m[%i] : memref<?xf32, #cute<space tmem>> -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

func.func @f(%m: memref<?xsi4>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.fragment.load' expected elements of whole bytes, got !cute_nvgpu.fragment<8xsi4>; nearest legal: cute_nvgpu.fragment.cast from elements of i32}}
  %f = cute_nvgpu.fragment.load %m[%i] : memref<?xsi4> -> !cute_nvgpu.fragment<8xsi4>
  func.return
}
