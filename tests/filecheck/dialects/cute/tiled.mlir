// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32;32;16]">
!wgmma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "(2,1,1):(1,0,0)">
!rs = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = rs>>
!copy = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32;32]">
!sa = !cute.memref<f16, smem, align<128>, "S<2,3,3> o 0 o (128,32,3):(32,1,4096)">
!wa = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,3):(64,1,8192)">
!wb = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (64,128):(1,64)">
!gc = !cute.memref<f32, gmem, "(128,128):(?,1)">
!cc = !cute.coord_tensor<"(?{div=128},0)", "(128,128):(1@0,1@1)">

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK-NEXT: %a = cute.make_tiled_mma : !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">
  %a = cute.make_tiled_mma : !mma
  // CHECK-NEXT: %b = cute.make_tiled_mma : !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x8, elem_type = (tf32, tf32, f32)>>
  %b = cute.make_tiled_mma : !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x8, elem_type = (tf32, tf32, f32)>>
  // CHECK-NEXT: %c = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32:1;32:1]">
  %c = cute.make_tiled_copy : !copy
  // CHECK-NEXT: %d = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<universal, f32, 64>, layout_tv = "(32,2):(2,1)", tiler_mn = "[64:1]">
  %d = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<universal, f32, 64>, layout_tv = "(32,2):(2,1)", tiler_mn = "[64]">
  func.return
}

// What each operand's threads hold, copied by an instruction that one chooses.
// CHECK-LABEL: func.func @make_tiled_copy
func.func @make_tiled_copy(%mma: !mma) {
  // CHECK-NEXT: %a = cute.make_tiled_copy_A<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">) -> !cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(32,512)))", tiler_mn = "[32:1;16:1]">
  %a = cute.make_tiled_copy_A<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma)
  // CHECK-NEXT: %b = cute.make_tiled_copy_B<#cute_nvgpu.copy<ldmatrix, f16, x2, trans>> (%mma) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">) -> !cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x2, trans>, layout_tv = "((4,8,2,2),((2,2),(2,1))):((64,1,0,8),((32,256),(16,512)))", tiler_mn = "[32:1;16:1]">
  %b = cute.make_tiled_copy_B<#cute_nvgpu.copy<ldmatrix, f16, x2, trans>> (%mma)
  // CHECK-NEXT: %c = cute.make_tiled_copy_C<#cute_nvgpu.copy<stmatrix, f16, x4>> (%mma) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">) -> !cute.tiled_copy<#cute_nvgpu.copy<stmatrix, f16, x4>, layout_tv = "((4,8,2,2),((2,2),(1,2))):((64,1,16,256),((32,8),(32,512)))", tiler_mn = "[32:1;32:1]">
  %c = cute.make_tiled_copy_C<#cute_nvgpu.copy<stmatrix, f16, x4>> (%mma)
  func.return
}

// (V,M,K,...), of elements and of their coordinates.
// CHECK-LABEL: func.func @mma_partition
func.func @mma_partition(%mma: !mma, %wgmma: !wgmma, %sa: !sa, %wa: !wa, %gc: !gc, %cc: !cc, %t: i32) {
  // CHECK-NEXT: %a = cute.tiled.mma.partition A (%mma, %sa, %t) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">, !cute.memref<f16, smem, align<128>, "S<2,3,3> o 0 o (128,32,3):(32,1,4096)">, i32) -> !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=2} o ((2,2,2),4,2,3):((1,256,8),1024,16,4096)">
  %a = cute.tiled.mma.partition A (%mma, %sa, %t)
  // CHECK-NEXT: %b = cute.tiled.mma.partition B (%mma, %sa, %t) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">, !cute.memref<f16, smem, align<128>, "S<2,3,3> o 0 o (128,32,3):(32,1,4096)">, i32) -> !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=2} o ((2,2),8,2,3):((1,8),512,16,4096)">
  %b = cute.tiled.mma.partition B (%mma, %sa, %t)
  // CHECK-NEXT: %c = cute.tiled.mma.partition C (%mma, %gc, %t) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">, !cute.memref<f32, gmem, "(128,128):(?,1)">, i32) -> !cute.memref<f32, gmem, "((2,2),4,8):((1,?{div=8}),?{div=32},16)">
  %c = cute.tiled.mma.partition C (%mma, %gc, %t)
  // CHECK-NEXT: %d = cute.tiled.mma.partition C (%mma, %cc, %t) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">, !cute.coord_tensor<"(?{div=128},0)", "(128,128):(1@0,1@1)">, i32) -> !cute.coord_tensor<"(?,?{div=2})", "((2,2),4,8):((1@1,8@0),32@0,16@1)">
  %d = cute.tiled.mma.partition C (%mma, %cc, %t)
  // CHECK-NEXT: %e = cute.tiled.mma.partition A (%wgmma, %wa, %t) : (!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "(2,1,1):(1,0,0)">, !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,3):(64,1,8192)">, i32) -> !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=4096} o ((64,16),1,4,3):((64,1),8192,16,8192)">
  %e = cute.tiled.mma.partition A (%wgmma, %wa, %t)
  // CHECK-NEXT: %f = cute.tiled.mma.partition B (%wgmma, %wa, %t) : (!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "(2,1,1):(1,0,0)">, !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,3):(64,1,8192)">, i32) -> !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o ((128,16),1,4,3):((64,1),8192,16,8192)">
  %f = cute.tiled.mma.partition B (%wgmma, %wa, %t)
  // CHECK-NEXT: %g = cute.tiled.mma.partition C (%wgmma, %gc, %t) : (!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "(2,1,1):(1,0,0)">, !cute.memref<f32, gmem, "(128,128):(?,1)">, i32) -> !cute.memref<f32, gmem, "((2,2,16),1,1):((1,?{div=8},8),?{div=128},128)">
  %g = cute.tiled.mma.partition C (%wgmma, %gc, %t)
  func.return
}

// Registers, or what a descriptor of shared memory says.
// CHECK-LABEL: func.func @make_fragment
func.func @make_fragment(%mma: !mma, %wgmma: !wgmma, %rs: !rs, %sa: !sa, %wa: !wa, %wb: !wb, %gc: !gc, %t: i32, %stage: !cute.coord<"(_,_,0)">) {
  // CHECK-NEXT: %s = cute.slice(%sa, %stage) : !cute.memref<f16, smem, align<128>, "S<2,3,3> o 0 o (128,32,3):(32,1,4096)">, !cute.coord<"(_,_,0)">
  %s = cute.slice(%sa, %stage)
  // CHECK-NEXT: %a = cute.tiled.mma.partition A (%mma, %s, %t) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">, !cute.memref<f16, smem, align<128>, "S<2,3,3> o 0 o (128,32):(32,1)">, i32) -> !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=2} o ((2,2,2),4,2):((1,256,8),1024,16)">
  %a = cute.tiled.mma.partition A (%mma, %s, %t)
  // CHECK-NEXT: %fa = cute.mma.make_fragment A (%mma, %a) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">, !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=2} o ((2,2,2),4,2):((1,256,8),1024,16)">) -> !cute.memref<f16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">
  %fa = cute.mma.make_fragment A (%mma, %a)
  // CHECK-NEXT: %c = cute.tiled.mma.partition C (%mma, %gc, %t) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">, !cute.memref<f32, gmem, "(128,128):(?,1)">, i32) -> !cute.memref<f32, gmem, "((2,2),4,8):((1,?{div=8}),?{div=32},16)">
  %c = cute.tiled.mma.partition C (%mma, %gc, %t)
  // CHECK-NEXT: %fc = cute.mma.make_fragment C (%mma, %c) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">, !cute.memref<f32, gmem, "((2,2),4,8):((1,?{div=8}),?{div=32},16)">) -> !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
  %fc = cute.mma.make_fragment C (%mma, %c)
  // CHECK-NEXT: %w = cute.tiled.mma.partition A (%wgmma, %wa, %t) : (!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "(2,1,1):(1,0,0)">, !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,3):(64,1,8192)">, i32) -> !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=4096} o ((64,16),1,4,3):((64,1),8192,16,8192)">
  %w = cute.tiled.mma.partition A (%wgmma, %wa, %t)
  // CHECK-NEXT: %fw = cute.mma.make_fragment A (%wgmma, %w) : (!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "(2,1,1):(1,0,0)">, !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=4096} o ((64,16),1,4,3):((64,1),8192,16,8192)">) -> !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=4096} o ((64,16),1,4,3):((64,1),8192,16,8192)">
  %fw = cute.mma.make_fragment A (%wgmma, %w)
  // CHECK-NEXT: %x = cute.slice(%wa, %stage) : !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,3):(64,1,8192)">, !cute.coord<"(_,_,0)">
  %x = cute.slice(%wa, %stage)
  // CHECK-NEXT: %ra = cute.tiled.mma.partition A (%rs, %x, %t) : (!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = rs>>, !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64):(64,1)">, i32) -> !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=2} o ((2,2,2),2,4):((1,512,8),4096,16)">
  %ra = cute.tiled.mma.partition A (%rs, %x, %t)
  // CHECK-NEXT: %fra = cute.mma.make_fragment A (%rs, %ra) : (!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = rs>>, !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=2} o ((2,2,2),2,4):((1,512,8),4096,16)">) -> !cute.memref<bf16, rmem, "((2,2,2),2,4):((1,2,4),8,16)">
  %fra = cute.mma.make_fragment A (%rs, %ra)
  // CHECK-NEXT: %rb = cute.tiled.mma.partition B (%rs, %wb, %t) : (!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = rs>>, !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (64,128):(1,64)">, i32) -> !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o ((64,16),1,8):((1,64),64,1024)">
  %rb = cute.tiled.mma.partition B (%rs, %wb, %t)
  // CHECK-NEXT: %frb = cute.mma.make_fragment B (%rs, %rb) : (!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = rs>>, !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o ((64,16),1,8):((1,64),64,1024)">) -> !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o ((64,16),1,8):((1,64),64,1024)">
  %frb = cute.mma.make_fragment B (%rs, %rb)
  func.return
}

// ((FrgV,FrgX),M,N,...)
// CHECK-LABEL: func.func @copy_partition
func.func @copy_partition(%copy: !copy, %g: !cute.memref<f16, gmem, align<16>, "(128,64,?):(?{div=8},1,64)">, %sa: !sa, %cc: !cc, %t: i32) {
  // CHECK-NEXT: %a = cute.tiled.copy.partition_S(%copy, %g, %t) : (!cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32:1;32:1]">, !cute.memref<f16, gmem, align<16>, "(128,64,?):(?{div=8},1,64)">, i32) -> !cute.memref<f16, gmem, align<16>, "((8,1),4,2,?):((1,0),?{div=256},32,64)">
  %a = cute.tiled.copy.partition_S(%copy, %g, %t)
  // CHECK-NEXT: %b = cute.tiled.copy.partition_D(%copy, %sa, %t) : (!cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32:1;32:1]">, !cute.memref<f16, smem, align<128>, "S<2,3,3> o 0 o (128,32,3):(32,1,4096)">, i32) -> !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=8} o ((8,1),4,1,3):((1,0),1024,32,4096)">
  %b = cute.tiled.copy.partition_D(%copy, %sa, %t)
  // CHECK-NEXT: %c = cute.tiled.copy.partition_S(%copy, %cc, %t) : (!cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32:1;32:1]">, !cute.coord_tensor<"(?{div=128},0)", "(128,128):(1@0,1@1)">, i32) -> !cute.coord_tensor<"(?,?{div=8})", "((8,1),4,4):((1@1,0),32@0,32@1)">
  %c = cute.tiled.copy.partition_S(%copy, %cc, %t)
  func.return
}

// CHECK-LABEL: func.func @retile
func.func @retile(%mma: !mma, %a: !cute.memref<f16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">, %b: !cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">) {
  // CHECK-NEXT: %ca = cute.make_tiled_copy_A<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">) -> !cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(32,512)))", tiler_mn = "[32:1;16:1]">
  %ca = cute.make_tiled_copy_A<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma)
  // CHECK-NEXT: %ra = cute.tiled.copy.retile(%ca, %a) : (!cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(32,512)))", tiler_mn = "[32:1;16:1]">, !cute.memref<f16, rmem, "((2,2,2),4,2):((1,2,4),8,32)">) -> !cute.memref<f16, rmem, "((8,1),4,2):((1,0),8,32)">
  %ra = cute.tiled.copy.retile(%ca, %a)
  // CHECK-NEXT: %cb = cute.make_tiled_copy_B<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">) -> !cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8,2,2),((2,2),(2,1))):((64,1,0,8),((32,256),(16,512)))", tiler_mn = "[32:1;16:1]">
  %cb = cute.make_tiled_copy_B<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma)
  // CHECK-NEXT: %rb = cute.tiled.copy.retile(%cb, %b) : (!cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8,2,2),((2,2),(2,1))):((64,1,0,8),((32,256),(16,512)))", tiler_mn = "[32:1;16:1]">, !cute.memref<f16, rmem, "((2,2),8,2):((1,2),4,32)">) -> !cute.memref<f16, rmem, "((8,1),4,2):((1,0),8,32)">
  %rb = cute.tiled.copy.retile(%cb, %b)
  func.return
}
