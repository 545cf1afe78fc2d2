// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | filecheck %s

// CHECK: builtin.module {
builtin.module {
  // CHECK: tt.func public @k3(%arg0: !tt.ptr<f32>, %arg1: i32) attributes {noinline = false} {
  tt.func public @k3(%arg0: !tt.ptr<f32>, %arg1: i32) attributes {noinline = false} {
    // CHECK-NEXT: %cst = arith.constant dense<16> : tensor<16xi64>
    %cst = arith.constant dense<16> : tensor<16xi64>
    // CHECK-NEXT: %cst_1 = arith.constant dense<"0x0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F"> : tensor<16x16xf32>
    %cst_1 = arith.constant dense<"0x0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F0000C07F"> : tensor<16x16xf32>
    // CHECK-NEXT: %cst_2 = arith.constant dense<0> : tensor<1x16xi64>
    %cst_2 = arith.constant dense<0> : tensor<1x16xi64>
    // CHECK-NEXT: %cst_3 = arith.constant dense<0> : tensor<16x1xi64>
    %cst_3 = arith.constant dense<0> : tensor<16x1xi64>
    // CHECK-NEXT: %cst_4 = arith.constant dense<0> : tensor<16x16xi32>
    %cst_4 = arith.constant dense<0> : tensor<16x16xi32>
    // CHECK-NEXT: %cst_5 = arith.constant dense<true> : tensor<16xi1>
    %cst_5 = arith.constant dense<true> : tensor<16xi1>
    // CHECK-NEXT: %c3_i32 = arith.constant 3 : i32
    %c3_i32 = arith.constant 3 : i32
    // CHECK-NEXT: %c1_i32 = arith.constant 1 : i32
    %c1_i32 = arith.constant 1 : i32
    // CHECK-NEXT: %c0_i32 = arith.constant 0 : i32
    %c0_i32 = arith.constant 0 : i32
    // CHECK-NEXT: %0 = arith.extsi %arg1 : i32 to i64
    %0 = arith.extsi %arg1 : i32 to i64
    // CHECK-NEXT: %1 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    %1 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    // CHECK-NEXT: %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    // CHECK-NEXT: %3 = arith.extsi %2 : tensor<16xi32> to tensor<16xi64>
    %3 = arith.extsi %2 : tensor<16xi32> to tensor<16xi64>
    // CHECK-NEXT: %4 = tt.expand_dims %3 {axis = 1 : i32} : tensor<16xi64> -> tensor<16x1xi64>
    %4 = tt.expand_dims %3 {axis = 1 : i32} : tensor<16xi64> -> tensor<16x1xi64>
    // CHECK-NEXT: %5 = tt.splat %0 : i64 -> tensor<16x1xi64>
    %5 = tt.splat %0 : i64 -> tensor<16x1xi64>
    // CHECK-NEXT: %6 = arith.muli %4, %5 : tensor<16x1xi64>
    %6 = arith.muli %4, %5 : tensor<16x1xi64>
    // CHECK-NEXT: %7 = tt.broadcast %6 : tensor<16x1xi64> -> tensor<16x16xi64>
    %7 = tt.broadcast %6 : tensor<16x1xi64> -> tensor<16x16xi64>
    // CHECK-NEXT: %8 = tt.expand_dims %3 {axis = 0 : i32} : tensor<16xi64> -> tensor<1x16xi64>
    %8 = tt.expand_dims %3 {axis = 0 : i32} : tensor<16xi64> -> tensor<1x16xi64>
    // CHECK-NEXT: %9 = tt.broadcast %8 : tensor<1x16xi64> -> tensor<16x16xi64>
    %9 = tt.broadcast %8 : tensor<1x16xi64> -> tensor<16x16xi64>
    // CHECK-NEXT: %10 = arith.addi %7, %9 : tensor<16x16xi64>
    %10 = arith.addi %7, %9 : tensor<16x16xi64>
    // CHECK-NEXT: %11 = tt.addptr %1, %10 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi64>
    %11 = tt.addptr %1, %10 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi64>
    // CHECK-NEXT: %12 = arith.cmpi sge, %4, %cst_3 : tensor<16x1xi64>
    %12 = arith.cmpi sge, %4, %cst_3 : tensor<16x1xi64>
    // CHECK-NEXT: %13 = arith.cmpi slt, %4, %5 : tensor<16x1xi64>
    %13 = arith.cmpi slt, %4, %5 : tensor<16x1xi64>
    // CHECK-NEXT: %14 = arith.andi %12, %13 : tensor<16x1xi1>
    %14 = arith.andi %12, %13 : tensor<16x1xi1>
    // CHECK-NEXT: %15 = tt.broadcast %14 : tensor<16x1xi1> -> tensor<16x16xi1>
    %15 = tt.broadcast %14 : tensor<16x1xi1> -> tensor<16x16xi1>
    // CHECK-NEXT: %16 = arith.cmpi sge, %8, %cst_2 : tensor<1x16xi64>
    %16 = arith.cmpi sge, %8, %cst_2 : tensor<1x16xi64>
    // CHECK-NEXT: %17 = tt.splat %0 : i64 -> tensor<1x16xi64>
    %17 = tt.splat %0 : i64 -> tensor<1x16xi64>
    // CHECK-NEXT: %18 = arith.cmpi slt, %8, %17 : tensor<1x16xi64>
    %18 = arith.cmpi slt, %8, %17 : tensor<1x16xi64>
    // CHECK-NEXT: %19 = arith.andi %16, %18 : tensor<1x16xi1>
    %19 = arith.andi %16, %18 : tensor<1x16xi1>
    // CHECK-NEXT: %20 = tt.broadcast %19 : tensor<1x16xi1> -> tensor<16x16xi1>
    %20 = tt.broadcast %19 : tensor<1x16xi1> -> tensor<16x16xi1>
    // CHECK-NEXT: %21 = arith.andi %15, %20 : tensor<16x16xi1>
    %21 = arith.andi %15, %20 : tensor<16x16xi1>
    // CHECK-NEXT: %22 = tt.load %11, %21, %cst_1 : tensor<16x16x!tt.ptr<f32>>
    %22 = tt.load %11, %21, %cst_1 : tensor<16x16x!tt.ptr<f32>>
    // CHECK-NEXT: %23 = tt.fp_to_fp %22, rounding = rtne : tensor<16x16xf32> -> tensor<16x16xf8E5M2>
    %23 = tt.fp_to_fp %22, rounding = rtne : tensor<16x16xf32> -> tensor<16x16xf8E5M2>
    // CHECK-NEXT: %24 = tt.fp_to_fp %23 : tensor<16x16xf8E5M2> -> tensor<16x16xf32>
    %24 = tt.fp_to_fp %23 : tensor<16x16xf8E5M2> -> tensor<16x16xf32>
    // CHECK-NEXT: %25 = tt.elementwise_inline_asm "add.f32 $0, $1, $2;" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %22, %24 : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
    %25 = tt.elementwise_inline_asm "add.f32 $0, $1, $2;" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %22, %24 : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
    // CHECK-NEXT: %26 = tt.join %25, %22 : tensor<16x16xf32> -> tensor<16x16x2xf32>
    %26 = tt.join %25, %22 : tensor<16x16xf32> -> tensor<16x16x2xf32>
    // CHECK-NEXT: %outLHS, %outRHS = tt.split %26 : tensor<16x16x2xf32> -> tensor<16x16xf32>
    %outLHS, %outRHS = tt.split %26 : tensor<16x16x2xf32> -> tensor<16x16xf32>
    // CHECK-NEXT: %27 = tt.histogram %2 : tensor<16xi32> -> tensor<16xi32>
    %27 = tt.histogram %2 : tensor<16xi32> -> tensor<16xi32>
    // CHECK-NEXT: %28 = tt.gather %22[%cst_4] {axis = 0 : i32} : (tensor<16x16xf32>, tensor<16x16xi32>) -> tensor<16x16xf32>
    %28 = tt.gather %22[%cst_4] {axis = 0 : i32} : (tensor<16x16xf32>, tensor<16x16xi32>) -> tensor<16x16xf32>
    // CHECK-NEXT: %29 = tt.reshape %outLHS : tensor<16x16xf32> -> tensor<256xf32>
    %29 = tt.reshape %outLHS : tensor<16x16xf32> -> tensor<256xf32>
    // CHECK-NEXT: %30 = tt.reshape %outRHS : tensor<16x16xf32> -> tensor<256xf32>
    %30 = tt.reshape %outRHS : tensor<16x16xf32> -> tensor<256xf32>
    // CHECK-NEXT: %31 = tt.cat %29, %30 : tensor<256xf32> -> tensor<512xf32>
    %31 = tt.cat %29, %30 : tensor<256xf32> -> tensor<512xf32>
    // CHECK-NEXT: %32 = tt.reshape %31 : tensor<512xf32> -> tensor<32x16xf32>
    %32 = tt.reshape %31 : tensor<512xf32> -> tensor<32x16xf32>
    // CHECK-NEXT: %33 = tt.trans %32 {order = array<i32: 1, 0>} : tensor<32x16xf32> -> tensor<16x32xf32>
    %33 = tt.trans %32 {order = array<i32: 1, 0>} : tensor<32x16xf32> -> tensor<16x32xf32>
    // CHECK-NEXT: %34 = tt.mulhiui %27, %27 : tensor<16xi32>
    %34 = tt.mulhiui %27, %27 : tensor<16xi32>
    // CHECK-NEXT: %35 = scf.while (%arg2 = %c0_i32) : (i32) -> i32 {
    %35 = scf.while (%arg2 = %c0_i32) : (i32) -> i32 {
      // CHECK-NEXT: %36 = arith.cmpi slt, %arg2, %arg1 : i32
      %36 = arith.cmpi slt, %arg2, %arg1 : i32
      // CHECK-NEXT: scf.condition(%36) %arg2 : i32
      scf.condition(%36) %arg2 : i32
    // CHECK-NEXT: } do {
    } do {
    // CHECK-NEXT: ^bb0(%arg2_1: i32):
    ^bb0(%arg2_1: i32):
      // CHECK-NEXT: %37 = arith.addi %arg2_1, %c1_i32 : i32
      %37 = arith.addi %arg2_1, %c1_i32 : i32
      // CHECK-NEXT: %38 = arith.cmpi eq, %37, %c3_i32 : i32
      %38 = arith.cmpi eq, %37, %c3_i32 : i32
      // CHECK-NEXT: scf.if %38 {
      scf.if %38 {
        // CHECK-NEXT: "gpu.barrier"() : () -> ()
        "gpu.barrier"() : () -> ()
      }
      // CHECK: scf.yield %37 : i32
      scf.yield %37 : i32
    }
    // CHECK: %39 = arith.cmpi sgt, %arg1, %c0_i32 : i32
    %39 = arith.cmpi sgt, %arg1, %c0_i32 : i32
    // CHECK-NEXT: llvm.intr.assume %39 : i1
    llvm.intr.assume %39 : i1
    // CHECK-NEXT: %40 = math.exp2 %22 : tensor<16x16xf32>
    %40 = math.exp2 %22 : tensor<16x16xf32>
    // CHECK-NEXT: %41 = math.fma %28, %22, %40 : tensor<16x16xf32>
    %41 = math.fma %28, %22, %40 : tensor<16x16xf32>
    // CHECK-NEXT: %42 = arith.addi %3, %cst : tensor<16xi64>
    %42 = arith.addi %3, %cst : tensor<16xi64>
    // CHECK-NEXT: %43 = tt.expand_dims %42 {axis = 0 : i32} : tensor<16xi64> -> tensor<1x16xi64>
    %43 = tt.expand_dims %42 {axis = 0 : i32} : tensor<16xi64> -> tensor<1x16xi64>
    // CHECK-NEXT: %44 = tt.broadcast %43 : tensor<1x16xi64> -> tensor<16x16xi64>
    %44 = tt.broadcast %43 : tensor<1x16xi64> -> tensor<16x16xi64>
    // CHECK-NEXT: %45 = arith.addi %7, %44 : tensor<16x16xi64>
    %45 = arith.addi %7, %44 : tensor<16x16xi64>
    // CHECK-NEXT: %46 = tt.addptr %1, %45 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi64>
    %46 = tt.addptr %1, %45 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi64>
    // CHECK-NEXT: tt.store %46, %41, %15 : tensor<16x16x!tt.ptr<f32>>
    tt.store %46, %41, %15 : tensor<16x16x!tt.ptr<f32>>
    // CHECK-NEXT: %47 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %47 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    // CHECK-NEXT: %48 = tt.addptr %47, %2 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %48 = tt.addptr %47, %2 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    // CHECK-NEXT: %49 = arith.sitofp %34 : tensor<16xi32> to tensor<16xf32>
    %49 = arith.sitofp %34 : tensor<16xi32> to tensor<16xf32>
    // CHECK-NEXT: %50 = tt.atomic_rmw exch, release, cta, %48, %49, %cst_5 : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>
    %50 = tt.atomic_rmw exch, release, cta, %48, %49, %cst_5 : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>
    // CHECK-NEXT: %51 = tt.addptr %arg0, %35 : !tt.ptr<f32>, i32
    %51 = tt.addptr %arg0, %35 : !tt.ptr<f32>, i32
    // CHECK-NEXT: %52 = tt.reshape %33 allow_reorder : tensor<16x32xf32> -> tensor<512xf32>
    %52 = tt.reshape %33 allow_reorder : tensor<16x32xf32> -> tensor<512xf32>
    // CHECK-NEXT: %53 = "tt.reduce"(%52) <{axis = 0 : i32}> ({
    %53 = "tt.reduce"(%52) <{axis = 0 : i32}> ({
    // CHECK-NEXT: ^bb0(%arg2_2: f32, %arg3: f32):
    ^bb0(%arg2_2: f32, %arg3: f32):
      // CHECK-NEXT: %54 = arith.addf %arg2_2, %arg3 : f32
      %54 = arith.addf %arg2_2, %arg3 : f32
      // CHECK-NEXT: tt.reduce.return %54 : f32
      tt.reduce.return %54 : f32
    // CHECK-NEXT: }) : (tensor<512xf32>) -> f32
    }) : (tensor<512xf32>) -> f32
    // CHECK-NEXT: tt.store %51, %53 : !tt.ptr<f32>
    tt.store %51, %53 : !tt.ptr<f32>
    // CHECK-NEXT: tt.return
    tt.return
  }
}
