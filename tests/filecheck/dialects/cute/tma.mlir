// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!a = !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
!at = !cute.memref<bf16, gmem, align<16>, "(?,?,?):(1,?{i64 div=8},?{i64 div=8})">
!p = !cute.pipeline<tma, stages = 3, producers = 1, consumers = 8, bytes = 16384>

// A tile as wide as its swizzle is one box, a wider one several; a box runs along the contiguous
// mode last.
// CHECK-LABEL: func.func @make_tma_copy
func.func @make_tma_copy(%a: !a, %at: !at) {
  // CHECK-NEXT: %t0, %c0 = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128:1;64:1]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%a) : !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
  %t0, %c0 = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%a)
  // CHECK-NEXT: %t1, %c1 = cute.make_tma_copy<#cute_nvgpu.tma<store>, tile = "[128:1;128:1]", smem = "S<3,3,3> o 0 o (128,(64,2)):(64,(1,8192))"> (%a) : !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
  %t1, %c1 = cute.make_tma_copy<#cute_nvgpu.tma<store>, tile = "[128;128]", smem = "S<3,3,3> o 0 o (128,(64,2)):(64,(1,8192))"> (%a)
  // CHECK-NEXT: %t2, %c2 = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[64:1;32:1]", smem = "S<3,3,3> o 0 o (64,32):(1,64)"> (%at) : !cute.memref<bf16, gmem, align<16>, "(?,?,?):(1,?{i64 div=8},?{i64 div=8})">
  %t2, %c2 = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[64;32]", smem = "S<3,3,3> o 0 o (64,32):(1,64)"> (%at)
  // CHECK-NEXT: %t3, %c3 = cute.make_tma_copy<#cute_nvgpu.tma<reduce, add>, tile = "[64:1;16:1]", smem = "(64,16):(16,1)"> (%a) : !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
  %t3, %c3 = cute.make_tma_copy<#cute_nvgpu.tma<reduce, add>, tile = "[64;16]", smem = "(64,16):(16,1)"> (%a)
  // CHECK-NEXT: %t4, %c4 = cute.make_tma_copy<#cute_nvgpu.tma<load, multicast>, tile = "[512:1;64:1]", smem = "S<3,3,3> o 0 o (512,64):(64,1)"> (%a) : !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
  %t4, %c4 = cute.make_tma_copy<#cute_nvgpu.tma<load, multicast>, tile = "[512;64]", smem = "S<3,3,3> o 0 o (512,64):(64,1)"> (%a)
  func.return
}

// CHECK-LABEL: func.func @copy
func.func @copy(%a: !a, %at: !at, %p: !p, %i: i32, %s: !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=8192} o (128,64):(64,1)">, %st: !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (64,32):(1,64)">, %tile: !cute.tile<"[128:1;64:1]">, %tile_t: !cute.tile<"[64:1;32:1]">, %where: !cute.coord<"(?,?)">, %where3: !cute.coord<"(?,?,?)">) {
  // CHECK-NEXT: %load, %c0 = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128:1;64:1]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%a) : !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
  %load, %c0 = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%a)
  // CHECK-NEXT: %from = cute.local_tile(%c0, %tile, %where) : (!cute.coord_tensor<"(0,0)", "(?,?):(1@0,1@1)">, !cute.tile<"[128:1;64:1]">, !cute.coord<"(?,?)">) -> !cute.coord_tensor<"(?{div=128},?{div=64})", "(128,64):(1@0,1@1)">
  %from = cute.local_tile(%c0, %tile, %where)
  // CHECK-NEXT: cute.copy(%load, %from, %s) pipeline %p[%i] : !cute.tma_copy<#cute_nvgpu.tma<load>, 128x64xbf16, swizzle = 128>, !cute.coord_tensor<"(?{div=128},?{div=64})", "(128,64):(1@0,1@1)">, !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=8192} o (128,64):(64,1)">, !cute.pipeline<tma, stages = 3, producers = 1, consumers = 8, bytes = 16384>, i32
  cute.copy(%load, %from, %s) pipeline %p[%i]
  // CHECK-NEXT: %store, %c1 = cute.make_tma_copy<#cute_nvgpu.tma<store>, tile = "[128:1;64:1]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%a) : !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
  %store, %c1 = cute.make_tma_copy<#cute_nvgpu.tma<store>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%a)
  // CHECK-NEXT: %to = cute.local_tile(%c1, %tile, %where) : (!cute.coord_tensor<"(0,0)", "(?,?):(1@0,1@1)">, !cute.tile<"[128:1;64:1]">, !cute.coord<"(?,?)">) -> !cute.coord_tensor<"(?{div=128},?{div=64})", "(128,64):(1@0,1@1)">
  %to = cute.local_tile(%c1, %tile, %where)
  // CHECK-NEXT: cute.copy(%store, %s, %to) : !cute.tma_copy<#cute_nvgpu.tma<store>, 128x64xbf16, swizzle = 128>, !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o ?{div=8192} o (128,64):(64,1)">, !cute.coord_tensor<"(?{div=128},?{div=64})", "(128,64):(1@0,1@1)">
  cute.copy(%store, %s, %to)
  // CHECK-NEXT: %load_t, %c2 = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[64:1;32:1]", smem = "S<3,3,3> o 0 o (64,32):(1,64)"> (%at) : !cute.memref<bf16, gmem, align<16>, "(?,?,?):(1,?{i64 div=8},?{i64 div=8})">
  %load_t, %c2 = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[64;32]", smem = "S<3,3,3> o 0 o (64,32):(1,64)"> (%at)
  // CHECK-NEXT: %from_t = cute.local_tile(%c2, %tile_t, %where3) : (!cute.coord_tensor<"(0,0,0)", "(?,?,?):(1@0,1@1,1@2)">, !cute.tile<"[64:1;32:1]">, !cute.coord<"(?,?,?)">) -> !cute.coord_tensor<"(?{div=64},?{div=32},?)", "(64,32):(1@0,1@1)">
  %from_t = cute.local_tile(%c2, %tile_t, %where3)
  // CHECK-NEXT: cute.copy(%load_t, %from_t, %st) pipeline %p[%i] : !cute.tma_copy<#cute_nvgpu.tma<load>, 32x1x64xbf16, swizzle = 128, modes = [1, 2, 0]>, !cute.coord_tensor<"(?{div=64},?{div=32},?)", "(64,32):(1@0,1@1)">, !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (64,32):(1,64)">, !cute.pipeline<tma, stages = 3, producers = 1, consumers = 8, bytes = 16384>, i32
  cute.copy(%load_t, %from_t, %st) pipeline %p[%i]
  func.return
}

// CHECK-LABEL: func.func @multicast
func.func @multicast(%a: !a, %p: !p, %i: i32, %mask: i16, %policy: i64, %s: !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64):(64,1)">, %tile: !cute.tile<"[128:1;64:1]">, %where: !cute.coord<"(?,?)">) {
  %load, %c0 = cute.make_tma_copy<#cute_nvgpu.tma<load, multicast>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%a)
  %from = cute.local_tile(%c0, %tile, %where)
  // CHECK: cute.copy(%load, %from, %s) pipeline %p[%i] multicast %mask cache_hint %policy : !cute.tma_copy<#cute_nvgpu.tma<load, multicast>, 128x64xbf16, swizzle = 128>, {{.*}}, !cute.pipeline<tma, stages = 3, producers = 1, consumers = 8, bytes = 16384>, i32, i16, i64
  cute.copy(%load, %from, %s) pipeline %p[%i] multicast %mask cache_hint %policy
  func.return
}
