// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK: cuda_tile.module @memory {
cuda_tile.module @memory {
  // CHECK-NEXT: global constant @table alignment = 16 <f32: [1.000000e+00, 2.000000e+00]> : tile<2xf32>
  global constant @table alignment = 16 <f32: [1.000000e+00, 2.000000e+00]> : tile<2xf32>
  // CHECK-NEXT: global @counter <i32: 0> : tile<1xi32>
  global @counter <i32: 0> : tile<1xi32>
  // CHECK-NEXT: entry @memory(%p: tile<ptr<f32>>, %q: tile<ptr<i32>>, %x: tile<f32>, %i: tile<i32>, %m: tile<i1>) {
  entry @memory(%p: tile<ptr<f32>>, %q: tile<ptr<i32>>, %x: tile<f32>, %i: tile<i32>, %m: tile<i1>) {
    // CHECK-NEXT: %t0 = make_token : token
    %t0 = make_token : token
    // CHECK-NEXT: %g = get_global @counter : tile<ptr<i32>>
    %g = get_global @counter : tile<ptr<i32>>
    // CHECK-NEXT: %a = alloca num_elem = 64, alignment = 16 : tile<ptr<f32>>
    %a = alloca num_elem = 64, alignment = 16 : tile<ptr<f32>>
    // CHECK-NEXT: %v, %t1 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %v, %t1 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    // CHECK-NEXT: %w, %t2 = load_ptr_tko acquire device %p, %m, %x token=%t1 optimization_hints = <sm_100 = {latency = 3}> : tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token
    %w, %t2 = load_ptr_tko acquire device %p, %m, %x token=%t1 optimization_hints = <sm_100 = {latency = 3}> : tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token
    // CHECK-NEXT: %t3 = store_ptr_tko weak %p, %v : tile<ptr<f32>>, tile<f32> -> token
    %t3 = store_ptr_tko weak %p, %v : tile<ptr<f32>>, tile<f32> -> token
    // CHECK-NEXT: %t4 = store_ptr_tko release sys %p, %v, %m token=%t3 : tile<ptr<f32>>, tile<f32>, tile<i1> -> token
    %t4 = store_ptr_tko release sys %p, %v, %m token=%t3 : tile<ptr<f32>>, tile<f32>, tile<i1> -> token
    // CHECK-NEXT: %t5 = join_tokens %t2, %t4 : token
    %t5 = join_tokens %t2, %t4 : token
    // CHECK-NEXT: %o, %t6 = atomic_rmw_tko relaxed device %q, add, %i : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %o, %t6 = atomic_rmw_tko relaxed device %q, add, %i : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    // CHECK-NEXT: %o1, %t7 = atomic_rmw_tko acq_rel device %p, addf, %x, %m token=%t6 : tile<ptr<f32>>, tile<f32>, tile<i1> -> tile<f32>, token
    %o1, %t7 = atomic_rmw_tko acq_rel device %p, addf, %x, %m token=%t6 : tile<ptr<f32>>, tile<f32>, tile<i1> -> tile<f32>, token
    // CHECK-NEXT: %o2, %t8 = atomic_cas_tko acq_rel sys %q, %i, %i token=%t7 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %o2, %t8 = atomic_cas_tko acq_rel sys %q, %i, %i token=%t7 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    // CHECK-NEXT: %t9 = gdc_wait_tko token = %t8 -> token
    %t9 = gdc_wait_tko token = %t8 -> token
    // CHECK-NEXT: %t10 = gdc_launch_dependents_tko -> token
    %t10 = gdc_launch_dependents_tko -> token
    // CHECK-NEXT: %t11 = memory_fence_alias_tko %t10
    %t11 = memory_fence_alias_tko %t10
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
// CHECK: }
}
