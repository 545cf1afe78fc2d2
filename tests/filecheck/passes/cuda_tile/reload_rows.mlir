// RUN: tilewright-opt %s -p 'cuda-tile-reload-rows' | filecheck %s

// What is computed behind a fold of a row of 128 KiB, which the kernel does not write, is computed
// of a load behind it.

cuda_tile.module @m {
  entry @row(%p: tile<ptr<f16>>, %q: tile<ptr<f16>>) {
    %0 = constant <i32: 0> : tile<i32>
    %v = make_tensor_view %p, shape = [65536], strides = [1] : tensor_view<65536xf16, strides=[1]>
    %w = make_partition_view %v : partition_view<tile=(65536), tensor_view<65536xf16, strides=[1]>>
    %x, %t0 = load_view_tko weak %w[%0] attributes {cuda_tile.unwritten} : partition_view<tile=(65536), tensor_view<65536xf16, strides=[1]>>, tile<i32> -> tile<65536xf16>, token
    %e = negf %x : tile<65536xf16>
    %m = reduce %e dim=0 identities=[0xFC00 : f16] : tile<65536xf16> -> tile<f16>
    (%a: tile<f16>, %b: tile<f16>) {
      %c = maxf %a, %b : tile<f16>
      yield %c : tile<f16>
    }
    %r = reshape %m : tile<f16> -> tile<1xf16>
    %s = broadcast %r : tile<1xf16> -> tile<65536xf16>
    %y = addf %e, %s : tile<65536xf16>
    %vq = make_tensor_view %q, shape = [65536], strides = [1] : tensor_view<65536xf16, strides=[1]>
    %wq = make_partition_view %vq : partition_view<tile=(65536), tensor_view<65536xf16, strides=[1]>>
    %t1 = store_view_tko weak %y, %wq[%0] : tile<65536xf16>, partition_view<tile=(65536), tensor_view<65536xf16, strides=[1]>>, tile<i32> -> token
    return
  }
}

// CHECK: load_view_tko
// CHECK: reduce
// CHECK: %[[ROW:.*]], %{{.*}} = load_view_tko {{.*}}cuda_tile.late
// CHECK: %[[E:.*]] = negf %[[ROW]]
// CHECK: addf %[[E]],
