// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p 'cute-nvgpu-check-target{arch=sm_75}' | filecheck %s

// CHECK-LABEL: func.func @turing
func.func @turing(%s: memref<64xbf16, 3>, %i: index, %a: !cute_nvgpu.fragment<4xsi8>, %b: !cute_nvgpu.fragment<4xsi8>, %c: !cute_nvgpu.fragment<2xi32>) {
  %f = cute_nvgpu.ldmatrix %s[%i] : memref<64xbf16, 3> -> !cute_nvgpu.fragment<2xbf16>
  %d = cute_nvgpu.sm80.mma %a, %b, %c <8x8x16, elem_type = (si8, si8, i32)> : (!cute_nvgpu.fragment<4xsi8>, !cute_nvgpu.fragment<4xsi8>, !cute_nvgpu.fragment<2xi32>) -> !cute_nvgpu.fragment<2xi32>
  func.return
}

// -----

func.func @cp_async(%s: memref<64xbf16, 3>, %g: memref<64xbf16>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.cp.async' requires sm_80 or later, got target sm_75}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 16 cache cg : memref<64xbf16> to memref<64xbf16, 3>
  func.return
}

// -----

func.func @commit_group() {
  // expected-error @+1 {{'cute_nvgpu.cp.async.commit_group' requires sm_80 or later, got target sm_75}}
  cute_nvgpu.cp.async.commit_group
  func.return
}

// -----

func.func @wait_group() {
  // expected-error @+1 {{'cute_nvgpu.cp.async.wait_group' requires sm_80 or later, got target sm_75}}
  cute_nvgpu.cp.async.wait_group 0
  func.return
}
