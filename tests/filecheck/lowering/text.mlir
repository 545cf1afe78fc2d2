// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --match-full-lines
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_75

// A whole kernel: registers declared by kind, the parameters loaded that are used, a comment with op
// and line wherever the source op changes, fall-through where the next block follows.

func.func @sum(%x: memref<?xf32>, %out: memref<1xf32>, %n: i32, %unused: i32) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
    %j = arith.index_cast %i : i32 to index
    %v = memref.load %x[%j] : memref<?xf32>
    %next = arith.addf %acc, %v : f32
    scf.yield %next : f32
  }
  %at = arith.constant 0 : index
  memref.store %sum, %out[%at] : memref<1xf32>
  func.return
}
