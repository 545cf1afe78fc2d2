// Two warps of one CTA: the scope of the flag between them is the CTA alone.
// arch = sm_80

func.func @k(%p: memref<?xi32>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %c0 = arith.constant 0 : index
  %flag = arith.constant 7 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %lane = arith.remui %t, %c32 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %sends = arith.cmpi ult, %t, %c32 : index
  %at = cute_nvgpu.address %p : memref<?xi32> -> i64
  scf.if %sends {
    %n = arith.index_cast %t : index to i32
    memref.store %n, %p[%t] : memref<?xi32>
    cute_nvgpu.bar.warp.sync
    scf.if %leads {
      cute_nvgpu.address.store semantics "release.cta" %flag to %at + 800 : i32 to i64
    }
  } else {
    scf.if %leads {
      scf.while () : () -> () {
        %x = cute_nvgpu.address.load semantics "acquire.cta" %at + 800 : i64 -> i32
        %wait = arith.cmpi ne, %x, %flag : i32
        scf.condition(%wait)
      } do {
        scf.yield
      }
    }
    cute_nvgpu.bar.warp.sync
    %mirror = arith.subi %c31, %lane : index
    %v = memref.load %p[%mirror] : memref<?xi32>
    memref.store %v, %p[%t] : memref<?xi32>
  }
  func.return
}
