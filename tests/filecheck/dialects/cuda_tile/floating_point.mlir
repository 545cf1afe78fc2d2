// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK: cuda_tile.module @floating_point {
cuda_tile.module @floating_point {
  // CHECK-NEXT: entry @elementwise(%a: tile<f32>, %b: tile<f32>, %h: tile<f16>, %n: tile<i32>) {
  entry @elementwise(%a: tile<f32>, %b: tile<f32>, %h: tile<f16>, %n: tile<i32>) {
    // CHECK-NEXT: %0 = absf %a : tile<f32>
    %0 = absf %a : tile<f32>
    // CHECK-NEXT: %1 = negf %a : tile<f32>
    %1 = negf %a : tile<f32>
    // CHECK-NEXT: %2 = ceil %a : tile<f32>
    %2 = ceil %a : tile<f32>
    // CHECK-NEXT: %3 = floor %h : tile<f16>
    %3 = floor %h : tile<f16>
    // CHECK-NEXT: %4 = addf %a, %b : tile<f32>
    %4 = addf %a, %b : tile<f32>
    // CHECK-NEXT: %5 = addf %a, %b rounding<zero> flush_to_zero : tile<f32>
    %5 = addf %a, %b rounding<zero> flush_to_zero : tile<f32>
    // CHECK-NEXT: %6 = subf %a, %b rounding<negative_inf> : tile<f32>
    %6 = subf %a, %b rounding<negative_inf> : tile<f32>
    // CHECK-NEXT: %7 = mulf %a, %b rounding<positive_inf> : tile<f32>
    %7 = mulf %a, %b rounding<positive_inf> : tile<f32>
    // CHECK-NEXT: %8 = divf %a, %b rounding<full> flush_to_zero : tile<f32>
    %8 = divf %a, %b rounding<full> flush_to_zero : tile<f32>
    // CHECK-NEXT: %9 = divf %a, %b rounding<approx> : tile<f32>
    %9 = divf %a, %b rounding<approx> : tile<f32>
    // CHECK-NEXT: %10 = remf %a, %b : tile<f32>
    %10 = remf %a, %b : tile<f32>
    // CHECK-NEXT: %11 = fma %a, %b, %a rounding<zero> : tile<f32>
    %11 = fma %a, %b, %a rounding<zero> : tile<f32>
    // CHECK-NEXT: %12 = maxf %a, %b flush_to_zero propagate_nan : tile<f32>
    %12 = maxf %a, %b flush_to_zero propagate_nan : tile<f32>
    // CHECK-NEXT: %13 = minf %h, %h propagate_nan : tile<f16>
    %13 = minf %h, %h propagate_nan : tile<f16>
    // CHECK-NEXT: %14 = cmpf less_than ordered %a, %b : tile<f32> -> tile<i1>
    %14 = cmpf less_than ordered %a, %b : tile<f32> -> tile<i1>
    // CHECK-NEXT: %15 = cmpf not_equal unordered %h, %h : tile<f16> -> tile<i1>
    %15 = cmpf not_equal unordered %h, %h : tile<f16> -> tile<i1>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @math(%a: tile<f32>, %h: tile<f16>, %n: tile<i32>) {
  entry @math(%a: tile<f32>, %h: tile<f16>, %n: tile<i32>) {
    // CHECK-NEXT: %0 = sin %a : tile<f32>
    %0 = sin %a : tile<f32>
    // CHECK-NEXT: %1 = cos %a : tile<f32>
    %1 = cos %a : tile<f32>
    // CHECK-NEXT: %2 = tan %a : tile<f32>
    %2 = tan %a : tile<f32>
    // CHECK-NEXT: %3 = sinh %a : tile<f32>
    %3 = sinh %a : tile<f32>
    // CHECK-NEXT: %4 = cosh %a : tile<f32>
    %4 = cosh %a : tile<f32>
    // CHECK-NEXT: %5 = tanh %a : tile<f32>
    %5 = tanh %a : tile<f32>
    // CHECK-NEXT: %6 = tanh %a rounding<approx> : tile<f32>
    %6 = tanh %a rounding<approx> : tile<f32>
    // CHECK-NEXT: %7 = atan2 %a, %a : tile<f32>
    %7 = atan2 %a, %a : tile<f32>
    // CHECK-NEXT: %8 = exp %a : tile<f32>
    %8 = exp %a : tile<f32>
    // CHECK-NEXT: %9 = exp2 %a flush_to_zero : tile<f32>
    %9 = exp2 %a flush_to_zero : tile<f32>
    // CHECK-NEXT: %10 = log %h : tile<f16>
    %10 = log %h : tile<f16>
    // CHECK-NEXT: %11 = log2 %a : tile<f32>
    %11 = log2 %a : tile<f32>
    // CHECK-NEXT: %12 = rsqrt %a flush_to_zero : tile<f32>
    %12 = rsqrt %a flush_to_zero : tile<f32>
    // CHECK-NEXT: %13 = sqrt %a rounding<approx> flush_to_zero : tile<f32>
    %13 = sqrt %a rounding<approx> flush_to_zero : tile<f32>
    // CHECK-NEXT: %14 = sqrt %a : tile<f32>
    %14 = sqrt %a : tile<f32>
    // CHECK-NEXT: %15 = pow %a, %a : tile<f32>
    %15 = pow %a, %a : tile<f32>
    // CHECK-NEXT: %16 = fpowi %a, %n : tile<f32>, tile<i32>
    %16 = fpowi %a, %n : tile<f32>, tile<i32>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
// CHECK: }
}
