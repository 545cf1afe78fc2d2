// RUN: tilewright-opt --print-op-generic %s --split-input-file | tilewright-opt --split-input-file | filecheck %s

// CHECK: builtin.module {
builtin.module {
  // CHECK: tt.func public @k2(%arg0: !tt.ptr<f16>, %arg1: !tt.ptr<f16>, %arg2: !tt.ptr<f16>, %arg3: i32) attributes {noinline = false} {
  tt.func public @k2(%arg0: !tt.ptr<f16>, %arg1: !tt.ptr<f16>, %arg2: !tt.ptr<f16>, %arg3: i32) attributes {noinline = false} {
    // CHECK-NEXT: %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
    %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
    // CHECK-NEXT: %c32_i32 = arith.constant 32 : i32
    %c32_i32 = arith.constant 32 : i32
    // CHECK-NEXT: %c0_i32 = arith.constant 0 : i32
    %c0_i32 = arith.constant 0 : i32
    // CHECK-NEXT: %c1_i64 = arith.constant 1 : i64
    %c1_i64 = arith.constant 1 : i64
    // CHECK-NEXT: %0 = arith.extsi %arg3 : i32 to i64
    %0 = arith.extsi %arg3 : i32 to i64
    // CHECK-NEXT: %1 = tt.make_tensor_descriptor %arg0, [%arg3, %arg3], [%0, %c1_i64] : <f16>, <tensor<32x32xf16>>
    %1 = tt.make_tensor_descriptor %arg0, [%arg3, %arg3], [%0, %c1_i64] : <f16>, <tensor<32x32xf16>>
    // CHECK-NEXT: %2 = tt.make_tensor_descriptor %arg1, [%arg3, %arg3], [%0, %c1_i64] {padding = 2 : i32} : <f16>, <tensor<32x32xf16>>
    %2 = tt.make_tensor_descriptor %arg1, [%arg3, %arg3], [%0, %c1_i64] {padding = 2 : i32} : <f16>, <tensor<32x32xf16>>
    // CHECK-NEXT: %3 = arith.subi %arg3, %c0_i32 : i32
    %3 = arith.subi %arg3, %c0_i32 : i32
    // CHECK-NEXT: %c1_i32 = arith.constant 1 : i32
    %c1_i32 = arith.constant 1 : i32
    // CHECK-NEXT: %4 = arith.subi %c32_i32, %c1_i32 : i32
    %4 = arith.subi %c32_i32, %c1_i32 : i32
    // CHECK-NEXT: %5 = arith.addi %3, %4 : i32
    %5 = arith.addi %3, %4 : i32
    // CHECK-NEXT: %6 = arith.divui %5, %c32_i32 : i32
    %6 = arith.divui %5, %c32_i32 : i32
    // CHECK-NEXT: %c2_i32 = arith.constant 2 : i32
    %c2_i32 = arith.constant 2 : i32
    // CHECK-NEXT: %7 = arith.remsi %6, %c2_i32 : i32
    %7 = arith.remsi %6, %c2_i32 : i32
    // CHECK-NEXT: %8 = arith.subi %6, %7 : i32
    %8 = arith.subi %6, %7 : i32
    // CHECK-NEXT: %9 = arith.muli %8, %c32_i32 : i32
    %9 = arith.muli %8, %c32_i32 : i32
    // CHECK-NEXT: %10 = arith.addi %c0_i32, %9 : i32
    %10 = arith.addi %c0_i32, %9 : i32
    // CHECK-NEXT: %11 = arith.muli %c32_i32, %c2_i32 : i32
    %11 = arith.muli %c32_i32, %c2_i32 : i32
    // CHECK-NEXT: %12 = scf.for %arg4 = %c0_i32 to %10 step %11 iter_args(%arg5 = %cst) -> (tensor<32x32xf32>) : i32 {
    %12 = scf.for %arg4 = %c0_i32 to %10 step %11 iter_args(%arg5 = %cst) -> (tensor<32x32xf32>) : i32 {
      // CHECK-NEXT: %13 = tt.descriptor_load %1[%c0_i32, %arg4] : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16>
      %13 = tt.descriptor_load %1[%c0_i32, %arg4] : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16>
      // CHECK-NEXT: %14 = tt.descriptor_load %2[%arg4, %c0_i32] : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16>
      %14 = tt.descriptor_load %2[%arg4, %c0_i32] : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16>
      // CHECK-NEXT: %15 = tt.dot %13, %14, %arg5, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      %15 = tt.dot %13, %14, %arg5, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      // CHECK-NEXT: %c1_i32_1 = arith.constant 1 : i32
      %c1_i32_1 = arith.constant 1 : i32
      // CHECK-NEXT: %16 = arith.muli %c32_i32, %c1_i32_1 : i32
      %16 = arith.muli %c32_i32, %c1_i32_1 : i32
      // CHECK-NEXT: %17 = arith.addi %arg4, %16 : i32
      %17 = arith.addi %arg4, %16 : i32
      // CHECK-NEXT: %18 = tt.descriptor_load %1[%c0_i32, %17] : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16>
      %18 = tt.descriptor_load %1[%c0_i32, %17] : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16>
      // CHECK-NEXT: %19 = tt.descriptor_load %2[%17, %c0_i32] : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16>
      %19 = tt.descriptor_load %2[%17, %c0_i32] : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16>
      // CHECK-NEXT: %20 = tt.dot %18, %19, %15, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      %20 = tt.dot %18, %19, %15, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      // CHECK-NEXT: scf.yield %20 : tensor<32x32xf32>
      scf.yield %20 : tensor<32x32xf32>
    // CHECK-NEXT: } {tt.disallow_acc_multi_buffer, tt.num_stages = 3 : i32}
    } {tt.disallow_acc_multi_buffer, tt.num_stages = 3 : i32}
    // CHECK-NEXT: %21 = scf.for %arg4_1 = %10 to %arg3 step %c32_i32 iter_args(%arg5_1 = %12) -> (tensor<32x32xf32>) : i32 {
    %21 = scf.for %arg4_1 = %10 to %arg3 step %c32_i32 iter_args(%arg5_1 = %12) -> (tensor<32x32xf32>) : i32 {
      // CHECK-NEXT: %22 = tt.descriptor_load %1[%c0_i32, %arg4_1] : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16>
      %22 = tt.descriptor_load %1[%c0_i32, %arg4_1] : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16>
      // CHECK-NEXT: %23 = tt.descriptor_load %2[%arg4_1, %c0_i32] : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16>
      %23 = tt.descriptor_load %2[%arg4_1, %c0_i32] : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16>
      // CHECK-NEXT: %24 = tt.dot %22, %23, %arg5_1, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      %24 = tt.dot %22, %23, %arg5_1, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      // CHECK-NEXT: scf.yield %24 : tensor<32x32xf32>
      scf.yield %24 : tensor<32x32xf32>
    // CHECK-NEXT: } {tt.disallow_acc_multi_buffer, tt.num_stages = 1 : i32}
    } {tt.disallow_acc_multi_buffer, tt.num_stages = 1 : i32}
    // CHECK-NEXT: %25 = arith.truncf %21 : tensor<32x32xf32> to tensor<32x32xf16>
    %25 = arith.truncf %21 : tensor<32x32xf32> to tensor<32x32xf16>
    // CHECK-NEXT: tt.descriptor_store %1[%c0_i32, %c0_i32], %25 : !tt.tensordesc<tensor<32x32xf16>>, tensor<32x32xf16>
    tt.descriptor_store %1[%c0_i32, %c0_i32], %25 : !tt.tensordesc<tensor<32x32xf16>>, tensor<32x32xf16>
    // CHECK-NEXT: tt.descriptor_reduce add, %2[%c0_i32, %c0_i32], %25 : !tt.tensordesc<tensor<32x32xf16>>, tensor<32x32xf16>
    tt.descriptor_reduce add, %2[%c0_i32, %c0_i32], %25 : !tt.tensordesc<tensor<32x32xf16>>, tensor<32x32xf16>
    // CHECK-NEXT: tt.return
    tt.return
  }
}
