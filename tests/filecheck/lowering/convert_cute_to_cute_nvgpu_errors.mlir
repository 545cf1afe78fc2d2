// RUN: tilewright-opt %s -p convert-cute-to-cute-nvgpu --split-input-file --verify-diagnostics

!r = !cute.memref<f32, rmem, "4:1">
func.func @f(%x: !cute.memref<f32, gmem, "4:1">) attributes {gpu.kernel} {
  %r = cute.memref.alloca() : !r
  // expected-error @+1 {{'cute.copy' reads registers that nothing has written; nearest legal: cute.fill before}}
  cute.copy(%r, %x)
  func.return
}

// -----

!r = !cute.memref<f32, rmem, "4:1">
func.func @f(%x: !cute.memref<f32, gmem, "4:1">, %i: i32) attributes {gpu.kernel} {
  %r = cute.make_fragment_like(%x)
  cute.copy(%x, %r)
  %at = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
  // expected-error @+1 {{'cute.memref.load' expected registers that are known when the kernel is compiled, got a coordinate that is not; nearest legal: a constant coordinate, or the variable of an scf.for with constant bounds}}
  %e = cute.memref.load(%r, %at) : (!r, !cute.coord<"?">) -> f32
  func.return
}

// -----

func.func @f(%x: !cute.memref<bf16, gmem, align<16>, "(128,64):(64,1)">) attributes {gpu.kernel} {
  %tiler = cute.static : !cute.shape<"(64,64)">
  %origin = cute.static : !cute.coord<"(0,0)">
  %tile = cute.local_tile(%x, %tiler, %origin)
  // expected-error @+1 {{'cute.make_tma_copy' expected a tensor that is an argument of the kernel, got a view of one (its tensor map is made before the kernel runs); nearest legal: the argument, and the coordinates sliced}}
  %tma, %coords = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[64;64]", smem = "S<3,3,3> o 0 o (64,64):(64,1)"> (%tile)
  func.return
}

// -----

func.func @f(%x: !cute.memref<f32, gmem, "4:1">, %n: i32) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %at = cute.make_coord(%n) : (i32) -> !cute.coord<"?">
  // expected-error @+1 {{'scf.for' expected to carry scalars and vectors of registers, got !cute.coord<"?">; nearest legal: carry its integers, and make it of them inside}}
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%c = %at) -> (!cute.coord<"?">) : i32 {
    scf.yield %c : !cute.coord<"?">
  }
  func.return
}

// -----

// expected-error @+1 {{'func.func' of tiles expected one block, got 2; nearest legal: scf instead of branches}}
func.func @f(%x: !cute.memref<f32, gmem, "4:1">) attributes {gpu.kernel} {
  cf.br ^end
^end:
  func.return
}

// -----

func.func @f(%c: i1) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 128, 1, 1>} {
  scf.if %c {
    // expected-error @+1 {{'cute.memref.alloc' of tensor memory expected every thread of the CTA to execute it, got a branch or a loop; nearest legal: the kernel's own block}}
    %t = cute.memref.alloc() : !cute.memref<f32, tmem, "(128,64):(65536,1)">
  }
  func.return
}

// -----

func.func @f() attributes {gpu.kernel} {
  // expected-error @+1 {{'cute.memref.alloc' of tensor memory expected whole warps along x, as gpu.known_block_size says, got None; nearest legal: array<i32: 128, 1, 1>}}
  %t = cute.memref.alloc() : !cute.memref<f32, tmem, "(128,64):(65536,1)">
  func.return
}

// -----

func.func @f() attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 48, 1, 1>} {
  // expected-error @+1 {{got (48, 1, 1); nearest legal: array<i32: 128, 1, 1>}}
  %t = cute.memref.alloc() : !cute.memref<f32, tmem, "(128,64):(65536,1)">
  func.return
}

// -----

// Metadata in rows: a thread's words would be halves of two.
func.func @f(%e: !cute.memref<ui2, gmem, align<4>, "(16,16):(16,1)">) attributes {gpu.kernel} {
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %mma = cute.make_tiled_mma : !cute.tiled_mma<!cute_nvgpu.sm80.sparse_mma<16x8x32, elem_type = (f16, f16, f32)>>
  %p = cute.tiled.mma.partition E (%mma, %e, %t)
  %f = cute.mma.make_fragment E (%mma, %p)
  // expected-error @+1 {{'cute.copy' expected runs of whole registers of ui2, got 1 elements side by side of ui2, gmem,}}
  cute.copy(%p, %f)
  func.return
}

// -----

// Shared memory that a caller would have to give.
// expected-error @+1 {{'func.func' expected a plain layout in gmem, got f32, smem, "4:1", as its argument %x}}
func.func @f(%x: !cute.memref<f32, smem, "4:1">) attributes {gpu.kernel} {
  func.return
}
