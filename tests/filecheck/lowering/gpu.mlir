// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_75
// CHECKS: all

// CHECK-LABEL: ptx.entry @ids(%out: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.sreg "tid.x"
// CHECK-NEXT:    %2 = ptx.cvt u64.u32 %1
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %2 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.sreg "ctaid.y"
// CHECK-NEXT:    %4 = ptx.cvt u64.u32 %3
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %4 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %5 = ptx.sreg "ntid.z"
// CHECK-NEXT:    %6 = ptx.cvt u64.u32 %5
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %6 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %7 = ptx.sreg "nctaid.x"
// CHECK-NEXT:    %8 = ptx.cvt u64.u32 %7
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %8 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @ids(%out: memref<16xindex>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  memref.store %tid, %out[%i0] : memref<16xindex>
  %ctaid = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  memref.store %ctaid, %out[%i0] : memref<16xindex>
  %ntid = "gpu.block_dim"() <{dimension = #gpu<dim z>}> : () -> index
  memref.store %ntid, %out[%i0] : memref<16xindex>
  %nctaid = "gpu.grid_dim"() <{dimension = #gpu<dim x>}> : () -> index
  memref.store %nctaid, %out[%i0] : memref<16xindex>
  func.return
}

// ctaid * ntid + tid in 64 bits.
// CHECK-LABEL: ptx.entry @global_id(%out: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.sreg "ctaid.y"
// CHECK-NEXT:    %2 = ptx.cvt u64.u32 %1
// CHECK-NEXT:    %3 = ptx.sreg "ntid.y"
// CHECK-NEXT:    %4 = ptx.cvt u64.u32 %3
// CHECK-NEXT:    %5 = ptx.sreg "tid.y"
// CHECK-NEXT:    %6 = ptx.cvt u64.u32 %5
// CHECK-NEXT:    %7 = ptx.mul lo.s64 %2, %4
// CHECK-NEXT:    %8 = ptx.add s64 %7, %6
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %8 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @global_id(%out: memref<16xindex>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %id = "gpu.global_id"() <{dimension = #gpu<dim y>}> : () -> index
  memref.store %id, %out[%i0] : memref<16xindex>
  func.return
}

// A warp is 32 threads in a row of the CTA, x first.
// CHECK-LABEL: ptx.entry @warps(%out: u64) {
// CHECK-NEXT:    %0 = ptx.cvta to.global.u64 %out
// CHECK-NEXT:    %1 = ptx.sreg "laneid"
// CHECK-NEXT:    %2 = ptx.cvt u64.u32 %1
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %2 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.sreg "tid.z"
// CHECK-NEXT:    %4 = ptx.sreg "ntid.y"
// CHECK-NEXT:    %5 = ptx.mul lo.u32 %3, %4
// CHECK-NEXT:    %6 = ptx.sreg "tid.y"
// CHECK-NEXT:    %7 = ptx.add u32 %5, %6
// CHECK-NEXT:    %8 = ptx.sreg "ntid.x"
// CHECK-NEXT:    %9 = ptx.mul lo.u32 %7, %8
// CHECK-NEXT:    %10 = ptx.sreg "tid.x"
// CHECK-NEXT:    %11 = ptx.add u32 %9, %10
// CHECK-NEXT:    %12 = ptx.const 5 : !ptx.reg<b32>
// CHECK-NEXT:    %13 = ptx.shr u32 %11, %12
// CHECK-NEXT:    %14 = ptx.cvt u64.u32 %13
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %14 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    %15 = ptx.const 32 : !ptx.reg<b64>
// CHECK-NEXT:    ptx.st "global" "b64" %0, 0, %15 : !ptx.reg<b64>, !ptx.reg<b64>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @warps(%out: memref<16xindex>) attributes {gpu.kernel} {
  %i0 = arith.constant 0 : index
  %lane = "gpu.lane_id"() : () -> index
  memref.store %lane, %out[%i0] : memref<16xindex>
  %warp = "gpu.subgroup_id"() : () -> index
  memref.store %warp, %out[%i0] : memref<16xindex>
  %size = "gpu.subgroup_size"() : () -> index
  memref.store %size, %out[%i0] : memref<16xindex>
  func.return
}

// CHECK-LABEL: ptx.entry @barrier() {
// CHECK-NEXT:    ptx.bar.sync 0
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:    }
func.func @barrier() attributes {gpu.kernel} {
  "gpu.barrier"() : () -> ()
  func.return
}
