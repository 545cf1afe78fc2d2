// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK: cuda_tile.module @conversions {
cuda_tile.module @conversions {
  // CHECK-NEXT: entry @conversions(%i: tile<i32>, %q: tile<i64>, %f: tile<f32>, %p: tile<ptr<f32>>) {
  entry @conversions(%i: tile<i32>, %q: tile<i64>, %f: tile<f32>, %p: tile<ptr<f32>>) {
    // CHECK-NEXT: %0 = bitcast %i : tile<i32> -> tile<f32>
    %0 = bitcast %i : tile<i32> -> tile<f32>
    // CHECK-NEXT: %1 = exti %i unsigned : tile<i32> -> tile<i64>
    %1 = exti %i unsigned : tile<i32> -> tile<i64>
    // CHECK-NEXT: %2 = trunci %q overflow<no_wrap> : tile<i64> -> tile<i8>
    %2 = trunci %q overflow<no_wrap> : tile<i64> -> tile<i8>
    // CHECK-NEXT: %3 = ftof %f : tile<f32> -> tile<bf16>
    %3 = ftof %f : tile<f32> -> tile<bf16>
    // CHECK-NEXT: %4 = ftof %f rounding<zero> : tile<f32> -> tile<tf32>
    %4 = ftof %f rounding<zero> : tile<f32> -> tile<tf32>
    // CHECK-NEXT: %5 = ftoi %f signed : tile<f32> -> tile<i32>
    %5 = ftoi %f signed : tile<f32> -> tile<i32>
    // CHECK-NEXT: %6 = itof %i unsigned : tile<i32> -> tile<f64>
    %6 = itof %i unsigned : tile<i32> -> tile<f64>
    // CHECK-NEXT: %7 = int_to_ptr %q : tile<i64> -> tile<ptr<i8>>
    %7 = int_to_ptr %q : tile<i64> -> tile<ptr<i8>>
    // CHECK-NEXT: %8 = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>
    %8 = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>
    // CHECK-NEXT: %9 = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<i32>>
    %9 = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<i32>>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
// CHECK: }
}
