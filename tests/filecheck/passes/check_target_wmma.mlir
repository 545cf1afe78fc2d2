// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p 'cute-nvgpu-check-target{arch=sm_75}' | filecheck %s

// What sm_75 has, and what older targets have.
// CHECK-LABEL: func.func @older
func.func @older(%g: memref<64x64xf16>, %s: memref<8x16xi8>, %i: index, %a: !cute_nvgpu.fragment<16xf16>, %c: !cute_nvgpu.fragment<8xf16>) {
  // CHECK-NEXT: cute_nvgpu.wmma.load
  %b = cute_nvgpu.wmma.load %g[%i, %i] <16x16x16, operand = b, elem_type = f16, layout = row> : memref<64x64xf16> -> !cute_nvgpu.fragment<16xf16>
  // CHECK-NEXT: cute_nvgpu.wmma.load
  %x = cute_nvgpu.wmma.load %s[%i, %i] <8x8x32, operand = a, elem_type = si4, layout = row> : memref<8x16xi8> -> !cute_nvgpu.fragment<8xsi4>
  // CHECK-NEXT: cute_nvgpu.wmma.mma
  %d = cute_nvgpu.wmma.mma %a, %b, %c <16x16x16, elem_type = (f16, f16, f16), layouts = (row, row)> : (!cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<8xf16>) -> !cute_nvgpu.fragment<8xf16>
  // CHECK-NEXT: cute_nvgpu.wmma.store
  cute_nvgpu.wmma.store %d, %g[%i, %i] <16x16x16, operand = d, elem_type = f16, layout = row> : !cute_nvgpu.fragment<8xf16>, memref<64x64xf16>
  func.return
}

// -----

func.func @load(%g: memref<64x64xbf16>, %i: index) {
  // expected-error @+1 {{wmma.load.a.sync.aligned.row.m16n16k16.bf16 requires sm_80 or later, got target sm_75}}
  %a = cute_nvgpu.wmma.load %g[%i, %i] <16x16x16, operand = a, elem_type = bf16, layout = row> : memref<64x64xbf16> -> !cute_nvgpu.fragment<8xbf16>
  func.return
}

// -----

func.func @store(%g: memref<64x64xf64, strided<[1, 64]>>, %i: index, %d: !cute_nvgpu.fragment<2xf64>) {
  // expected-error @+1 {{wmma.store.d.sync.aligned.col.m8n8k4.f64 requires sm_80 or later, got target sm_75}}
  cute_nvgpu.wmma.store %d, %g[%i, %i] <8x8x4, operand = d, elem_type = f64, layout = col> : !cute_nvgpu.fragment<2xf64>, memref<64x64xf64, strided<[1, 64]>>
  func.return
}

// -----

func.func @mma(%a: !cute_nvgpu.fragment<32xui1>, %c: !cute_nvgpu.fragment<2xi32>) {
  // expected-error @+1 {{wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 requires sm_80 or later, got target sm_75}}
  %d = cute_nvgpu.wmma.mma %a, %a, %c <8x8x128, elem_type = (ui1, ui1, i32), bit_op = and> : (!cute_nvgpu.fragment<32xui1>, !cute_nvgpu.fragment<32xui1>, !cute_nvgpu.fragment<2xi32>) -> !cute_nvgpu.fragment<2xi32>
  func.return
}
