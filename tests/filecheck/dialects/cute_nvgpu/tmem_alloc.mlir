// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!a = memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>
!sf = memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>

// CHECK-LABEL: func.func @one
func.func @one(%slot: !slot, %i: index) {
  // CHECK: cute_nvgpu.tmem.alloc %slot[%i] columns 256 : memref<1xi32, #cute<space smem>>
  cute_nvgpu.tmem.alloc %slot[%i] columns 256 : !slot
  // CHECK-NEXT: cute_nvgpu.tmem.relinquish_alloc_permit
  cute_nvgpu.tmem.relinquish_alloc_permit
  // CHECK-NEXT: %t = cute_nvgpu.tmem.retrieve %slot[%i] : memref<1xi32, #cute<space smem>> -> memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
  %t = cute_nvgpu.tmem.retrieve %slot[%i] : !slot -> !cells
  %zero = arith.constant 0 : index
  %column = arith.constant 128 : index
  // CHECK: %d = cute_nvgpu.tmem.slice %t[%zero, %column] : memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>> -> memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
  %d = cute_nvgpu.tmem.slice %t[%zero, %column] : !cells -> !d
  // CHECK-NEXT: %a = cute_nvgpu.tmem.slice %t[%zero, %zero] {{.*}} -> memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>
  %a = cute_nvgpu.tmem.slice %t[%zero, %zero] : !cells -> !a
  // CHECK-NEXT: %sf = cute_nvgpu.tmem.slice %t[%zero, %i] {{.*}} -> memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>
  %sf = cute_nvgpu.tmem.slice %t[%zero, %i] : !cells -> !sf
  // CHECK-NEXT: cute_nvgpu.tmem.dealloc %t : memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
  cute_nvgpu.tmem.dealloc %t : !cells
  func.return
}

// CHECK-LABEL: func.func @pair
func.func @pair(%slot: !slot, %i: index, %t: !cells) {
  // CHECK: cute_nvgpu.tmem.alloc %slot[%i] columns 32 cta_group 2 : memref<1xi32, #cute<space smem>>
  cute_nvgpu.tmem.alloc %slot[%i] columns 32 cta_group 2 : !slot
  // CHECK-NEXT: cute_nvgpu.tmem.relinquish_alloc_permit cta_group 2
  cute_nvgpu.tmem.relinquish_alloc_permit cta_group 2
  // CHECK-NEXT: cute_nvgpu.tmem.dealloc %t cta_group 2 : memref<128x256xi32
  cute_nvgpu.tmem.dealloc %t cta_group 2 : !cells
  func.return
}
