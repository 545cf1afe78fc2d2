// Plain xdsl-opt knows tilewright's dialects, passes and target through the xdsl.universe entry point.
// RUN: xdsl-opt %s | xdsl-opt --print-op-generic | xdsl-opt | filecheck %s
// RUN: xdsl-opt %s -p 'cute-nvgpu-check-target{arch=sm_80},cute-nvgpu-synthesize-layouts' | filecheck %s --check-prefix LAYOUT
// RUN: xdsl-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s --check-prefix IR
// RUN: xdsl-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix PTX
// RUN: xdsl-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_80


// CHECK:      cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)>
// LAYOUT:     cute_nvgpu.fragment.splat %z : f32 -> !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
// IR:         ptx.mma
// PTX:        .target sm_80
// PTX:        mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
func.func @mma(%x: bf16, %z: f32, %out: memref<1xf32>) attributes {gpu.kernel} {
  %a = cute_nvgpu.fragment.splat %x : bf16 -> !cute_nvgpu.fragment<8xbf16>
  %b = cute_nvgpu.fragment.splat %x : bf16 -> !cute_nvgpu.fragment<4xbf16>
  %c = cute_nvgpu.fragment.splat %z : f32 -> !cute_nvgpu.fragment<4xf32>
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!cute_nvgpu.fragment<8xbf16>, !cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>
  %i = arith.constant 0 : index
  %y = cute_nvgpu.fragment.extract %d[0] : !cute_nvgpu.fragment<4xf32> -> f32
  memref.store %y, %out[%i] : memref<1xf32>
  func.return
}
