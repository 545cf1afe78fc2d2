// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -t ptx | filecheck %s --check-prefix PTX
// RUN: tilewright-opt %s -t ptx | %ptxas sm_80

// CHECK-LABEL: ptx.entry @wmma(%p: u64, %s: u32, %n: u32)
// CHECK-NEXT:    %g = ptx.cvta to.global.u64 %p
// CHECK-NEXT:    %stride = ptx.const 32 : !ptx.reg<b32>
// CHECK-NEXT:    %a = ptx.wmma.load "a.row.m16n16k16.shared.f16" %s, 32, %stride : !ptx.reg<b32> -> !ptx.reg<b32 x 8>
// CHECK-NEXT:    %b = ptx.wmma.load "b.col.m16n16k16.global.f16" %g, 0, %n {name = "x"} : !ptx.reg<b64> -> !ptx.reg<b32 x 8>
// CHECK-NEXT:    %c = ptx.wmma.load "c.row.m16n16k16.global.f32" %g, 0, %n : !ptx.reg<b64> -> !ptx.reg<f32 x 8>
// CHECK-NEXT:    %d = ptx.wmma.mma "row.col.m16n16k16.f32.f32" %a, %b, %c : (!ptx.reg<b32 x 8>, !ptx.reg<b32 x 8>, !ptx.reg<f32 x 8>) -> !ptx.reg<f32 x 8>
// CHECK-NEXT:    ptx.wmma.store "d.col.m16n16k16.shared.f32" %s, -64, %d, %stride {name = "x"} : !ptx.reg<b32>, !ptx.reg<f32 x 8>
// CHECK-NEXT:    %x = ptx.wmma.load "a.row.m8n8k128.global.b1" %g, 0, %n : !ptx.reg<b64> -> !ptx.reg<b32>
// CHECK-NEXT:    %y = ptx.undef : !ptx.reg<b32 x 2>
// CHECK-NEXT:    %w = ptx.wmma.load "b.col.m8n8k128.global.b1" %g, 0, %n : !ptx.reg<b64> -> !ptx.reg<b32>
// CHECK-NEXT:    %z = ptx.wmma.mma "xor.popc.row.col.m8n8k128.s32.b1.b1.s32" %x, %w, %y : (!ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32 x 2>) -> !ptx.reg<b32 x 2>
// PTX:      wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10}, [%r1+32], 32;
// PTX-NEXT: wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {{.*}}, [%rd2], %r2;
// PTX-NEXT: wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [%rd2], %r2;
// PTX-NEXT: wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, {{.*}}, {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8};
// PTX-NEXT: wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 [%r1+-64], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, 32;
// PTX-NEXT: wmma.load.a.sync.aligned.row.m8n8k128.global.b1 {%r{{[0-9]+}}}, [%rd2], %r2;
// PTX-NEXT: wmma.load.b.sync.aligned.col.m8n8k128.global.b1 {%r{{[0-9]+}}}, [%rd2], %r2;
// PTX-NEXT: wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32
ptx.entry @wmma(%p: u64, %s: u32, %n: u32) {
  %g = ptx.cvta to.global.u64 %p
  %stride = ptx.const 32 : !ptx.reg<b32>
  %a = ptx.wmma.load "a.row.m16n16k16.shared.f16" %s, 32, %stride : !ptx.reg<b32> -> !ptx.reg<b32 x 8>
  %b = ptx.wmma.load "b.col.m16n16k16.global.f16" %g, 0, %n {name = "x"} : !ptx.reg<b64> -> !ptx.reg<b32 x 8>
  %c = ptx.wmma.load "c.row.m16n16k16.global.f32" %g, 0, %n : !ptx.reg<b64> -> !ptx.reg<f32 x 8>
  %d = ptx.wmma.mma "row.col.m16n16k16.f32.f32" %a, %b, %c : (!ptx.reg<b32 x 8>, !ptx.reg<b32 x 8>, !ptx.reg<f32 x 8>) -> !ptx.reg<f32 x 8>
  ptx.wmma.store "d.col.m16n16k16.shared.f32" %s, -64, %d, %stride {name = "x"} : !ptx.reg<b32>, !ptx.reg<f32 x 8>
  %x = ptx.wmma.load "a.row.m8n8k128.global.b1" %g, 0, %n : !ptx.reg<b64> -> !ptx.reg<b32>
  %y = ptx.undef : !ptx.reg<b32 x 2>
  %w = ptx.wmma.load "b.col.m8n8k128.global.b1" %g, 0, %n : !ptx.reg<b64> -> !ptx.reg<b32>
  %z = ptx.wmma.mma "xor.popc.row.col.m8n8k128.s32.b1.b1.s32" %x, %w, %y : (!ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32 x 2>) -> !ptx.reg<b32 x 2>
  ptx.ret
}
