// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix PTX
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_90a

// CHECK-LABEL: func.func @sums
// CHECK:         cute_nvgpu.address.reduce "relaxed.gpu" %a, %b to %p + 8 if %m : i64, f32, f32
// CHECK-NEXT:    cute_nvgpu.address.reduce "release.sys" %h, %h to %s + 0 : i32, f16, f16
// PTX:           red.relaxed.gpu.global.add.v2.f32 [%{{.*}}+8], {%{{.*}}, %{{.*}}};
// PTX:           red.release.sys.shared.add.noftz.f16x2 [%{{.*}}], %{{.*}};
func.func @sums(%p: i64, %s: i32, %a: f32, %b: f32, %h: f16, %m: i1) attributes {gpu.kernel} {
  cute_nvgpu.address.reduce "relaxed.gpu" %a, %b to %p + 8 if %m : i64, f32, f32
  cute_nvgpu.address.reduce "release.sys" %h, %h to %s + 0 : i32, f16, f16
  func.return
}
