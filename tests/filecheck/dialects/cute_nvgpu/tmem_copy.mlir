// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!rows32 = !cute_nvgpu.smem_desc_view<32x16xui8, tcgen05, "(32,16):(16,1)">
!rows64 = !cute_nvgpu.smem_desc_view<64x8xbf16, tcgen05, "(64,8):(8,1)">
!rows128 = !cute_nvgpu.smem_desc_view<128x32xf8E4M3FN, tcgen05, "(128,(16,2)):(16,(1,2048))">
!sf = memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>
!a = memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>

// CHECK-LABEL: func.func @copies
func.func @copies(%rows32: !rows32, %rows64: !rows64, %rows128: !rows128, %sf: !sf, %a: !a, %i: index, %bar: memref<2xi64, #cute<space smem>>) {
  // CHECK-NEXT: cute_nvgpu.tmem.copy %rows32 to %sf[%i, %i] shape 32x128b warpx4 : !cute_nvgpu.smem_desc_view<32x16xui8, tcgen05, "(32,16):(16,1)"> to memref<128x4xf8E8M0FNU
  cute_nvgpu.tmem.copy %rows32 to %sf[%i, %i] shape 32x128b warpx4 : !rows32 to !sf
  // CHECK-NEXT: cute_nvgpu.tmem.copy %rows64 to %a[%i, %i] shape 64x128b warpx2_02_13 :
  cute_nvgpu.tmem.copy %rows64 to %a[%i, %i] shape 64x128b warpx2_02_13 : !rows64 to !a
  // CHECK-NEXT: cute_nvgpu.tmem.copy %rows64 to %a[%i, %i] shape 64x128b warpx2_01_23 src_fmt b4x16_p64 :
  cute_nvgpu.tmem.copy %rows64 to %a[%i, %i] shape 64x128b warpx2_01_23 src_fmt b4x16_p64 : !rows64 to !a
  // CHECK-NEXT: cute_nvgpu.tmem.copy %rows128 to %a[%i, %i] shape 128x256b :
  cute_nvgpu.tmem.copy %rows128 to %a[%i, %i] shape 128x256b : !rows128 to !a
  // CHECK-NEXT: cute_nvgpu.tmem.shift %a[%i, %i] : memref<128x64xbf16
  cute_nvgpu.tmem.shift %a[%i, %i] : !a
  // CHECK-NEXT: cute_nvgpu.tcgen05.commit %bar[%i] : memref<2xi64, #cute<space smem>>
  cute_nvgpu.tcgen05.commit %bar[%i] : memref<2xi64, #cute<space smem>>
  // CHECK-NEXT: cute_nvgpu.tcgen05.fence.before_thread_sync
  cute_nvgpu.tcgen05.fence.before_thread_sync
  // CHECK-NEXT: cute_nvgpu.tcgen05.fence.after_thread_sync
  cute_nvgpu.tcgen05.fence.after_thread_sync
  func.return
}

// CHECK-LABEL: func.func @pair
func.func @pair(%rows32: !rows32, %sf: !sf, %i: index, %bar: memref<2xi64, #cute<space smem>>, %mask: i16) {
  // CHECK-NEXT: cute_nvgpu.tmem.copy %rows32 to %sf[%i, %i] shape 32x128b warpx4 cta_group 2 :
  cute_nvgpu.tmem.copy %rows32 to %sf[%i, %i] shape 32x128b warpx4 cta_group 2 : !rows32 to !sf
  // CHECK-NEXT: cute_nvgpu.tcgen05.commit %bar[%i] multicast %mask cta_group 2 : memref<2xi64, #cute<space smem>>
  cute_nvgpu.tcgen05.commit %bar[%i] multicast %mask cta_group 2 : memref<2xi64, #cute<space smem>>
  func.return
}
