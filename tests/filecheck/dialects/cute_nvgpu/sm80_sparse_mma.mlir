// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p cute-nvgpu-synthesize-layouts,convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix=PTX

// Structured sparsity: metadata, the sparsity selector, both forms.

// PTX-LABEL: .visible .entry mma0(
// CHECK-LABEL: func.func @mma0
func.func @mma0(%x: i32, %y: f32) attributes {gpu.kernel} {
  %a_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<2xi32>
  %a = cute_nvgpu.fragment.cast %a_words : !cute_nvgpu.fragment<2xi32> -> !cute_nvgpu.fragment<4xbf16>
  %b_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<2xi32>
  %b = cute_nvgpu.fragment.cast %b_words : !cute_nvgpu.fragment<2xi32> -> !cute_nvgpu.fragment<4xbf16>
  %c = cute_nvgpu.fragment.splat %y : f32 -> !cute_nvgpu.fragment<4xf32>
  %e_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<1xi32>
  %e = cute_nvgpu.fragment.cast %e_words : !cute_nvgpu.fragment<1xi32> -> !cute_nvgpu.fragment<16xui2>
  // CHECK: cute_nvgpu.sm80.sparse_mma %a, %b, %c, %e[3] <16x8x16, elem_type = (bf16, bf16, f32)> : (!cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<4xf32>
  // PTX: mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, %r{{[0-9]+}}, 3;
  %d = cute_nvgpu.sm80.sparse_mma %a, %b, %c, %e[3] <16x8x16, elem_type = (bf16, bf16, f32)> : (!cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// PTX-LABEL: .visible .entry mma1(
// CHECK-LABEL: func.func @mma1
func.func @mma1(%x: i32, %y: f32) attributes {gpu.kernel} {
  %a_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<2xi32>
  %a = cute_nvgpu.fragment.cast %a_words : !cute_nvgpu.fragment<2xi32> -> !cute_nvgpu.fragment<8xsi8>
  %b_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<2xi32>
  %b = cute_nvgpu.fragment.cast %b_words : !cute_nvgpu.fragment<2xi32> -> !cute_nvgpu.fragment<8xui8>
  %c = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<4xi32>
  %e_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<1xi32>
  %e = cute_nvgpu.fragment.cast %e_words : !cute_nvgpu.fragment<1xi32> -> !cute_nvgpu.fragment<16xui2>
  // CHECK: cute_nvgpu.sm80.sparse_mma %a, %b, %c, %e[1] <16x8x32, elem_type = (si8, ui8, i32), ordered_metadata, satfinite> : (!cute_nvgpu.fragment<8xsi8>, !cute_nvgpu.fragment<8xui8>, !cute_nvgpu.fragment<4xi32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<4xi32>
  // PTX: mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, %r{{[0-9]+}}, 1;
  %d = cute_nvgpu.sm80.sparse_mma %a, %b, %c, %e[1] <16x8x32, elem_type = (si8, ui8, i32), ordered_metadata, satfinite> : (!cute_nvgpu.fragment<8xsi8>, !cute_nvgpu.fragment<8xui8>, !cute_nvgpu.fragment<4xi32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<4xi32>
  func.return
}

// PTX-LABEL: .visible .entry mma2(
// CHECK-LABEL: func.func @mma2
func.func @mma2(%x: i32, %y: f32) attributes {gpu.kernel} {
  %a_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<4xi32>
  %a = cute_nvgpu.fragment.cast %a_words : !cute_nvgpu.fragment<4xi32> -> !cute_nvgpu.fragment<4xtf32>
  %b_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<4xi32>
  %b = cute_nvgpu.fragment.cast %b_words : !cute_nvgpu.fragment<4xi32> -> !cute_nvgpu.fragment<4xtf32>
  %c = cute_nvgpu.fragment.splat %y : f32 -> !cute_nvgpu.fragment<4xf32>
  %e_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<1xi32>
  %e = cute_nvgpu.fragment.cast %e_words : !cute_nvgpu.fragment<1xi32> -> !cute_nvgpu.fragment<16xui2>
  // CHECK: cute_nvgpu.sm80.sparse_mma %a, %b, %c, %e[0] <16x8x16, elem_type = (tf32, tf32, f32), ordered_metadata> : (!cute_nvgpu.fragment<4xtf32>, !cute_nvgpu.fragment<4xtf32>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<4xf32>
  // PTX: mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, %r{{[0-9]+}}, 0;
  %d = cute_nvgpu.sm80.sparse_mma %a, %b, %c, %e[0] <16x8x16, elem_type = (tf32, tf32, f32), ordered_metadata> : (!cute_nvgpu.fragment<4xtf32>, !cute_nvgpu.fragment<4xtf32>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}
