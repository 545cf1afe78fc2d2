// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK: cuda_tile.module @integer {
cuda_tile.module @integer {
  // CHECK-NEXT: entry @integer(%a: tile<i32>, %b: tile<i32>, %q: tile<i64>) {
  entry @integer(%a: tile<i32>, %b: tile<i32>, %q: tile<i64>) {
    // CHECK-NEXT: %0 = absi %a : tile<i32>
    %0 = absi %a : tile<i32>
    // CHECK-NEXT: %1 = negi %a overflow<no_signed_wrap> : tile<i32>
    %1 = negi %a overflow<no_signed_wrap> : tile<i32>
    // CHECK-NEXT: %2 = addi %a, %b : tile<i32>
    %2 = addi %a, %b : tile<i32>
    // CHECK-NEXT: %3 = addi %a, %b overflow<no_wrap> : tile<i32>
    %3 = addi %a, %b overflow<no_wrap> : tile<i32>
    // CHECK-NEXT: %4 = subi %a, %b overflow<no_unsigned_wrap> : tile<i32>
    %4 = subi %a, %b overflow<no_unsigned_wrap> : tile<i32>
    // CHECK-NEXT: %5 = muli %q, %q : tile<i64>
    %5 = muli %q, %q : tile<i64>
    // CHECK-NEXT: %6 = mulhii %a, %b : tile<i32>
    %6 = mulhii %a, %b : tile<i32>
    // CHECK-NEXT: %7 = divi %a, %b signed : tile<i32>
    %7 = divi %a, %b signed : tile<i32>
    // CHECK-NEXT: %8 = divi %a, %b unsigned rounding<positive_inf> : tile<i32>
    %8 = divi %a, %b unsigned rounding<positive_inf> : tile<i32>
    // CHECK-NEXT: %9 = divi %a, %b signed rounding<negative_inf> : tile<i32>
    %9 = divi %a, %b signed rounding<negative_inf> : tile<i32>
    // CHECK-NEXT: %10 = remi %a, %b unsigned : tile<i32>
    %10 = remi %a, %b unsigned : tile<i32>
    // CHECK-NEXT: %11 = maxi %a, %b signed : tile<i32>
    %11 = maxi %a, %b signed : tile<i32>
    // CHECK-NEXT: %12 = mini %a, %b unsigned : tile<i32>
    %12 = mini %a, %b unsigned : tile<i32>
    // CHECK-NEXT: %13 = andi %a, %b : tile<i32>
    %13 = andi %a, %b : tile<i32>
    // CHECK-NEXT: %14 = ori %a, %b : tile<i32>
    %14 = ori %a, %b : tile<i32>
    // CHECK-NEXT: %15 = xori %a, %b : tile<i32>
    %15 = xori %a, %b : tile<i32>
    // CHECK-NEXT: %16 = shli %a, %b overflow<no_signed_wrap> : tile<i32>
    %16 = shli %a, %b overflow<no_signed_wrap> : tile<i32>
    // CHECK-NEXT: %17 = shri %a, %b unsigned : tile<i32>
    %17 = shri %a, %b unsigned : tile<i32>
    // CHECK-NEXT: %18 = cmpi greater_than_or_equal %a, %b, unsigned : tile<i32> -> tile<i1>
    %18 = cmpi greater_than_or_equal %a, %b, unsigned : tile<i32> -> tile<i1>
    // CHECK-NEXT: %19 = divi %a, %b unsigned rounding<negative_inf> : tile<i32>
    %19 = divi %a, %b unsigned rounding<negative_inf> : tile<i32>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
// CHECK: }
}
