// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>, %e: !cute_nvgpu.fragment<16xui2>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.sparse_mma' wgmma.mma_async.sp.sync.aligned.m64n32k32.f32.bf16.bf16 expected a sparsity selector of 0, 1, got 2; nearest legal: 1}}
  %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[2] <64x32x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, !cute_nvgpu.fragment<16xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>, %e: !cute_nvgpu.fragment<16xui2>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.sparse_mma' wgmma.mma_async.sp.sync.aligned.m64n32k32.f32.bf16.bf16 expected a sparsity selector of 0, 1, got -1; nearest legal: 0}}
  %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[-1] <64x32x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, !cute_nvgpu.fragment<16xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x32xf8E4M3FN, "(64,(16,2)):(16,(1,1024))">, %b: !cute_nvgpu.smem_desc_view<32x64xf8E4M3FN, "(32,(16,4)):(16,(1,512))">, %c: !cute_nvgpu.fragment<16xf32>, %e: !cute_nvgpu.fragment<16xui2>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.sparse_mma' wgmma.mma_async.sp.sync.aligned.m64n32k64.f32.e4m3.e4m3 expected a sparsity selector of 0, got 1; nearest legal: 0}}
  %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[1] <64x32x64, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x32xf8E4M3FN, "(64,(16,2)):(16,(1,1024))">, !cute_nvgpu.smem_desc_view<32x64xf8E4M3FN, "(32,(16,4)):(16,(1,512))">, !cute_nvgpu.fragment<16xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>, %e: !cute_nvgpu.fragment<8xui4>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.sparse_mma' operand E expected element type ui2, got ui4 (wgmma.mma_async.sp.sync.aligned.m64n32k32.f32.bf16.bf16); nearest legal: !cute_nvgpu.fragment<16xui2>}}
  %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[0] <64x32x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, !cute_nvgpu.fragment<16xf32>, !cute_nvgpu.fragment<8xui4>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>, %e: !cute_nvgpu.fragment<32xui2>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.sparse_mma' operand E expected 16 elements a thread, got 32 (wgmma.mma_async.sp.sync.aligned.m64n32k32.f32.bf16.bf16); nearest legal: !cute_nvgpu.fragment<16xui2>}}
  %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[0] <64x32x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, !cute_nvgpu.fragment<16xf32>, !cute_nvgpu.fragment<32xui2>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>, %e: i32) {
  // expected-error @+1 {{i32 should be of base attribute cute_nvgpu.fragment}}
  %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[0] <64x32x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, !cute_nvgpu.fragment<16xf32>, i32) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>, %e: !cute_nvgpu.fragment<16xui2, "((2,2,8,4),(8,2)):((8,512,1,16),(64,8))">) {
  // expected-error @+1 {{'cute_nvgpu.sm90.sparse_mma' operand E expected layout ((2,2,8,4),(8,2)):((512,0,1,16),(64,8)), got ((2,2,8,4),(8,2)):((8,512,1,16),(64,8)) (wgmma.mma_async.sp.sync.aligned.m64n32k32.f32.bf16.bf16, PTX ISA 9.7.15.6.3)}}
  %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[0] <64x32x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, !cute_nvgpu.fragment<16xf32>, !cute_nvgpu.fragment<16xui2, "((2,2,8,4),(8,2)):((8,512,1,16),(64,8))">) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x32xbf16, "S<3,3,3> o 0 o (64,32):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>, %e: !cute_nvgpu.fragment<16xui2>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.sparse_mma' operand A expected 64x16xbf16, got 64x32xbf16 (wgmma.mma_async.sp.sync.aligned.m64n32k32.f32.bf16.bf16); nearest legal: !cute_nvgpu.smem_desc_view<64x16xbf16, ...>}}
  %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[0] <64x32x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x32xbf16, "S<3,3,3> o 0 o (64,32):(64,1)">, !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, !cute_nvgpu.fragment<16xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>, %e: !cute_nvgpu.fragment<16xui2>) {
  // expected-error @+1 {{'sm90.sparse_mma' expected a shape 64xNx32 for (bf16, bf16, f32), N 8 to 256 in steps of 8, got 64x32x16; nearest legal: 64x32x32 (PTX ISA 9.7.15.2)}}
  %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[0] <64x32x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, !cute_nvgpu.fragment<16xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, %c: !cute_nvgpu.fragment<16xf32>, %e: !cute_nvgpu.fragment<16xui2>) {
  // expected-error @+1 {{'sm90.sparse_mma' expected element types (a, b, d) that wgmma has, got (b1, b1, s32); nearest legal: (s8, s8, s32)}}
  %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[0] <64x32x512, elem_type = (ui1, ui1, i32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">, !cute_nvgpu.smem_desc_view<32x32xbf16, "S<3,3,3> o 0 o (32,32):(64,1)">, !cute_nvgpu.fragment<16xf32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<16xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.smem_desc_view<64x32xsi8, "(64,(16,2)):(16,(1,1024))">, %b: !cute_nvgpu.smem_desc_view<32x64xui8, "(32,(16,4)):(16,(1,512))">, %c: !cute_nvgpu.fragment<16xi32>, %e: !cute_nvgpu.fragment<16xui2>) {
  // expected-error @+1 {{'cute_nvgpu.sm90.sparse_mma' expected no negate_a or negate_b, got one (only floating-point multiplicands are negated; wgmma.mma_async.sp.sync.aligned.m64n32k64.s32.s8.u8, PTX ISA 9.7.15.6.3)}}
  %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[0] negate_b <64x32x64, elem_type = (si8, ui8, i32), ab_major = (k, k), frag_kind = ss> : (!cute_nvgpu.smem_desc_view<64x32xsi8, "(64,(16,2)):(16,(1,1024))">, !cute_nvgpu.smem_desc_view<32x64xui8, "(32,(16,4)):(16,(1,512))">, !cute_nvgpu.fragment<16xi32>, !cute_nvgpu.fragment<16xui2>) -> !cute_nvgpu.fragment<16xi32>
  func.return
}
