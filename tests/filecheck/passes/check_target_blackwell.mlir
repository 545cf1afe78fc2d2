// Rows with several minimum targets: any of them, or a later one of its family, will do.
// RUN: tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_100a}' | filecheck %s
// RUN: tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_103f}' | filecheck %s
// RUN: tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_110f}' | filecheck %s
// RUN: tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_121a}' | filecheck %s
// RUN: not tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_90a}' 2>&1 | filecheck %s --check-prefix LACKS
// RUN: not tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_103}' 2>&1 | filecheck %s --check-prefix LACKS
// RUN: not tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_120}' 2>&1 | filecheck %s --check-prefix LACKS
// RUN: not tilewright-opt %s -p 'convert-cute-nvgpu-to-ptx{arch=sm_120}' 2>&1 | filecheck %s --check-prefix LACKS

// CHECK:        func.func @blackwell
// LACKS:        check_target_blackwell.mlir:16:3: error: ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 requires sm_100f, sm_110f or sm_120f, or later of the same family, got target sm_
func.func @blackwell() attributes {gpu.kernel} {
  %i = arith.constant 0 : index
  %s = memref.alloc() : memref<64x64xui8, 3>
  %f = cute_nvgpu.ldmatrix %s[%i, %i] shape 8x16 src_fmt b6x16_p32 : memref<64x64xui8, 3> -> !cute_nvgpu.fragment<4xui8>
  cute_nvgpu.stmatrix %f, %s[%i, %i] trans shape 16x8 : !cute_nvgpu.fragment<4xui8>, memref<64x64xui8, 3>
  func.return
}
