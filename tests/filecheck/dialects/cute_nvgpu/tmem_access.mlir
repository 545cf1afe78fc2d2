// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!d16 = memref<128x128xf16, !cute.layout<"(128,128):(131072,2)">, #cute<space tmem>>
!a = memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>
!i = memref<128x128xi32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
// M = 64: 16 rows in each window of 32 lanes.
!quarters = memref<64x128xf32, !cute.layout<"((16,4),128):((65536,2097152),1)">, #cute<space tmem>>

// CHECK-LABEL: func.func @accesses
func.func @accesses(%d: !d, %d16: !d16, %a: !a, %n: !i, %q: !quarters, %i: index, %j: index) {
  // CHECK-NEXT: %0 = cute_nvgpu.tmem.load %d[%i, %j] shape 32x32b : memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>> -> !cute_nvgpu.fragment<32xf32>
  %0 = cute_nvgpu.tmem.load %d[%i, %j] shape 32x32b : !d -> !cute_nvgpu.fragment<32xf32>
  // CHECK-NEXT: %1 = cute_nvgpu.tmem.load %d[%i, %j] shape 16x256b : {{.*}} -> !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
  %1 = cute_nvgpu.tmem.load %d[%i, %j] shape 16x256b : !d -> !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
  // CHECK-NEXT: %2 = cute_nvgpu.tmem.load %d16[%i, %j] shape 16x128b pack : {{.*}} -> !cute_nvgpu.fragment<8xf16>
  %2 = cute_nvgpu.tmem.load %d16[%i, %j] shape 16x128b pack : !d16 -> !cute_nvgpu.fragment<8xf16>
  // CHECK-NEXT: %3 = cute_nvgpu.tmem.load %q[%i, %j] shape 16x32bx2 half 64 : {{.*}} -> !cute_nvgpu.fragment<64xf32>
  %3 = cute_nvgpu.tmem.load %q[%i, %j] shape 16x32bx2 half 64 : !quarters -> !cute_nvgpu.fragment<64xf32>
  // CHECK-NEXT: %4, %5 = cute_nvgpu.tmem.load_reduce %d[%i, %j] max shape 32x32b abs nan : {{.*}} -> !cute_nvgpu.fragment<8xf32>, f32
  %4, %5 = cute_nvgpu.tmem.load_reduce %d[%i, %j] max shape 32x32b abs nan : !d -> !cute_nvgpu.fragment<8xf32>, f32
  // CHECK-NEXT: %6, %7 = cute_nvgpu.tmem.load_reduce %n[%i, %j] min shape 16x32bx2 half 0 unsigned : {{.*}} -> !cute_nvgpu.fragment<2xi32>, i32
  %6, %7 = cute_nvgpu.tmem.load_reduce %n[%i, %j] min shape 16x32bx2 half 0 unsigned : !i -> !cute_nvgpu.fragment<2xi32>, i32
  // CHECK-NEXT: cute_nvgpu.tmem.wait_load
  cute_nvgpu.tmem.wait_load
  // CHECK-NEXT: cute_nvgpu.tmem.store %2, %d16[%i, %j] shape 16x128b unpack : !cute_nvgpu.fragment<8xf16>, memref<128x128xf16
  cute_nvgpu.tmem.store %2, %d16[%i, %j] shape 16x128b unpack : !cute_nvgpu.fragment<8xf16>, !d16
  // CHECK-NEXT: %8 = cute_nvgpu.tmem.load %a[%i, %j] shape 16x64b : {{.*}} -> !cute_nvgpu.fragment<32xbf16>
  %8 = cute_nvgpu.tmem.load %a[%i, %j] shape 16x64b : !a -> !cute_nvgpu.fragment<32xbf16>
  // CHECK-NEXT: cute_nvgpu.tmem.store %8, %a[%i, %j] shape 16x64b : !cute_nvgpu.fragment<32xbf16>, memref<128x64xbf16
  cute_nvgpu.tmem.store %8, %a[%i, %j] shape 16x64b : !cute_nvgpu.fragment<32xbf16>, !a
  // CHECK-NEXT: cute_nvgpu.tmem.wait_store
  cute_nvgpu.tmem.wait_store
  func.return
}
