// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK: cuda_tile.module @aggregate {
cuda_tile.module @aggregate {
  // CHECK-NEXT: entry @aggregate() {
  entry @aggregate() {
    // CHECK-NEXT: %x = constant <f32: 1.000000e+00> : tile<4x8xf32>
    %x = constant <f32: 1.000000e+00> : tile<4x8xf32>
    // CHECK-NEXT: %i = constant <i32: 1> : tile<4x8xi32>
    %i = constant <i32: 1> : tile<4x8xi32>
    // CHECK-NEXT: %0 = reduce %x dim=1 identities=[0.000000e+00 : f32] : tile<4x8xf32> -> tile<4xf32>
    %0 = reduce %x dim=1 identities=[0.000000e+00 : f32] : tile<4x8xf32> -> tile<4xf32>
    // CHECK-NEXT: (%a: tile<f32>, %b: tile<f32>) {
    (%a: tile<f32>, %b: tile<f32>) {
      // CHECK-NEXT: %1 = addf %a, %b : tile<f32>
      %1 = addf %a, %b : tile<f32>
      // CHECK-NEXT: yield %1 : tile<f32>
      yield %1 : tile<f32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: %2, %3 = scan %x, %i dim=0 reverse=true identities=[1.000000e+00 : f32, -1 : i32] : tile<4x8xf32>, tile<4x8xi32> -> tile<4x8xf32>, tile<4x8xi32>
    %2, %3 = scan %x, %i dim=0 reverse=true identities=[1.000000e+00 : f32, -1 : i32] : tile<4x8xf32>, tile<4x8xi32> -> tile<4x8xf32>, tile<4x8xi32>
    // CHECK-NEXT: (%c: tile<f32>, %d: tile<f32>, %e: tile<i32>, %f: tile<i32>) {
    (%c: tile<f32>, %d: tile<f32>, %e: tile<i32>, %f: tile<i32>) {
      // CHECK-NEXT: %4 = mulf %c, %d : tile<f32>
      %4 = mulf %c, %d : tile<f32>
      // CHECK-NEXT: %5 = maxi %e, %f signed : tile<i32>
      %5 = maxi %e, %f signed : tile<i32>
      // CHECK-NEXT: yield %4, %5 : tile<f32>, tile<i32>
      yield %4, %5 : tile<f32>, tile<i32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
// CHECK: }
}
