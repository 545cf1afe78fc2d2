// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// The atom.
func.func @f(%d: memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma_ws' expected M of 32 or 64 or 128 and N of 64, 128, 256 for M = 32 (cta_group 1, (f16, f16, f32)), got 32x32x16; nearest legal: 32x64x16 (PTX ISA 9.7.16.2.1)}}
  cute_nvgpu.sm100.mma_ws %d, %a, %b <32x32x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma_ws' expected M of 32 or 64 or 128 and N of 64, 128, 256 for M = 128 (cta_group 1, (f16, f16, f32)), got 256x64x16; nearest legal: 128x64x16 (PTX ISA 9.7.16.2.1)}}
  cute_nvgpu.sm100.mma_ws %d, %a, %b <256x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma_ws' expected cta_group 1, got 2; nearest legal: 1}}
  cute_nvgpu.sm100.mma_ws %d, %a, %b <32x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss, cta_group = 2> : memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma_ws' expected M of 128 and N of 64, 128, 256 for M = 128 (cta_group 1, (f16, f16, f32), A in tensor memory), got 32x64x16; nearest legal: 128x64x16 (PTX ISA 9.7.16.2.1)}}
  cute_nvgpu.sm100.mma_ws %d, %a, %b <32x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ts> : memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

// The accumulator is in four quarters of the lanes.
func.func @f(%d: memref<32x64xf32, !cute.layout<"(32,64):(65536,1)">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_ws' operand D expected layout (32,(16,4)):(65536,(1,2097152)), got memref<32x64xf32, !cute.layout<"(32,64):(65536,1)">, #cute<space tmem>> (tcgen05.mma.ws.cta_group::1.kind::f16, M = 32, data path G); nearest legal: memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>}}
  cute_nvgpu.sm100.mma_ws %d, %a, %b <32x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<32x64xf32, !cute.layout<"(32,64):(65536,1)">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

// Its collector is B's.
func.func @f(%d: memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_ws' expected a collector of b0|b1|b2|b3::fill|use|lastuse|discard, got a::fill in 'tcgen05.mma.ws.cta_group::1.kind::f16.collector::a::fill'; nearest legal: b0::fill}}
  cute_nvgpu.sm100.mma_ws %d, %a, %b collector "a::fill" <32x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

func.func @f(%d: memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'cute_nvgpu.sm100.mma_ws' expected a collector of b0|b1|b2|b3::fill|use|lastuse|discard, got b4::fill in 'tcgen05.mma.ws.cta_group::1.kind::f16.collector::b4::fill'; nearest legal: b0::fill}}
  cute_nvgpu.sm100.mma_ws %d, %a, %b collector "b4::fill" <32x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x16xf16, tcgen05, "S<3,3,3> o 0 o (64,16):(64,1)">
  func.return
}

// -----

// Sparse ones have fewer N.
func.func @f(%d: memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, %a: !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, %b: !cute_nvgpu.smem_desc_view<64x32xf16, tcgen05, "S<3,3,3> o 0 o (64,32):(64,1)">, %e: memref<32x16xui2, !cute.layout<"((8,2,2),(8,2)):((1048576,8,16777216),(1,8388608))">, #cute<space tmem>>, %p: i1, %m: i32, %z: i64) {
  // expected-error @+1 {{'sm100.mma_ws_sp' expected M of 32 or 64 or 128 and N of 64, 128 for M = 32 (cta_group 1, (f16, f16, f32)), got 32x256x32; nearest legal: 32x128x32 (PTX ISA 9.7.16.2.1)}}
  cute_nvgpu.sm100.mma_ws_sp %d, %a, %b, %e[0] <32x256x32, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : memref<32x64xf32, !cute.layout<"(32,(16,4)):(65536,(1,2097152))">, #cute<space tmem>>, !cute_nvgpu.smem_desc_view<32x16xf16, tcgen05, "S<3,3,3> o 0 o (32,16):(64,1)">, !cute_nvgpu.smem_desc_view<64x32xf16, tcgen05, "S<3,3,3> o 0 o (64,32):(64,1)">, memref<32x16xui2, !cute.layout<"((8,2,2),(8,2)):((1048576,8,16777216),(1,8388608))">, #cute<space tmem>>
  func.return
}
