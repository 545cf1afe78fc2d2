// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute-nvgpu | filecheck %s
// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute-nvgpu,convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_80

// Divisibility gives vectors, and spares what divides the tile its mask.

cuda_tile.module @m {
  entry @add(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
    %aligned = assume div_by<16>, %x : tile<ptr<f32>>
    %size = assume div_by<16>, %n : tile<i32>
    %block, %1, %2 = get_tile_block_id : tile<i32>
    %a = make_tensor_view %aligned, shape = [%size], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %b = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %ta = make_partition_view %a : partition_view<tile=(256), tensor_view<?xf32, strides=[1]>>
    %tb = make_partition_view %b : partition_view<tile=(256), padding_value = zero, tensor_view<?xf32, strides=[1]>>
    %v, %t = load_view_tko weak %ta[%block] : partition_view<tile=(256), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<256xf32>, token
    %s = addf %v, %v : tile<256xf32>
    %u = store_view_tko weak %s, %tb[%block] : tile<256xf32>, partition_view<tile=(256), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}

// CHECK: func.func @add(%x: memref<?xf32> {cute.from = #cute.argument<0, pointer>}, %y: memref<?xf32> {cute.from = #cute.argument<1, pointer>}, %n: i32 {cute.from = #cute.argument<2, value>}) attributes {cute.arguments = [!cuda_tile.ptr<f32>, !cuda_tile.ptr<f32>, i32], gpu.kernel = "", cuda_tile.entry, gpu.known_block_size = array<i32: 32, 1, 1>}
// CHECK-NOT: memref.alloc
// CHECK: [[M:%[0-9]+]] = arith.cmpi ult
// CHECK: [[A:%[0-9]+]], {{.*}} = cute_nvgpu.address.load [[P:%[0-9]+]] + 0 if [[M]] else {{.*}} : i64 -> f32, f32, f32, f32
// CHECK: [[N:%[0-9]+]] = arith.cmpi ult
// CHECK-NEXT: {{.*}} = cute_nvgpu.address.load [[P]] + 512 if [[N]] else {{.*}} : i64 -> f32, f32, f32, f32
// CHECK-NEXT: [[S:%[0-9]+]] = arith.addf [[A]], [[A]] : f32
// CHECK: cute_nvgpu.address.store [[S]] to {{.*}} + 0 if {{.*}} : f32 to i64
// CHECK: cute_nvgpu.address.store {{.*}} to {{.*}} + 4 if {{.*}} : f32 to i64
