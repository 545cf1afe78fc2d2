// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%g: memref<64xbf16, #cute<space smem>>, %s: memref<64xbf16, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' source expected memory space gmem, got memref<64xbf16, #cute<space smem>> (PTX takes a gmem address here)}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 16 cache cg : memref<64xbf16, #cute<space smem>> to memref<64xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16, 0>, %s: memref<64xbf16, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' source expected memory space gmem}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 16 cache cg : memref<?xbf16, 0> to memref<64xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: memref<?xbf16>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' dest expected memory space smem, got memref<?xbf16>}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 16 cache cg : memref<?xbf16> to memref<?xbf16>
  func.return
}

// -----

func.func @f(%g: i32, %s: memref<64xbf16, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' source expected a memref, got i32}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 16 cache cg : i32 to memref<64xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: i32, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' dest expected a memref, got i32}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 16 cache cg : memref<?xbf16> to i32
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: memref<64xbf16, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' source expected 1 indices for memref<?xbf16>, got 2}}
  cute_nvgpu.cp.async %g[%i, %i] to %s[%i] size 16 cache cg : memref<?xbf16> to memref<64xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: memref<64xbf16, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' dest expected 1 indices for memref<64xbf16, #cute<space smem>>, got 2}}
  cute_nvgpu.cp.async %g[%i] to %s[%i, %i] size 16 cache cg : memref<?xbf16> to memref<64xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xf16>, %s: memref<64xbf16, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' expected equal element types, got f16 and bf16}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 16 cache cg : memref<?xf16> to memref<64xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: memref<64xbf16, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' expected size 16 with cache cg, got 8; nearest legal: 16 (PTX ISA 9.7.9.25.3.1)}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 8 cache cg : memref<?xbf16> to memref<64xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: memref<64xbf16, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' expected size 4 or 8 or 16 with cache ca, got 12; nearest legal: 8}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 12 cache ca : memref<?xbf16> to memref<64xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: memref<64xbf16, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' expected size 4 or 8 or 16 with cache ca, got 32; nearest legal: 16}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 32 cache ca : memref<?xbf16> to memref<64xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: memref<64xbf16, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' expected size 4 or 8 or 16 with cache ca, got 0; nearest legal: 4}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 0 cache ca : memref<?xbf16> to memref<64xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: memref<64xbf16, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' expected size 4 or 8 or 16 with cache ca, got -4}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size -4 cache ca : memref<?xbf16> to memref<64xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: memref<64xbf16, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{Expected `ca`, or `cg`.}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 16 cache cv : memref<?xbf16> to memref<64xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: memref<64xbf16, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{i32}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 16 cache cg fill %w : memref<?xbf16> to memref<64xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: memref<64xbf16, strided<[2]>, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' dest expected 2 elements (4 bytes) side by side along the last index, each run on its own 4 bytes, got layout (64):(2)}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 4 cache ca : memref<?xbf16> to memref<64xbf16, strided<[2]>, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: memref<8x12xbf16, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' dest expected 8 elements (16 bytes) side by side}}
  cute_nvgpu.cp.async %g[%i] to %s[%i, %i] size 16 cache cg : memref<?xbf16> to memref<8x12xbf16, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: memref<64x32xbf16, !cute.composed_layout<"S<2,1,4> o 0 o (64,32):(32,1)">, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' dest expected a swizzle that keeps 4 elements (8 bytes) together, got S<2,1,4>; nearest legal: S<2,2,4>}}
  cute_nvgpu.cp.async %g[%i] to %s[%i, %i] size 8 cache ca : memref<?xbf16> to memref<64x32xbf16, !cute.composed_layout<"S<2,1,4> o 0 o (64,32):(32,1)">, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<?xbf16>, %s: memref<64x32xbf16, !cute.layout<"(64,16):(16,1)">, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' dest expected a layout of shape 64x32, got (64,16):(16,1)}}
  cute_nvgpu.cp.async %g[%i] to %s[%i, %i] size 16 cache cg : memref<?xbf16> to memref<64x32xbf16, !cute.layout<"(64,16):(16,1)">, #cute<space smem>>
  func.return
}

// -----

// Element types that no MMA takes are held to the same rule.
func.func @f(%g: memref<64xi8>, %s: memref<64xi8, strided<[3]>, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' dest expected 4 elements (4 bytes) side by side}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 4 cache ca : memref<64xi8> to memref<64xi8, strided<[3]>, #cute<space smem>>
  func.return
}

// -----

func.func @f(%g: memref<64xf64>, %s: memref<64xf64, #cute<space smem>>, %i: index, %n: i32, %w: i64) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' dest expected elements of at most 4 bytes, got f64}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 4 cache ca : memref<64xf64> to memref<64xf64, #cute<space smem>>
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.cp.async.wait_group' expected a count of groups, got -1; nearest legal: 0}}
  cute_nvgpu.cp.async.wait_group -1
  func.return
}
