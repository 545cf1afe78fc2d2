// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -t 'ptx{arch=sm_121a}' | filecheck %s --check-prefix PTX

// CHECK-LABEL: ptx.entry @matrix_copy(%p: u32) {
// CHECK-NEXT:    %a = ptx.ldmatrix %p, 0 : !ptx.reg<b32 x 4>
// CHECK-NEXT:    %b = ptx.ldmatrix trans %p, 256 {name = "x"} : !ptx.reg<b32>
// CHECK-NEXT:    %c = ptx.ldmatrix "m16n16.b8" trans %p, 0 : !ptx.reg<b32 x 2>
// CHECK-NEXT:    %d = ptx.ldmatrix "m8n16.b8x16.b6x16_p32" %p, 0 : !ptx.reg<b32 x 4>
// CHECK-NEXT:    %e = ptx.ldmatrix "m16n16.b8x16.b4x16_p64" trans %p, -16 {name = "x"} : !ptx.reg<b32 x 4>
// CHECK-NEXT:    %f = ptx.movmatrix %b {name = "x"}
// CHECK-NEXT:    ptx.stmatrix %p, -16, %a : !ptx.reg<b32 x 4>
// CHECK-NEXT:    ptx.stmatrix trans %p, 0, %f : !ptx.reg<b32>
// CHECK-NEXT:    ptx.stmatrix "m16n8.b8" trans %p, 0, %c {name = "x"} : !ptx.reg<b32 x 2>
// CHECK-NEXT:    ptx.stmatrix "m16n8.b8" trans %p, 0, %d : !ptx.reg<b32 x 4>
// CHECK-NEXT:    ptx.stmatrix %p, 0, %e : !ptx.reg<b32 x 4>
// CHECK-NEXT:    ptx.ret

// PTX:       .version 8.8
// PTX-NEXT:  .target sm_120f
// PTX:         ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, [%r{{[0-9]+}}];
// PTX-NEXT:    ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r{{[0-9]+}}}, [%r{{[0-9]+}}+256];
// PTX-NEXT:    ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r{{[0-9]+}}, %r{{[0-9]+}}}, [%r{{[0-9]+}}];
// PTX-NEXT:    ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32 {{{.*}}}, [%r{{[0-9]+}}];
// PTX-NEXT:    ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b4x16_p64 {{{.*}}}, [%r{{[0-9]+}}+-16];
// PTX-NEXT:    movmatrix.sync.aligned.m8n8.trans.b16 %r{{[0-9]+}}, %r{{[0-9]+}};
// PTX-NEXT:    stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r{{[0-9]+}}+-16], {{{.*}}};
// PTX-NEXT:    stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r{{[0-9]+}}], {%r{{[0-9]+}}};
// PTX-NEXT:    stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}};
// PTX-NEXT:    stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%r{{[0-9]+}}], {{{.*}}};
ptx.entry @matrix_copy(%p: u32) {
  %a = ptx.ldmatrix %p, 0 : !ptx.reg<b32 x 4>
  %b = ptx.ldmatrix trans %p, 256 {name = "x"} : !ptx.reg<b32>
  %c = ptx.ldmatrix "m16n16.b8" trans %p, 0 : !ptx.reg<b32 x 2>
  %d = ptx.ldmatrix "m8n16.b8x16.b6x16_p32" %p, 0 : !ptx.reg<b32 x 4>
  %e = ptx.ldmatrix "m16n16.b8x16.b4x16_p64" trans %p, -16 {name = "x"} : !ptx.reg<b32 x 4>
  %f = ptx.movmatrix %b {name = "x"}
  ptx.stmatrix %p, -16, %a : !ptx.reg<b32 x 4>
  ptx.stmatrix trans %p, 0, %f : !ptx.reg<b32>
  ptx.stmatrix "m16n8.b8" trans %p, 0, %c {name = "x"} : !ptx.reg<b32 x 2>
  ptx.stmatrix "m16n8.b8" trans %p, 0, %d : !ptx.reg<b32 x 4>
  ptx.stmatrix %p, 0, %e : !ptx.reg<b32 x 4>
  ptx.ret
}
