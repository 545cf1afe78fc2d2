// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p cute-nvgpu-synthesize-layouts,convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix=PTX

// Structured sparsity on 8-bit floats.

// PTX-LABEL: .visible .entry mma0(
// CHECK-LABEL: func.func @mma0
func.func @mma0(%x: i32, %y: f32) attributes {gpu.kernel} {
  %a_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<4xi32>
  %a = cute_nvgpu.fragment.cast %a_words : !cute_nvgpu.fragment<4xi32> -> !cute_nvgpu.fragment<16xf8E4M3FN>
  %b_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<4xi32>
  %b = cute_nvgpu.fragment.cast %b_words : !cute_nvgpu.fragment<4xi32> -> !cute_nvgpu.fragment<16xf8E5M2>
  %c = cute_nvgpu.fragment.splat %y : f32 -> !cute_nvgpu.fragment<4xf32>
  %e_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<1xi32>
  %e = cute_nvgpu.fragment.cast %e_words : !cute_nvgpu.fragment<1xi32> -> !cute_nvgpu.fragment<16xui2>
  // CHECK: cute_nvgpu.sm89.sparse_mma %a, %b, %c, %e[0] <16x8x64, elem_type = (f8E4M3FN, f8E5M2, f32), ordered_metadata> : (!cute_nvgpu.fragment<16xf8E4M3FN>, !cute_nvgpu.fragment<16xf8E5M2>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<4xf32>
  // PTX: mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, %r{{[0-9]+}}, 0;
  %d = cute_nvgpu.sm89.sparse_mma %a, %b, %c, %e[0] <16x8x64, elem_type = (f8E4M3FN, f8E5M2, f32), ordered_metadata> : (!cute_nvgpu.fragment<16xf8E4M3FN>, !cute_nvgpu.fragment<16xf8E5M2>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}
