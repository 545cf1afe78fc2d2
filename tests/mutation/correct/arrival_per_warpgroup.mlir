// Two warpgroups read each stage; of each, one thread arrives for all behind the warpgroup's own
// named barrier.
// block = 384

!map = !cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>
!box = memref<2x8x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (2,8,16):(128,16,1)">, #cute<space smem>>
!bars = memref<2xi64, #cute<space smem>>

func.func @k(%p: memref<?xi32>, %m: !map) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %c6 = arith.constant 6 : index
  %c128 = arith.constant 128 : index
  %group = arith.divui %t, %c128 : index
  %copies = arith.cmpi eq, %group, %c0 : index
  %second = arith.cmpi eq, %group, %c1 : index
  %thread = arith.remui %t, %c128 : index
  %speaks = arith.cmpi eq, %thread, %c0 : index
  %x = memref.alloc() : !box
  %full = memref.alloc() : !bars
  %empty = memref.alloc() : !bars
  scf.if %first {
    scf.for %i = %c0 to %c2 step %c1 {
      cute_nvgpu.mbarrier.init %full[%i] count 1 : !bars
      cute_nvgpu.mbarrier.init %empty[%i] count 2 : !bars
    }
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  scf.if %copies {
    scf.if %first {
      scf.for %i = %c0 to %c6 step %c1 {
        %stage = arith.remui %i, %c2 : index
        %use = arith.divui %i, %c2 : index
        %u = arith.index_cast %use : index to i32
        %bit = arith.andi %u, %odd : i32
        %parity = arith.xori %bit, %odd : i32
        %from = arith.muli %stage, %c8 : index
        cute_nvgpu.mbarrier.wait %empty[%stage] parity %parity : !bars
        cute_nvgpu.mbarrier.arrive.expect_tx %full[%stage] bytes 512 : !bars
        cute_nvgpu.tma.load %m[%from, %c0] to %x[%stage, %c0, %c0] mbarrier %full[%stage] : !map to !box, !bars
      }
    }
  } else {
    %at = arith.subi %t, %c128 : index
    %row = arith.divui %thread, %c16 : index
    %column = arith.remui %thread, %c16 : index
    scf.for %i = %c0 to %c6 step %c1 {
      %stage = arith.remui %i, %c2 : index
      %use = arith.divui %i, %c2 : index
      %u = arith.index_cast %use : index to i32
      %parity = arith.andi %u, %odd : i32
      cute_nvgpu.mbarrier.wait %full[%stage] parity %parity : !bars
      %v = memref.load %x[%stage, %row, %column] : !box
      cute_nvgpu.fence.proxy.async in "shared::cta"
      %old = memref.load %p[%at] : memref<?xi32>
      %sum = arith.addi %old, %v : i32
      memref.store %sum, %p[%at] : memref<?xi32>
      scf.if %second {
        cute_nvgpu.bar.sync 1 threads 128
      } else {
        cute_nvgpu.bar.sync 2 threads 128
      }
      scf.if %speaks {
        cute_nvgpu.mbarrier.arrive %empty[%stage] : !bars
      }
    }
  }
  func.return
}
