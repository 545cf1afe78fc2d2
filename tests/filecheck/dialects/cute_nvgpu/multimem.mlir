// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | tilewright-opt | filecheck %s --check-prefix PTX
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_90a

// CHECK-LABEL: func.func @copies
// CHECK:         %a, %b = cute_nvgpu.multimem.load_reduce "weak" "add.f16x2" %p + 0 -> f16, f16
// CHECK-NEXT:    %c = cute_nvgpu.multimem.load_reduce "acquire.sys" "max.s32" %p + 16 if %m else %i : i32 -> i32
// CHECK-NEXT:    cute_nvgpu.multimem.store "release.gpu" %a, %b to %p + 4 : f16, f16
// CHECK-NEXT:    cute_nvgpu.multimem.reduce "relaxed.sys" "and.b32" %c to %p + 8 if %m : i32
// PTX:           ptx.multimem.ld_reduce "weak.global.add.f16x2" %{{.*}}, 0 : !ptx.reg<b32>
// PTX:           ptx.multimem.ld_reduce "acquire.sys.global.max.s32" %{{.*}}, 16 if %{{.*}} else %{{.*}} : !ptx.reg<b32> : !ptx.reg<b32>
// PTX:           ptx.multimem.st "release.gpu.global.f16x2" %{{.*}}, 4, %{{.*}} : !ptx.reg<b32>
// PTX:           ptx.multimem.red "relaxed.sys.global.and.b32" %{{.*}}, 8, %{{.*}} if %{{.*}} : !ptx.reg<b32>
func.func @copies(%p: i64, %i: i32, %m: i1) attributes {gpu.kernel} {
  %a, %b = cute_nvgpu.multimem.load_reduce "weak" "add.f16x2" %p + 0 -> f16, f16
  %c = cute_nvgpu.multimem.load_reduce "acquire.sys" "max.s32" %p + 16 if %m else %i : i32 -> i32
  cute_nvgpu.multimem.store "release.gpu" %a, %b to %p + 4 : f16, f16
  cute_nvgpu.multimem.reduce "relaxed.sys" "and.b32" %c to %p + 8 if %m : i32
  func.return
}
