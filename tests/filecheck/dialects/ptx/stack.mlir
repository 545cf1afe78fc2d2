// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt -t ptx %s | filecheck %s --check-prefix PTX

// CHECK-LABEL: ptx.entry @stack() {
// CHECK-NEXT:    %top = ptx.stacksave "u64" : !ptx.reg<b64>
// CHECK-NEXT:    %size = ptx.const 12 : !ptx.reg<b32>
// CHECK-NEXT:    %p = ptx.alloca "u32" %size : !ptx.reg<b32>
// CHECK-NEXT:    %q = ptx.alloca "u64" %top align 16 : !ptx.reg<b64>
// CHECK-NEXT:    ptx.stackrestore "u64" %top : !ptx.reg<b64>
// CHECK-NEXT:    ptx.pmevent 3
// CHECK-NEXT:    ptx.pmevent mask 7
// CHECK-NEXT:    ptx.brkpt
// PTX:      stacksave.u64 %rd[[TOP:[0-9]+]];
// PTX-NEXT: alloca.u32 %r{{[0-9]+}}, 12;
// PTX-NEXT: alloca.u64 %rd{{[0-9]+}}, %rd[[TOP]], 16;
// PTX-NEXT: stackrestore.u64 %rd[[TOP]];
// PTX-NEXT: pmevent 3;
// PTX-NEXT: pmevent.mask 7;
// PTX-NEXT: brkpt;
ptx.entry @stack() {
  %top = ptx.stacksave "u64" : !ptx.reg<b64>
  %size = ptx.const 12 : !ptx.reg<b32>
  %p = ptx.alloca "u32" %size : !ptx.reg<b32>
  %q = ptx.alloca "u64" %top align 16 : !ptx.reg<b64>
  ptx.stackrestore "u64" %top : !ptx.reg<b64>
  ptx.pmevent 3
  ptx.pmevent mask 7
  ptx.brkpt
  ptx.ret
}
