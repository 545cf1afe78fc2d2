// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!stages = memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3>

// A matrix of the last two modes, K-major, and of others, MN-major.
// CHECK-LABEL: func.func @matrices
func.func @matrices(%m: !stages, %s: index, %i: index, %j: index) {
  // CHECK: cute_nvgpu.make_smem_desc %m[%s, %i, %j] : memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3 : i64> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
  %a = cute_nvgpu.make_smem_desc %m[%s, %i, %j] : !stages -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
  // CHECK: cute_nvgpu.make_smem_desc %m[%s, %i, %j] modes [2, 1] {name = "x"} : {{.*}} -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(1,64)">
  %b = cute_nvgpu.make_smem_desc %m[%s, %i, %j] modes [2, 1] {name = "x"} : !stages -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(1,64)">
  func.return
}

// Elements that memory holds under another type: tf32 in f32, bytes in i8, eight bits in an i8. A
// layout is a function: its spelling is free.
// CHECK-LABEL: func.func @held_in
func.func @held_in(%f: memref<64x32xf32, !cute.composed_layout<"S<3,2,3> o 0 o (64,32):(32,1)">, 3>, %b: memref<64x32xi8, !cute.layout<"((8,8),(16,2)):((16,128),(1,1024))">, 3>, %w: memref<64x128xi8, !cute.composed_layout<"S<3,4,3> o 0 o (64,128):(128,1)">, 3>, %i: index) {
  // CHECK: -> !cute_nvgpu.smem_desc_view<64x8xtf32, "S<3,2,3> o 0 o (64,8):(32,1)">
  %0 = cute_nvgpu.make_smem_desc %f[%i, %i] : memref<64x32xf32, !cute.composed_layout<"S<3,2,3> o 0 o (64,32):(32,1)">, 3> -> !cute_nvgpu.smem_desc_view<64x8xtf32, "S<3,2,3> o 0 o (64,8):(32,1)">
  // CHECK: -> !cute_nvgpu.smem_desc_view<64x32xui8, "(64,(16,2)):(16,(1,1024))">
  %1 = cute_nvgpu.make_smem_desc %b[%i, %i] : memref<64x32xi8, !cute.layout<"((8,8),(16,2)):((16,128),(1,1024))">, 3> -> !cute_nvgpu.smem_desc_view<64x32xui8, "(64,(16,2)):(16,(1,1024))">
  // CHECK: -> !cute_nvgpu.smem_desc_view<64x256xui1, "S<3,7,3> o 0 o (64,256):(1024,1)">
  %2 = cute_nvgpu.make_smem_desc %w[%i, %i] : memref<64x128xi8, !cute.composed_layout<"S<3,4,3> o 0 o (64,128):(128,1)">, 3> -> !cute_nvgpu.smem_desc_view<64x256xui1, "S<3,7,3> o 0 o (64,256):(1024,1)">
  func.return
}

// The canonical layouts of 16-bit elements (PTX ISA 9.7.15.5.1.2.1.3): K-major, then MN-major.
// CHECK-LABEL: func.func @canonical
// CHECK-SAME: smem_desc_view<16x32xf16, "((8,2),(8,4)):((8,256),(1,64))">
// CHECK-SAME: smem_desc_view<16x16xf16, "S<1,3,3> o 0 o ((8,2),(8,2)):((16,128),(1,8))">
// CHECK-SAME: smem_desc_view<16x32xf16, "S<2,3,3> o 0 o ((8,2),(8,4)):((32,256),(1,8))">
// CHECK-SAME: smem_desc_view<16x64xf16, "S<3,3,3> o 0 o ((8,2),(8,8)):((64,512),(1,8))">
// CHECK-SAME: smem_desc_view<16x16xf16, "((8,1,2),(8,2)):((1,8,64),(8,128))">
// CHECK-SAME: smem_desc_view<32x16xf16, "S<1,3,3> o 0 o ((8,2,2),(8,2)):((1,8,128),(16,256))">
// CHECK-SAME: smem_desc_view<64x16xf16, "S<2,3,3> o 0 o ((8,4,2),(8,2)):((1,8,256),(32,512))">
// CHECK-SAME: smem_desc_view<128x16xf16, "S<3,3,3> o 0 o ((8,8,2),(8,2)):((1,8,512),(64,1024))">
func.func @canonical(
    %0: !cute_nvgpu.smem_desc_view<16x32xf16, "((8,2),(8,4)):((8,256),(1,64))">,
    %1: !cute_nvgpu.smem_desc_view<16x16xf16, "S<1,3,3> o 0 o ((8,2),(8,2)):((16,128),(1,8))">,
    %2: !cute_nvgpu.smem_desc_view<16x32xf16, "S<2,3,3> o 0 o ((8,2),(8,4)):((32,256),(1,8))">,
    %3: !cute_nvgpu.smem_desc_view<16x64xf16, "S<3,3,3> o 0 o ((8,2),(8,8)):((64,512),(1,8))">,
    %4: !cute_nvgpu.smem_desc_view<16x16xf16, "((8,1,2),(8,2)):((1,8,64),(8,128))">,
    %5: !cute_nvgpu.smem_desc_view<32x16xf16, "S<1,3,3> o 0 o ((8,2,2),(8,2)):((1,8,128),(16,256))">,
    %6: !cute_nvgpu.smem_desc_view<64x16xf16, "S<2,3,3> o 0 o ((8,4,2),(8,2)):((1,8,256),(32,512))">,
    %7: !cute_nvgpu.smem_desc_view<128x16xf16, "S<3,3,3> o 0 o ((8,8,2),(8,2)):((1,8,512),(64,1024))">) {
  func.return
}

// -----

// In a line of memory the result says how the matrix lies.

// CHECK-LABEL: @line
// CHECK: cute_nvgpu.make_smem_desc %m[%i] : memref<32768xbf16
// CHECK: cute_nvgpu.make_smem_desc %n[%i] : memref<4096xi8
func.func @line(%m: memref<32768xbf16, !cute.composed_layout<"S<3,3,3> o 0 o 32768:1">, 3>, %n: memref<4096xi8, 3>, %i: index) {
  %d = cute_nvgpu.make_smem_desc %m[%i] : memref<32768xbf16, !cute.composed_layout<"S<3,3,3> o 0 o 32768:1">, 3> -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
  %e = cute_nvgpu.make_smem_desc %n[%i] : memref<4096xi8, 3> -> !cute_nvgpu.smem_desc_view<64x32xsi8, "((8,8),(16,2)):((16,256),(1,128))">
  func.return
}
