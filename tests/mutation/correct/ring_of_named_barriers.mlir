// A warp fills two buffers in turn, another one empties them: for each buffer a named barrier says
// that it is full, another one that it is empty. A round does both buffers; the
// last one says nothing.
// arch = sm_80

!buffers = memref<2x32xi32, #cute<space smem>>

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %ten = arith.constant 10 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %lane = arith.remui %t, %c32 : index
  %fills = arith.cmpi ult, %t, %c32 : index
  %b = memref.alloc() : !buffers
  scf.if %fills {
    scf.for %i = %c0 to %c3 step %c1 {
      %n = arith.index_cast %i : index to i32
      %v = arith.muli %n, %ten : i32
      cute_nvgpu.bar.sync 1 threads 64
      memref.store %n, %b[%c0, %lane] : !buffers
      cute_nvgpu.bar.arrive 3 threads 64
      cute_nvgpu.bar.sync 2 threads 64
      memref.store %v, %b[%c1, %lane] : !buffers
      cute_nvgpu.bar.arrive 4 threads 64
    }
  } else {
    cute_nvgpu.bar.arrive 1 threads 64
    cute_nvgpu.bar.arrive 2 threads 64
    %c2 = arith.constant 2 : index
    %c31 = arith.constant 31 : index
    %other = arith.subi %c31, %lane : index
    %most = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %zero) -> (i32) {
      cute_nvgpu.bar.sync 3 threads 64
      %x = memref.load %b[%c0, %other] : !buffers
      cute_nvgpu.bar.arrive 1 threads 64
      cute_nvgpu.bar.sync 4 threads 64
      %y = memref.load %b[%c1, %other] : !buffers
      cute_nvgpu.bar.arrive 2 threads 64
      %xy = arith.addi %x, %y : i32
      %new = arith.addi %s, %xy : i32
      scf.yield %new : i32
    }
    cute_nvgpu.bar.sync 3 threads 64
    %x = memref.load %b[%c0, %other] : !buffers
    cute_nvgpu.bar.sync 4 threads 64
    %y = memref.load %b[%c1, %other] : !buffers
    %xy = arith.addi %x, %y : i32
    %sum = arith.addi %most, %xy : i32
    memref.store %sum, %p[%lane] : memref<?xi32>
  }
  func.return
}
