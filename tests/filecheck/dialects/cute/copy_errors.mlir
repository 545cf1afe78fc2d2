// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// Swapped: an ldmatrix from registers.
!ld = !cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8),(2,2,2)):((32,1),(16,8,128))", tiler_mn = "[16;16]">
!s = !cute.memref<f16, smem, align<128>, "((8,1),4):((1,0),256)">
!r = !cute.memref<f16, rmem, "((8,1),4):((1,0),8)">
func.func @f(%c: !ld, %s: !s, %r: !r) {
  // expected-error @+1 {{'cute.copy' expected a source in smem for '!cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8),(2,2,2)):((32,1),(16,8,128))", tiler_mn = "[16:1;16:1]">', got '!cute.memref<f16, rmem, "((8,1),4):((1,0),8)">'}}
  cute.copy(%c, %r, %s)
  func.return
}

// -----

!cp = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8;32]">
!s = !cute.memref<f16, smem, align<128>, "((8,1),4):((1,0),256)">
func.func @f(%c: !cp, %s: !s) {
  // expected-error @+1 {{'cute.copy' expected a source in gmem for '!cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8:1;32:1]">', got '!cute.memref<f16, smem, align<128>, "((8,1),4):((1,0),256)">'}}
  cute.copy(%c, %s, %s)
  func.return
}

// -----

!cp = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8;32]">
func.func @f(%c: !cp, %g: !cute.memref<bf16, gmem, align<16>, "((8,1),4):((1,0),256)">, %s: !cute.memref<f16, smem, align<128>, "((8,1),4):((1,0),256)">) {
  // expected-error @+1 {{'cute.copy' expected a source of f16 for '!cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8:1;32:1]">', got '!cute.memref<bf16, gmem, align<16>, "((8,1),4):((1,0),256)">'}}
  cute.copy(%c, %g, %s)
  func.return
}

// -----

// The destination has other tiles.
!cp = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8;32]">
func.func @f(%c: !cp, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4,2):((1,0),256,32)">, %s: !cute.memref<f16, smem, align<128>, "((8,1),2,4):((1,0),256,32)">) {
  // expected-error @+1 {{'cute.copy' expected source and destination with the same instructions and tiles, got '!cute.memref<f16, gmem, align<16>, "((8,1),4,2):((1,0),256,32)">' and '!cute.memref<f16, smem, align<128>, "((8,1),2,4):((1,0),256,32)">'}}
  cute.copy(%c, %g, %s)
  func.return
}

// -----

// Half an instruction.
!cp = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8;32]">
func.func @f(%c: !cp, %g: !cute.memref<f16, gmem, align<16>, "(4,4):(1,256)">, %s: !cute.memref<f16, smem, align<128>, "(4,4):(1,256)">) {
  // expected-error @+1 {{'cute.copy' expected a source whose first mode is the values of whole instructions, 8 each, for '!cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8:1;32:1]">', got '!cute.memref<f16, gmem, align<16>, "(4,4):(1,256)">'}}
  cute.copy(%c, %g, %s)
  func.return
}

// -----

// Rows of A apart by an unknown number of elements: nothing says that they start on 16 bytes.
!cp = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8;32]">
func.func @f(%c: !cp, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),?)">, %s: !cute.memref<f16, smem, align<128>, "((8,1),4):((1,0),256)">) {
  // expected-error @+1 {{'cute.copy' expected a source aligned to 16 bytes for '!cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8:1;32:1]">', got 2 in '!cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),?)">' (align and div say what is known)}}
  cute.copy(%c, %g, %s)
  func.return
}

// -----

// The first element is aligned to 8 bytes.
!cp = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8;32]">
func.func @f(%c: !cp, %g: !cute.memref<f16, gmem, align<8>, "((8,1),4):((1,0),256)">, %s: !cute.memref<f16, smem, align<128>, "((8,1),4):((1,0),256)">) {
  // expected-error @+1 {{'cute.copy' expected a source aligned to 16 bytes for '!cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8:1;32:1]">', got 8 in '!cute.memref<f16, gmem, align<8>, "((8,1),4):((1,0),256)">' (align and div say what is known)}}
  cute.copy(%c, %g, %s)
  func.return
}

// -----

// The swizzle tears runs of 8 apart.
!cp = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8;32]">
func.func @f(%c: !cp, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),256)">, %s: !cute.memref<f16, smem, align<128>, "S<2,2,3> o 0 o ((8,1),4):((1,0),256)">) {
  // expected-error @+1 {{'cute.copy' expected a destination with 8 elements side by side for '!cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8:1;32:1]">', got 4 in '!cute.memref<f16, smem, align<128>, "S<2,2,3> o 0 o ((8,1),4):((1,0),256)">'}}
  cute.copy(%c, %g, %s)
  func.return
}

// -----

// An offset within the swizzle that is known to be even only.
!cp = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8;32]">
func.func @f(%c: !cp, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),256)">, %s: !cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=2} o ((8,1),4):((1,0),256)">) {
  // expected-error @+1 {{'cute.copy' expected a destination aligned to 16 bytes for '!cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,8),8):((64,1),8)", tiler_mn = "[8:1;32:1]">', got 4 in '!cute.memref<f16, smem, align<128>, "S<2,3,3> o ?{div=2} o ((8,1),4):((1,0),256)">' (align and div say what is known)}}
  cute.copy(%c, %g, %s)
  func.return
}

// -----

// N contiguous in memory, K wanted.
!ld = !cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8),(2,2,2)):((32,1),(16,8,128))", tiler_mn = "[16;16]">
func.func @f(%c: !ld, %s: !cute.memref<f16, smem, align<128>, "((8,1),4):((64,0),16)">, %r: !cute.memref<f16, rmem, "((8,1),4):((1,0),8)">) {
  // expected-error @+1 {{'cute.copy' expected a source with 8 elements side by side for '!cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8),(2,2,2)):((32,1),(16,8,128))", tiler_mn = "[16:1;16:1]">', got 1 in '!cute.memref<f16, smem, align<128>, "((8,1),4):((64,0),16)">'}}
  cute.copy(%c, %s, %r)
  func.return
}

// -----

// Registers of two elements that are no neighbours.
!ld = !cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8),(2,2,2)):((32,1),(16,8,128))", tiler_mn = "[16;16]">
func.func @f(%c: !ld, %s: !cute.memref<f16, smem, align<128>, "((8,1),4):((1,0),16)">, %r: !cute.memref<f16, rmem, "((8,1),4):((4,0),1)">) {
  // expected-error @+1 {{'cute.copy' expected a destination with 2 neighbours to a register for '!cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8),(2,2,2)):((32,1),(16,8,128))", tiler_mn = "[16:1;16:1]">', got '!cute.memref<f16, rmem, "((8,1),4):((4,0),1)">'}}
  cute.copy(%c, %s, %r)
  func.return
}

// -----

func.func @f(%g: !cute.memref<f32, gmem, "(8,4):(1,?)">, %r: !cute.memref<f32, rmem, "(4,8):(1,4)">) {
  // expected-error @+1 {{'cute.copy' expected source and destination of one static shape, got '!cute.memref<f32, rmem, "(4,8):(1,4)">' and '!cute.memref<f32, gmem, "(8,4):(1,?)">'}}
  cute.copy(%r, %g)
  func.return
}

// -----

func.func @f(%g: !cute.memref<bf16, gmem, "(8,4):(1,?)">, %r: !cute.memref<f32, rmem, "(8,4):(1,8)">) {
  // expected-error @+1 {{'cute.copy' expected elements of one type, got '!cute.memref<f32, rmem, "(8,4):(1,8)">' and '!cute.memref<bf16, gmem, "(8,4):(1,?)">'}}
  cute.copy(%r, %g)
  func.return
}

// -----

func.func @f(%g: !cute.memref<f32, gmem, "(8,?):(1,8)">, %r: !cute.memref<f32, rmem, "(8,4):(1,8)">) {
  // expected-error @+1 {{'cute.copy' expected source and destination of one static shape, got '!cute.memref<f32, rmem, "(8,4):(1,8)">' and '!cute.memref<f32, gmem, "(8,?):(1,8)">'}}
  cute.copy(%r, %g)
  func.return
}

// -----

func.func @f(%g: !cute.memref<f32, gmem, "(8,4):(1,?)">, %r: !cute.memref<f32, rmem, "(8,4):(1,8)">, %at: !cute.coord_tensor<"(0,0)", "(8,2):(1@0,1@1)">, %limits: !cute.shape<"(?,?)">) {
  // expected-error @+1 {{'cute.copy' expected a coordinate for each element, got '!cute.memref<f32, gmem, "(8,4):(1,?)">' and '!cute.coord_tensor<"(0,0)", "(8,2):(1@0,1@1)">'}}
  cute.copy(%r, %g) bounds(%at, %limits)
  func.return
}

// -----

func.func @f(%g: !cute.memref<f32, gmem, "(8,4):(1,?)">, %r: !cute.memref<f32, rmem, "(8,4):(1,8)">, %at: !cute.coord_tensor<"(0,0)", "(8,4):(1@0,1@1)">, %limits: !cute.shape<"(?,?,?)">) {
  // expected-error @+1 {{'cute.copy' expected a limit for each part of a coordinate, got '!cute.coord_tensor<"(0,0)", "(8,4):(1@0,1@1)">' and '!cute.shape<"(?,?,?)">'}}
  cute.copy(%r, %g) bounds(%at, %limits)
  func.return
}

// -----

func.func @f(%g: !cute.memref<f32, gmem, "(8,4):(1,?)">, %r: !cute.memref<f32, rmem, "(8,4):(1,8)">, %limits: !cute.shape<"(?,?)">) {
  // expected-error @+1 {{'cute.copy' expected the elements' coordinates as a coord_tensor, got '!cute.memref<f32, gmem, "(8,4):(1,?)">'}}
  cute.copy(%r, %g) bounds(%g, %limits)
  func.return
}

// -----

func.func @f(%g: !cute.memref<f32, gmem, "(8,4):(1,?)">, %r: !cute.memref<f32, rmem, "(8,4):(1,8)">, %p: !cute.pipeline<cp_async, stages = 2>, %i: i32) {
  // expected-error @+1 {{'cute.copy' expected a pipeline with a TMA load alone}}
  cute.copy(%r, %g) pipeline %p[%i]
  func.return
}

// -----

func.func @f(%g: !cute.memref<f32, gmem, "(8,4):(1,?)">) {
  cute.copy(%g)
  // expected-error @+1 {{expected (copy, source, destination) or (source, destination)}}
  func.return
}

// -----

func.func @f(%g: !cute.memref<f32, gmem, "(8,4):(1,?)">, %m: !cute.layout<"4:1">) {
  // expected-error @+1 {{'cute.copy' expected !cute.memref or !cute.coord_tensor, got '!cute.layout<"4:1">'}}
  cute.copy(%m, %g)
  func.return
}

// -----

func.func @f(%g: !cute.memref<f32, gmem, "(8,4):(1,?)">) {
  // expected-error @+1 {{expected ':' and the types of operands}}
  cute.copy(%undefined, %g)
  func.return
}

// -----

// An ambiguous scatter: rows of the source share registers.
func.func @f(%g: !cute.memref<f32, gmem, "(2,8):(?,1)">, %r: !cute.memref<f32, rmem, "(2,8):(0,1)">) {
  // expected-error @+1 {{'cute.copy' expected one element of the source for those of the destination that lie in one place, got '!cute.memref<f32, gmem, "(2,8):(?,1)">' and '!cute.memref<f32, rmem, "(2,8):(0,1)">' (elements (0, 1) of the destination do); nearest legal: strides of 0 in both, or a destination of cute.make_fragment_like}}
  cute.copy(%g, %r)
  func.return
}

// -----

// Strides that overlap: (1,1) and (3,0) are one element.
func.func @f(%s: !cute.memref<f32, smem, "(4,2):(1,3)">, %r: !cute.memref<f32, rmem, "(4,2):(1,4)">) {
  // expected-error @+1 {{(elements (3, 4) of the destination do)}}
  cute.copy(%r, %s)
  func.return
}

// -----

!cp = !cute.tiled_copy<#cute_nvgpu.copy<universal, f32, 32>, layout_tv = "(32,1):(1,32)", tiler_mn = "[32]">
func.func @f(%c: !cp, %g: !cute.memref<f32, gmem, "(2,8):(8,1)">, %r: !cute.memref<f32, rmem, "(2,8):(0,1)">) {
  // expected-error @+1 {{expected one element of the source for those of the destination that lie in one place}}
  cute.copy(%c, %g, %r)
  func.return
}

// -----

// Asynchronous copies land in no order, even of the same values.
!cp = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f32, 32, cache = ca>, layout_tv = "(32,1):(1,32)", tiler_mn = "[32]">
func.func @f(%c: !cp, %g: !cute.memref<f32, gmem, "(2,8):(0,1)">, %s: !cute.memref<f32, smem, "(2,8):(0,1)">) {
  // expected-error @+1 {{'cute.copy' expected a destination whose elements lie apart, got '!cute.memref<f32, smem, "(2,8):(0,1)">' (elements (0, 1) lie in one place; }}
  cute.copy(%c, %g, %s)
  func.return
}

// -----

!ld = !cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, f16, x4>, layout_tv = "((4,8),(2,2,2)):((32,1),(16,8,128))", tiler_mn = "[16;16]">
func.func @f(%c: !ld, %s: !cute.memref<f16, smem, align<128>, "((8,1),4):((1,0),16)">, %r: !cute.memref<f16, rmem, "((8,1),4):((1,0),0)">) {
  // expected-error @+1 {{expected a destination whose elements lie apart}}
  cute.copy(%c, %s, %r)
  func.return
}

// -----

func.func @f(%s: !cute.memref<f32, smem, "(8,4):(1,8)">, %r: !cute.memref<f32, rmem, "(8,4):(1,8)">, %at: !cute.coord_tensor<"(0,0)", "(8,4):(1@0,1@1)">, %limits: !cute.shape<"(?,?)">) {
  // expected-error @+1 {{'cute.copy' expected bounds of a copy from or to gmem, got '!cute.memref<f32, smem, "(8,4):(1,8)">'; nearest legal: bounds where registers go to gmem}}
  cute.copy(%s, %r) bounds(%at, %limits)
  func.return
}
