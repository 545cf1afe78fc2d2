// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: !cute_nvgpu.fragment<16xf6E3M2FN>, %b: !cute_nvgpu.fragment<8xf4E2M1FN>, %c: !cute_nvgpu.fragment<4xf32>) {
  // expected-error @+1 {{operand B expected element type f4E2M1FN, unpacked, got f4E2M1FN}}
  %d = cute_nvgpu.SM120.mma %a, %b, %c <16x8x32, elem_type = (f6E3M2FN, f4E2M1FN, f32)> : (!cute_nvgpu.fragment<16xf6E3M2FN>, !cute_nvgpu.fragment<8xf4E2M1FN>, !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

// expected-error @+1 {{fragment expected unpacked elements of f4E2M1FN, got f6E3M2FN}}
func.func @f(%x: !cute_nvgpu.fragment<16xf6E3M2FN, unpacked>)

// -----

func.func @f(%a: !cute_nvgpu.fragment<32xf4E2M1FN>, %b: !cute_nvgpu.fragment<16xf4E2M1FN>, %c: !cute_nvgpu.fragment<4xf32>, %s: !cute_nvgpu.fragment<4xf8E4M3FN>) {
  // expected-error @+1 {{expected a byte-id-a of 0, got 2; nearest legal: 0}}
  %d = cute_nvgpu.SM120.mma_bs %a, %b, %c, %s[2, 0], %s[0, 0] <16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4nvf4, scale_vec = 4, scale_type = f8E4M3FN> : (!cute_nvgpu.fragment<32xf4E2M1FN>, !cute_nvgpu.fragment<16xf4E2M1FN>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<4xf8E4M3FN>, !cute_nvgpu.fragment<4xf8E4M3FN>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<32xf4E2M1FN>, %b: !cute_nvgpu.fragment<16xf4E2M1FN>, %c: !cute_nvgpu.fragment<4xf32>, %s: !cute_nvgpu.fragment<4xf8E4M3FN>) {
  // expected-error @+1 {{expected a thread-id-a of 0, 1, got 3; nearest legal: 1}}
  %d = cute_nvgpu.SM120.mma_bs %a, %b, %c, %s[0, 3], %s[0, 0] <16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4nvf4, scale_vec = 4, scale_type = f8E4M3FN> : (!cute_nvgpu.fragment<32xf4E2M1FN>, !cute_nvgpu.fragment<16xf4E2M1FN>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<4xf8E4M3FN>, !cute_nvgpu.fragment<4xf8E4M3FN>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<32xf4E2M1FN>, %b: !cute_nvgpu.fragment<16xf4E2M1FN>, %c: !cute_nvgpu.fragment<4xf32>, %s: !cute_nvgpu.fragment<4xf8E4M3FN>) {
  // expected-error @+1 {{expected a thread-id-b of 0, 1, 2, 3, got -1; nearest legal: 0}}
  %d = cute_nvgpu.SM120.mma_bs %a, %b, %c, %s[0, 0], %s[0, -1] <16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4nvf4, scale_vec = 4, scale_type = f8E4M3FN> : (!cute_nvgpu.fragment<32xf4E2M1FN>, !cute_nvgpu.fragment<16xf4E2M1FN>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<4xf8E4M3FN>, !cute_nvgpu.fragment<4xf8E4M3FN>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

func.func @f(%a: !cute_nvgpu.fragment<32xf4E2M1FN>, %b: !cute_nvgpu.fragment<16xf4E2M1FN>, %c: !cute_nvgpu.fragment<4xf32>, %s: !cute_nvgpu.fragment<4xf8E4M3FN>) {
  // expected-error @+1 {{operand SFA expected element type f8E8M0FNU, got f8E4M3FN}}
  %d = cute_nvgpu.SM120.mma_bs %a, %b, %c, %s[0, 0], %s[0, 0] <16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4> : (!cute_nvgpu.fragment<32xf4E2M1FN>, !cute_nvgpu.fragment<16xf4E2M1FN>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<4xf8E4M3FN>, !cute_nvgpu.fragment<4xf8E4M3FN>) -> !cute_nvgpu.fragment<4xf32>
  func.return
}

// -----

// expected-error @+1 {{'SM120.mma_bs' expected a kind that (e2m1, e2m1, f32, f32) has, got none; legal: mxf4 or mxf4nvf4}}
func.func @f(%x: !cute_nvgpu.SM120.mma_bs<16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32)>)

// -----

// expected-error @+1 {{'SM120.mma_bs' expected a type of scale factors that (e2m1, e2m1, f32, f32) has, got ue4m3; legal: ue8m0}}
func.func @f(%x: !cute_nvgpu.SM120.mma_bs<16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4nvf4, scale_vec = 2, scale_type = f8E4M3FN>)

// -----

// expected-error @+1 {{expected scale factors of type f8E8M0FNU, f8E4M3FN, got f16}}
func.func @f(%x: !cute_nvgpu.SM120.mma_bs<16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4, scale_type = f16>)

// -----

func.func @f(%a: !cute_nvgpu.fragment<32xf4E2M1FN>, %b: !cute_nvgpu.fragment<16xf4E2M1FN>, %c: !cute_nvgpu.fragment<4xf32>, %s: !cute_nvgpu.fragment<4xf8E4M3FN>, %i: i16) {
  // expected-error @+1 {{'cute_nvgpu.SM120.mma_bs' expected byte_id_a, thread_id_a, byte_id_b, thread_id_b as numbers or all as values}}
  %d = cute_nvgpu.SM120.mma_bs %a, %b, %c, %s, %s ids(%i, %i) <16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4nvf4, scale_vec = 4, scale_type = f8E4M3FN> : (!cute_nvgpu.fragment<32xf4E2M1FN>, !cute_nvgpu.fragment<16xf4E2M1FN>, !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<4xf8E4M3FN>, !cute_nvgpu.fragment<4xf8E4M3FN>, i16, i16) -> !cute_nvgpu.fragment<4xf32>
  func.return
}
