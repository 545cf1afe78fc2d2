// RUN: tilewright-opt --print-op-generic %s --split-input-file | tilewright-opt --split-input-file | filecheck %s

// CHECK: builtin.module {
builtin.module {
  // CHECK: tt.func public @k4(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: i32) attributes {noinline = false} {
  tt.func public @k4(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: i32) attributes {noinline = false} {
    // CHECK-NEXT: %0 = tt.load %arg0 : !tt.ptr<f32>
    %0 = tt.load %arg0 : !tt.ptr<f32>
    // CHECK-NEXT: %cst = arith.constant 3.000000e+00 : f32
    %cst = arith.constant 3.000000e+00 : f32
    // CHECK-NEXT: %1 = arith.divf %0, %cst : f32
    %1 = arith.divf %0, %cst : f32
    // CHECK-NEXT: %2 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %2 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    // CHECK-NEXT: %3 = tt.splat %arg2 : i32 -> tensor<8xi32>
    %3 = tt.splat %arg2 : i32 -> tensor<8xi32>
    // CHECK-NEXT: %4 = arith.cmpi slt, %2, %3 : tensor<8xi32>
    %4 = arith.cmpi slt, %2, %3 : tensor<8xi32>
    // CHECK-NEXT: %5 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %5 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    // CHECK-NEXT: %6 = tt.addptr %5, %2 : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %6 = tt.addptr %5, %2 : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    // CHECK-NEXT: %7 = tt.atomic_load acquire, gpu, %6, %4 : (tensor<8x!tt.ptr<i32>>, tensor<8xi1>) -> tensor<8xi32>
    %7 = tt.atomic_load acquire, gpu, %6, %4 : (tensor<8x!tt.ptr<i32>>, tensor<8xi1>) -> tensor<8xi32>
    // CHECK-NEXT: %true = arith.constant true
    %true = arith.constant true
    // CHECK-NEXT: %8 = tt.atomic_load acquire, gpu, %arg1, %true : (!tt.ptr<i32>, i1) -> i32
    %8 = tt.atomic_load acquire, gpu, %arg1, %true : (!tt.ptr<i32>, i1) -> i32
    // CHECK-NEXT: %9 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %9 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    // CHECK-NEXT: %10 = tt.addptr %9, %2 : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %10 = tt.addptr %9, %2 : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    // CHECK-NEXT: tt.atomic_store release, gpu, %10, %7, %4 : tensor<8x!tt.ptr<i32>>
    tt.atomic_store release, gpu, %10, %7, %4 : tensor<8x!tt.ptr<i32>>
    // CHECK-NEXT: %true_1 = arith.constant true
    %true_1 = arith.constant true
    // CHECK-NEXT: tt.atomic_store release, gpu, %arg1, %8, %true_1 : !tt.ptr<i32>
    tt.atomic_store release, gpu, %arg1, %8, %true_1 : !tt.ptr<i32>
    // CHECK-NEXT: tt.store %arg0, %1 : !tt.ptr<f32>
    tt.store %arg0, %1 : !tt.ptr<f32>
    // CHECK-NEXT: %11 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %11 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    // CHECK-NEXT: %12 = tt.addptr %11, %2 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %12 = tt.addptr %11, %2 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    // CHECK-NEXT: %13 = arith.sitofp %7 : tensor<8xi32> to tensor<8xf32>
    %13 = arith.sitofp %7 : tensor<8xi32> to tensor<8xf32>
    // CHECK-NEXT: tt.store %12, %13 {cachePolicy = #tt.cache_policy<cache_modifier = cs, eviction_policy = evict_normal>} : tensor<8x!tt.ptr<f32>>
    tt.store %12, %13 {cachePolicy = #tt.cache_policy<cache_modifier = cs, eviction_policy = evict_normal>} : tensor<8x!tt.ptr<f32>>
    // CHECK-NEXT: %14 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %14 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    // CHECK-NEXT: %15 = tt.addptr %14, %2 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %15 = tt.addptr %14, %2 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    // CHECK-NEXT: %16 = tt.load %15 {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>, isVolatile = true} : tensor<8x!tt.ptr<f32>>
    %16 = tt.load %15 {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>, isVolatile = true} : tensor<8x!tt.ptr<f32>>
    // CHECK-NEXT: ttg.barrier all
    ttg.barrier all
    // CHECK-NEXT: %17 = tt.load %arg0 {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_normal>} : !tt.ptr<f32>
    %17 = tt.load %arg0 {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_normal>} : !tt.ptr<f32>
    // CHECK-NEXT: tt.store %arg0, %17 : !tt.ptr<f32>
    tt.store %arg0, %17 : !tt.ptr<f32>
    // CHECK-NEXT: tt.return
    tt.return
  }
}

// -----

// CHECK: builtin.module {
builtin.module {
  // CHECK: tt.func public @k5(%arg0: !tt.ptr<i32>, %arg1: i32) attributes {noinline = false} {
  tt.func public @k5(%arg0: !tt.ptr<i32>, %arg1: i32) attributes {noinline = false} {
    // CHECK-NEXT: %c3_i32 = arith.constant 3 : i32
    %c3_i32 = arith.constant 3 : i32
    // CHECK-NEXT: %c1000_i32 = arith.constant 1000 : i32
    %c1000_i32 = arith.constant 1000 : i32
    // CHECK-NEXT: %0 = arith.extsi %c1000_i32 : i32 to i64
    %0 = arith.extsi %c1000_i32 : i32 to i64
    // CHECK-NEXT: %1 = tt.atomic_poll acquire, gpu, %arg0, %c3_i32 timeout %0 : !tt.ptr<i32>, i32 -> i1
    %1 = tt.atomic_poll acquire, gpu, %arg0, %c3_i32 timeout %0 : !tt.ptr<i32>, i32 -> i1
    // CHECK-NEXT: %c3_i32_1 = arith.constant 3 : i32
    %c3_i32_1 = arith.constant 3 : i32
    // CHECK-NEXT: %2 = tt.atomic_poll acquire, gpu, %arg0, %c3_i32_1 : !tt.ptr<i32>, i32 -> i1
    %2 = tt.atomic_poll acquire, gpu, %arg0, %c3_i32_1 : !tt.ptr<i32>, i32 -> i1
    // CHECK-NEXT: %3 = arith.extui %1 : i1 to i32
    %3 = arith.extui %1 : i1 to i32
    // CHECK-NEXT: tt.store %arg0, %3 : !tt.ptr<i32>
    tt.store %arg0, %3 : !tt.ptr<i32>
    // CHECK-NEXT: tt.return
    tt.return
  }
}

// -----

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
    // CHECK-NEXT: %1 = tt.make_tensor_descriptor %arg0, [%arg3, %arg3], [%0, %c1_i64] : <f16>, <32x32xf16>
    %1 = tt.make_tensor_descriptor %arg0, [%arg3, %arg3], [%0, %c1_i64] : <f16>, <32x32xf16>
    // CHECK-NEXT: %2 = tt.make_tensor_descriptor %arg1, [%arg3, %arg3], [%0, %c1_i64] {padding = 2 : i32} : <f16>, <32x32xf16>
    %2 = tt.make_tensor_descriptor %arg1, [%arg3, %arg3], [%0, %c1_i64] {padding = 2 : i32} : <f16>, <32x32xf16>
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
      // CHECK-NEXT: %13 = tt.descriptor_load %1[%c0_i32, %arg4] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      %13 = tt.descriptor_load %1[%c0_i32, %arg4] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      // CHECK-NEXT: %14 = tt.descriptor_load %2[%arg4, %c0_i32] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      %14 = tt.descriptor_load %2[%arg4, %c0_i32] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      // CHECK-NEXT: %15 = tt.dot %13, %14, %arg5, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      %15 = tt.dot %13, %14, %arg5, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      // CHECK-NEXT: %c1_i32_1 = arith.constant 1 : i32
      %c1_i32_1 = arith.constant 1 : i32
      // CHECK-NEXT: %16 = arith.muli %c32_i32, %c1_i32_1 : i32
      %16 = arith.muli %c32_i32, %c1_i32_1 : i32
      // CHECK-NEXT: %17 = arith.addi %arg4, %16 : i32
      %17 = arith.addi %arg4, %16 : i32
      // CHECK-NEXT: %18 = tt.descriptor_load %1[%c0_i32, %17] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      %18 = tt.descriptor_load %1[%c0_i32, %17] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      // CHECK-NEXT: %19 = tt.descriptor_load %2[%17, %c0_i32] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      %19 = tt.descriptor_load %2[%17, %c0_i32] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      // CHECK-NEXT: %20 = tt.dot %18, %19, %15, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      %20 = tt.dot %18, %19, %15, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      // CHECK-NEXT: scf.yield %20 : tensor<32x32xf32>
      scf.yield %20 : tensor<32x32xf32>
    // CHECK-NEXT: } {tt.disallow_acc_multi_buffer, tt.num_stages = 3 : i32}
    } {tt.disallow_acc_multi_buffer, tt.num_stages = 3 : i32}
    // CHECK-NEXT: %21 = scf.for %arg4_1 = %10 to %arg3 step %c32_i32 iter_args(%arg5_1 = %12) -> (tensor<32x32xf32>) : i32 {
    %21 = scf.for %arg4_1 = %10 to %arg3 step %c32_i32 iter_args(%arg5_1 = %12) -> (tensor<32x32xf32>) : i32 {
      // CHECK-NEXT: %22 = tt.descriptor_load %1[%c0_i32, %arg4_1] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      %22 = tt.descriptor_load %1[%c0_i32, %arg4_1] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      // CHECK-NEXT: %23 = tt.descriptor_load %2[%arg4_1, %c0_i32] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      %23 = tt.descriptor_load %2[%arg4_1, %c0_i32] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      // CHECK-NEXT: %24 = tt.dot %22, %23, %arg5_1, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      %24 = tt.dot %22, %23, %arg5_1, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      // CHECK-NEXT: scf.yield %24 : tensor<32x32xf32>
      scf.yield %24 : tensor<32x32xf32>
    // CHECK-NEXT: } {tt.disallow_acc_multi_buffer, tt.num_stages = 1 : i32}
    } {tt.disallow_acc_multi_buffer, tt.num_stages = 1 : i32}
    // CHECK-NEXT: %25 = arith.truncf %21 : tensor<32x32xf32> to tensor<32x32xf16>
    %25 = arith.truncf %21 : tensor<32x32xf32> to tensor<32x32xf16>
    // CHECK-NEXT: tt.descriptor_store %1[%c0_i32, %c0_i32], %25 : !tt.tensordesc<32x32xf16>, tensor<32x32xf16>
    tt.descriptor_store %1[%c0_i32, %c0_i32], %25 : !tt.tensordesc<32x32xf16>, tensor<32x32xf16>
    // CHECK-NEXT: tt.descriptor_reduce add, %2[%c0_i32, %c0_i32], %25 : !tt.tensordesc<32x32xf16>, tensor<32x32xf16>
    tt.descriptor_reduce add, %2[%c0_i32, %c0_i32], %25 : !tt.tensordesc<32x32xf16>, tensor<32x32xf16>
    // CHECK-NEXT: tt.return
    tt.return
  }
}
