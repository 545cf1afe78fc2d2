// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!cp = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32;32]">
!ld = !cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(32,512)))", tiler_mn = "[32:1;16:1]">
!st = !cute.tiled_copy<#cute_nvgpu.copy<stmatrix, f16, x4>, layout_tv = "((4,8,2,2),((2,2),(1,2))):((64,1,16,256),((32,8),(32,512)))", tiler_mn = "[32:1;32:1]">
!g = !cute.memref<f16, gmem, align<16>, "((8,1),4,1):((1,0),?{div=256},32)">
!s = !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=8} o ((8,1),4,1):((1,0),1024,32)">
!coords = !cute.coord_tensor<"(?,?{div=8})", "((8,1),4,1):((1@1,0),32@0,32@1)">

// CHECK-LABEL: func.func @tiled
func.func @tiled(%cp: !cp, %g: !g, %s: !s, %coords: !coords, %limits: !cute.shape<"(?,?)">, %at: !cute.coord<"(?,?)">) {
  // CHECK-NEXT: cute.copy(%cp, %g, %s) : !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32:1;32:1]">, !cute.memref<f16, gmem, align<16>, "((8,1),4,1):((1,0),?{div=256},32)">, !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=8} o ((8,1),4,1):((1,0),1024,32)">
  cute.copy(%cp, %g, %s)
  // CHECK-NEXT: cute.copy(%cp, %g, %s) bounds(%coords, %limits) : !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32:1;32:1]">, !cute.memref<f16, gmem, align<16>, "((8,1),4,1):((1,0),?{div=256},32)">, !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=8} o ((8,1),4,1):((1,0),1024,32)">, !cute.coord_tensor<"(?,?{div=8})", "((8,1),4,1):((1@1,0),32@0,32@1)">, !cute.shape<"(?,?)">
  cute.copy(%cp, %g, %s) bounds(%coords, %limits)
  // CHECK-NEXT: cute.copy(%cp, %g, %s) bounds(%coords, %at) : !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32:1;32:1]">, !cute.memref<f16, gmem, align<16>, "((8,1),4,1):((1,0),?{div=256},32)">, !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=8} o ((8,1),4,1):((1,0),1024,32)">, !cute.coord_tensor<"(?,?{div=8})", "((8,1),4,1):((1@1,0),32@0,32@1)">, !cute.coord<"(?,?)">
  cute.copy(%cp, %g, %s) bounds(%coords, %at)
  // CHECK-NEXT: cute.copy(%cp, %g, %s) {hint = 1 : i32} : !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32:1;32:1]">, !cute.memref<f16, gmem, align<16>, "((8,1),4,1):((1,0),?{div=256},32)">, !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=8} o ((8,1),4,1):((1,0),1024,32)">
  cute.copy(%cp, %g, %s) {hint = 1 : i32} : !cp, !g, !s
  func.return
}

// CHECK-LABEL: func.func @matrices
func.func @matrices(%ld: !ld, %s: !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=8} o ((8,1),4,2):((1,0),1024,16)">, %r: !cute.memref<f16, rmem, "((8,1),4,2):((1,0),8,32)">, %st: !st, %c: !cute.memref<f16, rmem, "((8,1),4):((1,0),8)">, %d: !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=8} o ((8,1),4):((1,0),1024)">) {
  // CHECK-NEXT: cute.copy(%ld, %s, %r) : !cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(32,512)))", tiler_mn = "[32:1;16:1]">, !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=8} o ((8,1),4,2):((1,0),1024,16)">, !cute.memref<f16, rmem, "((8,1),4,2):((1,0),8,32)">
  cute.copy(%ld, %s, %r)
  // CHECK-NEXT: cute.copy(%st, %c, %d) : !cute.tiled_copy<#cute_nvgpu.copy<stmatrix, f16, x4>, layout_tv = "((4,8,2,2),((2,2),(1,2))):((64,1,16,256),((32,8),(32,512)))", tiler_mn = "[32:1;32:1]">, !cute.memref<f16, rmem, "((8,1),4):((1,0),8)">, !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=8} o ((8,1),4):((1,0),1024)">
  cute.copy(%st, %c, %d)
  func.return
}

// A thread by itself.
// CHECK-LABEL: func.func @plain
func.func @plain(%r: !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">, %g: !cute.memref<f32, gmem, "((2,2),4,8):((1,?{div=8}),?{div=32},16)">, %coords: !cute.coord_tensor<"(?,?{div=2})", "((2,2),4,8):((1@1,8@0),32@0,16@1)">, %limits: !cute.shape<"(?,?)">) {
  // CHECK-NEXT: cute.copy(%r, %g) : !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">, !cute.memref<f32, gmem, "((2,2),4,8):((1,?{div=8}),?{div=32},16)">
  cute.copy(%r, %g)
  // CHECK-NEXT: cute.copy(%g, %r) bounds(%coords, %limits) : !cute.memref<f32, gmem, "((2,2),4,8):((1,?{div=8}),?{div=32},16)">, !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">, !cute.coord_tensor<"(?,?{div=2})", "((2,2),4,8):((1@1,8@0),32@0,16@1)">, !cute.shape<"(?,?)">
  cute.copy(%g, %r) bounds(%coords, %limits)
  func.return
}
