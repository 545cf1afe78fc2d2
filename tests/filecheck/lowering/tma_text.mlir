// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx -o %t.ptx
// RUN: filecheck %s --input-file %t.ptx
// RUN: %ptxas sm_90a %t.ptx

!map = !cute_nvgpu.tma_descriptor<8x64xbf16, swizzle = 128>
!tile = memref<8x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (8,64):(64,1)">, #cute<space smem>>
!barriers = memref<4xi64, #cute<space smem>>

// A tensor map is 128 bytes of the parameters, of which the instructions take the generic address;
// what names registers for setmaxnreg is .minnctapersm. A wait asks until the phase is complete.
// CHECK:      .version 8.0
// CHECK-NEXT: .target sm_90a
// CHECK:      .visible .entry copy(
// CHECK-NEXT: 	.param .align 64 .b8 copy_m[128],
// CHECK-NEXT: 	.param .u32 copy_row
// CHECK-NEXT: )
// CHECK-NEXT: .reqntid 128, 1, 1
// CHECK-NEXT: .minnctapersm 1
// CHECK:      	mov.b64 %rd2, copy_m;
// CHECK-NEXT: 	ld.param.u32 %r1, [copy_row];
// CHECK-NEXT: 	cvta.param.u64 %rd1, %rd2;
// CHECK:      	setmaxnreg.dec.sync.aligned.u32 40;
// CHECK:      	elect.sync _|%p1, 0xffffffff;
// CHECK:      	mbarrier.init.shared.b64 [%r[[B:[0-9]+]]+8], 1;
// CHECK:      	fence.mbarrier_init.release.cluster;
// CHECK:      	mbarrier.arrive.expect_tx.shared.b64 _, [%r[[B]]+8], 1024;
// CHECK:      	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r{{[0-9]+}}], [%rd1, {64, %r{{[0-9]+}}}], [%r{{[0-9]+}}];
// CHECK:      	{ .reg .pred done;
// CHECK-NEXT: 	again:
// CHECK-NEXT: 	mbarrier.try_wait.parity.shared.b64 done, [%r[[B]]+8], 0;
// CHECK-NEXT: 	@!done bra again; }
// CHECK:      	cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {0, %r{{[0-9]+}}}], [%r{{[0-9]+}}];
// CHECK:      	cp.async.bulk.commit_group;
// CHECK:      	cp.async.bulk.wait_group.read 0;
// CHECK:      	mbarrier.arrive.shared.b64 _, [%r[[B]]];
// CHECK:      	mbarrier.arrive.shared.b64 _, [%r[[B]]], 2;
// CHECK:      	mbarrier.inval.shared.b64 [%r[[B]]+8];
func.func @copy(%m: !map, %row: i32) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %even = arith.constant 0 : i32
  %r = arith.index_cast %row : i32 to index
  %s = memref.alloc() : !tile
  %b = memref.alloc() : !barriers
  cute_nvgpu.setmaxnreg dec 40
  %leader = cute_nvgpu.elect.sync
  scf.if %leader {
    cute_nvgpu.mbarrier.init %b[%c1] count 1 : !barriers
    cute_nvgpu.fence.mbarrier_init
    cute_nvgpu.mbarrier.arrive.expect_tx %b[%c1] bytes 1024 : !barriers
    cute_nvgpu.tma.load %m[%r, %c64] to %s[%c0, %c0] mbarrier %b[%c1] : !map to !tile, !barriers
    cute_nvgpu.mbarrier.wait %b[%c1] parity %even : !barriers
    cute_nvgpu.tma.store %s[%c0, %c0] to %m[%r, %c0] : !tile to !map
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0 read
    cute_nvgpu.mbarrier.arrive %b[%c0] : !barriers
    cute_nvgpu.mbarrier.arrive %b[%c0] count 2 : !barriers
    cute_nvgpu.mbarrier.inval %b[%c1] : !barriers
  }
  func.return
}

// CHECK-LABEL: .visible .entry others(
// CHECK:      .reqnctapercluster 2, 1, 1
// CHECK:      	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r{{[0-9]+}}], [%rd{{[0-9]+}}, {0, %r{{[0-9]+}}}], [%r{{[0-9]+}}], %h{{[0-9]+}};
// CHECK:      	cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd{{[0-9]+}}, {0, %r{{[0-9]+}}}], [%r{{[0-9]+}}];
func.func @others(%m: !map, %row: i32, %mask32: i32) attributes {gpu.kernel, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %r = arith.index_cast %row : i32 to index
  %mask = arith.trunci %mask32 : i32 to i16
  %s = memref.alloc() : !tile
  %b = memref.alloc() : !barriers
  cute_nvgpu.tma.load %m[%r, %c0] to %s[%c0, %c0] mbarrier %b[%c0] multicast %mask : !map to !tile, !barriers
  cute_nvgpu.tma.reduce add %s[%c0, %c0] to %m[%r, %c0] : !tile to !map
  func.return
}
