// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

!a = !cute_nvgpu.fragment<8xbf16>
!b = !cute_nvgpu.fragment<4xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @memref_for_a(%m: memref<16x16xbf16, #cute<space smem>>, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute_nvgpu.sm80.mma' operand A expected a register fragment, got memref<16x16xbf16, #cute<space smem>> (mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 takes registers); nearest legal: !cute_nvgpu.fragment<8xbf16>}}
  %d = cute_nvgpu.sm80.mma %m, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (memref<16x16xbf16, #cute<space smem>>, !b, !c) -> !c
  func.return
}

// -----

!a = !cute_nvgpu.fragment<8xbf16>
!b = !cute_nvgpu.fragment<4xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @scalar_result(%a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute_nvgpu.sm80.mma' result D expected a register fragment, got f32}}
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> f32
  func.return
}

// -----

!a = !cute_nvgpu.fragment<8xbf16>
!b = !cute_nvgpu.fragment<4xf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @type_of_b(%a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute_nvgpu.sm80.mma' operand B expected element type bf16, got f16 (mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32); nearest legal: !cute_nvgpu.fragment<4xbf16>}}
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !c
  func.return
}

// -----

!a = !cute_nvgpu.fragment<4xbf16>
!b = !cute_nvgpu.fragment<4xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @count_of_a(%a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute_nvgpu.sm80.mma' operand A expected 8 elements a thread, got 4 (mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32); nearest legal: !cute_nvgpu.fragment<8xbf16>}}
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !c
  func.return
}

// -----

!a = !cute_nvgpu.fragment<8xbf16>
!b = !cute_nvgpu.fragment<4xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @count_of_d(%a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute_nvgpu.sm80.mma' result D expected 4 elements a thread, got 2}}
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !cute_nvgpu.fragment<2xf32>
  func.return
}

// -----

!a = !cute_nvgpu.fragment<8xbf16>
!b = !cute_nvgpu.fragment<4xbf16>
!c = !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((1,32),(16,8))">
func.func @layout_of_c(%a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute_nvgpu.sm80.mma' operand C expected layout ((4,8),(2,2)):((32,1),(16,8)), got ((4,8),(2,2)):((1,32),(16,8)) (mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32, PTX ISA 9.7.14.5.8)}}
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

// A layout that differs only where a register's halves swap is another layout.
!a = !cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(8,16,128))">
!b = !cute_nvgpu.fragment<4xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @layout_of_a(%a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'cute_nvgpu.sm80.mma' operand A expected layout ((4,8),(2,2,2)):((32,1),(16,8,128)), got ((4,8),(2,2,2)):((32,1),(8,16,128))}}
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !c
  func.return
}

// Atoms that do not parse.

// -----

// expected-error @+1 {{'sm80.mma' expected a shape that (bf16, bf16, f32, f32) has, got 16x8x32; nearest legal: 16x8x16, 16x8x8}}
func.func @f(%x: !cute_nvgpu.sm80.mma<16x8x32, elem_type = (bf16, bf16, f32)>)

// -----

// expected-error @+1 {{'sm80.mma' expected element types (a, b, c, d) of the lattice, got (bf16, f16, f32, f32); nearest legal: (bf16, bf16, f32, f32)}}
func.func @f(%x: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, f16, f32)>)

// -----

// ptxas takes only equal types of c and d.
// expected-error @+1 {{'sm80.mma' expected element types (a, b, c, d) of the lattice, got (f16, f16, f16, f32); nearest legal: (f16, f16, f16, f16)}}
func.func @f(%x: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f16, f32)>)

// -----

// expected-error @+1 {{expected an element type of f16, bf16, tf32, f32, f64,}}
func.func @f(%x: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (i8, i8, i32)>)

// -----

// expected-error @+1 {{expected MxNxK, elem_type = (a, b, acc) or (a, b, c, d)}}
func.func @f(%x: !cute_nvgpu.sm80.mma<16x8, elem_type = (bf16, bf16, f32)>)

// -----

// expected-error @+1 {{expected MxNxK, elem_type = (a, b, acc) or (a, b, c, d)}}
func.func @f(%x: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, f32)>)

// -----

// expected-error @+1 {{'sm80.mma' expected no satfinite for (bf16, bf16, f32, f32), got satfinite (only integer accumulators saturate)}}
func.func @f(%x: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32), satfinite>)

// -----

// expected-error @+1 {{'sm80.mma' expected a rounding modifier that (bf16, bf16, f32, f32) has, got rz; legal: none}}
func.func @f(%x: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32), rounding = rz>)

// -----

// expected-error @+1 {{'sm80.mma' expected a rounding modifier that (f64, f64, f64, f64) has, got rna; legal: rn, rz, rm, rp}}
func.func @f(%x: !cute_nvgpu.sm80.mma<8x8x4, elem_type = (f64, f64, f64), rounding = rna>)

// -----

// expected-error @+1 {{'sm80.mma' expected no satfinite for (f64, f64, f64, f64), got satfinite}}
func.func @f(%x: !cute_nvgpu.sm80.mma<8x8x4, elem_type = (f64, f64, f64), satfinite>)

// -----

// expected-error @+1 {{'sm80.mma' expected a rounding modifier that (s8, s8, s32, s32) has, got rn; legal: none}}
func.func @f(%x: !cute_nvgpu.sm80.mma<16x8x32, elem_type = (si8, si8, i32), rounding = rn>)

// -----

// expected-error @+1 {{expected a modifier of layouts, kind, scale_vec, scale_type, rounding, bit_op, ordered_metadata, satfinite, got saturate}}
func.func @f(%x: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32), saturate>)

// -----

// expected-error @+1 {{Expected 'elem_type'}}
func.func @f(%x: !cute_nvgpu.sm80.mma<16x8x16, types = (bf16, bf16, f32)>)
