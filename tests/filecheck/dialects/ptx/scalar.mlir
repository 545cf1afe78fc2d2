// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// The last form of every op: its operands' registers follow from the form. That all forms assemble is
// tests/dialects/ptx/test_forms_assemble.py.

// CHECK-LABEL: ptx.entry @scalar(%h: u16, %r: u32, %d: u64, %f: f32, %g: f64) {
// CHECK-NEXT:    %p = ptx.setp ne.u16 %h, %h
// CHECK-NEXT:    %add = ptx.add rn.f16 %h, %h {name = "x"}
// CHECK-NEXT:    %sub = ptx.sub rn.f16 %h, %h
// CHECK-NEXT:    %mul = ptx.mul rn.f16 %h, %h
// CHECK-NEXT:    %mad = ptx.mad lo.u64 %d, %d, %d
// CHECK-NEXT:    %fma = ptx.fma rn.f16 %h, %h, %h
// CHECK-NEXT:    %div = ptx.div rn.f64 %g, %g
// CHECK-NEXT:    %rem = ptx.rem u64 %d, %d
// CHECK-NEXT:    %abs = ptx.abs f64 %g
// CHECK-NEXT:    %neg = ptx.neg f16 %h
// CHECK-NEXT:    %min = ptx.min NaN.f32 %f, %f
// CHECK-NEXT:    %max = ptx.max NaN.f32 %f, %f
// CHECK-NEXT:    %sqrt = ptx.sqrt rn.f64 %g
// CHECK-NEXT:    %setp = ptx.setp nan.f64 %g, %g
// CHECK-NEXT:    %selp = ptx.selp f64 %g, %g, %p
// CHECK-NEXT:    %and = ptx.and b64 %d, %d
// CHECK-NEXT:    %or = ptx.or b64 %d, %d
// CHECK-NEXT:    %xor = ptx.xor b64 %d, %d
// CHECK-NEXT:    %not = ptx.not b64 %d
// CHECK-NEXT:    %shl = ptx.shl b64 %d, %r
// CHECK-NEXT:    %shr = ptx.shr u64 %d, %r
// CHECK-NEXT:    %cvt = ptx.cvt rn.bf16.f32 %f
// CHECK-NEXT:    %cvta = ptx.cvta to.global.u64 %d
// CHECK-NEXT:    %ex2 = ptx.ex2 approx.ftz.f32 %f
// CHECK-NEXT:    %lg2 = ptx.lg2 approx.ftz.f32 %f
// CHECK-NEXT:    %rcp = ptx.rcp approx.ftz.f32 %f
// CHECK-NEXT:    %rsqrt = ptx.rsqrt approx.ftz.f32 %f
// CHECK-NEXT:    %popc = ptx.popc b64 %d
// CHECK-NEXT:    %clz = ptx.clz b64 %d
// CHECK-NEXT:    %brev = ptx.brev b64 %d
// CHECK-NEXT:    ptx.ret
ptx.entry @scalar(%h: u16, %r: u32, %d: u64, %f: f32, %g: f64) {
  %p = ptx.setp ne.u16 %h, %h
  %add = ptx.add rn.f16 %h, %h {name = "x"}
  %sub = ptx.sub rn.f16 %h, %h
  %mul = ptx.mul rn.f16 %h, %h
  %mad = ptx.mad lo.u64 %d, %d, %d
  %fma = ptx.fma rn.f16 %h, %h, %h
  %div = ptx.div rn.f64 %g, %g
  %rem = ptx.rem u64 %d, %d
  %abs = ptx.abs f64 %g
  %neg = ptx.neg f16 %h
  %min = ptx.min NaN.f32 %f, %f
  %max = ptx.max NaN.f32 %f, %f
  %sqrt = ptx.sqrt rn.f64 %g
  %setp = ptx.setp nan.f64 %g, %g
  %selp = ptx.selp f64 %g, %g, %p
  %and = ptx.and b64 %d, %d
  %or = ptx.or b64 %d, %d
  %xor = ptx.xor b64 %d, %d
  %not = ptx.not b64 %d
  %shl = ptx.shl b64 %d, %r
  %shr = ptx.shr u64 %d, %r
  %cvt = ptx.cvt rn.bf16.f32 %f
  %cvta = ptx.cvta to.global.u64 %d
  %ex2 = ptx.ex2 approx.ftz.f32 %f
  %lg2 = ptx.lg2 approx.ftz.f32 %f
  %rcp = ptx.rcp approx.ftz.f32 %f
  %rsqrt = ptx.rsqrt approx.ftz.f32 %f
  %popc = ptx.popc b64 %d
  %clz = ptx.clz b64 %d
  %brev = ptx.brev b64 %d
  ptx.ret
}
