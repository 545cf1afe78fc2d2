// An mbarrier of one arrival is ended behind a barrier of the CTA and made anew for 64, the next one
// shows it to all.

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (8,16):(16,1)">, #cute<space smem>>
!bar = memref<1xi64, #cute<space smem>>
!words = memref<64xi32, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c63 = arith.constant 63 : index
  %zero = arith.constant 0 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %row = arith.divui %t, %c16 : index
  %column = arith.remui %t, %c16 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %last = arith.cmpi eq, %t, %c63 : index
  %box = memref.alloc() : !box
  %words = memref.alloc() : !words
  %bar = memref.alloc() : !bar
  scf.if %first {
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : !bar
    cute_nvgpu.fence.mbarrier_init
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes 512 : !bar
    cute_nvgpu.tma.load %m[%c0, %c0] to %box[%c0, %c0] mbarrier %bar[%c0] : !map to !box, !bar
  }
  "gpu.barrier"() : () -> ()
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %zero : !bar
  %x = memref.load %box[%row, %column] : !box
  "gpu.barrier"() : () -> ()
  scf.if %last {
    cute_nvgpu.mbarrier.inval %bar[%c0] : !bar
    cute_nvgpu.mbarrier.init %bar[%c0] count 64 : !bar
  }
  "gpu.barrier"() : () -> ()
  memref.store %x, %words[%t] : !words
  cute_nvgpu.mbarrier.arrive %bar[%c0] : !bar
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %zero : !bar
  %mirror = arith.subi %c63, %t : index
  %y = memref.load %words[%mirror] : !words
  memref.store %y, %p[%t] : memref<?xi32>
  func.return
}
