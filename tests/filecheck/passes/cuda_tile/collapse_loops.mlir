// RUN: tilewright-opt %s -p cuda-tile-collapse-loops | filecheck %s

// 3 turns of 5 are 15 turns of one loop.

cuda_tile.module @m {
  entry @k() {
    %x = constant <f16: 1.0> : tile<16x16xf16>
    %z = constant <f32: 1.0> : tile<16x16xf32>
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %3 = constant <i32: 3> : tile<i32>
    %5 = constant <i32: 5> : tile<i32>
    %r = for %i in (%0 to %3, step %1) : tile<i32> iter_values(%s = %z) -> (tile<16x16xf32>) {
      %t = for %j in (%0 to %5, step %1) : tile<i32> iter_values(%u = %s) -> (tile<16x16xf32>) {
        %n = addi %i, %j : tile<i32>
        %d = mmaf %x, %x, %u : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
        continue %d : tile<16x16xf32>
      }
      continue %t : tile<16x16xf32>
    }
    return
  }
}

// CHECK: %4 = constant <i32: 15> : tile<i32>
// CHECK: %r = for %i in (%0 to %4, step %1) : tile<i32> iter_values(%s = %z)
// CHECK-NEXT: %5 = constant <i32: 5> : tile<i32>
// CHECK-NEXT: %6 = divi %i, %5 unsigned
// CHECK-NEXT: %j = remi %i, %5 unsigned
// CHECK-NEXT: %n = addi %6, %j
// CHECK-NEXT: %d = mmaf %x, %x, %s
// CHECK-NEXT: continue %d
// CHECK-NOT: for

// 12 turns of 12 are more than an i8 counts.

cuda_tile.module @small {
  entry @k() {
    %x = constant <f16: 1.0> : tile<16x16xf16>
    %z = constant <f32: 1.0> : tile<16x16xf32>
    %0 = constant <i8: 0> : tile<i8>
    %1 = constant <i8: 1> : tile<i8>
    %12 = constant <i8: 12> : tile<i8>
    %r = for %i in (%0 to %12, step %1) : tile<i8> iter_values(%s = %z) -> (tile<16x16xf32>) {
      %t = for %j in (%0 to %12, step %1) : tile<i8> iter_values(%u = %s) -> (tile<16x16xf32>) {
        %d = mmaf %x, %x, %u : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
        continue %d : tile<16x16xf32>
      }
      continue %t : tile<16x16xf32>
    }
    return
  }
}

// CHECK: cuda_tile.module @small
// CHECK: for %i in (%0 to %2
// CHECK-NEXT: for %j in (%0 to %2
