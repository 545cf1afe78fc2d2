// Architecture-specific targets run what their number runs; unknown ones are named.
// RUN: tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_90}' | filecheck %s
// RUN: tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_90a}' | filecheck %s
// RUN: tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_120f}' | filecheck %s
// RUN: not tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_89}' 2>&1 | filecheck %s --check-prefix SM89
// RUN: not tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_99}' 2>&1 | filecheck %s --check-prefix UNKNOWN
// RUN: not tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_80a}' 2>&1 | filecheck %s --check-prefix SUFFIX

// CHECK:        func.func @hopper
// SM89:         check_target_arch.mlir:17:3: error: stmatrix.sync.aligned.m8n8.x1.shared.b16 requires sm_90 or later, got target sm_89
// SM89-NEXT:      cute_nvgpu.stmatrix %x, %s[%i]
// SM89-NEXT:    {{ }}^
// UNKNOWN:      error: unknown target 'sm_99'; nearest legal: sm_90; known: sm_70, sm_72, sm_75, sm_80
// SUFFIX:       error: unknown target 'sm_80a'; nearest legal: sm_

func.func @hopper(%s: memref<64xbf16, 3>, %i: index, %x: !cute_nvgpu.fragment<2xbf16>) {
  cute_nvgpu.stmatrix %x, %s[%i] : !cute_nvgpu.fragment<2xbf16>, memref<64xbf16, 3>
  func.return
}
