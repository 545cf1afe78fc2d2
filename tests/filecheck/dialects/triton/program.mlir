// RUN: tilewright-opt --print-op-generic %s --split-input-file | tilewright-opt --split-input-file | filecheck %s

// CHECK: builtin.module {
builtin.module {
  // CHECK: tt.func public @k1(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
  tt.func public @k1(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    // CHECK-NEXT: %true = arith.constant true
    %true = arith.constant true
    // CHECK-NEXT: %cst = arith.constant dense<1.000000e+00> : tensor<128xf32>
    %cst = arith.constant dense<1.000000e+00> : tensor<128xf32>
    // CHECK-NEXT: %cst_1 = arith.constant dense<0.000000e+00> : tensor<128xf32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<128xf32>
    // CHECK-NEXT: %c128_i32 = arith.constant 128 : i32
    %c128_i32 = arith.constant 128 : i32
    // CHECK-NEXT: %0 = tt.get_program_id x : i32
    %0 = tt.get_program_id x : i32
    // CHECK-NEXT: %1 = arith.muli %0, %c128_i32 : i32
    %1 = arith.muli %0, %c128_i32 : i32
    // CHECK-NEXT: %2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    // CHECK-NEXT: %3 = tt.splat %1 : i32 -> tensor<128xi32>
    %3 = tt.splat %1 : i32 -> tensor<128xi32>
    // CHECK-NEXT: %4 = arith.addi %3, %2 : tensor<128xi32>
    %4 = arith.addi %3, %2 : tensor<128xi32>
    // CHECK-NEXT: %5 = tt.splat %arg2 : i32 -> tensor<128xi32>
    %5 = tt.splat %arg2 : i32 -> tensor<128xi32>
    // CHECK-NEXT: %6 = arith.cmpi slt, %4, %5 : tensor<128xi32>
    %6 = arith.cmpi slt, %4, %5 : tensor<128xi32>
    // CHECK-NEXT: %7 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %7 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    // CHECK-NEXT: %8 = tt.addptr %7, %4 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %8 = tt.addptr %7, %4 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    // CHECK-NEXT: %9 = tt.load %8, %6, %cst_1 cacheModifier = cg evictionPolicy = evict_last : tensor<128x!tt.ptr<f32>>
    %9 = tt.load %8, %6, %cst_1 cacheModifier = cg evictionPolicy = evict_last : tensor<128x!tt.ptr<f32>>
    // CHECK-NEXT: %10 = tt.load %8, %6 {isVolatile = true} : tensor<128x!tt.ptr<f32>>
    %10 = tt.load %8, %6 {isVolatile = true} : tensor<128x!tt.ptr<f32>>
    // CHECK-NEXT: %11 = tt.precise_sqrt %9 : tensor<128xf32>
    %11 = tt.precise_sqrt %9 : tensor<128xf32>
    // CHECK-NEXT: %12 = tt.clampf %11, %cst_1, %cst, propagateNan = none : tensor<128xf32>
    %12 = tt.clampf %11, %cst_1, %cst, propagateNan = none : tensor<128xf32>
    // CHECK-NEXT: %13 = tt.precise_divf %9, %10 : tensor<128xf32>
    %13 = tt.precise_divf %9, %10 : tensor<128xf32>
    // CHECK-NEXT: %14 = arith.addf %12, %13 : tensor<128xf32>
    %14 = arith.addf %12, %13 : tensor<128xf32>
    // CHECK-NEXT: %15 = "tt.reduce"(%14) <{axis = 0 : i32}> ({
    %15 = "tt.reduce"(%14) <{axis = 0 : i32}> ({
    // CHECK-NEXT: ^bb0(%arg3: f32, %arg4: f32):
    ^bb0(%arg3: f32, %arg4: f32):
      // CHECK-NEXT: %16 = arith.addf %arg3, %arg4 : f32
      %16 = arith.addf %arg3, %arg4 : f32
      // CHECK-NEXT: tt.reduce.return %16 : f32
      tt.reduce.return %16 : f32
    // CHECK-NEXT: }) : (tensor<128xf32>) -> f32
    }) : (tensor<128xf32>) -> f32
    // CHECK-NEXT: %17 = "tt.scan"(%14) <{axis = 0 : i32, reverse = true}> ({
    %17 = "tt.scan"(%14) <{axis = 0 : i32, reverse = true}> ({
    // CHECK-NEXT: ^bb0(%arg3_1: f32, %arg4_1: f32):
    ^bb0(%arg3_1: f32, %arg4_1: f32):
      // CHECK-NEXT: %18 = arith.addf %arg3_1, %arg4_1 : f32
      %18 = arith.addf %arg3_1, %arg4_1 : f32
      // CHECK-NEXT: tt.scan.return %18 : f32
      tt.scan.return %18 : f32
    // CHECK-NEXT: }) : (tensor<128xf32>) -> tensor<128xf32>
    }) : (tensor<128xf32>) -> tensor<128xf32>
    // CHECK-NEXT: %19, %20 = "tt.reduce"(%14, %2) <{axis = 0 : i32}> ({
    %19, %20 = "tt.reduce"(%14, %2) <{axis = 0 : i32}> ({
    // CHECK-NEXT: ^bb0(%arg3_2: f32, %arg4_2: i32, %arg5: f32, %arg6: i32):
    ^bb0(%arg3_2: f32, %arg4_2: i32, %arg5: f32, %arg6: i32):
      // CHECK-NEXT: %21 = arith.cmpf oeq, %arg3_2, %arg5 : f32
      %21 = arith.cmpf oeq, %arg3_2, %arg5 : f32
      // CHECK-NEXT: %22 = arith.cmpi slt, %arg4_2, %arg6 : i32
      %22 = arith.cmpi slt, %arg4_2, %arg6 : i32
      // CHECK-NEXT: %23 = arith.andi %21, %22 : i1
      %23 = arith.andi %21, %22 : i1
      // CHECK-NEXT: %24 = arith.cmpf ogt, %arg3_2, %arg5 : f32
      %24 = arith.cmpf ogt, %arg3_2, %arg5 : f32
      // CHECK-NEXT: %25 = arith.ori %24, %23 : i1
      %25 = arith.ori %24, %23 : i1
      // CHECK-NEXT: %26 = arith.select %25, %arg3_2, %arg5 : f32
      %26 = arith.select %25, %arg3_2, %arg5 : f32
      // CHECK-NEXT: %27 = arith.select %25, %arg4_2, %arg6 : i32
      %27 = arith.select %25, %arg4_2, %arg6 : i32
      // CHECK-NEXT: tt.reduce.return %26, %27 : f32, i32
      tt.reduce.return %26, %27 : f32, i32
    // CHECK-NEXT: }) : (tensor<128xf32>, tensor<128xi32>) -> (f32, i32)
    }) : (tensor<128xf32>, tensor<128xi32>) -> (f32, i32)
    // CHECK-NEXT: tt.print " x: " {hex = false, isSigned = array<i32: 0, 1>} : %15, %20 : f32, i32
    tt.print " x: " {hex = false, isSigned = array<i32: 0, 1>} : %15, %20 : f32, i32
    // CHECK-NEXT: %28 = tt.atomic_rmw fadd, acq_rel, gpu, %arg1, %15, %true : (!tt.ptr<f32>, f32, i1) -> f32
    %28 = tt.atomic_rmw fadd, acq_rel, gpu, %arg1, %15, %true : (!tt.ptr<f32>, f32, i1) -> f32
    // CHECK-NEXT: %29 = tt.atomic_cas acq_rel, gpu, %arg1, %15, %19 : (!tt.ptr<f32>, f32, f32) -> f32
    %29 = tt.atomic_cas acq_rel, gpu, %arg1, %15, %19 : (!tt.ptr<f32>, f32, f32) -> f32
    // CHECK-NEXT: %30 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %30 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    // CHECK-NEXT: %31 = tt.addptr %30, %4 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %31 = tt.addptr %30, %4 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    // CHECK-NEXT: %32 = arith.truncf %17 : tensor<128xf32> to tensor<128xf16>
    %32 = arith.truncf %17 : tensor<128xf32> to tensor<128xf16>
    // CHECK-NEXT: %33 = arith.extf %32 : tensor<128xf16> to tensor<128xf32>
    %33 = arith.extf %32 : tensor<128xf16> to tensor<128xf32>
    // CHECK-NEXT: tt.store %31, %33, %6 cacheModifier = wt evictionPolicy = evict_first : tensor<128x!tt.ptr<f32>>
    tt.store %31, %33, %6 cacheModifier = wt evictionPolicy = evict_first : tensor<128x!tt.ptr<f32>>
    // CHECK-NEXT: tt.return
    tt.return
  }
}
