// RUN: tilewright-opt %s -p "cuda-tile-crowd-loops{arch=sm_90a}" | filecheck %s

// The load of a loop that adds up rows, 64 bytes a thread, and keeps a number of each; not of one
// that keeps the tile, nor of one that computes exponentials, nor of one that stores it.

cuda_tile.module @m {
  entry @sums(%x: tile<ptr<bf16>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %z = constant <f32: 0.0> : tile<128xf32>
    %t = make_tensor_view %x, shape = [%n, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xbf16, strides=[128,1]>
    %v = make_partition_view %t : partition_view<tile=(64x128), tensor_view<?x128xbf16, strides=[128,1]>>
    %u = make_tensor_view %y, shape = [128], strides = [1] : tensor_view<128xf32, strides=[1]>
    %w = make_partition_view %u : partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>
    %s = for %i in (%0 to %n, step %1) : tile<i32> iter_values(%a = %z) -> (tile<128xf32>) {
      %h, %t1 = load_view_tko weak %v[%i, %0] : partition_view<tile=(64x128), tensor_view<?x128xbf16, strides=[128,1]>>, tile<i32> -> tile<64x128xbf16>, token
      %f = ftof %h : tile<64x128xbf16> -> tile<64x128xf32>
      %c = reduce %f dim=0 identities=[0.0 : f32] : tile<64x128xf32> -> tile<128xf32>
      (%l: tile<f32>, %r: tile<f32>) { %d = addf %l, %r : tile<f32>  yield %d : tile<f32> }
      %b = addf %a, %c : tile<128xf32>
      continue %b : tile<128xf32>
    }
    %t2 = store_view_tko weak %s, %w[%0] : tile<128xf32>, partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>, tile<i32> -> token
    return
  }
  entry @powers(%x: tile<ptr<bf16>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %z = constant <f32: 0.0> : tile<128xf32>
    %t = make_tensor_view %x, shape = [%n, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xbf16, strides=[128,1]>
    %v = make_partition_view %t : partition_view<tile=(64x128), tensor_view<?x128xbf16, strides=[128,1]>>
    %u = make_tensor_view %y, shape = [128], strides = [1] : tensor_view<128xf32, strides=[1]>
    %w = make_partition_view %u : partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>
    %s = for %i in (%0 to %n, step %1) : tile<i32> iter_values(%a = %z) -> (tile<128xf32>) {
      %h, %t1 = load_view_tko weak %v[%i, %0] : partition_view<tile=(64x128), tensor_view<?x128xbf16, strides=[128,1]>>, tile<i32> -> tile<64x128xbf16>, token
      %f = ftof %h : tile<64x128xbf16> -> tile<64x128xf32>
      %e = exp %f : tile<64x128xf32>
      %c = reduce %e dim=0 identities=[0.0 : f32] : tile<64x128xf32> -> tile<128xf32>
      (%l: tile<f32>, %r: tile<f32>) { %d = addf %l, %r : tile<f32>  yield %d : tile<f32> }
      %b = addf %a, %c : tile<128xf32>
      continue %b : tile<128xf32>
    }
    %t2 = store_view_tko weak %s, %w[%0] : tile<128xf32>, partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>, tile<i32> -> token
    return
  }
  entry @kept(%x: tile<ptr<bf16>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %z = constant <f32: 0.0> : tile<64x128xf32>
    %t = make_tensor_view %x, shape = [%n, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xbf16, strides=[128,1]>
    %v = make_partition_view %t : partition_view<tile=(64x128), tensor_view<?x128xbf16, strides=[128,1]>>
    %u = make_tensor_view %y, shape = [%n, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xf32, strides=[128,1]>
    %w = make_partition_view %u : partition_view<tile=(64x128), tensor_view<?x128xf32, strides=[128,1]>>
    %s = for %i in (%0 to %n, step %1) : tile<i32> iter_values(%a = %z) -> (tile<64x128xf32>) {
      %h, %t1 = load_view_tko weak %v[%i, %0] : partition_view<tile=(64x128), tensor_view<?x128xbf16, strides=[128,1]>>, tile<i32> -> tile<64x128xbf16>, token
      %f = ftof %h : tile<64x128xbf16> -> tile<64x128xf32>
      %b = addf %a, %f : tile<64x128xf32>
      continue %b : tile<64x128xf32>
    }
    %t2 = store_view_tko weak %s, %w[%0, %0] : tile<64x128xf32>, partition_view<tile=(64x128), tensor_view<?x128xf32, strides=[128,1]>>, tile<i32> -> token
    return
  }
  entry @stored(%x: tile<ptr<bf16>>, %n: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %t = make_tensor_view %x, shape = [%n, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xbf16, strides=[128,1]>
    %v = make_partition_view %t : partition_view<tile=(64x128), tensor_view<?x128xbf16, strides=[128,1]>>
    %t0 = make_token : token
    %s = for %i in (%0 to %n, step %1) : tile<i32> iter_values(%k = %t0) -> (token) {
      %h, %t1 = load_view_tko weak %v[%i, %0] token=%k : partition_view<tile=(64x128), tensor_view<?x128xbf16, strides=[128,1]>>, tile<i32> -> tile<64x128xbf16>, token
      %t2 = store_view_tko weak %h, %v[%i, %0] token=%t1 : tile<64x128xbf16>, partition_view<tile=(64x128), tensor_view<?x128xbf16, strides=[128,1]>>, tile<i32> -> token
      continue %t2 : token
    }
    return
  }
}

// CHECK: entry @sums
// CHECK: load_view_tko weak %v[%i, %{{.*}}] attributes {cache = "L1::no_allocate"}
// CHECK-NOT: no_allocate
