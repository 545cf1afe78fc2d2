// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: ptx.entry @matrix(%address: u32) {
// CHECK-NEXT:    %a = ptx.ldmatrix %address, 0 : !ptx.reg<b32 x 4>
// CHECK-NEXT:    %b = ptx.ldmatrix trans %address, 256 {name = "x"} : !ptx.reg<b32 x 2>
// CHECK-NEXT:    %c = ptx.undef : !ptx.reg<f32 x 4>
// CHECK-NEXT:    %d = ptx.mma "m16n8k16.row.col.f32.bf16.bf16.f32" %a, %b, %c {name = "x"} : (!ptx.reg<b32 x 4>, !ptx.reg<b32 x 2>, !ptx.reg<f32 x 4>) -> !ptx.reg<f32 x 4>
// CHECK-NEXT:    ptx.stmatrix %address, -16, %a : !ptx.reg<b32 x 4>
// CHECK-NEXT:    ptx.stmatrix trans %address, 0, %b : !ptx.reg<b32 x 2>
// CHECK-NEXT:    ptx.ret
ptx.entry @matrix(%address: u32) {
  %a = ptx.ldmatrix %address, 0 : !ptx.reg<b32 x 4>
  %b = ptx.ldmatrix trans %address, 256 {name = "x"} : !ptx.reg<b32 x 2>
  %c = ptx.undef : !ptx.reg<f32 x 4>
  %d = ptx.mma "m16n8k16.row.col.f32.bf16.bf16.f32" %a, %b, %c {name = "x"} : (!ptx.reg<b32 x 4>, !ptx.reg<b32 x 2>, !ptx.reg<f32 x 4>) -> !ptx.reg<f32 x 4>
  ptx.stmatrix %address, -16, %a : !ptx.reg<b32 x 4>
  ptx.stmatrix trans %address, 0, %b : !ptx.reg<b32 x 2>
  ptx.ret
}
