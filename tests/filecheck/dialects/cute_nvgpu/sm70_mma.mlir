// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p cute-nvgpu-synthesize-layouts,convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix=PTX

// m8n8k4 on f16: all layouts, and c and d of different types.

// PTX-LABEL: .visible .entry mma0(
// CHECK-LABEL: func.func @mma0
func.func @mma0(%x: i32, %y: f32) attributes {gpu.kernel} {
  %a_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<2xi32>
  %a = cute_nvgpu.fragment.cast %a_words : !cute_nvgpu.fragment<2xi32> -> !cute_nvgpu.fragment<4xf16>
  %b_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<2xi32>
  %b = cute_nvgpu.fragment.cast %b_words : !cute_nvgpu.fragment<2xi32> -> !cute_nvgpu.fragment<4xf16>
  %c_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<4xi32>
  %c = cute_nvgpu.fragment.cast %c_words : !cute_nvgpu.fragment<4xi32> -> !cute_nvgpu.fragment<8xf16>
  // CHECK: cute_nvgpu.sm70.mma %a, %b, %c <8x8x4, elem_type = (f16, f16, f16, f32), layouts = (col, row)> : (!cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<8xf16>) -> !cute_nvgpu.fragment<8xf32>
  // PTX: mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16 {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}};
  %d = cute_nvgpu.sm70.mma %a, %b, %c <8x8x4, elem_type = (f16, f16, f16, f32), layouts = (col, row)> : (!cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<8xf16>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}

// PTX-LABEL: .visible .entry mma1(
// CHECK-LABEL: func.func @mma1
func.func @mma1(%x: i32, %y: f32) attributes {gpu.kernel} {
  %a_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<2xi32>
  %a = cute_nvgpu.fragment.cast %a_words : !cute_nvgpu.fragment<2xi32> -> !cute_nvgpu.fragment<4xf16>
  %b_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<2xi32>
  %b = cute_nvgpu.fragment.cast %b_words : !cute_nvgpu.fragment<2xi32> -> !cute_nvgpu.fragment<4xf16>
  %c = cute_nvgpu.fragment.splat %y : f32 -> !cute_nvgpu.fragment<8xf32>
  // CHECK: cute_nvgpu.sm70.mma %a, %b, %c <8x8x4, elem_type = (f16, f16, f32), layouts = (row, row)> : (!cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  // PTX: mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32 {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}};
  %d = cute_nvgpu.sm70.mma %a, %b, %c <8x8x4, elem_type = (f16, f16, f32), layouts = (row, row)> : (!cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<8xf32>) -> !cute_nvgpu.fragment<8xf32>
  func.return
}
