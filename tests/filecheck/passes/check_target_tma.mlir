// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p 'cute-nvgpu-check-target{arch=sm_80}' | filecheck %s

!barriers = memref<4xi64, #cute<space smem>>
// CHECK-LABEL: func.func @ampere
func.func @ampere(%b: !barriers, %i: index) {
  cute_nvgpu.mbarrier.init %b[%i] count 1 : !barriers
  cute_nvgpu.mbarrier.arrive %b[%i] : !barriers
  cute_nvgpu.mbarrier.inval %b[%i] : !barriers
  func.return
}

// -----

func.func @count(%b: memref<4xi64, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.mbarrier.arrive' requires sm_90 or later, got target sm_80}}
  cute_nvgpu.mbarrier.arrive %b[%i] count 2 : memref<4xi64, 3>
  func.return
}

// -----

func.func @wait(%b: memref<4xi64, 3>, %i: index, %p: i32) {
  // expected-error @+1 {{'cute_nvgpu.mbarrier.wait' requires sm_90 or later, got target sm_80}}
  cute_nvgpu.mbarrier.wait %b[%i] parity %p : memref<4xi64, 3>
  func.return
}

// -----

func.func @fence() {
  // expected-error @+1 {{'cute_nvgpu.fence.mbarrier_init' requires sm_90 or later, got target sm_80}}
  cute_nvgpu.fence.mbarrier_init
  func.return
}

// -----

func.func @load(%m: !cute_nvgpu.tma_descriptor<64xbf16>, %s: memref<64xbf16, 3>, %b: memref<4xi64, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' requires sm_90 or later, got target sm_80}}
  cute_nvgpu.tma.load %m[%i] to %s[%i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<64xbf16> to memref<64xbf16, 3>, memref<4xi64, 3>
  func.return
}

// -----

func.func @wait_group() {
  // expected-error @+1 {{'cute_nvgpu.cp.async.bulk.wait_group' requires sm_90 or later, got target sm_80}}
  cute_nvgpu.cp.async.bulk.wait_group 0
  func.return
}

// -----

func.func @registers() {
  // expected-error @+1 {{'cute_nvgpu.setmaxnreg' requires sm_90a or sm_100f}}
  cute_nvgpu.setmaxnreg dec 40
  func.return
}

// -----

func.func @reduce(%m: !cute_nvgpu.tma_descriptor<64xbf16>, %s: memref<64xbf16, 3>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tma.reduce' requires sm_90 or later, got target sm_80}}
  cute_nvgpu.tma.reduce add %s[%i] to %m[%i] : memref<64xbf16, 3> to !cute_nvgpu.tma_descriptor<64xbf16>
  func.return
}

// -----

func.func @multicast(%m: !cute_nvgpu.tma_descriptor<64xbf16>, %s: memref<64xbf16, 3>, %b: memref<4xi64, 3>, %i: index, %mask: i16) {
  // expected-error @+1 {{'cute_nvgpu.tma.load' requires sm_90a or sm_100f or later of the same family or sm_110f or later of the same family, got target sm_80}}
  cute_nvgpu.tma.load %m[%i] to %s[%i] mbarrier %b[%i] multicast %mask : !cute_nvgpu.tma_descriptor<64xbf16> to memref<64xbf16, 3>, memref<4xi64, 3>
  func.return
}

// -----

!t = !cute.tma_copy<#cute_nvgpu.tma<load, multicast>, 128x64xbf16, swizzle = 128>
!c = !cute.coord_tensor<"(0,0)", "(128,64):(1@0,1@1)">
!s = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64):(64,1)">
!p = !cute.pipeline<tma, stages = 3, producers = 1, consumers = 8, bytes = 16384>
func.func @tile(%t: !t, %c: !c, %s: !s, %p: !p, %i: i32, %mask: i16) {
  // expected-error @+1 {{'cute.copy' requires sm_90a or sm_100f or later of the same family or sm_110f or later of the same family, got target sm_80}}
  cute.copy(%t, %c, %s) pipeline %p[%i] multicast %mask
  func.return
}
