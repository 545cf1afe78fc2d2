// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK: cuda_tile.module @control_flow {
cuda_tile.module @control_flow {
  // CHECK-NEXT: entry @loops(%n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
  entry @loops(%n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    // CHECK-NEXT: %0 = for %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
    %0 = for %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
      // CHECK-NEXT: %1 = addf %a, %x : tile<f32>
      %1 = addf %a, %x : tile<f32>
      // CHECK-NEXT: continue %1 : tile<f32>
      continue %1 : tile<f32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: for unsigned %j in (%n to %n, step %n) : tile<i32> {
    for unsigned %j in (%n to %n, step %n) : tile<i32> {
      // CHECK-NEXT: if %c {
      if %c {
        // CHECK-NEXT: continue
        continue
      // CHECK-NEXT: }
      }
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: %2 = loop iter_values(%b = %x) : tile<f32> -> tile<i32> {
    %2 = loop iter_values(%b = %x) : tile<f32> -> tile<i32> {
      // CHECK-NEXT: if %c {
      if %c {
        // CHECK-NEXT: break %n : tile<i32>
        break %n : tile<i32>
      // CHECK-NEXT: } else {
      } else {
        // CHECK-NEXT: assert %c, "never" : tile<i1>
        assert %c, "never" : tile<i1>
      // CHECK-NEXT: }
      }
      // CHECK-NEXT: continue %b : tile<f32>
      continue %b : tile<f32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: %3, %4 = if %c -> (tile<f32>, tile<i32>) {
    %3, %4 = if %c -> (tile<f32>, tile<i32>) {
      // CHECK-NEXT: yield %x, %n : tile<f32>, tile<i32>
      yield %x, %n : tile<f32>, tile<i32>
    // CHECK-NEXT: } else {
    } else {
      // CHECK-NEXT: return
      return
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: loop {
    loop {
      // CHECK-NEXT: break
      break
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
// CHECK: }
}
