// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix TEXT
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_75 | filecheck %s --check-prefix PTXAS

// TEXT:      // tilewright: PTX
// TEXT-NEXT: .version 6.0
// TEXT-NEXT: .target sm_70
// TEXT-NEXT: .address_size 64

// Kernels of a gpu.module come out of it; how many threads they are launched with is kept.
// CHECK:      ptx.entry @scale(%x: u64, %a: f32) reqntid(128, 1, 1) {
// TEXT:       .visible .entry scale(
// TEXT-NEXT:  .param .u64 scale_x,
// TEXT-NEXT:  .param .f32 scale_a
// TEXT-NEXT:  )
// TEXT-NEXT:  .reqntid 128, 1, 1
// TEXT-NEXT:  {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<?xf32>, f32) -> (), kernel}> ({
  ^bb0(%x: memref<?xf32>, %a: f32):
    %i = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
    %v = memref.load %x[%i] : memref<?xf32>
    %w = arith.mulf %v, %a : f32
    memref.store %w, %x[%i] : memref<?xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "scale", "gpu.known_block_size" = array<i32: 128, 1, 1>} : () -> ()
}) : () -> ()

// What each argument is passed as.
// CHECK:      ptx.entry @arguments(%i1: u8, %i8: u8, %i16: u16, %i32: u32, %i64: u64, %index: u64, %f16: u16, %bf16: u16, %f32: f32, %f64: f64, %p: u64) {
func.func @arguments(%i1: i1, %i8: i8, %i16: i16, %i32: i32, %i64: i64, %index: index, %f16: f16, %bf16: bf16, %f32: f32, %f64: f64, %p: memref<8xf32, 1>) attributes {gpu.kernel} {
  func.return
}

// Names that are no PTX identifiers, or taken, are spelled otherwise; none at all is a number.
// CHECK:      ptx.entry @names(%shared: u64, %a.b: f32, %a-b: f32, %arg3: f32)
// TEXT:       .shared .align 128 .b8 names_shared[128];
// TEXT-NEXT:  .visible .entry names(
// TEXT-NEXT:  .param .u64 names_shared_1,
// TEXT-NEXT:  .param .f32 names_a_b,
// TEXT-NEXT:  .param .f32 names_a_b_1,
// TEXT-NEXT:  .param .f32 names_arg3
// TEXT:       ld.param.u64 %rd1, [names_shared_1];
// TEXT:       mov.u32 %r1, names_shared;
func.func @names(%shared: memref<32xf32>, %a.b: f32, %a-b: f32, %0: f32) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %s = memref.alloc() : memref<32xf32, 3>
  memref.store %a.b, %s[%c0] : memref<32xf32, 3>
  %x = memref.load %s[%c0] : memref<32xf32, 3>
  memref.store %x, %shared[%c0] : memref<32xf32>
  func.return
}

// Above 48 KB a kernel's shared memory is dynamic.
// CHECK:      ptx.entry @large() shared 65536 align 128 {
// TEXT:       .extern .shared .align 128 .b8 large_shared[];
// TEXT-NEXT:  .visible .entry large()
func.func @large() attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %s = memref.alloc() : memref<16384xf32, 3>
  %x = memref.load %s[%c0] : memref<16384xf32, 3>
  memref.store %x, %s[%c0] : memref<16384xf32, 3>
  func.return
}

// Labels: a block called like a loop, and one whose name is no identifier.
// TEXT:       .visible .entry labels
// TEXT:       $for1:
// TEXT:       $for1_1:
// TEXT:       $a_block:
func.func @labels(%p: i1, %n: index, %x: f32, %out: memref<?xf32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  cf.cond_br %p, ^for1, ^a.block
^for1:
  scf.for %i = %c0 to %n step %n {
    memref.store %x, %out[%i] : memref<?xf32>
  }
  cf.br ^a.block
^a.block:
  func.return
}

// PTXAS-DAG: scale: {{[0-9]+}} registers, 0 bytes shared, 0 bytes spill stores
// PTXAS-DAG: names: {{[0-9]+}} registers, 128 bytes shared
// PTXAS-DAG: large: {{[0-9]+}} registers
