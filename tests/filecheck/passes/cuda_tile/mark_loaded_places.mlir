// RUN: tilewright-opt %s -p "cuda-tile-mark-loaded-places{arch=sm_90a}" | filecheck %s

// Numbers are marked that say where a load of the loop lies that may be copied, of four bytes at
// least; not those of elements of two, nor what is but stored.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<i32>>, %a: tile<ptr<i32>>, %b: tile<ptr<f16>>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %9 = constant <i32: 9> : tile<i32>
    %a0 = reshape %a : tile<ptr<i32>> -> tile<1xptr<i32>>
    %as = broadcast %a0 : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %b0 = reshape %b : tile<ptr<f16>> -> tile<1xptr<f16>>
    %bs = broadcast %b0 : tile<1xptr<f16>> -> tile<16xptr<f16>>
    %numbers = iota : tile<16xi32>
    for %i in (%0 to %9, step %1) : tile<i32> {
      %q0 = offset %p, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %q1 = reshape %q0 : tile<ptr<i32>> -> tile<1xptr<i32>>
      %q2 = broadcast %q1 : tile<1xptr<i32>> -> tile<16xptr<i32>>
      %q = offset %q2, %numbers : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
      %n, %t1 = load_ptr_tko weak %q : tile<16xptr<i32>> -> tile<16xi32>, token
      %m, %t2 = load_ptr_tko weak %q : tile<16xptr<i32>> -> tile<16xi32>, token
      %o, %t3 = load_ptr_tko weak %q : tile<16xptr<i32>> -> tile<16xi32>, token
      %far = offset %as, %n : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
      %v, %t4 = load_ptr_tko weak %far : tile<16xptr<i32>> -> tile<16xi32>, token
      %narrow = offset %bs, %o : tile<16xptr<f16>>, tile<16xi32> -> tile<16xptr<f16>>
      %w, %t5 = load_ptr_tko weak %narrow : tile<16xptr<f16>> -> tile<16xf16>, token
      %s = addi %m, %v : tile<16xi32>
      %t6 = store_ptr_tko weak %q, %s token=%t1 : tile<16xptr<i32>>, tile<16xi32> -> token
      %t7 = store_ptr_tko weak %narrow, %w token=%t6 : tile<16xptr<f16>>, tile<16xf16> -> token
    }
    return
  }
}

// CHECK: %n, {{.*}} = load_ptr_tko weak %q {loaded_places} :
// CHECK: %m, {{.*}} = load_ptr_tko weak %q :
// CHECK: %o, {{.*}} = load_ptr_tko weak %q :
