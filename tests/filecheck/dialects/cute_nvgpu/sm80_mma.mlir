// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!a = !cute_nvgpu.fragment<8xbf16>
!b = !cute_nvgpu.fragment<4xbf16>
!c = !cute_nvgpu.fragment<4xf32>

// CHECK-LABEL: func.func @mma
// CHECK-NEXT:    %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!cute_nvgpu.fragment<8xbf16>, !cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>
func.func @mma(%a: !a, %b: !b, %c: !c) {
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !c
  func.return
}

// The element type of d may be said too, and attributes are kept.
// CHECK-LABEL: func.func @four_types
// CHECK-NEXT:    %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> {name = "x"} :
func.func @four_types(%a: !a, %b: !b, %c: !c) {
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32, f32)> {name = "x"} : (!a, !b, !c) -> !c
  func.return
}

// CHECK-LABEL: func.func @f16
// CHECK-NEXT:    <16x8x8, elem_type = (f16, f16, f16)> : (!cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<2xf16>, !cute_nvgpu.fragment<4xf16>) -> !cute_nvgpu.fragment<4xf16>
func.func @f16(%a: !cute_nvgpu.fragment<4xf16>, %b: !cute_nvgpu.fragment<2xf16>, %c: !cute_nvgpu.fragment<4xf16>) {
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x8, elem_type = (f16, f16, f16)> : (!cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<2xf16>, !cute_nvgpu.fragment<4xf16>) -> !cute_nvgpu.fragment<4xf16>
  func.return
}

// CHECK-LABEL: func.func @tf32
// CHECK-NEXT:    <16x8x4, elem_type = (tf32, tf32, f32)> : (!cute_nvgpu.fragment<2xtf32>, !cute_nvgpu.fragment<1xtf32>, !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>
func.func @tf32(%a: !cute_nvgpu.fragment<2xtf32>, %b: !cute_nvgpu.fragment<1xtf32>, %c: !c) {
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x4, elem_type = (tf32, tf32, f32)> : (!cute_nvgpu.fragment<2xtf32>, !cute_nvgpu.fragment<1xtf32>, !c) -> !c
  func.return
}

// CHECK-LABEL: func.func @f64
// CHECK-NEXT:    <8x8x4, elem_type = (f64, f64, f64), rounding = rz> :
func.func @f64(%a: !cute_nvgpu.fragment<1xf64>, %b: !cute_nvgpu.fragment<1xf64>, %c: !cute_nvgpu.fragment<2xf64>) {
  %d = cute_nvgpu.sm80.mma %a, %b, %c <8x8x4, elem_type = (f64, f64, f64), rounding = rz> : (!cute_nvgpu.fragment<1xf64>, !cute_nvgpu.fragment<1xf64>, !cute_nvgpu.fragment<2xf64>) -> !cute_nvgpu.fragment<2xf64>
  func.return
}

// CHECK-LABEL: func.func @integers
// CHECK-NEXT:    <16x8x32, elem_type = (si8, ui8, i32), satfinite> : (!cute_nvgpu.fragment<16xsi8>, !cute_nvgpu.fragment<8xui8>, !cute_nvgpu.fragment<4xi32>) -> !cute_nvgpu.fragment<4xi32>
func.func @integers(%a: !cute_nvgpu.fragment<16xsi8>, %b: !cute_nvgpu.fragment<8xui8>, %c: !cute_nvgpu.fragment<4xi32>) {
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x32, elem_type = (si8, ui8, i32), satfinite> : (!cute_nvgpu.fragment<16xsi8>, !cute_nvgpu.fragment<8xui8>, !cute_nvgpu.fragment<4xi32>) -> !cute_nvgpu.fragment<4xi32>
  func.return
}

// A declared layout may be any spelling of the canonical one.
// CHECK-LABEL: func.func @layouts
// CHECK-NEXT:    (!cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(16,8,128))">, !cute_nvgpu.fragment<4xbf16, "((4,8),(2,2)):((16,1),(8,64))">, !cute_nvgpu.fragment<4xf32, "((2,2,8),(2,2)):((32,64,1),(16,8))">) -> !cute_nvgpu.fragment<4xf32>
func.func @layouts(%a: !cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(16,8,128))">, %b: !cute_nvgpu.fragment<4xbf16, "((4,8),(2,2)):((16,1),(8,64))">, %c: !cute_nvgpu.fragment<4xf32, "((2,2,8),(2,2)):((32,64,1),(16,8))">) {
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(16,8,128))">, !cute_nvgpu.fragment<4xbf16, "((4,8),(2,2)):((16,1),(8,64))">, !cute_nvgpu.fragment<4xf32, "((2,2,8),(2,2)):((32,64,1),(16,8))">) -> !c
  func.return
}

// CHECK-LABEL: func.func @atom_type(%x: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32)>)
func.func @atom_type(%x: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32, f32)>) {
  func.return
}
