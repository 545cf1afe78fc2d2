// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.bar.sync' expected a barrier below 16, got 16; nearest legal: 15}}
  cute_nvgpu.bar.sync 16 threads 32
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.bar.sync' expected a barrier below 16, got -1; nearest legal: 0}}
  cute_nvgpu.bar.sync -1 threads 32
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.bar.sync' expected a count of threads that is whole warps, at most 1024, got 48; nearest legal: 64}}
  cute_nvgpu.bar.sync 1 threads 48
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.bar.sync' expected a count of threads that is whole warps, at most 1024, got 0; nearest legal: 32}}
  cute_nvgpu.bar.sync 1 threads 0
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.bar.sync' expected a count of threads that is whole warps, at most 1024, got 1056; nearest legal: 1024}}
  cute_nvgpu.bar.sync 1 threads 1056
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.bar.arrive' expected a barrier below 16, got 16; nearest legal: 15}}
  cute_nvgpu.bar.arrive 16 threads 32
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.bar.arrive' expected a barrier below 16, got -1; nearest legal: 0}}
  cute_nvgpu.bar.arrive -1 threads 32
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.bar.arrive' expected a count of threads that is whole warps, at most 1024, got 48; nearest legal: 64}}
  cute_nvgpu.bar.arrive 1 threads 48
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.bar.arrive' expected a count of threads that is whole warps, at most 1024, got 0; nearest legal: 32}}
  cute_nvgpu.bar.arrive 1 threads 0
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.bar.arrive' expected a count of threads that is whole warps, at most 1024, got 1056; nearest legal: 1024}}
  cute_nvgpu.bar.arrive 1 threads 1056
  func.return
}
