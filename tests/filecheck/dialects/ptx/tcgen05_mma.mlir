// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -t ptx | filecheck %s --check-prefix PTX
// RUN: tilewright-opt %s -t ptx | %ptxas sm_100a

// PTX: .version 8.8
// PTX: .target sm_100a

// CHECK-LABEL: ptx.entry @mma(%d: u32, %a: u64, %e: u32, %z: u64)
// CHECK:         ptx.tcgen05.mma "cta_group::1.kind::f16" %d, %a, %z, %idesc enable_input_d %p : !ptx.reg<b64>
// CHECK-NEXT:    ptx.tcgen05.mma "cta_group::1.kind::f16.collector::a::fill" %d, %a, %z, %idesc lanes %l : !ptx.reg<b32 x 4> enable_input_d %p scale_input_d 3 : !ptx.reg<b64>
// CHECK-NEXT:    ptx.tcgen05.mma "cta_group::1.kind::tf32.ashift" %d, %e, %z, %d zero {name = "x"} : !ptx.reg<b32>
// CHECK-NEXT:    ptx.tcgen05.mma "sp.cta_group::1.kind::f16" %d, %a, %z, %sparse metadata %e : !ptx.reg<b64>
// CHECK-NEXT:    ptx.tcgen05.mma "cta_group::1.kind::mxf4.block_scale.block32" %d, %a, %z, %scaled scales %e, %d enable_input_d %p : !ptx.reg<b64>
// CHECK-NEXT:    ptx.tcgen05.mma "sp.cta_group::1.kind::mxf8f6f4.block_scale.block32" %d, %e, %z, %d metadata %e scales %e, %d enable_input_d %p : !ptx.reg<b32>
// CHECK-NEXT:    ptx.tcgen05.mma "ws.cta_group::1.kind::f16.collector::b1::use" %d, %a, %z, %d enable_input_d %p zero_column_mask %a : !ptx.reg<b64>
// PTX:      tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, 0x08200010, %p1;
// PTX-NEXT: tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%r1], %rd1, %rd2, 0x08200010, {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, %p1, 3;
// PTX-NEXT: tcgen05.mma.cta_group::1.kind::tf32.ashift [%r1], [%r2], %rd2, %r1, 0;
// PTX-NEXT: tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, [%r2], 0x08200015, 1;
// PTX-NEXT: tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32 [%r1], %rd1, %rd2, 0x48a004a0, [%r2], [%r1], %p1;
// PTX-NEXT: tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale.block32 [%r1], [%r2], %rd2, [%r2], %r1, [%r2], [%r1], %p1;
// PTX-NEXT: tcgen05.mma.ws.cta_group::1.kind::f16.collector::b1::use [%r1], %rd1, %rd2, %r1, %p1, %rd1;
ptx.entry @mma(%d: u32, %a: u64, %e: u32, %z: u64) {
  %p = ptx.undef : !ptx.reg<pred>
  %l = ptx.undef : !ptx.reg<b32 x 4>
  %idesc = ptx.const 136314896 : !ptx.reg<b32>
  %sparse = ptx.const 136314901 : !ptx.reg<b32>
  %scaled = ptx.const 1218446496 : !ptx.reg<b32>
  ptx.tcgen05.mma "cta_group::1.kind::f16" %d, %a, %z, %idesc enable_input_d %p : !ptx.reg<b64>
  ptx.tcgen05.mma "cta_group::1.kind::f16.collector::a::fill" %d, %a, %z, %idesc lanes %l : !ptx.reg<b32 x 4> enable_input_d %p scale_input_d 3 : !ptx.reg<b64>
  ptx.tcgen05.mma "cta_group::1.kind::tf32.ashift" %d, %e, %z, %d zero {name = "x"} : !ptx.reg<b32>
  ptx.tcgen05.mma "sp.cta_group::1.kind::f16" %d, %a, %z, %sparse metadata %e : !ptx.reg<b64>
  ptx.tcgen05.mma "cta_group::1.kind::mxf4.block_scale.block32" %d, %a, %z, %scaled scales %e, %d enable_input_d %p : !ptx.reg<b64>
  ptx.tcgen05.mma "sp.cta_group::1.kind::mxf8f6f4.block_scale.block32" %d, %e, %z, %d metadata %e scales %e, %d enable_input_d %p : !ptx.reg<b32>
  ptx.tcgen05.mma "ws.cta_group::1.kind::f16.collector::b1::use" %d, %a, %z, %d enable_input_d %p zero_column_mask %a : !ptx.reg<b64>
  ptx.ret
}
