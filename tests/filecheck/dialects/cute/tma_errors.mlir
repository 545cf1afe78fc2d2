// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

!a = !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},?)">
func.func @f(%a: !a) {
  // expected-error @+1 {{'cute.make_tma_copy' op failed to infer returned types: expected a tensor and rows aligned to 16 bytes, got 2 in '!cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},?)">' (align and div say what is known)}}
  %t, %c = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%a)
  func.return
}

// -----

// Shared memory of another tile.
!a = !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
func.func @f(%a: !a) {
  // expected-error @+1 {{'cute.make_tma_copy' op failed to infer returned types: expected boxes of '!cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">' for tiles '!cute.tile<"[64:1;64:1]">' in '!cute.composed_layout<"S<3,3,3> o 0 o (128,64):(64,1)">' (expected shared memory of the tile (64, 64), got S<3,3,3> o 0 o (128,64):(64,1))}}
  %t, %c = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[64;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%a)
  func.return
}

// -----

// A swizzle of 64 bytes under rows of 128.
!a = !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
func.func @f(%a: !a) {
  // expected-error @+1 {{'cute.make_tma_copy' op failed to infer returned types: expected boxes of '!cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">' for tiles '!cute.tile<"[128:1;64:1]">' in '!cute.composed_layout<"S<2,3,3> o 0 o (128,64):(64,1)">' (expected 64 bytes along the last dimension of the box, one row of its swizzle, got 128; nearest legal: 32 elements)}}
  %t, %c = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<2,3,3> o 0 o (128,64):(64,1)"> (%a)
  func.return
}

// -----

// Contiguous along the other mode.
!a = !cute.memref<bf16, gmem, align<16>, "(?,?):(1,?{i64 div=8})">
func.func @f(%a: !a) {
  // expected-error @+1 {{'cute.make_tma_copy' op failed to infer returned types: expected boxes of '!cute.memref<bf16, gmem, align<16>, "(?,?):(1,?{i64 div=8})">' for tiles '!cute.tile<"[128:1;64:1]">' in '!cute.layout<"(128,64):(64,1)">' (expected whole 16 bytes along the last dimension of the box, got 2 in 64x1xbf16; nearest legal: 8 elements)}}
  %t, %c = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "(128,64):(64,1)"> (%a)
  func.return
}

// -----

func.func @f(%a: !cute.memref<bf16, smem, "(128,64):(64,1)">) {
  // expected-error @+1 {{'cute.make_tma_copy' op failed to infer returned types: expected a tensor in gmem, got '!cute.memref<bf16, smem, "(128,64):(64,1)">'}}
  %t, %c = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "(128,64):(64,1)"> (%a)
  func.return
}

// -----

// Rows that may start between multiples of 16 bytes.
!a = !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64},1)">
func.func @f(%a: !a) {
  // expected-error @+1 {{'cute.make_tma_copy' op failed to infer returned types: expected a tensor and rows aligned to 16 bytes, got 2 in '!cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64},1)">' (align and div say what is known)}}
  %t, %c = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%a)
  func.return
}

// -----

!a = !cute.memref<bf16, gmem, "(?,?):(?{i64 div=8},1)">
func.func @f(%a: !a) {
  // expected-error @+1 {{'cute.make_tma_copy' op failed to infer returned types: expected a tensor and rows aligned to 16 bytes, got 2 in '!cute.memref<bf16, gmem, "(?,?):(?{i64 div=8},1)">' (align and div say what is known)}}
  %t, %c = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%a)
  func.return
}

// -----

// expected-error @+1 {{tma_copy expected whole 16 bytes along the last dimension of the box, got 24 in 128x12xbf16; nearest legal: 16 elements}}
func.func @f(%t: !cute.tma_copy<#cute_nvgpu.tma<load>, 128x12xbf16>) {
  func.return
}

// -----

// expected-error @+1 {{tma_copy expected one mode of the tensor for each of 2 extents, got [0, 0]}}
func.func @f(%t: !cute.tma_copy<#cute_nvgpu.tma<load>, 128x64xbf16, modes = [0, 0]>) {
  func.return
}

// -----

// expected-error @+1 {{tma_copy expected a TMA atom, got f16}}
func.func @f(%t: !cute.tma_copy<f16, 128x64xbf16>) {
  func.return
}

// -----

// expected-error @+1 {{tma expected <load>, <load, multicast>, <store>, <reduce, add>, <reduce, min>, <reduce, max>, <reduce, inc>, <reduce, dec>, <reduce, and>, <reduce, or>, <reduce, xor>, got <reduce>; nearest legal: <reduce, add>}}
func.func @f(%t: !cute.tma_copy<#cute_nvgpu.tma<reduce>, 128x64xbf16>) {
  func.return
}

// -----

// expected-error @+1 {{tma expected <load>, <load, multicast>, <store>, <reduce, add>, <reduce, min>, <reduce, max>, <reduce, inc>, <reduce, dec>, <reduce, and>, <reduce, or>, <reduce, xor>, got <store, multicast>; nearest legal: <store>}}
func.func @f(%t: !cute.tma_copy<#cute_nvgpu.tma<store, multicast>, 128x64xbf16>) {
  func.return
}

// -----

// expected-error @+1 {{tma expected <load>, <load, multicast>, <store>, <reduce, add>, <reduce, min>, <reduce, max>, <reduce, inc>, <reduce, dec>, <reduce, and>, <reduce, or>, <reduce, xor>, got <gather>; nearest legal: <load>}}
func.func @f(%t: !cute.tma_copy<#cute_nvgpu.tma<gather>, 128x64xbf16>) {
  func.return
}

// -----

!t = !cute.tma_copy<#cute_nvgpu.tma<load>, 128x64xbf16, swizzle = 128>
!c = !cute.coord_tensor<"(0,0)", "(128,64):(1@0,1@1)">
!s = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64):(64,1)">
func.func @f(%t: !t, %c: !c, %s: !s) {
  // expected-error @+1 {{'cute.copy' expected a pipeline with a TMA load, and none with a store or a reduction}}
  cute.copy(%t, %c, %s)
  func.return
}

// -----

!t = !cute.tma_copy<#cute_nvgpu.tma<store>, 128x64xbf16, swizzle = 128>
!c = !cute.coord_tensor<"(0,0)", "(128,64):(1@0,1@1)">
!s = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64):(64,1)">
func.func @f(%t: !t, %c: !c, %s: !s) {
  // expected-error @+1 {{'cute.copy' expected coordinates of the tensor as destination of '!cute.tma_copy<#cute_nvgpu.tma<store>, 128x64xbf16, swizzle = 128>', got '!cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64):(64,1)">'}}
  cute.copy(%t, %c, %s)
  func.return
}

// -----

// The tile in shared memory is another one.
!t = !cute.tma_copy<#cute_nvgpu.tma<store>, 128x64xbf16, swizzle = 128>
!c = !cute.coord_tensor<"(0,0)", "(128,64):(1@0,1@1)">
!s = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (64,64):(64,1)">
func.func @f(%t: !t, %c: !c, %s: !s) {
  // expected-error @+1 {{'cute.copy' expected destination and source of one static shape, got '!cute.coord_tensor<"(0,0)", "(128,64):(1@0,1@1)">' and '!cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (64,64):(64,1)">'}}
  cute.copy(%t, %s, %c)
  func.return
}

// -----

// Columns where the box has rows.
!t = !cute.tma_copy<#cute_nvgpu.tma<store>, 64x64xbf16, swizzle = 128>
!c = !cute.coord_tensor<"(0,0)", "(64,64):(1@1,1@0)">
!s = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (64,64):(64,1)">
func.func @f(%t: !t, %c: !c, %s: !s) {
  // expected-error @+1 {{'cute.copy' expected shared memory as '!cute.tma_copy<#cute_nvgpu.tma<store>, 64x64xbf16, swizzle = 128>' lays it down, got '!cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (64,64):(64,1)">' (expected stride 64, as the box lies densely, got 1 in dimension 0 of (64,64):(1,64))}}
  cute.copy(%t, %s, %c)
  func.return
}

// -----

// Without the swizzle.
!t = !cute.tma_copy<#cute_nvgpu.tma<store>, 64x64xbf16, swizzle = 128>
!c = !cute.coord_tensor<"(0,0)", "(64,64):(1@0,1@1)">
!s = !cute.memref<bf16, smem, align<1024>, "(64,64):(64,1)">
func.func @f(%t: !t, %c: !c, %s: !s) {
  // expected-error @+1 {{'cute.copy' expected shared memory as '!cute.tma_copy<#cute_nvgpu.tma<store>, 64x64xbf16, swizzle = 128>' lays it down, got '!cute.memref<bf16, smem, align<1024>, "(64,64):(64,1)">' (expected memory through S<3,3,3>, as the box 64x64xbf16, swizzle = 128 lies, got (64,64):(64,1); nearest legal: S<3,3,3> o 0 o (64,64):(64,1))}}
  cute.copy(%t, %s, %c)
  func.return
}

// -----

!t = !cute.tma_copy<#cute_nvgpu.tma<store>, 64x64xbf16, swizzle = 128>
!c = !cute.coord_tensor<"(0,0)", "(64,64):(1@0,1@1)">
!s = !cute.memref<bf16, smem, align<128>, "S<3,3,3> o 0 o (64,64):(64,1)">
func.func @f(%t: !t, %c: !c, %s: !s) {
  // expected-error @+1 {{'cute.copy' expected shared memory aligned to 1024 bytes for '!cute.tma_copy<#cute_nvgpu.tma<store>, 64x64xbf16, swizzle = 128>', got '!cute.memref<bf16, smem, align<128>, "S<3,3,3> o 0 o (64,64):(64,1)">'}}
  cute.copy(%t, %s, %c)
  func.return
}

// -----

!t = !cute.tma_copy<#cute_nvgpu.tma<store>, 64x64xbf16, swizzle = 128>
!c = !cute.coord_tensor<"(0,0)", "(64,64):(1@0,1@1)">
!s = !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o (64,64):(64,1)">
func.func @f(%t: !t, %c: !c, %s: !s) {
  // expected-error @+1 {{'cute.copy' expected a source of bf16 for '!cute.tma_copy<#cute_nvgpu.tma<store>, 64x64xbf16, swizzle = 128>', got '!cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o (64,64):(64,1)">'}}
  cute.copy(%t, %s, %c)
  func.return
}

// -----

// A box in the middle of a row.
!t = !cute.tma_copy<#cute_nvgpu.tma<store>, 64x64xbf16, swizzle = 128>
!c = !cute.coord_tensor<"(0,0)", "(64,64):(1@0,1@1)">
!s = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=32} o (64,64):(64,1)">
func.func @f(%t: !t, %c: !c, %s: !s) {
  // expected-error @+1 {{'cute.copy' expected boxes from multiples of 128 bytes on for '!cute.tma_copy<#cute_nvgpu.tma<store>, 64x64xbf16, swizzle = 128>', got '!cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=32} o (64,64):(64,1)">'}}
  cute.copy(%t, %s, %c)
  func.return
}

// -----

!t = !cute.tma_copy<#cute_nvgpu.tma<load, multicast>, 128x64xbf16, swizzle = 128>
!c = !cute.coord_tensor<"(0,0)", "(128,64):(1@0,1@1)">
!s = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64):(64,1)">
!p = !cute.pipeline<tma, stages = 3, producers = 1, consumers = 8, bytes = 16384>
func.func @f(%t: !t, %c: !c, %s: !s, %p: !p, %i: i32) {
  // expected-error @+1 {{'cute.copy' expected a mask of CTAs for '!cute.tma_copy<#cute_nvgpu.tma<load, multicast>, 128x64xbf16, swizzle = 128>'}}
  cute.copy(%t, %c, %s) pipeline %p[%i]
  func.return
}

// -----

!t = !cute.tma_copy<#cute_nvgpu.tma<load>, 128x64xbf16, swizzle = 128>
!c = !cute.coord_tensor<"(0,0)", "(128,64):(1@0,1@1)">
!s = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64):(64,1)">
!p = !cute.pipeline<tma, stages = 3, producers = 1, consumers = 8, bytes = 16384>
func.func @f(%t: !t, %c: !c, %s: !s, %p: !p, %i: i32, %mask: i16) {
  // expected-error @+1 {{'cute.copy' expected no mask for '!cute.tma_copy<#cute_nvgpu.tma<load>, 128x64xbf16, swizzle = 128>'}}
  cute.copy(%t, %c, %s) pipeline %p[%i] multicast %mask
  func.return
}

// -----

!r = !cute.memref<f32, rmem, "4:1">
func.func @f(%r: !r, %s: !r, %mask: i16) {
  // expected-error @+1 {{'cute.copy' expected a mask with a multicast TMA load alone}}
  cute.copy(%r, %s) multicast %mask
  func.return
}

// -----

!r = !cute.memref<f32, rmem, "4:1">
func.func @f(%r: !r, %s: !r, %policy: i64) {
  // expected-error @+1 {{'cute.copy' expected a cache hint with a TMA copy alone}}
  cute.copy(%r, %s) cache_hint %policy
  func.return
}

// -----

// expected-error @+1 {{tma_copy expected elements of ui32, si32, ui64, si64, f16, bf16 for max, got f32 (PTX ISA, cp.reduce.async.bulk.tensor); nearest legal: f16}}
func.func @f(%t: !cute.tma_copy<#cute_nvgpu.tma<reduce, max>, 32x32xf32>) {
  func.return
}

// -----

func.func @f(%a: !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64 div=4},1)">) {
  // expected-error @+1 {{(expected elements of ui32, si32, ui64, si64, f16, bf16 for max, got f32 (PTX ISA, cp.reduce.async.bulk.tensor); nearest legal: f16)}}
  %t, %c = cute.make_tma_copy<#cute_nvgpu.tma<reduce, max>, tile = "[32;32]", smem = "(32,32):(32,1)"> (%a)
  func.return
}

// -----

// expected-error @+1 {{got <load, banana>; nearest legal: <load>}}
func.func @f(%t: !cute.tma_copy<#cute_nvgpu.tma<load, banana>, 128x64xbf16>) {
  func.return
}

// -----

// expected-error @+1 {{got <load, im2col> (boxes are tiles); nearest legal: <load>}}
func.func @f(%t: !cute.tma_copy<#cute_nvgpu.tma<load, im2col>, 128x64xbf16>) {
  func.return
}

// -----

// expected-error @+1 {{got <load, gather4> (boxes are tiles: rows from anywhere are copies of one row each); nearest legal: <load>}}
func.func @f(%t: !cute.tma_copy<#cute_nvgpu.tma<load, gather4>, 128x64xbf16>) {
  func.return
}

// -----

// expected-error @+1 {{got <load, multicast, multicast>; nearest legal: <load, multicast>}}
func.func @f(%t: !cute.tma_copy<#cute_nvgpu.tma<load, multicast, multicast>, 128x64xbf16>) {
  func.return
}

// -----

// expected-error @+1 {{got <reduce, add, multicast>; nearest legal: <reduce, add>}}
func.func @f(%t: !cute.tma_copy<#cute_nvgpu.tma<reduce, add, multicast>, 128x64xbf16>) {
  func.return
}

// -----

// Rows of 64 bytes, 96 bytes apart: a box each.
func.func @f(%a: !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">) {
  // expected-error @+1 {{(expected boxes that start at multiples of 128 bytes of shared memory, got one 96 bytes behind another in (2,32):(48,1); nearest legal: 128)}}
  %t, %c = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[2;32]", smem = "(2,32):(48,1)"> (%a)
  func.return
}

// -----

!tma = !cute.tma_copy<#cute_nvgpu.tma<store>, 1x32xf16>
!tile = !cute.memref<f16, smem, align<128>, "(2,32):(48,1)">
func.func @f(%t: !tma, %c: !cute.coord_tensor<"(?,?)", "(2,32):(1@0,1@1)">, %s: !tile) {
  // expected-error @+1 {{(expected boxes that start at multiples of 128 bytes of shared memory, got one 96 bytes behind another in (2,32):(48,1); nearest legal: 128)}}
  cute.copy(%t, %s, %c)
  func.return
}

// -----

!t = !cute.tma_copy<#cute_nvgpu.tma<load>, 128x64xbf16, swizzle = 128>
!c = !cute.coord_tensor<"(0,0)", "(128,64):(1@0,1@1)">
!s = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64):(64,1)">
!p = !cute.pipeline<tma, stages = 3, producers = 1, consumers = 8, bytes = 16384>
func.func @f(%t: !t, %c: !c, %s: !s, %p: !p) {
  // expected-error @+1 {{'cute.copy' expected i32, got '!cute.pipeline<tma, stages = 3, producers = 1, consumers = 8, bytes = 16384>'}}
  cute.copy(%t, %c, %s) pipeline %p[%p]
  func.return
}

// -----

!tma = !cute.tma_copy<#cute_nvgpu.tma<load>, 1x64xf16>
!tile = !cute.memref<f16, smem, align<128>, "(2,64):(0,1)">
!pipe = !cute.pipeline<tma, stages = 1, producers = 1, consumers = 1, bytes = 256>
func.func @f(%t: !tma, %c: !cute.coord_tensor<"(?,?)", "(2,64):(1@0,1@1)">, %s: !tile, %p: !pipe, %use: i32) {
  // expected-error @+1 {{'cute.copy' expected shared memory whose elements lie apart, got '!cute.memref<f16, smem, align<128>, "(2,64):(0,1)">' (elements (0, 1) lie in one place; }}
  cute.copy(%t, %c, %s) pipeline %p[%use]
  func.return
}

// -----

func.func @f(%a: !cute.memref<f16, gmem, align<16>, "(4,128):(0,1)">) {
  // A load may read one row for all of them.
  %l, %m = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[4;64]", smem = "(4,64):(64,1)"> (%a)
  // expected-error @+1 {{expected a tensor whose elements lie apart, as TMA writes it, got '!cute.memref<f16, gmem, align<16>, "(4,128):(0,1)">'; nearest legal: strides other than 0, or a copy of one of the elements that lie in one place}}
  %t, %c = cute.make_tma_copy<#cute_nvgpu.tma<store>, tile = "[4;64]", smem = "(4,64):(64,1)"> (%a)
  func.return
}
