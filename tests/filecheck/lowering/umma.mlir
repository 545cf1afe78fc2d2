// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p 'cute-nvgpu-check-target{arch=sm_103a}' | tilewright-opt > /dev/null
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix PTX
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_100a
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx{arch=sm_103f} | %ptxas sm_103f
// CHECKS: all

// PTX: .version 8.8
// PTX-NEXT: .target sm_100a

!slot = memref<1xi32, #cute<space smem>>
!cells = memref<128x512xi32, !cute.layout<"(128,512):(65536,1)">, #cute<space tmem>>
!d = memref<128x256xf32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
!sa = memref<128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (128,64):(64,1)">, #cute<space smem>>
!sb = memref<2x256x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (2,256,64):(16384,64,1)">, #cute<space smem>>
!a = !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">
!b = !cute_nvgpu.smem_desc_view<256x16xbf16, tcgen05, "S<3,3,3> o 0 o (256,16):(64,1)">

// Descriptors of a stage and a step of K; a constant instruction descriptor.
// CHECK-LABEL: ptx.entry @dense(%p: u8, %m: u32, %stage: u64) shared 82944 align 1024 {
// CHECK-NEXT:    %0 = ptx.const 0 : !ptx.reg<b16>
// CHECK-NEXT:    %1 = ptx.setp ne.u16 %p, %0
// CHECK-NEXT:    %2 = ptx.shared_address 0
// CHECK-NEXT:    %3 = ptx.shared_address 1024
// CHECK-NEXT:    %4 = ptx.shared_address 17408
// CHECK-NEXT:    %5 = ptx.ld "shared" "b32" %2, 0 : !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.const 16 : !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.add u32 %5, %6
// CHECK-NEXT:    %8 = ptx.const 262143 : !ptx.reg<b32>
// CHECK-NEXT:    %9 = ptx.and b32 %3, %8
// CHECK-NEXT:    %10 = ptx.const 4 : !ptx.reg<b32>
// CHECK-NEXT:    %11 = ptx.shr u32 %9, %10
// CHECK-NEXT:    %12 = ptx.const 65538 : !ptx.reg<b32>
// CHECK-NEXT:    %13 = ptx.add u32 %11, %12
// CHECK-NEXT:    %14 = ptx.const 1073758272 : !ptx.reg<b32>
// CHECK-NEXT:    %15 = ptx.pack b64 %13, %14
// CHECK-NEXT:    %16 = ptx.cvt u32.u64 %stage
// CHECK-NEXT:    %17 = ptx.const 2 : !ptx.reg<b32>
// CHECK-NEXT:    %18 = ptx.const 11 : !ptx.reg<b32>
// CHECK-NEXT:    %19 = ptx.shl b32 %16, %18
// CHECK-NEXT:    %20 = ptx.and b32 %4, %8
// CHECK-NEXT:    %21 = ptx.shr u32 %20, %10
// CHECK-NEXT:    %22 = ptx.const 65536 : !ptx.reg<b32>
// CHECK-NEXT:    %23 = ptx.add u32 %21, %22
// CHECK-NEXT:    %24 = ptx.add u32 %19, %23
// CHECK-NEXT:    %25 = ptx.add u32 %24, %17
// CHECK-NEXT:    %26 = ptx.pack b64 %25, %14
// CHECK-NEXT:    %27 = ptx.const 138413200 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.tcgen05.mma "cta_group::1.kind::f16" %7, %15, %26, %27 enable_input_d %1 : !ptx.reg<b64>
// CHECK-NEXT:    %28 = ptx.const 138421392 : !ptx.reg<b32>
// CHECK-NEXT:    %29 = ptx.list.make %m, %m, %m, %m : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32 x 4>
// CHECK-NEXT:    ptx.tcgen05.mma "cta_group::1.kind::f16.collector::a::lastuse" %7, %15, %26, %28 lanes %29 : !ptx.reg<b32 x 4> scale_input_d 3 : !ptx.reg<b64>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @dense(%p: i1, %m: i32, %stage: index) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %slot = memref.alloc() : !slot
  %sa = memref.alloc() : !sa
  %sb = memref.alloc() : !sb
  %t = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %d = cute_nvgpu.tmem.slice %t[%c0, %c16] : !cells -> !d
  %a = cute_nvgpu.make_smem_desc %sa[%c0, %c16] : !sa -> !a
  %b = cute_nvgpu.make_smem_desc %sb[%stage, %c0, %c16] : !sb -> !b
  cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %p <128x256x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  cute_nvgpu.sm100.mma %d, %a, %b scale_input_d 3 disable_output_lane(%m, %m, %m, %m) negate_a collector "a::lastuse" <128x256x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss> : !d, !a, !b
  func.return
}

!sa4 = memref<128x128xi8, !cute.composed_layout<"S<3,4,3> o 0 o (128,128):(128,1)">, #cute<space smem>>
!a4 = !cute_nvgpu.smem_desc_view<128x64xf4E2M1FN, tcgen05, "S<3,5,3> o 0 o (128,64):(256,1)">
!d4 = memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
!sf = memref<128x4xf8E4M3FN, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>

// Two e2m1 to a byte; scale factors; the second step of K in the second half of the rows.
// CHECK-LABEL: ptx.entry @scaled(%p: u8) shared 17408 align 1024 {
// CHECK-NEXT:    %0 = ptx.const 0 : !ptx.reg<b16>
// CHECK-NEXT:    %1 = ptx.setp ne.u16 %p, %0
// CHECK-NEXT:    %2 = ptx.shared_address 0
// CHECK-NEXT:    %3 = ptx.shared_address 1024
// CHECK-NEXT:    %4 = ptx.ld "shared" "b32" %2, 0 : !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.const 128 : !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.add u32 %4, %5
// CHECK-NEXT:    %7 = ptx.const 132 : !ptx.reg<b32>
// CHECK-NEXT:    %8 = ptx.add u32 %4, %7
// CHECK-NEXT:    %9 = ptx.const 262143 : !ptx.reg<b32>
// CHECK-NEXT:    %10 = ptx.and b32 %3, %9
// CHECK-NEXT:    %11 = ptx.const 4 : !ptx.reg<b32>
// CHECK-NEXT:    %12 = ptx.shr u32 %10, %11
// CHECK-NEXT:    %13 = ptx.const 65538 : !ptx.reg<b32>
// CHECK-NEXT:    %14 = ptx.add u32 %12, %13
// CHECK-NEXT:    %15 = ptx.const 1073758272 : !ptx.reg<b32>
// CHECK-NEXT:    %16 = ptx.pack b64 %14, %15
// CHECK-NEXT:    %17 = ptx.const 136316032 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.tcgen05.mma "cta_group::1.kind::mxf4nvf4.block_scale.block16" %4, %16, %16, %17 scales %6, %8 enable_input_d %1 : !ptx.reg<b64>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @scaled(%p: i1) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %c132 = arith.constant 132 : index
  %slot = memref.alloc() : !slot
  %sa = memref.alloc() : !sa4
  %t = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %d = cute_nvgpu.tmem.slice %t[%c0, %c0] : !cells -> !d4
  %sfa = cute_nvgpu.tmem.slice %t[%c0, %c128] : !cells -> !sf
  %sfb = cute_nvgpu.tmem.slice %t[%c0, %c132] : !cells -> !sf
  %a = cute_nvgpu.make_smem_desc %sa[%c0, %c32] : !sa4 -> !a4
  cute_nvgpu.sm100.mma_bs %d, %a, %a, %sfa[0], %sfb[0] enable_input_d %p <128x128x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, kind = mxf4nvf4, scale_vec = 4, scale_type = f8E4M3FN> : !d4, !a4, !a4, !sf, !sf
  func.return
}

!ta = memref<128x16xf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>
!e = memref<128x16xui2, !cute.layout<"((8,2,8),(8,2)):((1048576,8,16777216),(1,8388608))">, #cute<space tmem>>
!sbs = memref<64x64xf16, !cute.composed_layout<"S<3,3,3> o 0 o (64,64):(64,1)">, #cute<space smem>>
!bs = !cute_nvgpu.smem_desc_view<64x32xf16, tcgen05, "S<3,3,3> o 0 o (64,32):(64,1)">
!ds = memref<128x64xf16, !cute.layout<"(128,64):(131072,2)">, #cute<space tmem>>

// A sparse A in tensor memory, moved; the metadata are in the second column of a pair.
// CHECK-LABEL: ptx.entry @sparse() shared 9216 align 1024 {
// CHECK-NEXT:    %0 = ptx.shared_address 0
// CHECK-NEXT:    %1 = ptx.shared_address 1024
// CHECK-NEXT:    %2 = ptx.ld "shared" "b32" %0, 0 : !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.const 64 : !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.add u32 %2, %3
// CHECK-NEXT:    %5 = ptx.const 80 : !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.add u32 %2, %5
// CHECK-NEXT:    %7 = ptx.const 262143 : !ptx.reg<b32>
// CHECK-NEXT:    %8 = ptx.and b32 %1, %7
// CHECK-NEXT:    %9 = ptx.const 4 : !ptx.reg<b32>
// CHECK-NEXT:    %10 = ptx.shr u32 %8, %9
// CHECK-NEXT:    %11 = ptx.const 65536 : !ptx.reg<b32>
// CHECK-NEXT:    %12 = ptx.add u32 %10, %11
// CHECK-NEXT:    %13 = ptx.const 1073758272 : !ptx.reg<b32>
// CHECK-NEXT:    %14 = ptx.pack b64 %12, %13
// CHECK-NEXT:    %15 = ptx.const 135266309 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.tcgen05.mma "sp.cta_group::1.kind::f16.ashift" %2, %4, %14, %15 metadata %6 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @sparse() attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c80 = arith.constant 80 : index
  %slot = memref.alloc() : !slot
  %sb = memref.alloc() : !sbs
  %t = cute_nvgpu.tmem.retrieve %slot[%c0] : !slot -> !cells
  %d = cute_nvgpu.tmem.slice %t[%c0, %c0] : !cells -> !ds
  %a = cute_nvgpu.tmem.slice %t[%c0, %c64] : !cells -> !ta
  %e = cute_nvgpu.tmem.slice %t[%c0, %c80] : !cells -> !e
  %b = cute_nvgpu.make_smem_desc %sb[%c0, %c0] : !sbs -> !bs
  cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[1] ashift <128x64x32, elem_type = (f16, f16, f16), ab_major = (k, k), frag_kind = ts> : !ds, !ta, !bs, !e
  func.return
}
