// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'sm89.sparse_mma' expected a shape that (e4m3, e4m3, f32, f32) has, got 16x8x32; nearest legal: 16x8x64}}
func.func @f(%x: !cute_nvgpu.sm89.sparse_mma<16x8x32, elem_type = (f8E4M3FN, f8E4M3FN, f32)>)

// -----

// expected-error @+1 {{'sm89.sparse_mma' expected element types (a, b, c, d) of the lattice, got (e4m3, e4m3, f16, f16); nearest legal: }}
func.func @f(%x: !cute_nvgpu.sm89.sparse_mma<16x8x64, elem_type = (f8E4M3FN, f8E4M3FN, f16)>)
