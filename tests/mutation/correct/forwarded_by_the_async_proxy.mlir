// One thread copies a box in and out again, twice through one buffer: no other thread sees it, and no
// fence is between, as both are accesses of one proxy.

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (8,16):(16,1)">, #cute<space smem>>
!bar = memref<1xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %box = memref.alloc() : !box
  %bar = memref.alloc() : !bar
  %elected = cute_nvgpu.elect.sync
  scf.if %elected {
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : !bar
    cute_nvgpu.fence.mbarrier_init
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes 512 : !bar
    cute_nvgpu.tma.load %m[%c0, %c0] to %box[%c0, %c0] mbarrier %bar[%c0] : !map to !box, !bar
    cute_nvgpu.mbarrier.wait %bar[%c0] parity %zero : !bar
    cute_nvgpu.tma.store %box[%c0, %c0] to %m[%c8, %c0] : !box to !map
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes 512 : !bar
    cute_nvgpu.tma.load %m[%c8, %c0] to %box[%c0, %c0] mbarrier %bar[%c0] : !map to !box, !bar
    cute_nvgpu.mbarrier.wait %bar[%c0] parity %one : !bar
    cute_nvgpu.tma.reduce add %box[%c0, %c0] to %m[%c0, %c0] : !box to !map
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0 read
  }
  func.return
}
