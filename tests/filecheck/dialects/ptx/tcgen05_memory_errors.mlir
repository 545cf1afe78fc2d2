// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.alloc' expected 32, 64, 128, 256, 512 columns, got 48; nearest legal: 32 (PTX ISA, tcgen05.alloc)}}
  ptx.tcgen05.alloc group 1 %t, 0, 48
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.alloc' expected cta_group 1 or 2, got 3; nearest legal: 2}}
  ptx.tcgen05.alloc group 3 %t, 0, 64
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  ptx.tcgen05.alloc group 1 %t, 0, 32
  // expected-error @+1 {{'ptx.tcgen05.dealloc' expected cta_group 1, got 2 ('ptx.tcgen05.alloc' of the same kernel has it, and a kernel has one alone); nearest legal: 1}}
  ptx.tcgen05.dealloc group 2 %t, 32
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.dealloc' expected 32, 64, 128, 256, 512 columns, got 0; nearest legal: 32 (PTX ISA, tcgen05.alloc)}}
  ptx.tcgen05.dealloc group 1 %t, 0
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.ld' expected shape 32x32b, 16x64b, 16x128b, 16x256b, 16x32bx2, got 16x512b; nearest legal: 16x128b}}
  %0 = ptx.tcgen05.ld "16x512b" %t, 4 : !ptx.reg<f32 x 16>
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.ld' expected 4, 8, 16, 32, 64, 128 registers with shape 16x256b, got 12; nearest legal: 8}}
  %0 = ptx.tcgen05.ld "16x256b" %t, 4 : !ptx.reg<f32 x 12>
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.ld' expected registers b32 or f32, got b16}}
  %0 = ptx.tcgen05.ld "16x256b" %t, 4 : !ptx.reg<b16 x 16>
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.ld' expected an offset of the second half with shape 16x32bx2, got none}}
  %0 = ptx.tcgen05.ld "16x32bx2" %t, 4 : !ptx.reg<b32 x 16>
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.ld' expected no offset of a second half with shape 16x256b, got 8}}
  %0 = ptx.tcgen05.ld "16x256b" half 8 %t, 4 : !ptx.reg<b32 x 16>
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.ld' expected a second half at column 0 or more, got -8; nearest legal: 0 (ptxas checks no range)}}
  %0 = ptx.tcgen05.ld "16x32bx2" half -8 %t, 4 : !ptx.reg<b32 x 16>
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  %v = ptx.undef : !ptx.reg<b32 x 16>
  // expected-error @+1 {{'ptx.tcgen05.st' expected a second half 16 columns or more further right, got 8 (two threads would write one cell); nearest legal: 16}}
  ptx.tcgen05.st "16x32bx2" half 8 %t, 4, %v : !ptx.reg<b32 x 16>
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.ld.red' expected shape 32x32b or 16x32bx2, 2 registers or more, got 16x64b and 16}}
  %0, %1 = ptx.tcgen05.ld.red "16x64b" "max.f32" %t, 4 : !ptx.reg<f32 x 16>, !ptx.reg<f32>
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.ld.red' expected shape 32x32b or 16x32bx2, 2 registers or more, got 32x32b and 1}}
  %0, %1 = ptx.tcgen05.ld.red "32x32b" "max.f32" %t, 4 : !ptx.reg<f32>, !ptx.reg<f32>
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.ld.red' expected a form of min.f32, min.abs.f32, min.NaN.f32, min.abs.NaN.f32, min.u32, min.s32, max.f32, max.abs.f32, max.NaN.f32, max.abs.NaN.f32, max.u32, max.s32, got max.abs.s32}}
  %0, %1 = ptx.tcgen05.ld.red "32x32b" "max.abs.s32" %t, 4 : !ptx.reg<b32 x 2>, !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.ld.red' expected !ptx.reg<f32> for tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32, got !ptx.reg<b32>}}
  %0, %1 = ptx.tcgen05.ld.red "32x32b" "max.f32" %t, 4 : !ptx.reg<f32 x 2>, !ptx.reg<b32>
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.cp' expected shape 128x256b, 128x128b, 4x256b, 64x128b.warpx2::02_13, 64x128b.warpx2::01_23, 32x128b.warpx4, got 32x128b; nearest legal: 32x128b.warpx4}}
  ptx.tcgen05.cp group 1 "32x128b" %t, 0, %d
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  // expected-error @+1 {{'ptx.tcgen05.cp' expected a source format of b6x16_p32 or b4x16_p64, got b4x16_p32}}
  ptx.tcgen05.cp group 1 "128x256b" "b4x16_p32" %t, 0, %d
  ptx.ret
}

// -----

ptx.entry @f(%t: u32, %d: u64, %m: u16) {
  ptx.tcgen05.shift group 2 %t, 0
  // expected-error @+1 {{'ptx.tcgen05.commit' expected cta_group 2, got 1 ('ptx.tcgen05.shift' of the same kernel has it, and a kernel has one alone); nearest legal: 2}}
  ptx.tcgen05.commit group 1 %t, 0
  ptx.ret
}
