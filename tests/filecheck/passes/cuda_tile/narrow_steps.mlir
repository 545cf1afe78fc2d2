// RUN: tilewright-opt %s -p 'cuda-tile-narrow-steps{arch=sm_90a}' | filecheck %s
// RUN: tilewright-opt %s -p 'cuda-tile-narrow-steps{arch=sm_80}' | filecheck %s --check-prefix=WARPS

// Of 96 KiB only two stages have room: the loop steps over half of each tile, the last of which may
// lie outside. B is turned.

cuda_tile.module @m {
  entry @deep(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %n: tile<i32>, %count: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %zero = constant <f32: 0.0> : tile<128x256xf32>
    %av = make_tensor_view %a, shape = [%n, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %ap = make_partition_view %av : partition_view<tile=(128x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %bv = make_tensor_view %b, shape = [%n, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %bp = make_partition_view %bv : partition_view<tile=(256x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %sum = for %k in (%0 to %count, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x256xf32>) {
      %x, %t0 = load_view_tko weak %ap[%0, %k] : partition_view<tile=(128x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<128x128xf16>, token
      %y, %t1 = load_view_tko weak %bp[%0, %k] : partition_view<tile=(256x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<256x128xf16>, token
      %turned = permute %y [1, 0] : tile<256x128xf16> -> tile<128x256xf16>
      %next = mmaf %x, %turned, %acc : tile<128x128xf16>, tile<128x256xf16>, tile<128x256xf32>
      continue %next : tile<128x256xf32>
    }
    return
  }
}

// CHECK: %[[TWO:.*]] = constant <i32: 2> : tile<i32>
// CHECK-NEXT: %[[COUNT:.*]] = muli %count, %[[TWO]]
// CHECK-NEXT: for %k in (%0 to %[[COUNT]], step %1)
// CHECK-NEXT: load_view_tko weak %{{.*}}[%0, %k] attributes {anywhere} : partition_view<tile=(128x64),
// CHECK-NEXT: load_view_tko weak %{{.*}}[%0, %k] attributes {anywhere} : partition_view<tile=(256x64),
// CHECK-NEXT: permute %y [1, 0] : tile<256x64xf16> -> tile<64x256xf16>
// CHECK-NEXT: mmaf %x, %turned, %acc : tile<128x64xf16>, tile<64x256xf16>, tile<128x256xf32>
// WARPS: for %k in (%0 to %count, step %1)

// No loop is narrowed whose variable says more, which counts, or which has stages enough.

cuda_tile.module @others {
  entry @row_moves(%a: tile<ptr<f16>>, %n: tile<i32>, %count: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %zero = constant <f32: 0.0> : tile<128x128xf32>
    %av = make_tensor_view %a, shape = [%n, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %ap = make_partition_view %av : partition_view<tile=(128x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %sum = for %k in (%0 to %count, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
      %x, %t0 = load_view_tko weak %ap[%k, %k] : partition_view<tile=(128x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<128x128xf16>, token
      %y, %t1 = load_view_tko weak %ap[%k, %0] : partition_view<tile=(128x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<128x128xf16>, token
      %next = mmaf %x, %y, %acc : tile<128x128xf16>, tile<128x128xf16>, tile<128x128xf32>
      continue %next : tile<128x128xf32>
    }
    return
  }

  entry @counts(%a: tile<ptr<f16>>, %n: tile<i32>, %count: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %zero = constant <f32: 0.0> : tile<128x128xf32>
    %av = make_tensor_view %a, shape = [%n, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %ap = make_partition_view %av : partition_view<tile=(128x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %sum, %steps = for %k in (%0 to %count, step %1) : tile<i32> iter_values(%acc = %zero, %i = %0) -> (tile<128x128xf32>, tile<i32>) {
      %x, %t0 = load_view_tko weak %ap[%0, %k] : partition_view<tile=(128x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<128x128xf16>, token
      %y, %t1 = load_view_tko weak %ap[%k, %0] : partition_view<tile=(128x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<128x128xf16>, token
      %next = mmaf %x, %y, %acc : tile<128x128xf16>, tile<128x128xf16>, tile<128x128xf32>
      %more = addi %i, %1 : tile<i32>
      continue %next, %more : tile<128x128xf32>, tile<i32>
    }
    return
  }

  entry @shallow(%a: tile<ptr<f16>>, %n: tile<i32>, %count: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %zero = constant <f32: 0.0> : tile<64x64xf32>
    %av = make_tensor_view %a, shape = [%n, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %ap = make_partition_view %av : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %bp = make_partition_view %av : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %sum = for %k in (%0 to %count, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
      %x, %t0 = load_view_tko weak %ap[%0, %k] : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<64x128xf16>, token
      %y, %t1 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<128x64xf16>, token
      %next = mmaf %x, %y, %acc : tile<64x128xf16>, tile<128x64xf16>, tile<64x64xf32>
      continue %next : tile<64x64xf32>
    }
    return
  }
}

// CHECK-LABEL: @row_moves
// CHECK: for %k in (%0 to %count, step %1)
// CHECK-LABEL: @counts
// CHECK: for %k in (%0 to %count, step %1)
// CHECK-LABEL: @shallow
// CHECK: for %k in (%0 to %count, step %1)
