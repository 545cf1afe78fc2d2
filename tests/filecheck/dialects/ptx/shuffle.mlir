// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -t ptx | filecheck %s --check-prefix PTX

// PTX: shfl.sync.bfly.b32 %f2, %f1, 2, 31, 0xffffffff;
// PTX: shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffffffff;

// CHECK-LABEL: ptx.entry @shuffle
// CHECK-NEXT:    %other = ptx.shfl.sync "bfly" %x, 2 : !ptx.reg<f32> -> !ptx.reg<f32>
// CHECK-NEXT:    %first = ptx.shfl.sync "idx" %n, 0 : !ptx.reg<b32> -> !ptx.reg<b32>
ptx.entry @shuffle(%x: f32, %n: u32) {
  %other = ptx.shfl.sync "bfly" %x, 2 : !ptx.reg<f32> -> !ptx.reg<f32>
  %first = ptx.shfl.sync "idx" %n, 0 : !ptx.reg<b32> -> !ptx.reg<b32>
  ptx.ret
}
