// RUN: tilewright-opt %s -p "cuda-tile-mark-loaded-places{arch=sm_90a}" | filecheck %s

// Numbers that say where another load of the loop lies are marked, those that lie by others, too;
// what is but stored is not.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<i32>>, %a: tile<ptr<i32>>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %9 = constant <i32: 9> : tile<i32>
    %r = reshape %a : tile<ptr<i32>> -> tile<1xptr<i32>>
    %as = broadcast %r : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %numbers = iota : tile<16xi32>
    for %i in (%0 to %9, step %1) : tile<i32> {
      %q0 = offset %p, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %q1 = reshape %q0 : tile<ptr<i32>> -> tile<1xptr<i32>>
      %q2 = broadcast %q1 : tile<1xptr<i32>> -> tile<16xptr<i32>>
      %q = offset %q2, %numbers : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
      %n, %t1 = load_ptr_tko weak %q : tile<16xptr<i32>> -> tile<16xi32>, token
      %m, %t2 = load_ptr_tko weak %q : tile<16xptr<i32>> -> tile<16xi32>, token
      %far = offset %as, %n : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
      %o, %t3 = load_ptr_tko weak %far : tile<16xptr<i32>> -> tile<16xi32>, token
      %further = offset %as, %o : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
      %v, %t4 = load_ptr_tko weak %further : tile<16xptr<i32>> -> tile<16xi32>, token
      %s = addi %m, %v : tile<16xi32>
      %t5 = store_ptr_tko weak %q, %s token=%t1 : tile<16xptr<i32>>, tile<16xi32> -> token
    }
    return
  }
}

// CHECK: %n, {{.*}} = load_ptr_tko weak %q {{.*}}loaded_places
// CHECK: %m, {{.*}} = load_ptr_tko weak %q :
// CHECK: %o, {{.*}} = load_ptr_tko weak %far {{.*}}loaded_places
// CHECK: %v, {{.*}} = load_ptr_tko weak %further :
