// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!mma = !cute.tiled_mma<!cute_nvgpu.sm100.mma<128x256x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = ss>>
!t2r = !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f32, 32x32b, x32>, layout_tv = "((32,4),32):((1,32),128)", tiler_mn = "[128;32]">

// CHECK-LABEL: func.func @accumulators
func.func @accumulators(%t: i32, %sA: !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64):(64,1)">,
                        %sB: !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o ((64,4),64):((1,4096),64)">) {
  // CHECK: %acc = cute.memref.alloc() : !cute.memref<f32, tmem, "(128,256,2):(65536,1,256)">
  %acc = cute.memref.alloc() : !cute.memref<f32, tmem, "(128,256,2):(65536,1,256)">
  // CHECK-NEXT: %loads = cute.pipeline.create() : !cute.pipeline<tma_umma, stages = 4, producers = 1, bytes = 49152>
  %loads = cute.pipeline.create() : !cute.pipeline<tma_umma, stages = 4, producers = 1, bytes = 49152>
  // CHECK-NEXT: %tiles = cute.pipeline.create() : !cute.pipeline<umma_async, stages = 2, consumers = 4>
  %tiles = cute.pipeline.create() : !cute.pipeline<umma_async, stages = 2, consumers = 4>
  %mma = cute.make_tiled_mma : !mma
  // CHECK: %tA = cute.tiled.mma.partition A (%mma, %sA, %t){{.*}} -> !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o ((128,16),1,4):((64,1),8192,16)">
  %tA = cute.tiled.mma.partition A (%mma, %sA, %t)
  // CHECK-NEXT: %tB = {{.*}} -> !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (((64,4),16),1,4):(((1,4096),64),16384,1024)">
  %tB = cute.tiled.mma.partition B (%mma, %sB, %t)
  // CHECK-NEXT: %tC = {{.*}} -> !cute.memref<f32, tmem, "((128,256),1,1,2):((65536,1),8388608,256,256)">
  %tC = cute.tiled.mma.partition C (%mma, %acc, %t)
  %stage = cute.static : !cute.coord<"(_,_,_,1)">
  // CHECK: %held = {{.*}} -> !cute.memref<f32, tmem, "((128,256),1,1,2):((65536,1),8388608,256,256)">
  %held = cute.mma.make_fragment C (%mma, %tC)
  %d = cute.slice(%held, %stage)
  // CHECK: cute.gemm(%mma, %d, %tA, %tB, %d) :
  cute.gemm(%mma, %d, %tA, %tB, %d)
  %t2r = cute.make_tiled_copy : !t2r
  %at = cute.static : !cute.coord<"(_,_,0,0)">
  // CHECK: %all = {{.*}} -> !cute.memref<f32, tmem, "(((32,32),1),1,8,2):(((65536,1),0),8388608,32,256)">
  %all = cute.tiled.copy.partition_S(%t2r, %acc, %t)
  %from = cute.slice(%all, %at)
  %to = cute.memref.alloca() : !cute.memref<f32, rmem, "((32,1),1):((1,0),0)">
  // CHECK: cute.copy(%t2r, %from, %to) :
  cute.copy(%t2r, %from, %to)
  // CHECK: cute.memref.dealloc(%acc) : !cute.memref<f32, tmem, "(128,256,2):(65536,1,256)">
  cute.memref.dealloc(%acc)
  func.return
}

!r2t = !cute.tiled_copy<#cute_nvgpu.copy<tmem_store, bf16, 32x32b, x16>, layout_tv = "((32,4),32):((1,32),128)", tiler_mn = "[128;32]">
!half = !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f16, 32x32b, x16, pack>, layout_tv = "((32,4),32):((1,32),128)", tiler_mn = "[128;32]">
!s2t = !cute.tiled_copy<#cute_nvgpu.copy<tmem_copy, f8E8M0FNU, 32x128b warpx4, cta_group = 2>, layout_tv = "(1,((4,4),32)):(0,((128,32),1))", tiler_mn = "[128;4]">

// CHECK-LABEL: func.func @copies
func.func @copies(%t: i32) {
  // CHECK: %a = cute.memref.alloc() {cta_group = 2 : i64} : !cute.memref<bf16, tmem, "(128,32):(131072,1)">
  %a = cute.memref.alloc() {cta_group = 2 : i64} : !cute.memref<bf16, tmem, "(128,32):(131072,1)">
  %d = cute.memref.alloc() : !cute.memref<f16, tmem, "(128,32):(131072,2)">
  %sf = cute.memref.alloc() : !cute.memref<f8E8M0FNU, tmem, "((32,4),4):((262144,4),1)">
  %blocks = cute.memref.alloc() : !cute.memref<f8E8M0FNU, smem, align<128>, "((32,4),4):((16,4),1)">
  // CHECK: %r2t = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<tmem_store, bf16, 32x32b, x16>,
  %r2t = cute.make_tiled_copy : !r2t
  // CHECK-NEXT: %half = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f16, 32x32b, x16, pack>,
  %half = cute.make_tiled_copy : !half
  // CHECK-NEXT: %s2t = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<tmem_copy, f8E8M0FNU, 32x128b warpx4, cta_group = 2>,
  %s2t = cute.make_tiled_copy : !s2t
  // CHECK-NEXT: %into = {{.*}} -> !cute.memref<bf16, tmem, "(((32,32),1),1,1):(((131072,1),0),16777216,32)">
  %into = cute.tiled.copy.partition_D(%r2t, %a, %t)
  %from = cute.tiled.copy.partition_S(%half, %d, %t)
  %there = cute.tiled.copy.partition_S(%s2t, %blocks, %t)
  %here = cute.tiled.copy.partition_D(%s2t, %sf, %t)
  %held = cute.memref.alloca() : !cute.memref<bf16, rmem, "((32,1),1,1):((1,0),0,0)">
  %sums = cute.memref.alloca() : !cute.memref<f16, rmem, "((32,1),1,1):((1,0),0,0)">
  // CHECK: cute.copy(%r2t, %held, %into) :
  cute.copy(%r2t, %held, %into)
  // CHECK-NEXT: cute.copy(%half, %from, %sums) :
  cute.copy(%half, %from, %sums)
  // CHECK-NEXT: cute.copy(%s2t, %there, %here) :
  cute.copy(%s2t, %there, %here)
  func.return
}
