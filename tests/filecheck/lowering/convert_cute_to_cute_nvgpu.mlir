// RUN: tilewright-opt %s -p 'convert-cute-to-cute-nvgpu{arch=sm_80}' | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p 'convert-cute-to-cute-nvgpu,cute-nvgpu-synthesize-layouts,convert-cute-nvgpu-to-ptx' -t ptx | %ptxas sm_80

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>>
!a = !cute.memref<f16, gmem, align<16>, "(16,?):(?{div=8},1)">
!smem = !cute.memref<f16, smem, align<128>, "S<1,3,3> o 0 o (16,16):(16,1)">
!c = !cute.memref<f32, gmem, align<8>, "(?,?{div=2}):(?{div=2},1)">

// A tensor is a pointer and the integers of its layout that are used, each saying what it is.
// CHECK:      func.func @one_mma(%A: memref<?xf16> {cute.from = #cute.argument<0, pointer>},
// CHECK-SAME: %A_stride0: i32 {cute.from = #cute.argument<0, stride<0>>},
// CHECK-SAME: %C: memref<?xf32> {cute.from = #cute.argument<1, pointer>},
// CHECK-SAME: %C_shape0: i32 {cute.from = #cute.argument<1, shape<0>>},
// CHECK-SAME: %C_shape1: i32 {cute.from = #cute.argument<1, shape<1>>},
// CHECK-SAME: %C_stride0: i32 {cute.from = #cute.argument<1, stride<0>>},
// CHECK-SAME: %n: i32 {cute.from = #cute.argument<2, value>})
// CHECK-SAME: cute.arguments = [!cute.memref<f16, gmem, align<16>, "(16,?):(?{div=8},1)">, !cute.memref<f32, gmem, align<8>, "(?,?{div=2}):(?{div=2},1)">, i32]
// A swizzled tensor is a line of shared memory.
// CHECK:      %s = memref.alloc() {alignment = 128 : i64} : memref<256xf16, !cute.composed_layout<"S<1,3,3> o 0 o 256:1">, #cute<space smem>>
// CHECK:      cute_nvgpu.cp.async %A[{{.*}}] to %s[{{.*}}] size 16 cache cg
// CHECK:      cute_nvgpu.cp.async.commit_group
// CHECK-NEXT: cute_nvgpu.cp.async.wait_group 0
// CHECK-NEXT: "gpu.barrier"
// CHECK:      [[A:%[0-9]+]] = cute_nvgpu.ldmatrix %s[{{.*}}] {{.*}} -> !cute_nvgpu.fragment<8xf16>
// CHECK:      [[B0:%[0-9]+]] = cute_nvgpu.ldmatrix %s[{{.*}}] {{.*}} -> !cute_nvgpu.fragment<4xf16>
// CHECK:      [[B1:%[0-9]+]] = cute_nvgpu.ldmatrix %s[{{.*}}] {{.*}} -> !cute_nvgpu.fragment<4xf16>
// Registers that the loop writes are its values.
// CHECK:      [[D:%[0-9]+]], %{{.*}} = scf.for {{.*}} iter_args([[X:%[0-9]+]] = {{.*}}, [[Y:%[0-9]+]] = {{.*}}) -> (!cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<4xf32>)
// CHECK-NEXT:   [[P:%[0-9]+]] = cute_nvgpu.sm80.mma [[A]], [[B0]], [[X]]
// CHECK-NEXT:   [[Q:%[0-9]+]] = cute_nvgpu.sm80.mma [[A]], [[B1]], [[Y]]
// CHECK-NEXT:   scf.yield [[P]], [[Q]]
// Edges are predicates; neighbours are stored together.
// CHECK:      [[LOW:%[0-9]+]] = cute_nvgpu.fragment.slice [[D]][0]
// CHECK:      cute_nvgpu.fragment.store [[LOW]], %C[{{.*}}] if {{.*}} : !cute_nvgpu.fragment<2xf32>, memref<?xf32>
// CHECK:      cute_nvgpu.fragment.store {{.*}} if {{.*}} : !cute_nvgpu.fragment<2xf32>, memref<?xf32>
// CHECK-NOT:  cute.
// CHECK:      func.return
func.func @one_mma(%A: !a, %C: !c, %n: i32)
    attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %tiler = cute.static : !cute.shape<"(16,16)">
  %origin = cute.static : !cute.coord<"(0,0)">
  %gA = cute.local_tile(%A, %tiler, %origin)
  %s = cute.memref.alloc() : !smem
  %g2s = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((2,16),8):((128,1),16)", tiler_mn = "[16;16]">
  %from = cute.tiled.copy.partition_S(%g2s, %gA, %t)
  %to = cute.tiled.copy.partition_D(%g2s, %s, %t)
  cute.copy(%g2s, %from, %to)
  cute_nvgpu.cp.async.commit_group
  cute_nvgpu.cp.async.wait_group 0
  "gpu.barrier"() : () -> ()
  %mma = cute.make_tiled_mma : !mma
  %pA = cute.tiled.mma.partition A (%mma, %s, %t)
  %pB = cute.tiled.mma.partition B (%mma, %s, %t)
  %rA = cute.mma.make_fragment A (%mma, %pA)
  %rB = cute.mma.make_fragment B (%mma, %pB)
  %loadA = cute.make_tiled_copy_A<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma)
  %loadB = cute.make_tiled_copy_B<#cute_nvgpu.copy<ldmatrix, f16, x2>> (%mma)
  %sA_ = cute.tiled.copy.partition_S(%loadA, %s, %t)
  %sB_ = cute.tiled.copy.partition_S(%loadB, %s, %t)
  %rA_ = cute.tiled.copy.retile(%loadA, %rA)
  %rB_ = cute.tiled.copy.retile(%loadB, %rB)
  cute.copy(%loadA, %sA_, %rA_)
  cute.copy(%loadB, %sB_, %rB_)
  %tileC = cute.static : !cute.shape<"(16,16)">
  %gC = cute.local_tile(%C, %tileC, %origin)
  %shape = cute.get_shape(%C)
  %identity = cute.make_identity_tensor(%shape)
  %cC = cute.local_tile(%identity, %tileC, %origin)
  %pC = cute.tiled.mma.partition C (%mma, %gC, %t)
  %pc = cute.tiled.mma.partition C (%mma, %cC, %t)
  %rC = cute.mma.make_fragment C (%mma, %pC)
  cute.fill(%rC, %zero)
  scf.for %i = %c0 to %n step %c1 : i32 {
    cute.gemm(%mma, %rC, %rA, %rB, %rC)
  }
  cute.copy(%rC, %pC) bounds(%pc, %shape)
  func.return
}
