// RUN: tilewright-opt %s --split-input-file -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s --split-input-file -p convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix TEXT

!slot = memref<2xi32, #cute<space smem>>
!cells = memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>

// The address is a word of shared memory; a slice adds lanes and columns to it.
// CHECK-LABEL: ptx.entry @allocation(
// CHECK:         %[[SLOT:.*]] = ptx.shared_address 0
// CHECK:         ptx.tcgen05.alloc group 1 %[[SLOT]], 4, 256
// CHECK:         ptx.tcgen05.relinquish_alloc_permit group 1
// CHECK:         %[[T:.*]] = ptx.ld "shared" "b32" %[[SLOT]], 4
// CHECK:         %[[OFFSET:.*]] = ptx.const 2097280 : !ptx.reg<b32>
// CHECK:         %[[D:.*]] = ptx.add u32 %[[T]], %[[OFFSET]]
// CHECK:         ptx.tcgen05.ld "16x64b" %[[D]], 3 : !ptx.reg<f32 x 4>
// CHECK:         ptx.tcgen05.dealloc group 1 %[[T]], 256
// TEXT-LABEL: .visible .entry allocation(
// TEXT:         tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1+4], 256;
// TEXT:         tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
// TEXT:         ld.shared.b32 %r2, [%r1+4];
// TEXT:         add.u32 %r3, %r2, 2097280;
// TEXT:         tcgen05.ld.sync.aligned.16x64b.x4.b32 {%f1, %f2, %f3, %f4}, [%r3+3];
// TEXT:         tcgen05.wait::ld.sync.aligned;
// TEXT:         tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 256;
func.func @allocation() attributes {gpu.kernel} {
  %slot = memref.alloc() : !slot
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  cute_nvgpu.tmem.alloc %slot[%c1] columns 256 : !slot
  cute_nvgpu.tmem.relinquish_alloc_permit
  %t = cute_nvgpu.tmem.retrieve %slot[%c1] : !slot -> !cells
  %d = cute_nvgpu.tmem.slice %t[%c32, %c128] : !cells -> memref<16x128xf32, !cute.layout<"(16,128):(65536,1)">, #cute<space tmem>>
  %f = cute_nvgpu.tmem.load %d[%c0, %c3] shape 16x64b : memref<16x128xf32, !cute.layout<"(16,128):(65536,1)">, #cute<space tmem>> -> !cute_nvgpu.fragment<4xf32>
  cute_nvgpu.tmem.wait_load
  cute_nvgpu.tmem.dealloc %t : !cells
  func.return
}

// -----

!slot = memref<2xi32, #cute<space smem>>
!cells = memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
!d = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!d16 = memref<128x128xf16, !cute.layout<"(128,128):(131072,2)">, #cute<space tmem>>
!a = memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>

// A row is 65536 cells on; a column of packed elements half a cell, of unpacked ones a cell.
// CHECK-LABEL: ptx.entry @addresses(
// CHECK:         %[[T:.*]] = ptx.ld "shared" "b32"
// CHECK:         %[[LANES:.*]] = ptx.shl b32 %{{.*}}, %{{.*}}
// CHECK:         %[[ROW:.*]] = ptx.add u32 %[[LANES]], %[[T]]
// CHECK:         %[[AT:.*]] = ptx.add u32 %{{.*}}, %[[ROW]]
// CHECK:         ptx.tcgen05.ld "32x32b" %[[AT]], 0 : !ptx.reg<f32 x 8>
// CHECK:         ptx.tcgen05.ld "32x32b" packed %[[AT]], 0 : !ptx.reg<b32 x 4>
// CHECK:         %[[HALF:.*]] = ptx.shr u32 %{{.*}}, %{{.*}}
// CHECK:         %[[A:.*]] = ptx.add u32 %[[HALF]], %[[ROW]]
// CHECK:         ptx.tcgen05.st "32x32b" %[[A]], 0, %{{.*}} : !ptx.reg<b32 x 4>
// CHECK:         ptx.tcgen05.st "32x32b" %[[ROW]], 8, %{{.*}} : !ptx.reg<b32 x 4>
// TEXT-LABEL: .visible .entry addresses(
// TEXT:         tcgen05.ld.sync.aligned.32x32b.x8.b32 {
// TEXT:         tcgen05.ld.sync.aligned.32x32b.x4.pack::16b.b32 {
// TEXT:         tcgen05.st.sync.aligned.32x32b.x4.b32 [%r{{[0-9]+}}], {
// TEXT:         tcgen05.st.sync.aligned.32x32b.x4.b32 [%r{{[0-9]+}}+8], {
// TEXT:         tcgen05.wait::st.sync.aligned;
func.func @addresses(%row: i32, %column: i32) attributes {gpu.kernel} {
  %slot = memref.alloc() : !slot
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %i = arith.index_cast %row : i32 to index
  %j = arith.index_cast %column : i32 to index
  %t = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %d = cute_nvgpu.tmem.slice %t[%c0, %c0] : !cells -> !d
  %d16 = cute_nvgpu.tmem.slice %t[%c0, %c0] : !cells -> !d16
  %a = cute_nvgpu.tmem.slice %t[%c0, %c0] : !cells -> !a
  %f = cute_nvgpu.tmem.load %d[%i, %j] shape 32x32b : !d -> !cute_nvgpu.fragment<8xf32>
  %g = cute_nvgpu.tmem.load %d16[%i, %j] shape 32x32b pack : !d16 -> !cute_nvgpu.fragment<8xf16>
  cute_nvgpu.tmem.wait_load
  %h = cute_nvgpu.fragment.cast %g : !cute_nvgpu.fragment<8xf16> -> !cute_nvgpu.fragment<8xbf16>
  cute_nvgpu.tmem.store %h, %a[%i, %j] shape 32x32b : !cute_nvgpu.fragment<8xbf16>, !a
  cute_nvgpu.tmem.store %h, %a[%i, %c16] shape 32x32b : !cute_nvgpu.fragment<8xbf16>, !a
  cute_nvgpu.tmem.wait_store
  func.return
}

// -----

!slot = memref<2xi32, #cute<space smem>>
!cells = memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
!quarters = memref<64x128xf32, !cute.layout<"((16,4),128):((65536,2097152),1)">, #cute<space tmem>>

// 16 rows lie in each window of 32 lanes: a row is a lane and a window.
// CHECK-LABEL: ptx.entry @quarters(
// CHECK:         ptx.and b32
// CHECK:         ptx.tcgen05.ld.red "16x32bx2" "min.abs.f32" half 4 %{{.*}}, 0 : !ptx.reg<f32 x 4>, !ptx.reg<f32>
// TEXT-LABEL: .visible .entry quarters(
// TEXT:         tcgen05.ld.red.sync.aligned.16x32bx2.x4.min.abs.f32 {%f1, %f2, %f3, %f4}, %f5, [%r{{[0-9]+}}], 4;
// TEXT:         st.global.f32 [%rd{{[0-9]+}}], %f5;
func.func @quarters(%row: i32, %out: memref<4xf32>) attributes {gpu.kernel} {
  %slot = memref.alloc() : !slot
  %c0 = arith.constant 0 : index
  %i = arith.index_cast %row : i32 to index
  %t = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %q = cute_nvgpu.tmem.slice %t[%c0, %c0] : !cells -> !quarters
  %f, %m = cute_nvgpu.tmem.load_reduce %q[%i, %c0] min shape 16x32bx2 half 4 abs : !quarters -> !cute_nvgpu.fragment<4xf32>, f32
  cute_nvgpu.tmem.wait_load
  memref.store %m, %out[%c0] : memref<4xf32>
  func.return
}

// -----

!slot = memref<2xi32, #cute<space smem>>
!cells = memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
!bar = memref<2xi64, #cute<space smem>>
!rows = memref<128x16xui8, #cute<space smem>>
!desc = !cute_nvgpu.smem_desc_view<32x16xui8, tcgen05, "(32,16):(16,1)">

// CHECK-LABEL: ptx.entry @asynchronous(
// CHECK:         ptx.tcgen05.cp group 2 "32x128b.warpx4" "b4x16_p64" %[[T:.*]], 4, %{{.*}}
// CHECK:         ptx.tcgen05.shift group 2 %[[T]], 8
// CHECK:         ptx.tcgen05.commit group 2 %{{.*}}, 8
// CHECK:         ptx.tcgen05.commit group 2 %{{.*}}, 0 multicast %{{.*}}
// CHECK:         ptx.tcgen05.fence.before_thread_sync
// CHECK:         ptx.tcgen05.fence.after_thread_sync
// TEXT-LABEL: .visible .entry asynchronous(
// TEXT:         tcgen05.cp.cta_group::2.32x128b.warpx4.b8x16.b4x16_p64 [%r{{[0-9]+}}+4], %rd{{[0-9]+}};
// TEXT:         tcgen05.shift.cta_group::2.down [%r{{[0-9]+}}+8];
// TEXT:         tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%r{{[0-9]+}}+8];
// TEXT:         tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r{{[0-9]+}}], %h{{[0-9]+}};
// TEXT:         tcgen05.fence::before_thread_sync;
// TEXT:         tcgen05.fence::after_thread_sync;
func.func @asynchronous(%mask: i16) attributes {gpu.kernel} {
  %slot = memref.alloc() : !slot
  %bar = memref.alloc() : !bar
  %rows = memref.alloc() : !rows
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %t = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %desc = cute_nvgpu.make_smem_desc %rows[%c0, %c0] : !rows -> !desc
  cute_nvgpu.tmem.copy %desc to %t[%c0, %c4] shape 32x128b warpx4 src_fmt b4x16_p64 cta_group 2 : !desc to !cells
  cute_nvgpu.tmem.shift %t[%c0, %c8] cta_group 2 : !cells
  cute_nvgpu.tcgen05.commit %bar[%c1] cta_group 2 : !bar
  cute_nvgpu.tcgen05.commit %bar[%c0] multicast %mask cta_group 2 : !bar
  cute_nvgpu.tcgen05.fence.before_thread_sync
  cute_nvgpu.tcgen05.fence.after_thread_sync
  func.return
}
