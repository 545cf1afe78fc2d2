// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p convert-cute-nvgpu-to-ptx

// What does not lower says so, at its place.

func.func @f(%x: f32) attributes {gpu.kernel} {
  // expected-error @+1 {{'test.op' has no lowering to ptx}}
  %y = "test.op"(%x) : (f32) -> f32
  func.return
}

// -----

func.func @f(%x: f32) attributes {gpu.kernel} {
  // expected-error @+1 {{'vector.broadcast' has no lowering to ptx}}
  %y = vector.broadcast %x : f32 to vector<4xf32>
  func.return
}

// -----

func.func @f() attributes {gpu.kernel} {
  // expected-error @+1 {{'arith.constant' on i7 has no lowering to ptx; nearest legal: i1, i8, i16, i32, i64, index, f16, bf16, f32, f64}}
  %y = arith.constant 3 : i7
  func.return
}

// -----

func.func @f() attributes {gpu.kernel} {
  // expected-error @+1 {{'arith.constant' on vector<4xf32> has no lowering to ptx}}
  %y = arith.constant dense<1.0> : vector<4xf32>
  func.return
}

// -----

func.func @f() attributes {gpu.kernel} {
  // expected-error @+1 {{'arith.constant' on f80 has no lowering to ptx}}
  %y = arith.constant 1.0 : f80
  func.return
}

// -----

func.func @f() attributes {gpu.kernel} {
  // expected-error @+1 {{'ub.poison' of memref<4xf32> has no lowering to ptx}}
  %y = ub.poison : memref<4xf32>
  func.return
}

// -----

// Loops.
func.func @f(%n: i8) attributes {gpu.kernel} {
  // expected-error @+1 {{'scf.for' over i8 has no lowering to ptx; nearest legal: i16}}
  scf.for %i = %n to %n step %n : i8 {
  }
  func.return
}

// -----

func.func @f(%n: index, %m: memref<4xf32>) attributes {gpu.kernel} {
  // expected-error @+1 {{'scf.for' cannot carry a value of memref<4xf32>; nearest legal: scalars, fragments and structs of them (carry an index into the memref instead)}}
  %r = scf.for %i = %n to %n step %n iter_args(%x = %m) -> (memref<4xf32>) {
    scf.yield %x : memref<4xf32>
  }
  func.return
}

// -----

func.func @f(%p: i1, %m: memref<4xf32>) attributes {gpu.kernel} {
  // expected-error @+1 {{'scf.if' cannot carry a value of memref<4xf32>}}
  %r = scf.if %p -> (memref<4xf32>) {
    scf.yield %m : memref<4xf32>
  } else {
    scf.yield %m : memref<4xf32>
  }
  func.return
}

// -----

// expected-error @+1 {{'func.func' cannot carry a value of memref<4xf32>}}
func.func @f(%m: memref<4xf32>) attributes {gpu.kernel} {
  cf.br ^next(%m : memref<4xf32>)
^next(%n: memref<4xf32>):
  func.return
}

// -----

// An op inside a loop is found at its place.
func.func @f(%n: index, %x: f32) attributes {gpu.kernel} {
  scf.for %i = %n to %n step %n {
    // expected-error @+1 {{'test.op' has no lowering to ptx}}
    %y = "test.op"(%x) : (f32) -> f32
  }
  func.return
}

// -----

// Memory.
func.func @f() attributes {gpu.kernel} {
  // expected-error @+1 {{'memref.alloc' expected a memref in shared memory, got memref<4xf32>; nearest legal: #cute<space smem>}}
  %m = memref.alloc() : memref<4xf32>
  func.return
}

// -----

func.func @f(%n: index) attributes {gpu.kernel} {
  // expected-error @+1 {{'memref.alloc' expected a static shape and layout, got memref<?xf32, #cute<space smem>>}}
  %m = memref.alloc(%n) : memref<?xf32, #cute<space smem>>
  func.return
}

// -----

func.func @f() attributes {gpu.kernel} {
  // expected-error @+1 {{'memref.alloc' of i7 has no lowering to ptx}}
  %m = memref.alloc() : memref<4xi7, #cute<space smem>>
  func.return
}

// -----

func.func @f() attributes {gpu.kernel} {
  // expected-error @+1 {{memref<8x8xf32, !cute.layout<"(8,4):(1,8)">, #cute<space smem>> expected a layout of shape 8x8, got (8,4):(1,8)}}
  %m = memref.alloc() : memref<8x8xf32, !cute.layout<"(8,4):(1,8)">, #cute<space smem>>
  func.return
}

// -----

func.func @f(%n: index) attributes {gpu.kernel} {
  %m = memref.alloc() : memref<64xf32, 3>
  // expected-error @+1 {{'memref.reinterpret_cast' of shared memory expected static sizes and strides}}
  %r = memref.reinterpret_cast %m to offset: [0], sizes: [%n, 4], strides: [%n, 1] : memref<64xf32, 3> to memref<?x4xf32, strided<[?, 1]>, 3>
  func.return
}

// -----

// Arguments of kernels.
// expected-error @+1 {{kernel argument memref<4xf32, #cute<space smem>> expected global memory}}
func.func @f(%m: memref<4xf32, #cute<space smem>>) attributes {gpu.kernel} {
  func.return
}

// -----

// expected-error @+1 {{memref<4x?xf32> has strides that its address does not carry; nearest legal: pass memref<?xf32> and give it extents with memref.reinterpret_cast}}
func.func @f(%m: memref<4x?xf32>) attributes {gpu.kernel} {
  func.return
}

// -----

// expected-error @+1 {{expected a layout of shape 4x4, got (4,8):(1,4)}}
func.func @f(%m: memref<4x4xf32, !cute.layout<"(4,8):(1,4)">>) attributes {gpu.kernel} {
  func.return
}

// -----

// expected-error @+1 {{'func.func' of vector<4xf32> has no lowering to ptx}}
func.func @f(%m: memref<4xvector<4xf32>>) attributes {gpu.kernel} {
  func.return
}

// -----

// expected-error @+1 {{kernel argument of !cute_nvgpu.fragment<4xf32> expected a memref, a scalar or a tensor map}}
func.func @f(%f: !cute_nvgpu.fragment<4xf32>) attributes {gpu.kernel} {
  func.return
}

// -----

// expected-error @+1 {{kernel argument of vector<4xf32> expected a memref, a scalar or a tensor map}}
func.func @f(%f: vector<4xf32>) attributes {gpu.kernel} {
  func.return
}

// -----

// What is no kernel.
// expected-error @+1 {{'func.func' has no lowering to ptx; nearest legal: a gpu.func with kernel, or a func.func with attribute gpu.kernel}}
func.func @f() {
  func.return
}

// -----

// expected-error @+1 {{'memref.global' expected elements of i8 that are given, got memref<4xf32>}}
"memref.global"() <{sym_name = "g", type = memref<4xf32>, initial_value, sym_visibility = "private"}> : () -> ()

// -----

// expected-error @+1 {{'ptx.entry' expected a name that PTX takes, under which the driver finds the kernel, got 'two words'; nearest legal: 'two_words'}}
func.func @"two words"() attributes {gpu.kernel} {
  func.return
}

// -----

// A constant fill above the size of its copy.
func.func @f(%g: memref<64xbf16>) attributes {gpu.kernel} {
  %i = arith.constant 0 : index
  %n = arith.constant 32 : i32
  %s = memref.alloc() : memref<64xbf16, 3>
  // expected-error @+1 {{'ptx.cp.async' expected a source size of at most 16, got 32}}
  cute_nvgpu.cp.async %g[%i] to %s[%i] size 16 cache cg fill %n : memref<64xbf16> to memref<64xbf16, 3>
  func.return
}

// -----

// Registers of 32 bits do not turn into registers of 64.
func.func @f(%x: f32) attributes {gpu.kernel} {
  %f = cute_nvgpu.fragment.splat %x : f32 -> !cute_nvgpu.fragment<2xf32>
  // expected-error @+1 {{'cute_nvgpu.fragment.cast' between registers of different widths}}
  %d = cute_nvgpu.fragment.cast %f : !cute_nvgpu.fragment<2xf32> -> !cute_nvgpu.fragment<1xf64>
  func.return
}

