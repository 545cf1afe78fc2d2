// RUN: tilewright-opt %s -p convert-cute-to-cute-nvgpu | filecheck %s
// RUN: tilewright-opt %s -p 'convert-cute-to-cute-nvgpu,cute-nvgpu-check-tmem,cute-nvgpu-check-hazards'

// Two allocations: the right to allocate is given up after the second, and the one that the kernel
// keeps is given back at its end.

!mma = !cute.tiled_mma<!cute_nvgpu.sm100.mma<128x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss>>
!t2r = !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f32, 32x32b, x32>, layout_tv = "((32,4),32):((1,32),128)", tiler_mn = "[128;32]">
!tiles = !cute.pipeline<umma_async, stages = 1, consumers = 4>

// CHECK-LABEL: func.func @f
// CHECK: cute_nvgpu.tmem.alloc [[one:%\d+]]{{.*}} columns 128
// CHECK-NOT: relinquish
// CHECK: cute_nvgpu.tcgen05.fence.before_thread_sync
// CHECK-NEXT: "gpu.barrier"
// CHECK-NEXT: cute_nvgpu.tcgen05.fence.after_thread_sync
// CHECK-NEXT: %acc = cute_nvgpu.tmem.retrieve [[one]]
// CHECK: cute_nvgpu.tmem.alloc {{.*}} columns 32
// CHECK-NEXT: cute_nvgpu.tmem.relinquish_alloc_permit
// CHECK: %other = cute_nvgpu.tmem.retrieve
func.func @f(%C: !cute.memref<f32, gmem, align<16>, "(128,64):(64,1)">)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 128, 1, 1>} {
  %acc = cute.memref.alloc() : !cute.memref<f32, tmem, "(128,64,2):(65536,1,64)">
  %other = cute.memref.alloc() : !cute.memref<f32, tmem, "(128,8):(65536,1)">
  %tiles = cute.pipeline.create() : !tiles
  %sA = cute.memref.alloc() : !cute.memref<f16, smem, align<1024>, "S<1,3,3> o 0 o (128,16):(16,1)">
  %sB = cute.memref.alloc() : !cute.memref<f16, smem, align<1024>, "S<1,3,3> o 0 o (64,16):(16,1)">
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %c0 = arith.constant 0 : i32
  %fresh = arith.constant false
  %first = arith.cmpi eq, %t, %c0 : i32
  %second = cute.static : !cute.coord<"(_,_,_,1)">
  %zero = arith.constant 0.0 : f16
  %threads = cute.static : !cute.layout<"(64,2):(1,64)">
  %mine = cute.local_partition(%sA, %threads, %t)
  %mineB = cute.local_partition(%sB, %threads, %t)
  cute.fill(%mine, %zero)
  cute.fill(%mineB, %zero)
  cute_nvgpu.fence.proxy.async
  "gpu.barrier"() : () -> ()
  // The second accumulators of the allocation.
  // CHECK: [[column:%\d+]] = arith.constant 64 : index
  // CHECK: [[d:%\d+]] = cute_nvgpu.tmem.slice %acc[{{%\d+}}, [[column]]]
  // CHECK: cute_nvgpu.sm100.mma [[d]], {{%\d+}}, {{%\d+}} enable_input_d %fresh
  // CHECK-NEXT: cute_nvgpu.tcgen05.commit %full
  scf.if %first {
    %mma = cute.make_tiled_mma : !mma
    %a = cute.tiled.mma.partition A (%mma, %sA, %t)
    %b = cute.tiled.mma.partition B (%mma, %sB, %t)
    %c = cute.tiled.mma.partition C (%mma, %acc, %t)
    %d = cute.slice(%c, %second)
    cute.gemm(%mma, %d, %a, %b, %d) accumulate %fresh
    cute.pipeline.producer_commit(%tiles, %c0)
  }
  // CHECK: cute_nvgpu.mbarrier.wait %full
  // CHECK-NEXT: cute_nvgpu.tcgen05.fence.after_thread_sync
  // CHECK: cute_nvgpu.tmem.load %acc{{.*}} shape 32x32b
  // CHECK: cute_nvgpu.tmem.load %acc{{.*}} shape 32x32b
  // CHECK: cute_nvgpu.tmem.wait_load
  cute.pipeline.consumer_wait(%tiles, %c0)
  %t2r = cute.make_tiled_copy : !t2r
  %all = cute.tiled.copy.partition_S(%t2r, %acc, %t)
  %at = cute.static : !cute.coord<"(_,_,_,1)">
  %from = cute.slice(%all, %at)
  %to = cute.tiled.copy.partition_D(%t2r, %C, %t)
  %held = cute.make_fragment_like(%to)
  cute.copy(%t2r, %from, %held)
  cute.copy(%held, %to)
  // CHECK: cute_nvgpu.tcgen05.fence.before_thread_sync
  // CHECK-NEXT: "gpu.barrier"
  // CHECK: cute_nvgpu.tmem.dealloc %acc
  cute.memref.dealloc(%acc)
  // CHECK: cute_nvgpu.tmem.dealloc %other
  // CHECK: func.return
  func.return
}
