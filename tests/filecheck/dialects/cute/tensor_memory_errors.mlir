// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error @+1 {{'cute.memref.alloc' expected a tensor in smem or tmem, got !cute.memref<f32, gmem, "8:1">}}
  %t = cute.memref.alloc() : !cute.memref<f32, gmem, "8:1">
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute.memref.alloc' expected elements of 1 to 32 bits, a power of two, and no swizzle in tmem, got f64, tmem, "(128,64):(65536,1)"; nearest legal: f32}}
  %t = cute.memref.alloc() : !cute.memref<f64, tmem, "(128,64):(65536,1)">
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute.memref.alloc' expected at most 128 lanes, got 256 in f32, tmem, "(256,64):(65536,1)"; nearest legal: 128}}
  %t = cute.memref.alloc() : !cute.memref<f32, tmem, "(256,64):(65536,1)">
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute.memref.alloc' expected at most 512 columns, got 768 in f32, tmem, "(128,256,3):(65536,1,256)"; nearest legal: 512}}
  %t = cute.memref.alloc() : !cute.memref<f32, tmem, "(128,256,3):(65536,1,256)">
  func.return
}

// -----

func.func @f() {
  %t = cute.memref.alloc() : !cute.memref<f32, smem, "(128,64):(64,1)">
  // expected-error @+1 {{'cute.memref.dealloc' expected the result of a cute.memref.alloc in tmem, got !cute.memref<f32, smem, "(128,64):(64,1)"> (shared memory lives as long as the kernel)}}
  cute.memref.dealloc(%t)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm100.mma<128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss>>
func.func @f(%m: !mma, %d: !cute.memref<f32, tmem, "((128,64),1,1):((65536,2),0,0)">) {
  // expected-error @+1 {{expected operand C as the atom of '!cute.tiled_mma<!cute_nvgpu.sm100.mma<128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss>>' reads it, got '!cute.memref<f32, tmem, "((128,64),1,1):((65536,2),0,0)">' (expected (128,64):(65536,1), M = 128, got (128,64):(65536,2))}}
  %c = cute.mma.make_fragment C (%m, %d)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm100.mma<128x64x8, elem_type = (tf32, tf32, f32), ab_major = (k, mn), frag_kind = ss>>
!d = !cute.memref<f32, tmem, "((128,64),1,1):((65536,1),0,0)">
!a = !cute.memref<f32, smem, align<1024>, "S<3,2,3> o 0 o ((128,8),1,1):((32,1),0,0)">
!b = !cute.memref<f32, smem, align<1024>, "S<3,2,3> o 0 o (((32,2),8),1,1):(((1,256),32),0,0)">
func.func @f(%m: !mma, %d: !d, %a: !a, %b: !b) {
  // expected-error @+1 {{(expected a swizzle in atoms of 32 bytes, got S<3,2,3> o 0 o ((32,2),8):((1,256),32))}}
  cute.gemm(%m, %d, %a, %b, %d)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm100.mma<128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss>>
!d = !cute.memref<f32, tmem, "((128,64),1,1):((65536,1),0,0)">
func.func @f(%m: !mma, %d: !d, %c: !d, %a: !cute.memref<f16, smem, "((128,16),1,1):((16,1),0,0)">, %b: !cute.memref<f16, smem, "((64,16),1,1):((16,1),0,0)">) {
  // expected-error @+1 {{(no descriptor expresses (128,16):(16,1); K-major: expected mode mn of (8,i):(8,SBO), got 128:16)}}
  cute.gemm(%m, %d, %a, %b, %c)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm100.mma<128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss>>
!d = !cute.memref<f32, tmem, "((128,64),1,1):((65536,1),0,0)">
!a = !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o ((128,16),1,1):((64,1),0,0)">
!b = !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o ((64,16),1,1):((64,1),0,0)">
func.func @f(%m: !mma, %d: !d, %c: !d, %a: !a, %b: !b) {
  // expected-error @+1 {{'cute.gemm' expected c to be d, which MMAs add to where it is, got another '!cute.memref<f32, tmem, "((128,64),1,1):((65536,1),0,0)">'; nearest legal: d twice}}
  cute.gemm(%m, %d, %a, %b, %c)
  func.return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm100.mma<128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss>>
!d = !cute.memref<f32, rmem, "((128,64),1,1):((64,1),0,0)">
!a = !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o ((128,16),1,1):((64,1),0,0)">
!b = !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o ((64,16),1,1):((64,1),0,0)">
func.func @f(%m: !mma, %d: !d, %a: !a, %b: !b) {
  // expected-error @+1 {{'cute.gemm' expected operand C in tmem, as the atom of}}
  cute.gemm(%m, %d, %a, %b, %d)
  func.return
}

// -----

// expected-error @+1 {{copy expected whole elements to a cell of 32 bits with tmem_load, got f64; nearest legal: f32}}
func.func @f(%c: !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f64, 32x32b, x32>, layout_tv = "(128,32):(1,128)", tiler_mn = "[128;32]">) {
  func.return
}

// -----

// expected-error @+1 {{copy expected a shape of one part, got 16x32bx2; nearest legal: 16x64b}}
func.func @f(%c: !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f32, 16x32bx2, x8>, layout_tv = "(128,32):(1,128)", tiler_mn = "[128;32]">) {
  func.return
}

// -----

// expected-error @+1 {{of 32x32b, got x3; nearest legal: x2}}
func.func @f(%c: !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f32, 32x32b, x3>, layout_tv = "(128,32):(1,128)", tiler_mn = "[128;32]">) {
  func.return
}

// -----

!t2r = !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f32, 32x32b, x8>, layout_tv = "(128,8):(1,128)", tiler_mn = "[128;8]">
func.func @f(%c: !t2r, %s: !cute.memref<f32, tmem, "(((32,8),1),1):(((65536,2),0),0)">, %d: !cute.memref<f32, rmem, "((8,1),1):((1,0),0)">) {
  // expected-error @+1 {{'cute.copy' expected a source in lanes and columns (32,8):(65536,1) of tensor memory for}}
  cute.copy(%c, %s, %d)
  func.return
}

// -----

!t2r = !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f32, 32x32b, x8>, layout_tv = "(128,8):(1,128)", tiler_mn = "[128;8]">
func.func @f(%c: !t2r, %s: !cute.memref<f32, tmem, "(((32,8),1),1):(((65536,1),0),0)">, %d: !cute.memref<f32, rmem, "((8,1),1):((1,0),0)">, %i: !cute.coord_tensor<"(0,0)", "((8,1),1):((1@1,0),0)">, %l: !cute.shape<"(128,8)">) {
  // expected-error @+1 {{'cute.copy' expected bounds of a copy from or to gmem, got '!cute.memref<f32, tmem, "(((32,8),1),1):(((65536,1),0),0)">'; nearest legal: bounds where registers go to gmem}}
  cute.copy(%c, %s, %d) bounds(%i, %l)
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{pipeline expected at least 1 consumers, got 0; nearest legal: 1}}
  %p = cute.pipeline.create() : !cute.pipeline<umma_async, stages = 1, consumers = 0>
  func.return
}

// -----

func.func @f(%t: !cute.memref<f32, tmem, "(128,64):(65536,1)">) {
  // expected-error @+1 {{expected no tensor in tmem, got '!cute.memref<f32, tmem, "(128,64):(65536,1)">' (whole warps load it); nearest legal: cute.copy with tmem_load}}
  %v = cute.memref.load_vec(%t)
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute.memref.alloc' expected cta_group = 2 of tensor memory, or none, got 2 : i64 of !cute.memref<f32, smem, "128:1">}}
  %t = cute.memref.alloc() {cta_group = 2 : i64} : !cute.memref<f32, smem, "128:1">
  func.return
}

// -----

// expected-error @+1 {{copy expected elements of 16 bits with pack, got f32; nearest legal: f16}}
func.func @f(%c: !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f32, 32x32b, x32, pack>, layout_tv = "(128,32):(1,128)", tiler_mn = "[128;32]">) {
  func.return
}

// -----

// expected-error @+1 {{copy expected whole elements to a cell of 32 bits with tmem_copy, got f64; nearest legal: f32}}
func.func @f(%c: !cute.tiled_copy<#cute_nvgpu.copy<tmem_copy, f64, 32x128b warpx4>, layout_tv = "(1,64):(0,1)", tiler_mn = "[32;2]">) {
  func.return
}

// -----

// expected-error @+1 {{copy expected cta_group 1 or 2, got 3; nearest legal: 2}}
func.func @f(%c: !cute.tiled_copy<#cute_nvgpu.copy<tmem_copy, i8, 32x128b warpx4, cta_group = 3>, layout_tv = "(1,512):(0,1)", tiler_mn = "[32;16]">) {
  func.return
}

// -----

// Rows of shared memory are 16 bytes at least.
!s2t = !cute.tiled_copy<#cute_nvgpu.copy<tmem_copy, i8, 32x128b warpx4>, layout_tv = "(1,(16,32)):(0,(32,1))", tiler_mn = "[32;16]">
func.func @f(%c: !s2t, %s: !cute.memref<i8, smem, align<16>, "((16,32),1):((32,1),0)">, %d: !cute.memref<i8, tmem, "((16,32),1):((1,262144),0)">) {
  // expected-error @+1 {{'cute.copy' expected a source with 16 elements side by side for}}
  cute.copy(%c, %s, %d)
  func.return
}

// -----

// expected-error @+1 {{tiled_mma expected scale factors of a row in one word, got tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16 (no layout says where 6 are in two words)}}
!t = !cute.tiled_mma<!cute_nvgpu.sm100.mma_bs<256x64x96, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, cta_group = 2, kind = mxf4nvf4, scale_vec = 6, scale_type = f8E4M3FN>>
func.func @f(%a: !t) {
  func.return
}
