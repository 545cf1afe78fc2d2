// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p convert-cute-nvgpu-to-ptx

!map = !cute_nvgpu.tma_descriptor<8x8xbf16>
!tile = memref<64x8xbf16, #cute<space smem>>
!barriers = memref<4xi64, #cute<space smem>>
func.func @box(%m: !map) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %s = memref.alloc() : !tile
  %b = memref.alloc() : !barriers
  // expected-error @+1 {{'cute_nvgpu.tma.load' expected a box that starts at a multiple of 128 bytes, got byte 64; nearest legal: byte 0}}
  cute_nvgpu.tma.load %m[%c0, %c0] to %s[%c4, %c0] mbarrier %b[%c0] : !map to !tile, !barriers
  func.return
}

// -----

func.func @registers() attributes {gpu.kernel} {
  // expected-error @+1 {{'cute_nvgpu.setmaxnreg' expected a kernel with gpu.known_block_size, got none (ptxas ignores it where it does not know the registers at entry)}}
  cute_nvgpu.setmaxnreg dec 40
  func.return
}
