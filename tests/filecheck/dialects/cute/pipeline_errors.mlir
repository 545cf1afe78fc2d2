// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error @+1 {{pipeline expected at least 1 stages, got 0; nearest legal: 1}}
  %p = cute.pipeline.create() : !cute.pipeline<tma, stages = 0, producers = 1, consumers = 8, bytes = 49152>
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{pipeline expected at least 2 stages, got 1; nearest legal: 2}}
  %p = cute.pipeline.create() : !cute.pipeline<cp_async, stages = 1>
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected tma, tma_umma, umma_async, cp_async, got umma}}
  %p = cute.pipeline.create() : !cute.pipeline<umma, stages = 1>
  func.return
}

// -----

func.func @f(%p: !cute.pipeline<cp_async, stages = 3>, %i: index) {
  // expected-error @+1 {{'cute.pipeline.producer_commit' op operand #1 must be i32, but got 'index'}}
  cute.pipeline.producer_commit(%p, %i)
  func.return
}

// -----

func.func @f(%p: !cute.layout<"4:1">, %i: i32) {
  // expected-error @+1 {{'cute.pipeline.stage' op operand #0 must be !cute.pipeline, but got '!cute.layout<"4:1">'}}
  %s = cute.pipeline.stage(%p, %i)
  func.return
}

// -----

func.func @f(%t: !cute.shape<"(?,?,?)">) {
  // expected-error @+1 {{'cute.tile_scheduler.bounds' op failed to infer returned types: expected how many tiles there are along M and along N, got '!cute.shape<"(?,?,?)">'}}
  %l, %u, %s = cute.tile_scheduler.bounds<static> (%t)
  func.return
}

// -----

func.func @f(%t: !cute.shape<"(?,?)">) {
  // expected-error @+1 {{expected static or persistent, got dynamic}}
  %l, %u, %s = cute.tile_scheduler.bounds<dynamic> (%t)
  func.return
}

// -----

func.func @f(%t: !cute.shape<"(?,?)">, %i: i32) {
  // expected-error @+1 {{'cute.tile_scheduler.coord' op failed to infer returned types: expected bands of at least one tile, got 0}}
  %c = cute.tile_scheduler.coord<0> (%i, %t)
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute.pipeline.create' expected a kernel in clusters of 2 CTAs for !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 4096, ctas = 2>, got 1 (gpu.known_cluster_size)}}
  %p = cute.pipeline.create() : !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 4096, ctas = 2>
  func.return
}

// -----

func.func @f() attributes {gpu.known_cluster_size = array<i32: 2, 2, 1>} {
  // expected-error @+1 {{'cute.pipeline.create' expected a kernel in clusters of 2 CTAs for !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 4096, ctas = 2>, got 4 (gpu.known_cluster_size)}}
  %p = cute.pipeline.create() : !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 4096, ctas = 2>
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{pipeline expected at least 1 ctas, got 0; nearest legal: 1}}
  %p = cute.pipeline.create() : !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 4096, ctas = 0>
  func.return
}
