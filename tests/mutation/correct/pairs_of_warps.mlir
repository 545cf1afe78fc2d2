// Four warps, two of which meet at a named barrier each, some rounds before the other two do: each
// pair exchanges what it has through its half of the memory.
// arch = sm_80

!half = memref<2x64xi32, #cute<space smem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %thread = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %pair = arith.divui %thread, %c64 : index
  %place = arith.remui %thread, %c64 : index
  %mirror = arith.subi %c63, %place : index
  %is_low = arith.cmpi eq, %pair, %c0 : index
  %halves = memref.alloc() : !half
  %start = arith.index_cast %thread : index to i32
  scf.if %is_low {
    %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %start) -> (i32) {
      memref.store %v, %halves[%pair, %place] : !half
      cute_nvgpu.bar.sync 7 threads 64
      %w = memref.load %halves[%pair, %mirror] : !half
      cute_nvgpu.bar.sync 7 threads 64
      scf.yield %w : i32
    }
    memref.store %r, %p[%thread] : memref<?xi32>
  } else {
    %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %start) -> (i32) {
      memref.store %v, %halves[%pair, %place] : !half
      cute_nvgpu.bar.sync 9 threads 64
      %w = memref.load %halves[%pair, %mirror] : !half
      cute_nvgpu.bar.sync 9 threads 64
      scf.yield %w : i32
    }
    memref.store %r, %p[%thread] : memref<?xi32>
  }
  func.return
}
