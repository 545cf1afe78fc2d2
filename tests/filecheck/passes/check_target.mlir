// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p 'cute-nvgpu-check-target{arch=sm_80}' | filecheck %s

// What sm_80 has, and what older targets have.
// CHECK-LABEL: func.func @older
func.func @older(%s: memref<64xbf16, 3>, %g: memref<64xbf16>, %i: index, %a: !cute_nvgpu.fragment<4xf16>, %b: !cute_nvgpu.fragment<2xf16>, %c: !cute_nvgpu.fragment<4xf32>) {
  // CHECK: cute_nvgpu.ldmatrix
  %f = cute_nvgpu.ldmatrix %s[%i] : memref<64xbf16, 3> -> !cute_nvgpu.fragment<2xbf16>
  // CHECK: cute_nvgpu.sm80.mma
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x8, elem_type = (f16, f16, f32)> : (!cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<2xf16>, !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>
  // CHECK: cute_nvgpu.cp.async
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 16 cache cg : memref<64xbf16> to memref<64xbf16, 3>
  cute_nvgpu.cp.async.commit_group
  cute_nvgpu.cp.async.wait_group 0
  cute_nvgpu.bar.warp.sync
  func.return
}

// -----

func.func @stmatrix(%s: memref<64xbf16, 3>, %i: index, %x: !cute_nvgpu.fragment<2xbf16>) {
  // expected-error @+1 {{stmatrix.sync.aligned.m8n8.x1.shared.b16 requires sm_90 or later, got target sm_80}}
  cute_nvgpu.stmatrix %x, %s[%i] : !cute_nvgpu.fragment<2xbf16>, memref<64xbf16, 3>
  func.return
}

// -----

// The first illegal op in order, also inside regions.
func.func @nested(%p: i1, %a: !cute_nvgpu.fragment<2xf64>, %b: !cute_nvgpu.fragment<1xf64>, %c: !cute_nvgpu.fragment<4xf64>) {
  scf.if %p {
    // expected-error @+1 {{mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 requires sm_90 or later, got target sm_80}}
    %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x4, elem_type = (f64, f64, f64)> : (!cute_nvgpu.fragment<2xf64>, !cute_nvgpu.fragment<1xf64>, !cute_nvgpu.fragment<4xf64>) -> !cute_nvgpu.fragment<4xf64>
  }
  func.return
}

// -----

// One op, several rows: what is required is the row's.
func.func @shapes(%s: memref<64x64xui8, 3>, %i: index, %f: !cute_nvgpu.fragment<2xf16>) {
  %0 = cute_nvgpu.movmatrix %f : !cute_nvgpu.fragment<2xf16> -> !cute_nvgpu.fragment<2xf16>
  %1 = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x64xui8, 3> -> !cute_nvgpu.fragment<4xui8>
  // expected-error @+1 {{ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 requires sm_100f, sm_110f or sm_120f, or later of the same family, got target sm_80}}
  %2 = cute_nvgpu.ldmatrix %s[%i, %i] trans shape 16x16 : memref<64x64xui8, 3> -> !cute_nvgpu.fragment<8xui8>
  func.return
}
