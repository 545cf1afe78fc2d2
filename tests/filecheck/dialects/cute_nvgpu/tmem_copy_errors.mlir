// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

!a = memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>
!rows32 = !cute_nvgpu.smem_desc_view<32x16xui8, tcgen05, "(32,16):(16,1)">
func.func @f(%s: !rows32, %a: !a, %i: index) {
  // expected-error @+1 {{expected shape 128x256b, 128x128b, 4x256b, 64x128b.warpx2::02_13, 64x128b.warpx2::01_23, 32x128b.warpx4, got 32x128b; nearest legal: 32x128b.warpx4}}
  cute_nvgpu.tmem.copy %s to %a[%i, %i] shape 32x128b : !rows32 to !a
  func.return
}

// -----

!a = memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>
!rows32 = !cute_nvgpu.smem_desc_view<32x16xui8, tcgen05, "(32,16):(16,1)">
func.func @f(%s: !rows32, %a: !a, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.copy' source expected 128 rows of 128 bits with shape 128x128b, got 32 rows of 128 bits}}
  cute_nvgpu.tmem.copy %s to %a[%i, %i] shape 128x128b : !rows32 to !a
  func.return
}

// -----

!a = memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>
!wgmma = !cute_nvgpu.smem_desc_view<32x16xui8, "(32,16):(16,1)">
func.func @f(%s: !wgmma, %a: !a, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.copy' source expected a matrix for tcgen05, got !cute_nvgpu.smem_desc_view<32x16xui8, "(32,16):(16,1)"> (its descriptor has another format)}}
  cute_nvgpu.tmem.copy %s to %a[%i, %i] shape 32x128b warpx4 : !wgmma to !a
  func.return
}

// -----

!a = memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>
!mn = !cute_nvgpu.smem_desc_view<64x8xbf16, tcgen05, "((8,8),8):((1,64),8)">
func.func @f(%s: !mn, %a: !a, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.copy' source expected a K-major matrix, got !cute_nvgpu.smem_desc_view<64x8xbf16, tcgen05, "((8,8),8):((1,64),8)"> (rows of 128 bits)}}
  cute_nvgpu.tmem.copy %s to %a[%i, %i] shape 64x128b warpx2_02_13 : !mn to !a
  func.return
}

// -----

!rows32 = !cute_nvgpu.smem_desc_view<32x16xui8, tcgen05, "(32,16):(16,1)">
func.func @f(%s: !rows32, %a: memref<128x2xf32, !cute.layout<"(128,2):(65536,1)">, #cute<space tmem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.copy' expected at least 4 columns of 32-bit cells, got 2 of memref<128x2xf32, !cute.layout<"(128,2):(65536,1)">, #cute<space tmem>>}}
  cute_nvgpu.tmem.copy %s to %a[%i, %i] shape 32x128b warpx4 : !rows32 to memref<128x2xf32, !cute.layout<"(128,2):(65536,1)">, #cute<space tmem>>
  func.return
}

// -----

!a = memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>
!rows32 = !cute_nvgpu.smem_desc_view<32x16xui8, tcgen05, "(32,16):(16,1)">
func.func @f(%s: !rows32, %a: !a, %i: index) {
  cute_nvgpu.tmem.shift %a[%i, %i] : !a
  // expected-error @+1 {{'cute_nvgpu.tmem.copy' expected cta_group 1, got 2 ('cute_nvgpu.tmem.shift' of the same kernel has it, and a kernel has one alone); nearest legal: 1}}
  cute_nvgpu.tmem.copy %s to %a[%i, %i] shape 32x128b warpx4 cta_group 2 : !rows32 to !a
  func.return
}

// -----

func.func @f(%a: memref<128x4xf32, !cute.layout<"(128,4):(65536,1)">, #cute<space tmem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.shift' expected at least 8 columns of 32-bit cells, got 4 of memref<128x4xf32, !cute.layout<"(128,4):(65536,1)">, #cute<space tmem>>}}
  cute_nvgpu.tmem.shift %a[%i, %i] : memref<128x4xf32, !cute.layout<"(128,4):(65536,1)">, #cute<space tmem>>
  func.return
}

// -----

!quarters = memref<64x128xf32, !cute.layout<"((16,4),128):((65536,2097152),1)">, #cute<space tmem>>
func.func @f(%a: !quarters, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.shift' expected cta_group 1 or 2, got 3; nearest legal: 2}}
  cute_nvgpu.tmem.shift %a[%i, %i] cta_group 3 : !quarters
  func.return
}

// -----

func.func @f(%a: memref<16x128xf32, !cute.layout<"(16,128):(1,65536)">, #cute<space tmem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tmem.shift' source expected a first mode of lanes, of stride 65536, got (16,128):(1,65536)}}
  cute_nvgpu.tmem.shift %a[%i, %i] : memref<16x128xf32, !cute.layout<"(16,128):(1,65536)">, #cute<space tmem>>
  func.return
}

// -----

func.func @f(%b: memref<2xi32, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tcgen05.commit' mbarrier expected a memref of i64, got memref<2xi32, #cute<space smem>> (an mbarrier has 64 bits)}}
  cute_nvgpu.tcgen05.commit %b[%i] : memref<2xi32, #cute<space smem>>
  func.return
}

// -----

func.func @f(%b: memref<2xi64, #cute<space smem>>, %i: index) {
  // expected-error @+1 {{'cute_nvgpu.tcgen05.commit' expected cta_group 1 or 2, got 0; nearest legal: 1}}
  cute_nvgpu.tcgen05.commit %b[%i] cta_group 0 : memref<2xi64, #cute<space smem>>
  func.return
}

// -----

func.func @f(%b: memref<2xi64, #cute<space smem>>, %i: index) {
  cute_nvgpu.tmem.relinquish_alloc_permit
  // expected-error @+1 {{'cute_nvgpu.tcgen05.commit' expected cta_group 1, got 2 ('cute_nvgpu.tmem.relinquish_alloc_permit' of the same kernel has it, and a kernel has one alone); nearest legal: 1}}
  cute_nvgpu.tcgen05.commit %b[%i] cta_group 2 : memref<2xi64, #cute<space smem>>
  func.return
}
