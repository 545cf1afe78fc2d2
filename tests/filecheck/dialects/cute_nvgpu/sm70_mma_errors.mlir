// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'sm70.mma' expected element types (a, b, c, d) of the lattice, got (f16, f16, f32, f16); nearest legal: (f16, f16, f16, f16)}}
func.func @f(%x: !cute_nvgpu.sm70.mma<8x8x4, elem_type = (f16, f16, f32, f16)>)

// -----

// expected-error @+1 {{expected layouts row.row or row.col or col.row or col.col, got row.diagonal}}
func.func @f(%x: !cute_nvgpu.sm70.mma<8x8x4, elem_type = (f16, f16, f32), layouts = (row, diagonal)>)

// -----

func.func @f(%a: !cute_nvgpu.fragment<4xf16>, %c: !cute_nvgpu.fragment<8xf32>) {
  // expected-error @+1 {{operand C expected element type f16, got f32}}
  %d = cute_nvgpu.sm70.mma %a, %a, %c <8x8x4, elem_type = (f16, f16, f16, f32), layouts = (row, col)> : (!cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}
