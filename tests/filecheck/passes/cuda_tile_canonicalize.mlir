// RUN: tilewright-opt %s -p cuda-tile-canonicalize | filecheck %s

cuda_tile.module @m {
  entry @negated(%c: tile<i1>, %x: tile<f32>, %y: tile<f32>, %p: tile<ptr<f32>>) {
    %true = constant <i1: true> : tile<i1>
    %n = xori %c, %true : tile<i1>
    %r = if %n -> (tile<f32>) {
      yield %x : tile<f32>
    } else {
      yield %y : tile<f32>
    }
    %t = store_ptr_tko weak %p, %r : tile<ptr<f32>>, tile<f32> -> token
    return
  }
  entry @leaves(%c: tile<i1>, %p: tile<ptr<f32>>, %x: tile<f32>) {
    if %c {
      return
    } else {
      %t = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token
      return
    }
    %u = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token
    return
  }
  entry @known(%p: tile<ptr<f32>>, %x: tile<f32>, %y: tile<f32>) {
    %false = constant <i1: false> : tile<i1>
    if %false {
      %t = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token
    } else {
      %t = store_ptr_tko weak %p, %y : tile<ptr<f32>>, tile<f32> -> token
    }
    return
  }
  entry @nested(%c: tile<i1>, %d: tile<i1>, %p: tile<ptr<f32>>, %x: tile<f32>) {
    if %c {
      if %d {
        %t = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token
      }
    }
    return
  }
  entry @after_the_same(%c: tile<i1>, %p: tile<ptr<f32>>, %x: tile<f32>) {
    %r = if %c -> (tile<f32>) {
      %s, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
      yield %s : tile<f32>
    } else {
      yield %x : tile<f32>
    }
    if %c {
      %t = store_ptr_tko weak %p, %r : tile<ptr<f32>>, tile<f32> -> token
    }
    return
  }
  entry @tiles(%c: tile<i1>, %p: tile<ptr<f32>>) {
    %x = constant <f32: 1.000000e+00> : tile<4xf32>
    %y = constant <f32: 2.000000e+00> : tile<4xf32>
    %r = if %c -> (tile<4xf32>) {
      yield %x : tile<4xf32>
    } else {
      yield %y : tile<4xf32>
    }
    %q = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %qs = broadcast %q : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %t = store_ptr_tko weak %qs, %r : tile<4xptr<f32>>, tile<4xf32> -> token
    return
  }
  entry @assumptions(%p: tile<ptr<f32>>, %x: tile<f32>, %y: tile<f32>) {
    %0 = assume div_by<16>, %p : tile<ptr<f32>>
    %1 = assume div_by<16>, %0 : tile<ptr<f32>>
    %m = mulf %x, %y : tile<f32>
    %s = addf %x, %m : tile<f32>
    %t = store_ptr_tko weak %1, %s : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}

// CHECK: cuda_tile.module @m {
// CHECK-NEXT: entry @negated(%c: tile<i1>, %x: tile<f32>, %y: tile<f32>, %p: tile<ptr<f32>>) {
// CHECK-NEXT: %r = select %c, %y, %x : tile<i1>, tile<f32>
// CHECK-NEXT: %t = store_ptr_tko weak %p, %r : tile<ptr<f32>>, tile<f32> -> token
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: entry @leaves(%c: tile<i1>, %p: tile<ptr<f32>>, %x: tile<f32>) {
// CHECK-NEXT: if %c {
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: %t = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: entry @known(%p: tile<ptr<f32>>, %x: tile<f32>, %y: tile<f32>) {
// CHECK-NEXT: %t = store_ptr_tko weak %p, %y : tile<ptr<f32>>, tile<f32> -> token
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: entry @nested(%c: tile<i1>, %d: tile<i1>, %p: tile<ptr<f32>>, %x: tile<f32>) {
// CHECK-NEXT: %0 = andi %c, %d : tile<i1>
// CHECK-NEXT: if %0 {
// CHECK-NEXT: %t = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: entry @after_the_same(%c: tile<i1>, %p: tile<ptr<f32>>, %x: tile<f32>) {
// CHECK-NEXT: if %c {
// CHECK-NEXT: %s, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
// CHECK-NEXT: %t_1 = store_ptr_tko weak %p, %s : tile<ptr<f32>>, tile<f32> -> token
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: entry @tiles(%c: tile<i1>, %p: tile<ptr<f32>>) {
// CHECK-NEXT: %x = constant <f32: 1.000000e+00> : tile<4xf32>
// CHECK-NEXT: %y = constant <f32: 2.000000e+00> : tile<4xf32>
// CHECK-NEXT: %0 = reshape %c : tile<i1> -> tile<1xi1>
// CHECK-NEXT: %1 = broadcast %0 : tile<1xi1> -> tile<4xi1>
// CHECK-NEXT: %r = select %1, %x, %y : tile<4xi1>, tile<4xf32>
// CHECK-NEXT: %q = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
// CHECK-NEXT: %qs = broadcast %q : tile<1xptr<f32>> -> tile<4xptr<f32>>
// CHECK-NEXT: %t = store_ptr_tko weak %qs, %r : tile<4xptr<f32>>, tile<4xf32> -> token
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: entry @assumptions(%p: tile<ptr<f32>>, %x: tile<f32>, %y: tile<f32>) {
// CHECK-NEXT: %0 = assume div_by<16>, %p : tile<ptr<f32>>
// CHECK-NEXT: %m = mulf %x, %y : tile<f32>
// CHECK-NEXT: %s = addf %m, %x : tile<f32>
// CHECK-NEXT: %t = store_ptr_tko weak %0, %s : tile<ptr<f32>>, tile<f32> -> token
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: }

// The number of an iteration that counts up from zero is not negative, but where it counts on
// behind the greatest signed number.

cuda_tile.module @counted {
  entry @k(%p: tile<ptr<i32>>, %n: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    for %up in (%0 to %n, step %1) : tile<i32> {
      %holds = cmpi greater_than_or_equal %up, %0, signed : tile<i32> -> tile<i1>
      if %holds {
        print_tko "up\n" -> token
      }
      continue
    }
    for unsigned %far in (%0 to %n, step %1) : tile<i32> {
      %open = cmpi greater_than_or_equal %far, %0, signed : tile<i32> -> tile<i1>
      if %open {
        print_tko "far\n" -> token
      }
      continue
    }
    return
  }
}

// CHECK-NEXT: cuda_tile.module @counted
// CHECK: for %up
// CHECK-NEXT: = print_tko "up
// CHECK: for unsigned %far
// CHECK: if
// CHECK-NEXT: = print_tko "far
