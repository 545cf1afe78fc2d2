// RUN: tilewright-opt %s -p "cuda-tile-make-loads-early{arch=sm_90a}" | filecheck %s

// What lies where numbers say that are loaded is loaded in front of the first product; what comes
// iterations ahead stays, and so does what a store comes before.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<i32>>, %a: tile<ptr<f16>>) {
    %x = constant <f16: 1.0> : tile<16x16xf16>
    %z = constant <f32: 1.0> : tile<16x16xf32>
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %9 = constant <i32: 9> : tile<i32>
    %r = reshape %a : tile<ptr<f16>> -> tile<1x1xptr<f16>>
    %as = broadcast %r : tile<1x1xptr<f16>> -> tile<16x16xptr<f16>>
    %numbers = iota : tile<16xi32>
    %t0 = make_token : token
    %s = for %i in (%0 to %9, step %1) : tile<i32> iter_values(%acc = %z) -> (tile<16x16xf32>) {
      %q0 = offset %p, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %q1 = reshape %q0 : tile<ptr<i32>> -> tile<1xptr<i32>>
      %q2 = broadcast %q1 : tile<1xptr<i32>> -> tile<16xptr<i32>>
      %q = offset %q2, %numbers : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
      %n, %t1 = load_ptr_tko weak %q : tile<16xptr<i32>> -> tile<16xi32>, token
      %b = mmaf %x, %x, %acc : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
      %n0 = reshape %n : tile<16xi32> -> tile<16x1xi32>
      %n1 = broadcast %n0 : tile<16x1xi32> -> tile<16x16xi32>
      %far = offset %as, %n1 : tile<16x16xptr<f16>>, tile<16x16xi32> -> tile<16x16xptr<f16>>
      %v, %t2 = load_ptr_tko weak %far token=%t0 : tile<16x16xptr<f16>> -> tile<16x16xf16>, token
      %i0 = reshape %i : tile<i32> -> tile<1x1xi32>
      %i1 = broadcast %i0 : tile<1x1xi32> -> tile<16x16xi32>
      %next = offset %as, %i1 : tile<16x16xptr<f16>>, tile<16x16xi32> -> tile<16x16xptr<f16>>
      %w, %t3 = load_ptr_tko weak %next token=%t0 : tile<16x16xptr<f16>> -> tile<16x16xf16>, token
      %t4 = store_ptr_tko weak %next, %x token=%t3 : tile<16x16xptr<f16>>, tile<16x16xf16> -> token
      %u, %t5 = load_ptr_tko weak %far token=%t4 : tile<16x16xptr<f16>> -> tile<16x16xf16>, token
      %c = mmaf %v, %w, %b : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
      %d = mmaf %u, %w, %c : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
      continue %d : tile<16x16xf32>
    }
    return
  }
}

// CHECK: %far = offset
// CHECK-NEXT: %v, {{.*}} = load_ptr_tko
// CHECK-NEXT: %b = mmaf
// CHECK: %w, {{.*}} = load_ptr_tko
// CHECK: store_ptr_tko
// CHECK: %u, {{.*}} = load_ptr_tko
// CHECK: %c = mmaf

// So is what is as few elements as there are threads, and that nobody copies ahead, nor is known an iteration ahead.

cuda_tile.module @few {
  entry @k(%p: tile<ptr<f32>>) {
    %x = constant <f16: 1.0> : tile<16x16xf16>
    %z = constant <f32: 1.0> : tile<16x16xf32>
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %9 = constant <i32: 9> : tile<i32>
    %s:2 = for %i in (%0 to %9, step %1) : tile<i32> iter_values(%acc = %z, %j = %0) -> (tile<16x16xf32>, tile<i32>) {
      %b = mmaf %x, %x, %acc : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
      %q = offset %p, %j : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %n, %t = load_ptr_tko weak %q : tile<ptr<f32>> -> tile<f32>, token
      %r = reshape %n : tile<f32> -> tile<1x1xf32>
      %g = broadcast %r : tile<1x1xf32> -> tile<16x16xf32>
      %c = mulf %b, %g : tile<16x16xf32>
      %k = xori %j, %i : tile<i32>
      continue %c, %k : tile<16x16xf32>, tile<i32>
    }
    return
  }
}

// CHECK: entry @k(%p: tile<ptr<f32>>)
// CHECK: %n, {{.*}} = load_ptr_tko
// CHECK-NEXT: %b = mmaf

// An iteration makes that of the next one, where there is one, if the loop's variable says where.

cuda_tile.module @carried {
  entry @k(%p: tile<ptr<f32>>, %n9: tile<i32>) {
    %x = constant <f16: 1.0> : tile<16x16xf16>
    %z = constant <f32: 1.0> : tile<16x16xf32>
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %s = for %i in (%0 to %n9, step %1) : tile<i32> iter_values(%acc = %z) -> (tile<16x16xf32>) {
      %b = mmaf %x, %x, %acc : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
      %q = offset %p, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %n, %t = load_ptr_tko weak %q : tile<ptr<f32>> -> tile<f32>, token
      %r = reshape %n : tile<f32> -> tile<1x1xf32>
      %g = broadcast %r : tile<1x1xf32> -> tile<16x16xf32>
      %c = mulf %b, %g : tile<16x16xf32>
      continue %c : tile<16x16xf32>
    }
    return
  }
}

// CHECK: entry @k(%p: tile<ptr<f32>>, %n9: tile<i32>)
// CHECK: %[[RUNS:.*]] = cmpi less_than %{{.*}}, %n9, signed
// CHECK: %[[FIRST:.*]] = if %[[RUNS]] -> (tile<f32>) {
// CHECK: load_ptr_tko
// CHECK: for %i in {{.*}} iter_values(%acc = %z, %[[NUMBER:.*]] = %[[FIRST]])
// CHECK: %[[AHEAD:.*]] = select
// CHECK: offset %p, %[[AHEAD]]
// CHECK: %[[NEXT:.*]], {{.*}} = load_ptr_tko
// CHECK: mmaf
// CHECK: reshape %[[NUMBER]]
// CHECK: continue %c, %[[NEXT]]

// Nothing is loaded in iterations that end before it.

cuda_tile.module @leaves {
  entry @k(%p: tile<ptr<f32>>) {
    %x = constant <f16: 1.0> : tile<16x16xf16>
    %z = constant <f32: 1.0> : tile<16x16xf32>
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %9 = constant <i32: 9> : tile<i32>
    %s = for %i in (%0 to %9, step %1) : tile<i32> iter_values(%acc = %z) -> (tile<16x16xf32>) {
      %b = mmaf %x, %x, %acc : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
      %first = cmpi equal %i, %0, signed : tile<i32> -> tile<i1>
      if %first {
        continue %b : tile<16x16xf32>
      }
      %q = offset %p, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %n, %t = load_ptr_tko weak %q : tile<ptr<f32>> -> tile<f32>, token
      %r = reshape %n : tile<f32> -> tile<1x1xf32>
      %g = broadcast %r : tile<1x1xf32> -> tile<16x16xf32>
      %c = mulf %b, %g : tile<16x16xf32>
      continue %c : tile<16x16xf32>
    }
    return
  }
}

// CHECK: cuda_tile.module @leaves
// CHECK: %b = mmaf
// CHECK: continue %b
// CHECK: %n, {{.*}} = load_ptr_tko

// A branch keeps one load from what lies behind the last row, and another from nothing of the kind.

cuda_tile.module @guarded {
  entry @k(%p: tile<ptr<f16>>, %rows: tile<i32>, %last: tile<i32>) {
    %x = constant <f16: 1.0> : tile<16x16xf16>
    %z = constant <f32: 1.0> : tile<16x16xf32>
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %16 = constant <i32: 16> : tile<i32>
    %a = make_tensor_view %p, shape = [%rows, 16], strides = [16, 1] : tile<i32> -> tensor_view<?x16xf16, strides=[16,1]>
    %w = make_partition_view %a : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x16xf16, strides=[16,1]>>
    %t0 = make_token : token
    %s = for %i in (%0 to %last, step %1) : tile<i32> iter_values(%acc = %z) -> (tile<16x16xf32>) {
      %row = muli %i, %16 : tile<i32>
      %next = addi %i, %1 : tile<i32>
      %is = cmpi less_than %row, %rows, signed : tile<i32> -> tile<i1>
      %b = if %is -> (tile<16x16xf32>) {
        %k, %t1 = load_view_tko weak %w[%i, %0] token = %t0 : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
        %l, %t2 = load_view_tko weak %w[%next, %0] token = %t0 : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
        %m, %t3 = load_view_tko weak %w[%0, %0] token = %t0 : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
        %c = mmaf %k, %l, %acc : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
        %d = mmaf %m, %x, %c : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
        yield %d : tile<16x16xf32>
      } else {
        yield %acc : tile<16x16xf32>
      }
      continue %b : tile<16x16xf32>
    }
    return
  }
}

// CHECK: cuda_tile.module @guarded
// CHECK: %is = cmpi
// CHECK-NEXT: %k, {{.*}} = load_view_tko
// CHECK-NEXT: %l, {{.*}} = load_view_tko
// CHECK-NEXT: if %is
// CHECK-NEXT: %m, {{.*}} = load_view_tko
