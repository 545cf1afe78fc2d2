// RUN: tilewright-opt %s -p cuda-tile-split-loops | filecheck %s

cuda_tile.module @m {
  entry @k(%k: tile<i32>, %x: tile<f32>, %p: tile<ptr<f32>>) {
    %a = constant <i32: 2> : tile<i32>
    %b = constant <i32: 40> : tile<i32>
    %s = constant <i32: 3> : tile<i32>
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
// CHECK-NEXT: entry @k(%k: tile<i32>, %x: tile<f32>, %p: tile<ptr<f32>>) {
// CHECK-NEXT: %a = constant <i32: 2> : tile<i32>
// CHECK-NEXT: %b = constant <i32: 40> : tile<i32>
// CHECK-NEXT: %s = constant <i32: 3> : tile<i32>
// CHECK-NEXT: %0 = mini %k, %b signed : tile<i32>
// CHECK-NEXT: %1 = constant <i32: -1> : tile<i32>
// CHECK-NEXT: %2 = maxi %0, %1 signed : tile<i32>
// CHECK-NEXT: %3 = constant <i32: 1> : tile<i32>
// CHECK-NEXT: %4 = addi %2, %3 : tile<i32>
// CHECK-NEXT: %5 = subi %4, %a : tile<i32>
// CHECK-NEXT: %6 = divi %5, %s signed rounding<positive_inf> : tile<i32>
// CHECK-NEXT: %7 = muli %6, %s : tile<i32>
// CHECK-NEXT: %8 = addi %a, %7 : tile<i32>
// CHECK-NEXT: %9 = mini %8, %b signed : tile<i32>
// CHECK-NEXT: %10 = maxi %8, %a signed : tile<i32>
// CHECK-NEXT: %r = for %i in (%a to %9, step %s) : tile<i32> iter_values(%y = %x) -> (tile<f32>) {
// CHECK-NEXT: %11 = addf %y, %x : tile<f32>
// CHECK-NEXT: continue %11 : tile<f32>
// CHECK-NEXT: }
// CHECK-NEXT: %r_1 = for %i_1 in (%10 to %b, step %s) : tile<i32> iter_values(%y_1 = %r) -> (tile<f32>) {
// CHECK-NEXT: continue %y_1 : tile<f32>
// CHECK-NEXT: }
// CHECK-NEXT: %t = store_ptr_tko weak %p, %r_1 : tile<ptr<f32>>, tile<f32> -> token
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: }
