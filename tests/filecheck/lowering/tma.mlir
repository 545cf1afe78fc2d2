// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx -o %t.ptx
// RUN: %ptxas sm_90a %t.ptx
// CHECKS: all

!map = !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>
!stages = memref<4x128x128xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,(64,2)):(16384,64,(1,8192))">, #cute<space smem>>
!barriers = memref<4xi64, #cute<space smem>>

// CHECK-LABEL: ptx.entry @mbarriers(%i: u64, %parity: u32) shared 32 align 128 {
// CHECK-NEXT:    %0 = ptx.shared_address 0
// CHECK-NEXT:    %1 = ptx.cvt u32.u64 %i
// CHECK-NEXT:    %2 = ptx.const 3 : !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.shl b32 %1, %2
// CHECK-NEXT:    %4 = ptx.add u32 %3, %0
// CHECK-NEXT:    ptx.mbarrier.init %4, 0, 3
// CHECK-NEXT:    ptx.fence.mbarrier_init
// CHECK-NEXT:    ptx.mbarrier.arrive %0, 16
// CHECK-NEXT:    ptx.mbarrier.arrive %4, 0, 2
// CHECK-NEXT:    ptx.mbarrier.arrive.expect_tx %0, 16, 16384
// CHECK-NEXT:    ptx.mbarrier.try_wait.parity %4, 0, %parity
// CHECK-NEXT:    ptx.mbarrier.inval %0, 16
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @mbarriers(%i: index, %parity: i32) attributes {gpu.kernel} {
  %c2 = arith.constant 2 : index
  %b = memref.alloc() : !barriers
  cute_nvgpu.mbarrier.init %b[%i] count 3 : !barriers
  cute_nvgpu.fence.mbarrier_init
  cute_nvgpu.mbarrier.arrive %b[%c2] : !barriers
  cute_nvgpu.mbarrier.arrive %b[%i] count 2 : !barriers
  cute_nvgpu.mbarrier.arrive.expect_tx %b[%c2] bytes 16384 : !barriers
  cute_nvgpu.mbarrier.wait %b[%i] parity %parity : !barriers
  cute_nvgpu.mbarrier.inval %b[%c2] : !barriers
  func.return
}

// Coordinates stand innermost first; the box starts where the layout without its swizzle says.
// CHECK-LABEL: ptx.entry @load(%m: tensormap {cute_nvgpu.tensor_map = !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>}, %stage: u64, %row: u64) shared 131104 align 1024 {
// CHECK-NEXT:    %0 = ptx.const 1152921504606846976 : !ptx.reg<b64>
// CHECK-NEXT:    %1 = ptx.shared_address 0
// CHECK-NEXT:    %2 = ptx.shared_address 131072
// CHECK-NEXT:    ptx.prefetch.tensormap %m
// CHECK-NEXT:    %3 = ptx.cvt u32.u64 %stage
// CHECK-NEXT:    %4 = ptx.const 0 : !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.const 64 : !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.const 15 : !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.shl b32 %3, %6
// CHECK-NEXT:    %8 = ptx.add u32 %7, %1
// CHECK-NEXT:    %9 = ptx.const 16384 : !ptx.reg<b32>
// CHECK-NEXT:    %10 = ptx.add u32 %8, %9
// CHECK-NEXT:    %11 = ptx.const 3 : !ptx.reg<b32>
// CHECK-NEXT:    %12 = ptx.shl b32 %3, %11
// CHECK-NEXT:    %13 = ptx.add u32 %12, %2
// CHECK-NEXT:    %14 = ptx.cvt u32.u64 %row
// CHECK-NEXT:    ptx.cp.async.bulk.tensor.load %10, %m, [%5, %14], %13
// CHECK-NEXT:    %15 = ptx.const 32768 : !ptx.reg<b32>
// CHECK-NEXT:    %16 = ptx.add u32 %1, %15
// CHECK-NEXT:    %17 = ptx.const 8 : !ptx.reg<b32>
// CHECK-NEXT:    %18 = ptx.add u32 %2, %17
// CHECK-NEXT:    ptx.cp.async.bulk.tensor.load %16, %m, [%14, %4], %18 cache_hint %0
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @load(%m: !map, %stage: index, %row: index) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %hint = arith.constant 1152921504606846976 : i64
  %s = memref.alloc() : !stages
  %b = memref.alloc() : !barriers
  cute_nvgpu.prefetch.tensormap %m : !map
  cute_nvgpu.tma.load %m[%row, %c64] to %s[%stage, %c0, %c64] mbarrier %b[%stage] : !map to !stages, !barriers
  cute_nvgpu.tma.load %m[%c0, %row] to %s[%c1, %c0, %c0] mbarrier %b[%c1] cache_hint %hint : !map to !stages, !barriers
  func.return
}

// CHECK-LABEL: ptx.entry @store(%m: tensormap {cute_nvgpu.tensor_map = !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>}, %row: u64) shared 131072 align 1024 {
// CHECK-NEXT:    %0 = ptx.shared_address 0
// CHECK-NEXT:    ptx.fence.proxy.async
// CHECK-NEXT:    %1 = ptx.const 0 : !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.cvt u32.u64 %row
// CHECK-NEXT:    ptx.cp.async.bulk.tensor.store %m, [%1, %2], %0
// CHECK-NEXT:    ptx.cp.async.bulk.commit_group
// CHECK-NEXT:    ptx.cp.async.bulk.wait_group 0 read
// CHECK-NEXT:    ptx.cp.async.bulk.wait_group 0
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @store(%m: !map, %row: index) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %s = memref.alloc() : !stages
  cute_nvgpu.fence.proxy.async
  cute_nvgpu.tma.store %s[%c0, %c0, %c0] to %m[%row, %c0] : !stages to !map
  cute_nvgpu.cp.async.bulk.commit_group
  cute_nvgpu.cp.async.bulk.wait_group 0 read
  cute_nvgpu.cp.async.bulk.wait_group 0
  func.return
}

// CHECK-LABEL: ptx.entry @warps(%out: u64) reqntid(128, 1, 1) attributes {nvvm.minctasm = 1 : i32} {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.const 1 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.setmaxnreg "inc" 232
// CHECK-NEXT:    %2 = ptx.elect.sync
// CHECK-NEXT:    ptx.cond_bra %2, ^if1_then, ^if1_end
// CHECK-NEXT:    ^if1_then:
// CHECK-NEXT:    ptx.st "global" "b32" %0, 0, %1 : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^if1_end
// CHECK-NEXT:    ^if1_end:
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @warps(%out: memref<?xi32>) attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  cute_nvgpu.setmaxnreg inc 232
  %leader = cute_nvgpu.elect.sync
  scf.if %leader {
    memref.store %one, %out[%c0] : memref<?xi32>
  }
  func.return
}

// CHECK-LABEL: ptx.entry @multicast(%m: tensormap {cute_nvgpu.tensor_map = !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>}, %stage: u64, %row: u64) shared 131104 align 1024 cluster(2, 1, 1) {
// CHECK-NEXT:    %0 = ptx.const 3 : !ptx.reg<b16>
// CHECK-NEXT:    %1 = ptx.shared_address 0
// CHECK-NEXT:    %2 = ptx.shared_address 131072
// CHECK-NEXT:    %3 = ptx.cvt u32.u64 %stage
// CHECK-NEXT:    %4 = ptx.const 0 : !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.const 15 : !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.shl b32 %3, %5
// CHECK-NEXT:    %7 = ptx.add u32 %6, %1
// CHECK-NEXT:    %8 = ptx.const 3 : !ptx.reg<b32>
// CHECK-NEXT:    %9 = ptx.shl b32 %3, %8
// CHECK-NEXT:    %10 = ptx.add u32 %9, %2
// CHECK-NEXT:    %11 = ptx.cvt u32.u64 %row
// CHECK-NEXT:    ptx.cp.async.bulk.tensor.load %7, %m, [%4, %11], %10 multicast %0
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @multicast(%m: !map, %stage: index, %row: index) attributes {gpu.kernel, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %both = arith.constant 3 : i16
  %s = memref.alloc() : !stages
  %b = memref.alloc() : !barriers
  cute_nvgpu.tma.load %m[%row, %c0] to %s[%stage, %c0, %c0] mbarrier %b[%stage] multicast %both : !map to !stages, !barriers
  func.return
}

// CHECK-LABEL: ptx.entry @reduce(%m: tensormap {cute_nvgpu.tensor_map = !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>}, %row: u64) shared 131072 align 1024 {
// CHECK-NEXT:    %0 = ptx.shared_address 0
// CHECK-NEXT:    ptx.fence.proxy.async
// CHECK-NEXT:    %1 = ptx.const 0 : !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.cvt u32.u64 %row
// CHECK-NEXT:    ptx.cp.reduce.async.bulk.tensor "add" %m, [%1, %2], %0
// CHECK-NEXT:    ptx.cp.async.bulk.commit_group
// CHECK-NEXT:    ptx.cp.async.bulk.wait_group 0
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @reduce(%m: !map, %row: index) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %s = memref.alloc() : !stages
  cute_nvgpu.fence.proxy.async
  cute_nvgpu.tma.reduce add %s[%c0, %c0, %c0] to %m[%row, %c0] : !stages to !map
  cute_nvgpu.cp.async.bulk.commit_group
  cute_nvgpu.cp.async.bulk.wait_group 0
  func.return
}
