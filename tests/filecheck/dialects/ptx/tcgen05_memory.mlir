// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: ptx.entry @memory(%t: u32, %d: u64, %m: u16) {
// CHECK-NEXT:    ptx.tcgen05.alloc group 1 %t, 8, 256
// CHECK-NEXT:    ptx.tcgen05.relinquish_alloc_permit group 1
// CHECK-NEXT:    %0 = ptx.tcgen05.ld "16x256b" %t, 4 : !ptx.reg<f32 x 16>
// CHECK-NEXT:    %1 = ptx.tcgen05.ld "16x32bx2" packed half 16 %t, 0 : !ptx.reg<b32 x 8>
// CHECK-NEXT:    %2, %3 = ptx.tcgen05.ld.red "32x32b" "max.abs.NaN.f32" %t, 0 : !ptx.reg<f32 x 2>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.tcgen05.wait.ld
// CHECK-NEXT:    ptx.tcgen05.st "32x32b" packed %t, 8, %1 : !ptx.reg<b32 x 8>
// CHECK-NEXT:    ptx.tcgen05.st "16x32bx2" half 8 %t, 8, %1 : !ptx.reg<b32 x 8>
// CHECK-NEXT:    ptx.tcgen05.wait.st
// CHECK-NEXT:    ptx.tcgen05.cp group 1 "32x128b.warpx4" %t, 0, %d
// CHECK-NEXT:    ptx.tcgen05.cp group 1 "128x256b" "b6x16_p32" %t, 4, %d
// CHECK-NEXT:    ptx.tcgen05.shift group 1 %t, 8
// CHECK-NEXT:    ptx.tcgen05.commit group 1 %t, 0
// CHECK-NEXT:    ptx.tcgen05.commit group 1 %t, 8 multicast %m
// CHECK-NEXT:    ptx.tcgen05.commit group 1 %t, 0 generic
// CHECK-NEXT:    ptx.tcgen05.fence.before_thread_sync
// CHECK-NEXT:    ptx.tcgen05.fence.after_thread_sync
// CHECK-NEXT:    ptx.tcgen05.dealloc group 1 %t, 256
ptx.entry @memory(%t: u32, %d: u64, %m: u16) {
  ptx.tcgen05.alloc group 1 %t, 8, 256
  ptx.tcgen05.relinquish_alloc_permit group 1
  %0 = ptx.tcgen05.ld "16x256b" %t, 4 : !ptx.reg<f32 x 16>
  %1 = ptx.tcgen05.ld "16x32bx2" packed half 16 %t, 0 : !ptx.reg<b32 x 8>
  %2, %3 = ptx.tcgen05.ld.red "32x32b" "max.abs.NaN.f32" %t, 0 : !ptx.reg<f32 x 2>, !ptx.reg<f32>
  ptx.tcgen05.wait.ld
  ptx.tcgen05.st "32x32b" packed %t, 8, %1 : !ptx.reg<b32 x 8>
  ptx.tcgen05.st "16x32bx2" half 8 %t, 8, %1 : !ptx.reg<b32 x 8>
  ptx.tcgen05.wait.st
  ptx.tcgen05.cp group 1 "32x128b.warpx4" %t, 0, %d
  ptx.tcgen05.cp group 1 "128x256b" "b6x16_p32" %t, 4, %d
  ptx.tcgen05.shift group 1 %t, 8
  ptx.tcgen05.commit group 1 %t, 0
  ptx.tcgen05.commit group 1 %t, 8 multicast %m
  ptx.tcgen05.commit group 1 %t, 0 generic
  ptx.tcgen05.fence.before_thread_sync
  ptx.tcgen05.fence.after_thread_sync
  ptx.tcgen05.dealloc group 1 %t, 256
  ptx.ret
}
