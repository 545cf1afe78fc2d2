// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute-nvgpu | filecheck %s
// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute-nvgpu,convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_80

// In the registers of a thread, then between lanes, then between the warps of 1024 elements.

cuda_tile.module @m {
  entry @sum(%p: tile<ptr<i32>>, %o: tile<ptr<i32>>) {
    %i = iota : tile<1024xi32>
    %r = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
    %b = broadcast %r : tile<1xptr<i32>> -> tile<1024xptr<i32>>
    %q = offset %b, %i : tile<1024xptr<i32>>, tile<1024xi32> -> tile<1024xptr<i32>>
    %x, %t = load_ptr_tko weak %q : tile<1024xptr<i32>> -> tile<1024xi32>, token
    %s = reduce %x dim=0 identities=[0 : i32] : tile<1024xi32> -> tile<i32> (%e : tile<i32>, %a : tile<i32>) {
      %n = addi %e, %a : tile<i32>
      yield %n : tile<i32>
    }
    %u = store_ptr_tko weak %o, %s : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}

// CHECK: func.func @sum({{.*}}) attributes {{{.*}}gpu.kernel = "", cuda_tile.entry, gpu.known_block_size = array<i32: 128, 1, 1>}
// CHECK: memref.alloc() {{.*}} : memref<16xi8, #cute<space smem>>
// CHECK: cute_nvgpu.address.load
// CHECK: arith.addi
// CHECK: cute_nvgpu.shfl.sync bfly {{.*}}, 16 : i32
// CHECK: cute_nvgpu.shfl.sync bfly {{.*}}, 1 : i32
// CHECK: cute_nvgpu.address.store {{.*}} if {{.*}} : i32 to i32
// CHECK-NEXT: "gpu.barrier"() : () -> ()
// CHECK-NEXT: {{.*}}, {{.*}}, {{.*}}, {{.*}} = cute_nvgpu.address.load {{.*}} : i32 -> i32, i32, i32, i32
// CHECK: cute_nvgpu.address.store {{.*}} if {{.*}} : i32 to i64
