// RUN: tilewright-opt %s -p 'convert-cute-to-cute-nvgpu{arch=sm_90a}' | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p 'convert-cute-to-cute-nvgpu,cute-nvgpu-synthesize-layouts,convert-cute-nvgpu-to-ptx' -t 'ptx{arch=sm_90a}' -o %t.ptx
// RUN: %ptxas sm_90a %t.ptx

!g = !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
!s = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (64,64,2):(64,1,4096)">

// The CTAs of a cluster fill each other's stages: its barrier follows the making of the mbarriers,
// and a warp that releases a stage arrives in both.
// CHECK-LABEL: func.func @multicast
// CHECK:         cute_nvgpu.mbarrier.init %full[{{.*}}] count 1
// CHECK:         cute_nvgpu.mbarrier.init %empty[{{.*}}] count 8
// CHECK:         cute_nvgpu.fence.mbarrier_init
// CHECK:         cute_nvgpu.cluster.arrive
// CHECK-NEXT:    cute_nvgpu.cluster.wait
// CHECK:         cute_nvgpu.mbarrier.arrive.expect_tx %full[{{.*}}] bytes 8192
// CHECK:         cute_nvgpu.tma.load %A_map{{.*}} to %s[{{.*}}] mbarrier %full[{{.*}}] multicast %both cache_hint %policy
// CHECK:         [[LEADER:%[0-9]+]] = cute_nvgpu.elect.sync
// CHECK:         scf.if [[LEADER]] {
// CHECK:           cute_nvgpu.cluster.mbarrier_arrive %empty[{{.*}}] rank [[R0:%[a-z0-9_]+]]
// CHECK-NOT:       rank [[R0]] :
// CHECK:           cute_nvgpu.cluster.mbarrier_arrive %empty[{{.*}}] rank %{{.*}}
// CHECK-NOT:       cute_nvgpu.mbarrier.arrive
func.func @multicast(%A: !g, %i: i32) attributes {gpu.kernel, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
  %both = arith.constant 3 : i16
  %policy = arith.constant 0x12F0000000000000 : i64
  %tma, %coords = cute.make_tma_copy<#cute_nvgpu.tma<load, multicast>, tile = "[64;64]", smem = "S<3,3,3> o 0 o (64,64):(64,1)"> (%A)
  %tiler = cute.static : !cute.shape<"(64,64)">
  %at = cute.make_coord(%i, %i) : (i32, i32) -> !cute.coord<"(?,?)">
  %g = cute.local_tile(%coords, %tiler, %at)
  %s = cute.memref.alloc() : !s
  %pipe = cute.pipeline.create() : !cute.pipeline<tma, stages = 2, producers = 1, consumers = 4, bytes = 8192, ctas = 2>
  %stage = cute.pipeline.stage(%pipe, %i)
  %to = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,?)">
  %into = cute.slice(%s, %to)
  cute.pipeline.producer_acquire(%pipe, %i)
  cute.copy(%tma, %g, %into) pipeline %pipe[%i] multicast %both cache_hint %policy
  cute.pipeline.consumer_wait(%pipe, %i)
  cute.pipeline.consumer_release(%pipe, %i)
  func.return
}

// CHECK-LABEL: func.func @reduce
// CHECK:         cute_nvgpu.tma.reduce max %s[{{.*}}] to %A_map{{.*}}[{{.*}}] cache_hint %policy :
// CHECK-NEXT:    cute_nvgpu.cp.async.bulk.commit_group
func.func @reduce(%A: !g, %i: i32, %policy: i64) attributes {gpu.kernel} {
  %tma, %coords = cute.make_tma_copy<#cute_nvgpu.tma<reduce, max>, tile = "[64;64]", smem = "S<3,3,3> o 0 o (64,64):(64,1)"> (%A)
  %tiler = cute.static : !cute.shape<"(64,64)">
  %at = cute.make_coord(%i, %i) : (i32, i32) -> !cute.coord<"(?,?)">
  %g = cute.local_tile(%coords, %tiler, %at)
  %s = cute.memref.alloc() : !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (64,64):(64,1)">
  cute.copy(%tma, %s, %g) cache_hint %policy
  cute_nvgpu.cp.async.bulk.commit_group
  cute_nvgpu.cp.async.bulk.wait_group 0
  func.return
}
