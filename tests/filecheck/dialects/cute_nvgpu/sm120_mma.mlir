// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p cute-nvgpu-synthesize-layouts,convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix=PTX

// 8-, 6- and 4-bit floats: packed and unpacked, sparse, block-scaled.

// PTX-LABEL: .visible .entry mma0(
// CHECK-LABEL: func.func @mma0
func.func @mma0(%x: i32, %y: f32) attributes {gpu.kernel} {
  %a_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<4xi32>
  %a = cute_nvgpu.fragment.cast %a_words : !cute_nvgpu.fragment<4xi32> -> !cute_nvgpu.fragment<16xf6E3M2FN>
  %b_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<2xi32>
  %b = cute_nvgpu.fragment.cast %b_words : !cute_nvgpu.fragment<2xi32> -> !cute_nvgpu.fragment<8xf4E2M1FN, unpacked>
  %c = cute_nvgpu.fragment.splat %y : f32 -> !cute_nvgpu.fragment<4xf32>
  // CHECK: cute_nvgpu.SM120.mma %a, %b, %c <16x8x32, elem_type = (f6E3M2FN, f4E2M1FN, f32), kind = f8f6f4> : (!cute_nvgpu.fragment<16xf6E3M2FN>, !cute_nvgpu.fragment<8xf4E2M1FN, unpacked>, !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>
  // PTX: mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32 {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}};
  %d = cute_nvgpu.SM120.mma %a, %b, %c <16x8x32, elem_type = (f6E3M2FN, f4E2M1FN, f32), kind = f8f6f4> : (!cute_nvgpu.fragment<16xf6E3M2FN>, !cute_nvgpu.fragment<8xf4E2M1FN, unpacked>, !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// PTX-LABEL: .visible .entry mma1(
// CHECK-LABEL: func.func @mma1
func.func @mma1(%x: i32, %y: f32) attributes {gpu.kernel} {
  %a_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<4xi32>
  %a = cute_nvgpu.fragment.cast %a_words : !cute_nvgpu.fragment<4xi32> -> !cute_nvgpu.fragment<16xf6E2M3FN>
  %b_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<4xi32>
  %b = cute_nvgpu.fragment.cast %b_words : !cute_nvgpu.fragment<4xi32> -> !cute_nvgpu.fragment<16xf8E5M2>
  %c = cute_nvgpu.fragment.splat %y : f32 -> !cute_nvgpu.fragment<4xf32>
  %e_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<1xi32>
  %e = cute_nvgpu.fragment.cast %e_words : !cute_nvgpu.fragment<1xi32> -> !cute_nvgpu.fragment<16xui2>
  // CHECK: cute_nvgpu.SM120.mma_sp %a, %b, %c, %e[0] <16x8x64, elem_type = (f6E2M3FN, f8E5M2, f32), kind = f8f6f4, ordered_metadata> : (!cute_nvgpu.fragment<16xf6E2M3FN>, !cute_nvgpu.fragment<16xf8E5M2>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<4xf32>
  // PTX: mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m3.e5m2.f32 {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, %r{{[0-9]+}}, 0;
  %d = cute_nvgpu.SM120.mma_sp %a, %b, %c, %e[0] <16x8x64, elem_type = (f6E2M3FN, f8E5M2, f32), kind = f8f6f4, ordered_metadata> : (!cute_nvgpu.fragment<16xf6E2M3FN>, !cute_nvgpu.fragment<16xf8E5M2>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// PTX-LABEL: .visible .entry mma2(
// CHECK-LABEL: func.func @mma2
func.func @mma2(%x: i32, %y: f32) attributes {gpu.kernel} {
  %a_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<4xi32>
  %a = cute_nvgpu.fragment.cast %a_words : !cute_nvgpu.fragment<4xi32> -> !cute_nvgpu.fragment<32xf4E2M1FN>
  %b_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<2xi32>
  %b = cute_nvgpu.fragment.cast %b_words : !cute_nvgpu.fragment<2xi32> -> !cute_nvgpu.fragment<16xf4E2M1FN>
  %c = cute_nvgpu.fragment.splat %y : f32 -> !cute_nvgpu.fragment<4xf32>
  %sfa_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<1xi32>
  %sfa = cute_nvgpu.fragment.cast %sfa_words : !cute_nvgpu.fragment<1xi32> -> !cute_nvgpu.fragment<4xf8E4M3FN>
  %sfb_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<1xi32>
  %sfb = cute_nvgpu.fragment.cast %sfb_words : !cute_nvgpu.fragment<1xi32> -> !cute_nvgpu.fragment<4xf8E4M3FN>
  // CHECK: cute_nvgpu.SM120.mma_bs %a, %b, %c, %sfa[0, 1], %sfb[0, 3] <16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4nvf4, scale_vec = 4, scale_type = f8E4M3FN> : (!cute_nvgpu.fragment<32xf4E2M1FN>, !cute_nvgpu.fragment<16xf4E2M1FN>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<4xf8E4M3FN>, !cute_nvgpu.fragment<4xf8E4M3FN>) -> !cute_nvgpu.fragment<4xf32>
  // PTX: mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, %r{{[0-9]+}}, {{[{]}}0, 1{{[}]}}, %r{{[0-9]+}}, {{[{]}}0, 3{{[}]}};
  %d = cute_nvgpu.SM120.mma_bs %a, %b, %c, %sfa[0, 1], %sfb[0, 3] <16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4nvf4, scale_vec = 4, scale_type = f8E4M3FN> : (!cute_nvgpu.fragment<32xf4E2M1FN>, !cute_nvgpu.fragment<16xf4E2M1FN>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<4xf8E4M3FN>, !cute_nvgpu.fragment<4xf8E4M3FN>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// PTX-LABEL: .visible .entry mma3(
// CHECK-LABEL: func.func @mma3
func.func @mma3(%x: i32, %y: f32) attributes {gpu.kernel} {
  %a_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<4xi32>
  %a = cute_nvgpu.fragment.cast %a_words : !cute_nvgpu.fragment<4xi32> -> !cute_nvgpu.fragment<32xf4E2M1FN>
  %b_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<4xi32>
  %b = cute_nvgpu.fragment.cast %b_words : !cute_nvgpu.fragment<4xi32> -> !cute_nvgpu.fragment<32xf4E2M1FN>
  %c = cute_nvgpu.fragment.splat %y : f32 -> !cute_nvgpu.fragment<4xf32>
  %e_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<1xi32>
  %e = cute_nvgpu.fragment.cast %e_words : !cute_nvgpu.fragment<1xi32> -> !cute_nvgpu.fragment<16xui2>
  %sfa_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<1xi32>
  %sfa = cute_nvgpu.fragment.cast %sfa_words : !cute_nvgpu.fragment<1xi32> -> !cute_nvgpu.fragment<4xf8E8M0FNU>
  %sfb_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<1xi32>
  %sfb = cute_nvgpu.fragment.cast %sfb_words : !cute_nvgpu.fragment<1xi32> -> !cute_nvgpu.fragment<4xf8E8M0FNU>
  // CHECK: cute_nvgpu.SM120.mma_bs_sp %a, %b, %c, %e[0], %sfa[2, 1], %sfb[2, 0] <16x8x128, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU, ordered_metadata> : (!cute_nvgpu.fragment<32xf4E2M1FN>, !cute_nvgpu.fragment<32xf4E2M1FN>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>, !cute_nvgpu.fragment<4xf8E8M0FNU>, !cute_nvgpu.fragment<4xf8E8M0FNU>) -> !cute_nvgpu.fragment<4xf32>
  // PTX: mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}{{[}]}}, {{[{]}}%f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}{{[}]}}, %r{{[0-9]+}}, 0, %r{{[0-9]+}}, {{[{]}}2, 1{{[}]}}, %r{{[0-9]+}}, {{[{]}}2, 0{{[}]}};
  %d = cute_nvgpu.SM120.mma_bs_sp %a, %b, %c, %e[0], %sfa[2, 1], %sfb[2, 0] <16x8x128, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU, ordered_metadata> : (!cute_nvgpu.fragment<32xf4E2M1FN>, !cute_nvgpu.fragment<32xf4E2M1FN>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>, !cute_nvgpu.fragment<4xf8E8M0FNU>, !cute_nvgpu.fragment<4xf8E8M0FNU>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// PTX-LABEL: .visible .entry mma4(
// CHECK-LABEL: func.func @mma4
func.func @mma4(%x: i32, %y: f32, %i: i16, %j: i16) attributes {gpu.kernel} {
  %a_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<4xi32>
  %a = cute_nvgpu.fragment.cast %a_words : !cute_nvgpu.fragment<4xi32> -> !cute_nvgpu.fragment<16xf8E4M3FN>
  %b_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<2xi32>
  %b = cute_nvgpu.fragment.cast %b_words : !cute_nvgpu.fragment<2xi32> -> !cute_nvgpu.fragment<8xf8E4M3FN>
  %c = cute_nvgpu.fragment.splat %y : f32 -> !cute_nvgpu.fragment<4xf32>
  %s_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<1xi32>
  %sfa = cute_nvgpu.fragment.cast %s_words : !cute_nvgpu.fragment<1xi32> -> !cute_nvgpu.fragment<4xf8E8M0FNU>
  %t_words = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<1xi32>
  %sfb = cute_nvgpu.fragment.cast %t_words : !cute_nvgpu.fragment<1xi32> -> !cute_nvgpu.fragment<4xf8E8M0FNU>
  // CHECK: cute_nvgpu.SM120.mma_bs %a, %b, %c, %sfa, %sfb ids(%i, %j, %j, %i) <16x8x32
  // PTX: mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 {{.*}}, %r{{[0-9]+}}, {{[{]}}%h{{[0-9]+}}, %h{{[0-9]+}}{{[}]}}, %r{{[0-9]+}}, {{[{]}}%h{{[0-9]+}}, %h{{[0-9]+}}{{[}]}};
  %d = cute_nvgpu.SM120.mma_bs %a, %b, %c, %sfa, %sfb ids(%i, %j, %j, %i) <16x8x32, elem_type = (f8E4M3FN, f8E4M3FN, f32), kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : (!cute_nvgpu.fragment<16xf8E4M3FN>, !cute_nvgpu.fragment<8xf8E4M3FN>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<4xf8E8M0FNU>, !cute_nvgpu.fragment<4xf8E8M0FNU>, i16, i16, i16, i16) -> !cute_nvgpu.fragment<4xf32>
  func.return
}
