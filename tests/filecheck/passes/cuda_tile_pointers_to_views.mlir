// RUN: tilewright-opt %s -p convert-triton-to-cuda-tile,cuda-tile-pointers-to-views | filecheck %s

// The rows of A wrap around and are stored only where they do not; K is what the mask leaves.
tt.func public @k(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16>, %m: i32, %k: i32, %s: i32 {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf16>
  %by = arith.constant dense<32> : tensor<16x32xi32>
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %c0 = arith.constant 0 : i32
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c16 : i32
  %i0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %i1 = tt.splat %first : i32 -> tensor<16xi32>
  %i = arith.addi %i1, %i0 : tensor<16xi32>
  %ms = tt.splat %m : i32 -> tensor<16xi32>
  %wrapped = arith.remsi %i, %ms : tensor<16xi32>
  %j = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %row = tt.expand_dims %wrapped {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %ss = tt.splat %s : i32 -> tensor<16x1xi32>
  %rows = arith.muli %row, %ss : tensor<16x1xi32>
  %column = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %x0 = tt.broadcast %rows : tensor<16x1xi32> -> tensor<16x32xi32>
  %x1 = tt.broadcast %column : tensor<1x32xi32> -> tensor<16x32xi32>
  %x = arith.addi %x0, %x1 : tensor<16x32xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<16x32x!tt.ptr<f16>>
  %p = tt.addptr %as, %x : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
  %r:2 = scf.for %at = %c0 to %k step %c32 iter_args(%q = %p, %sum = %zero) -> (tensor<16x32x!tt.ptr<f16>>, tensor<16x32xf16>) : i32 {
    %left = arith.subi %k, %at : i32
    %lefts = tt.splat %left : i32 -> tensor<1x32xi32>
    %inside = arith.cmpi slt, %column, %lefts : tensor<1x32xi32>
    %mask = tt.broadcast %inside : tensor<1x32xi1> -> tensor<16x32xi1>
    %v = tt.load %q, %mask, %zero : tensor<16x32x!tt.ptr<f16>>
    %w = arith.addf %sum, %v : tensor<16x32xf16>
    %next = tt.addptr %q, %by : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    scf.yield %next, %w : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xf16>
  }
  %cs = tt.splat %c : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
  %e = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %es = arith.muli %e, %ss : tensor<16x1xi32>
  %o0 = tt.addptr %cs, %es : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
  %o1 = tt.broadcast %o0 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
  %o = tt.addptr %o1, %x1 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
  %mc = tt.splat %m : i32 -> tensor<16x1xi32>
  %om = arith.cmpi slt, %e, %mc : tensor<16x1xi32>
  %oms = tt.broadcast %om : tensor<16x1xi1> -> tensor<16x32xi1>
  tt.store %o, %r#1, %oms : tensor<16x32x!tt.ptr<f16>>
  tt.return
}

// CHECK: builtin.module {
// CHECK-NEXT: cuda_tile.module @kernels {
// CHECK-NEXT: entry @k(%a: tile<ptr<f16>>, %c: tile<ptr<f16>>, %m: tile<i32>, %k: tile<i32>, %s: tile<i32>) {
// CHECK-NEXT: %c0 = constant <i32: 0> : tile<i32>
// CHECK-NEXT: %c32 = constant <i32: 32> : tile<i32>
// CHECK-NEXT: %zero = constant <f16: 0.000000e+00> : tile<16x32xf16>
// CHECK-NEXT: %0 = assume div_by<16>, %a : tile<ptr<f16>>
// CHECK-NEXT: %1 = assume div_by<16>, %s : tile<i32>
// CHECK-NEXT: %pid, %2, %3 = get_tile_block_id : tile<i32>
// CHECK-NEXT: %4 = make_token : token
// CHECK-NEXT: %5 = make_tensor_view %0, shape = [%m, %k], strides = [%1, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
// CHECK-NEXT: %6 = make_strided_view %5 : strided_view<tile=(16x32), traversal_strides=[16,1], padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
// CHECK-NEXT: %r, %7 = for %8 in (%c0 to %k, step %c32) : tile<i32> iter_values(%9 = %zero, %10 = %4) -> (tile<16x32xf16>, token) {
// CHECK-NEXT: %v, %11 = load_view_tko weak %6[%pid, %8] attributes {anywhere} : strided_view<tile=(16x32), traversal_strides=[16,1], padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<16x32xf16>, token
// CHECK-NEXT: %w = addf %9, %v : tile<16x32xf16>
// CHECK-NEXT: %12 = join_tokens %10, %11 : token
// CHECK-NEXT: continue %w, %12 : tile<16x32xf16>, token
// CHECK-NEXT: }
// CHECK-NEXT: %13 = constant <i32: 0> : tile<i32>
// CHECK-NEXT: %14 = make_tensor_view %c, shape = [%m, 4294901760], strides = [%1, 1] : tile<i32> -> tensor_view<?x4294901760xf16, strides=[?,1]>
// CHECK-NEXT: %15 = make_partition_view %14 : partition_view<tile=(16x32), tensor_view<?x4294901760xf16, strides=[?,1]>>
// CHECK-NEXT: %16 = store_view_tko weak %r, %15[%pid, %13] token = %7 inbounds = [false, true] attributes {anywhere} : tile<16x32xf16>, partition_view<tile=(16x32), tensor_view<?x4294901760xf16, strides=[?,1]>>, tile<i32> -> token
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
