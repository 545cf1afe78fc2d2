// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @launching(%n: index, %b: i32) {
  // expected-error @+1 {{'gpu.launch' expected blocks and threads alone, got dynamic_shared_memory_size}}
  "gpu.launch"(%n, %n, %n, %n, %n, %n, %b) <{operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1>}> ({
  ^bb0(%0: index, %1: index, %2: index, %3: index, %4: index, %5: index, %6: index, %7: index, %8: index, %9: index, %10: index, %11: index):
    "gpu.terminator"() : () -> ()
  }) : (index, index, index, index, index, index, i32) -> ()
  func.return
}

// -----

func.func @launching(%n: index) {
  // expected-error @+1 {{'gpu.launch' expected blocks and threads alone, got async, clusters}}
  %t = "gpu.launch"(%n, %n, %n, %n, %n, %n, %n, %n, %n) <{operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0>}> ({
  ^bb0(%0: index, %1: index, %2: index, %3: index, %4: index, %5: index, %6: index, %7: index, %8: index, %9: index, %10: index, %11: index):
    "gpu.terminator"() : () -> ()
  }) : (index, index, index, index, index, index, index, index, index) -> !gpu.async.token
  func.return
}

// -----

gpu.module @m {
  // expected-error @+1 {{'gpu.func' expected no memory attributions, got workgroup}}
  gpu.func @f() workgroup(%s: memref<4xf32, 3>) kernel {
    gpu.return
  }
}

// -----

func.func @launching(%n: index) {
  // expected-error @+1 {{Expected 'threads'}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) {
    gpu.terminator
  }
  func.return
}
