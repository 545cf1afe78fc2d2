// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute-nvgpu | filecheck %s
// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute-nvgpu,convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_80
// RUN: tilewright-opt %s -p cuda-tile-show-layouts | filecheck %s --check-prefix=LAYOUT

// Operands come through shared memory; the sum stays in registers around the loop.

cuda_tile.module @m {
  entry @product(%p: tile<ptr<f16>>, %o: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %none = constant <f32: 0.0> : tile<16x16xf32>
    %a = make_tensor_view %p, shape = [16, 4096], strides = [4096, 1] : tensor_view<16x4096xf16, strides=[4096,1]>
    %b = make_tensor_view %p, shape = [4096, 16], strides = [1, 4096] : tensor_view<4096x16xf16, strides=[1,4096]>
    %c = make_tensor_view %o, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf32, strides=[16,1]>
    %ta = make_partition_view %a : partition_view<tile=(16x16), tensor_view<16x4096xf16, strides=[4096,1]>>
    %tb = make_partition_view %b : partition_view<tile=(16x16), tensor_view<4096x16xf16, strides=[1,4096]>>
    %tc = make_partition_view %c : partition_view<tile=(16x16), tensor_view<16x16xf32, strides=[16,1]>>
    %r = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%s = %none) -> (tile<16x16xf32>) {
      %x, %t = load_view_tko weak %ta[%zero, %k] : partition_view<tile=(16x16), tensor_view<16x4096xf16, strides=[4096,1]>>, tile<i32> -> tile<16x16xf16>, token
      %y, %u = load_view_tko weak %tb[%k, %zero] : partition_view<tile=(16x16), tensor_view<4096x16xf16, strides=[1,4096]>>, tile<i32> -> tile<16x16xf16>, token
      %d = mmaf %x, %y, %s : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
      continue %d : tile<16x16xf32>
    }
    %v = store_view_tko weak %r, %tc[%zero, %zero] : tile<16x16xf32>, partition_view<tile=(16x16), tensor_view<16x16xf32, strides=[16,1]>>, tile<i32> -> token
    return
  }
}

// CHECK: func.func @product
// CHECK: scf.for {{.*}} iter_args
// CHECK: cute_nvgpu.address.load {{.*}} : i64 -> f16
// CHECK: cute_nvgpu.address.store {{.*}} to i32
// CHECK: "gpu.barrier"() : () -> ()
// CHECK: cute_nvgpu.address.ldmatrix {{.*}} trans : !cute_nvgpu.fragment<4xi32>
// CHECK: cute_nvgpu.sm80.mma {{.*}} <16x8x16, elem_type = (f16, f16, f32)>
// CHECK: cute_nvgpu.sm80.mma {{.*}} <16x8x16, elem_type = (f16, f16, f32)>
// CHECK: scf.yield
// CHECK: cute_nvgpu.address.store {{.*}} : f32 to i64

// LAYOUT: constant <f32: 0.000000e+00> {{.*}} {cute.places = ["none: computed in the layout of whoever reads it"]}
// LAYOUT: load_view_tko {{.*}} {cute.places = ["registers 8x1, lanes 2x16 = (32,8):(1,32)"]}
// LAYOUT: load_view_tko {{.*}} {cute.places = ["registers 1x8, lanes 16x2 = ((16,2),8):((16,1),2)"]}
// LAYOUT: mmaf {{.*}} {cute.places = ["registers 2x4, lanes 8x4 = ((4,8),(2,2,2)):((2,16),(1,128,8))"]}
