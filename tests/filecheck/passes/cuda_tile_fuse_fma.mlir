// RUN: tilewright-opt %s -p cuda-tile-fuse-fma | filecheck %s

cuda_tile.module @m {
  entry @k(%x: tile<f32>, %y: tile<f32>, %z: tile<f32>, %p: tile<ptr<f32>>) {
    %m = mulf %x, %y rounding<zero> : tile<f32>
    %s = addf %z, %m rounding<zero> : tile<f32>
    %n = mulf %s, %y : tile<f32>
    %d = subf %n, %z : tile<f32>
    %o = mulf %d, %d flush_to_zero : tile<f32>
    %e = addf %o, %o flush_to_zero : tile<f32>
    %q = mulf %e, %e : tile<f32>
    %f = addf %q, %x rounding<zero> : tile<f32>
    %t = store_ptr_tko weak %p, %f : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}

// CHECK: cuda_tile.module @m {
// CHECK-NEXT: entry @k(%x: tile<f32>, %y: tile<f32>, %z: tile<f32>, %p: tile<ptr<f32>>) {
// CHECK-NEXT: %s = fma %x, %y, %z rounding<zero> : tile<f32>
// CHECK-NEXT: %0 = negf %z : tile<f32>
// CHECK-NEXT: %d = fma %s, %y, %0 : tile<f32>
// CHECK-NEXT: %o = mulf %d, %d flush_to_zero : tile<f32>
// CHECK-NEXT: %e = addf %o, %o flush_to_zero : tile<f32>
// CHECK-NEXT: %q = mulf %e, %e : tile<f32>
// CHECK-NEXT: %f = addf %q, %x rounding<zero> : tile<f32>
// CHECK-NEXT: %t = store_ptr_tko weak %p, %f : tile<ptr<f32>>, tile<f32> -> token
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
