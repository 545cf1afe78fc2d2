// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @tma
// CHECK-NEXT:    cute_nvgpu.prefetch.tensormap %m : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>
// CHECK-NEXT:    cute_nvgpu.prefetch.tensormap %turned : !cute_nvgpu.tma_descriptor<16x32xtf32, swizzle = 128, swizzle_atom = 32>
// CHECK-NEXT:    cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>, memref<4xi64, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.tma.load %line[%i] to %p[%i] mbarrier %b[%i] cache_hint %hint {name = "x"} : !cute_nvgpu.tma_descriptor<256xf32> to memref<256xf32, #cute<space smem>>, memref<4xi64, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.tma.load %block[%i, %i, %i, %i, %i] to %d[%i, %i, %i, %i, %i, %i] mbarrier %b[%i] : !cute_nvgpu.tma_descriptor<1x2x3x4x16xf8E4M3FN> to memref<2x1x2x3x4x16xf8E4M3FN, #cute<space smem>>, memref<4xi64, #cute<space smem>>
// CHECK-NEXT:    cute_nvgpu.tma.store %s[%i, %i, %i] to %m[%i, %i] : memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>> to !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>
// CHECK-NEXT:    cute_nvgpu.tma.store %p[%i] to %line[%i] cache_hint %hint : memref<256xf32, #cute<space smem>> to !cute_nvgpu.tma_descriptor<256xf32>
// CHECK-NEXT:    cute_nvgpu.cp.async.bulk.commit_group
// CHECK-NEXT:    cute_nvgpu.cp.async.bulk.wait_group 0
// CHECK-NEXT:    cute_nvgpu.cp.async.bulk.wait_group 1 read
!map = !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>
!line = !cute_nvgpu.tma_descriptor<256xf32>
!block = !cute_nvgpu.tma_descriptor<1x2x3x4x16xf8E4M3FN>
!stages = memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, #cute<space smem>>
!plain = memref<256xf32, #cute<space smem>>
!deep = memref<2x1x2x3x4x16xf8E4M3FN, #cute<space smem>>
!barriers = memref<4xi64, #cute<space smem>>
!turned = !cute_nvgpu.tma_descriptor<16x32xtf32, swizzle = 128, swizzle_atom = 32>
func.func @tma(%m: !map, %turned: !turned, %line: !line, %block: !block, %s: !stages, %p: !plain, %d: !deep, %b: !barriers, %i: index, %hint: i64) {
  cute_nvgpu.prefetch.tensormap %m : !map
  cute_nvgpu.prefetch.tensormap %turned : !turned
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i, %i, %i] mbarrier %b[%i] : !map to !stages, !barriers
  cute_nvgpu.tma.load %line[%i] to %p[%i] mbarrier %b[%i] cache_hint %hint {name = "x"} : !line to !plain, !barriers
  cute_nvgpu.tma.load %block[%i, %i, %i, %i, %i] to %d[%i, %i, %i, %i, %i, %i] mbarrier %b[%i] : !block to !deep, !barriers
  cute_nvgpu.tma.store %s[%i, %i, %i] to %m[%i, %i] : !stages to !map
  cute_nvgpu.tma.store %p[%i] to %line[%i] cache_hint %hint : !plain to !line
  cute_nvgpu.cp.async.bulk.commit_group
  cute_nvgpu.cp.async.bulk.wait_group 0
  cute_nvgpu.cp.async.bulk.wait_group 1 read
  func.return
}

// CHECK-LABEL: func.func @multicast
// CHECK-NEXT:    cute_nvgpu.tma.load %line[%i] to %p[%i] mbarrier %b[%i] multicast %mask : !cute_nvgpu.tma_descriptor<256xf32>
// CHECK-NEXT:    cute_nvgpu.tma.load %line[%i] to %p[%i] mbarrier %b[%i] multicast %mask cache_hint %hint : !cute_nvgpu.tma_descriptor<256xf32>
// CHECK-NEXT:    cute_nvgpu.tma.load %line[%i] to %p[%i] mbarrier %b[%i] rank %leader : !cute_nvgpu.tma_descriptor<256xf32>
func.func @multicast(%line: !line, %p: !plain, %b: !barriers, %i: index, %mask: i16, %hint: i64, %leader: i32) {
  cute_nvgpu.tma.load %line[%i] to %p[%i] mbarrier %b[%i] multicast %mask : !line to !plain, !barriers
  cute_nvgpu.tma.load %line[%i] to %p[%i] mbarrier %b[%i] multicast %mask cache_hint %hint : !line to !plain, !barriers
  cute_nvgpu.tma.load %line[%i] to %p[%i] mbarrier %b[%i] rank %leader : !line to !plain, !barriers
  func.return
}

// CHECK-LABEL: func.func @reduce
// CHECK-NEXT:    cute_nvgpu.tma.reduce add %p[%i] to %line[%i] : memref<256xf32, #cute<space smem>> to !cute_nvgpu.tma_descriptor<256xf32>
// CHECK-NEXT:    cute_nvgpu.tma.reduce max %s[%i, %i, %i] to %m[%i, %i] cache_hint %hint {name = "x"} : memref<4x128x64xbf16,
// CHECK-NEXT:    cute_nvgpu.tma.reduce inc %w[%i] to %words[%i]
// CHECK-NEXT:    cute_nvgpu.tma.reduce and %w[%i] to %words[%i]
!words = !cute_nvgpu.tma_descriptor<64xi32>
!word_line = memref<64xi32, #cute<space smem>>
func.func @reduce(%m: !map, %line: !line, %words: !words, %s: !stages, %p: !plain, %w: !word_line, %i: index, %hint: i64) {
  cute_nvgpu.tma.reduce add %p[%i] to %line[%i] : !plain to !line
  cute_nvgpu.tma.reduce max %s[%i, %i, %i] to %m[%i, %i] cache_hint %hint {name = "x"} : !stages to !map
  cute_nvgpu.tma.reduce inc %w[%i] to %words[%i] : !word_line to !words
  cute_nvgpu.tma.reduce and %w[%i] to %words[%i] : !word_line to !words
  func.return
}

// A line of memory holds boxes of any rank.

// CHECK-LABEL: func.func @line
// CHECK-NEXT:    cute_nvgpu.tma.load %m[%i, %i] to %s[%i] mbarrier %b[%i]
// CHECK-NEXT:    cute_nvgpu.tma.store %s[%i] to %m[%i, %i]
!swizzled = memref<32768xbf16, !cute.composed_layout<"S<3,3,3> o 0 o 32768:1">, #cute<space smem>>
func.func @line(%m: !map, %s: !swizzled, %b: !barriers, %i: index) {
  cute_nvgpu.tma.load %m[%i, %i] to %s[%i] mbarrier %b[%i] : !map to !swizzled, !barriers
  cute_nvgpu.tma.store %s[%i] to %m[%i, %i] : !swizzled to !map
  func.return
}
