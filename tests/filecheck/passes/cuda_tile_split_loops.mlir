// RUN: tilewright-opt %s -p cuda-tile-split-loops | filecheck %s

cuda_tile.module @m {
  entry @k(%a: tile<i32>, %b: tile<i32>, %s: tile<i32>, %k: tile<i32>, %x: tile<f32>, %p: tile<ptr<f32>>) {
    %r = for %i in (%a to %b, step %s) : tile<i32> iter_values(%y = %x) -> (tile<f32>) {
      %c = cmpi less_than_or_equal %i, %k, signed : tile<i32> -> tile<i1>
      %z = if %c -> (tile<f32>) {
        %0 = addf %y, %x : tile<f32>
        yield %0 : tile<f32>
      } else {
        yield %y : tile<f32>
      }
      continue %z : tile<f32>
    }
    %t = store_ptr_tko weak %p, %r : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}

// CHECK: cuda_tile.module @m {
// CHECK-NEXT: entry @k(%a: tile<i32>, %b: tile<i32>, %s: tile<i32>, %k: tile<i32>, %x: tile<f32>, %p: tile<ptr<f32>>) {
// CHECK-NEXT: %0 = constant <i32: 1> : tile<i32>
// CHECK-NEXT: %1 = addi %k, %0 : tile<i32>
// CHECK-NEXT: %2 = subi %1, %a : tile<i32>
// CHECK-NEXT: %3 = divi %2, %s signed rounding<positive_inf> : tile<i32>
// CHECK-NEXT: %4 = muli %3, %s : tile<i32>
// CHECK-NEXT: %5 = addi %a, %4 : tile<i32>
// CHECK-NEXT: %6 = mini %5, %b signed : tile<i32>
// CHECK-NEXT: %7 = maxi %5, %a signed : tile<i32>
// CHECK-NEXT: %r = for %i in (%a to %6, step %s) : tile<i32> iter_values(%y = %x) -> (tile<f32>) {
// CHECK-NEXT: %8 = addf %y, %x : tile<f32>
// CHECK-NEXT: continue %8 : tile<f32>
// CHECK-NEXT: }
// CHECK-NEXT: %r_1 = for %i_1 in (%7 to %b, step %s) : tile<i32> iter_values(%y_1 = %r) -> (tile<f32>) {
// CHECK-NEXT: continue %y_1 : tile<f32>
// CHECK-NEXT: }
// CHECK-NEXT: %t = store_ptr_tko weak %p, %r_1 : tile<ptr<f32>>, tile<f32> -> token
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
