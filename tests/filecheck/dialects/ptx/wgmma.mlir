// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -t ptx | filecheck %s --check-prefix PTX
// RUN: tilewright-opt %s -t ptx | %ptxas sm_90a

// CHECK-LABEL: ptx.entry @wgmma(%x: u64, %y: u64, %e: u32)
// CHECK:         ptx.fence.proxy.async
// CHECK-NEXT:    ptx.wgmma.fence
// CHECK-NEXT:    %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %x, %y, %c immediates [1, -1, 0, 1] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
// CHECK-NEXT:    %f = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %a, %y, %d scale_d %p immediates [1, 1, 1] : !ptx.reg<b32 x 4>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
// CHECK-NEXT:    %g = ptx.wgmma.mma_async "m64n8k32.s32.s8.u8.satfinite" %x, %y, %i zero {name = "x"} : !ptx.reg<b64>, !ptx.reg<b32 x 4> -> !ptx.reg<b32 x 4>
// CHECK-NEXT:    %h = ptx.wgmma.mma_async "sp.m64n8k32.f32.bf16.bf16" %x, %y, %f, %e[1] immediates [-1, 1, 1, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
// CHECK-NEXT:    ptx.wgmma.commit_group
// CHECK-NEXT:    ptx.wgmma.wait_group 0
// PTX:      fence.proxy.async;
// PTX-NEXT: wgmma.fence.sync.aligned;
// PTX-NEXT: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd{{[0-9]+}}, %rd{{[0-9]+}}, 1, 1, -1, 0, 1;
// PTX-NEXT: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, {%r{{.*}}}, %rd{{[0-9]+}}, %p{{[0-9]+}}, 1, 1, 1;
// PTX:      wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8.satfinite {%r{{.*}}}, %rd{{[0-9]+}}, %rd{{[0-9]+}}, 0;
// PTX-NEXT: wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd{{[0-9]+}}, %rd{{[0-9]+}}, %r{{[0-9]+}}, 1, 1, -1, 1, 1, 0;
// PTX-NEXT: wgmma.commit_group.sync.aligned;
// PTX-NEXT: wgmma.wait_group.sync.aligned 0;
ptx.entry @wgmma(%x: u64, %y: u64, %e: u32) {
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %a = ptx.undef : !ptx.reg<b32 x 4>
  %i = ptx.undef : !ptx.reg<b32 x 4>
  %p = ptx.undef : !ptx.reg<pred>
  ptx.fence.proxy.async
  ptx.wgmma.fence
  %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %x, %y, %c immediates [1, -1, 0, 1] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  %f = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %a, %y, %d scale_d %p immediates [1, 1, 1] : !ptx.reg<b32 x 4>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  %g = ptx.wgmma.mma_async "m64n8k32.s32.s8.u8.satfinite" %x, %y, %i zero {name = "x"} : !ptx.reg<b64>, !ptx.reg<b32 x 4> -> !ptx.reg<b32 x 4>
  %h = ptx.wgmma.mma_async "sp.m64n8k32.f32.bf16.bf16" %x, %y, %f, %e[1] immediates [-1, 1, 1, 0] : !ptx.reg<b64>, !ptx.reg<f32 x 4> -> !ptx.reg<f32 x 4>
  ptx.wgmma.commit_group
  ptx.wgmma.wait_group 0
  ptx.ret
}
