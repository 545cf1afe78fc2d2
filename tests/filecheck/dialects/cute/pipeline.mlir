// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @pipelines
func.func @pipelines(%i: i32) {
  // CHECK-NEXT: %p = cute.pipeline.create() : !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 49152>
  %p = cute.pipeline.create() : !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 49152>
  // CHECK-NEXT: %q = cute.pipeline.create() : !cute.pipeline<cp_async, stages = 3>
  %q = cute.pipeline.create() : !cute.pipeline<cp_async, stages = 3>
  // CHECK-NEXT: %s = cute.pipeline.stage(%p, %i) : (!cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 49152>, i32) -> i32
  %s = cute.pipeline.stage(%p, %i)
  // CHECK-NEXT: cute.pipeline.producer_acquire(%p, %i) : !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 49152>, i32
  cute.pipeline.producer_acquire(%p, %i)
  // CHECK-NEXT: cute.pipeline.producer_commit(%q, %i) : !cute.pipeline<cp_async, stages = 3>, i32
  cute.pipeline.producer_commit(%q, %i)
  // CHECK-NEXT: cute.pipeline.consumer_wait(%q, %i) : !cute.pipeline<cp_async, stages = 3>, i32
  cute.pipeline.consumer_wait(%q, %i)
  // CHECK-NEXT: cute.pipeline.consumer_release(%p, %i) : !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 49152>, i32
  cute.pipeline.consumer_release(%p, %i)
  // CHECK-NEXT: cute.pipeline.producer_tail(%p, %i) : !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 49152>, i32
  cute.pipeline.producer_tail(%p, %i)
  func.return
}

// CHECK-LABEL: func.func @cluster
func.func @cluster() attributes {gpu.known_cluster_size = array<i32: 2, 1, 1>} {
  // CHECK-NEXT: %p = cute.pipeline.create() : !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 49152, ctas = 2>
  %p = cute.pipeline.create() : !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 49152, ctas = 2>
  // CHECK-NEXT: %q = cute.pipeline.create() : !cute.pipeline<tma_umma, stages = 4, producers = 1, bytes = 32768, ctas = 2>
  %q = cute.pipeline.create() : !cute.pipeline<tma_umma, stages = 4, producers = 1, bytes = 32768, ctas = 2>
  // CHECK-NEXT: %d = cute.pipeline.create() : !cute.pipeline<umma_async, stages = 1, consumers = 4, ctas = 2>
  %d = cute.pipeline.create() : !cute.pipeline<umma_async, stages = 1, consumers = 4, ctas = 2>
  func.return
}

// CHECK-LABEL: func.func @schedulers
func.func @schedulers(%i: i32, %tiles: !cute.shape<"(?,8)">) {
  // CHECK-NEXT: %l, %u, %s = cute.tile_scheduler.bounds<persistent> (%tiles) : !cute.shape<"(?,8)">
  %l, %u, %s = cute.tile_scheduler.bounds<persistent> (%tiles)
  // CHECK-NEXT: %l1, %u1, %s1 = cute.tile_scheduler.bounds<static> (%tiles) : !cute.shape<"(?,8)">
  %l1, %u1, %s1 = cute.tile_scheduler.bounds<static> (%tiles)
  // CHECK-NEXT: %c = cute.tile_scheduler.coord<8> (%i, %tiles) : (i32, !cute.shape<"(?,8)">) -> !cute.coord<"(?,?)">
  %c = cute.tile_scheduler.coord<8> (%i, %tiles)
  func.return
}
