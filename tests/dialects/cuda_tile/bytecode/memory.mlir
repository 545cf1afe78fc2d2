cuda_tile.module @kernels {
  entry @memory(%p: tile<ptr<f32>>, %n: tile<i32>, %q: tile<ptr<i32>>) optimization_hints=<sm_90 = {num_cta_in_cga = 2, occupancy = 1}> {
    %p1 = assume div_by<16>, %p : tile<ptr<f32>>
    %n1 = assume bounded<0, ?>, %n : tile<i32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
    %v = make_tensor_view %p1, shape = [%n1, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>
    %pv = make_partition_view %v : partition_view<tile=(8x16), padding_value = nan, tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]>
    %t0 = make_token : token
    %tile, %t1 = load_view_tko weak %pv[%x, %y] token = %t0 optimization_hints = <sm_90 = {latency = 3, allow_tma = false}> : partition_view<tile=(8x16), padding_value = nan, tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]>, tile<i32> -> tile<8x16xf32>, token
    %t2 = store_view_tko weak %tile, %pv[%x, %y] token = %t1 : tile<8x16xf32>, partition_view<tile=(8x16), padding_value = nan, tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]>, tile<i32> -> token
    %i = iota : tile<4xi32>
    %q1 = reshape %q : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q4 = broadcast %q1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %o = offset %q4, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %m = constant <i1: [true, false, true, true]> : tile<4xi1>
    %old, %t3 = atomic_rmw_tko relaxed device %o, add, %i, %m token = %t2 : tile<4xptr<i32>>, tile<4xi32>, tile<4xi1> -> tile<4xi32>, token
    %was, %t4 = atomic_cas_tko acq_rel sys %o, %i, %old : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    %l, %t5 = load_ptr_tko relaxed device %o, %m, %i token = %t4 : tile<4xptr<i32>>, tile<4xi1>, tile<4xi32> -> tile<4xi32>, token
    %t6 = store_ptr_tko weak %o, %l, %m : tile<4xptr<i32>>, tile<4xi32>, tile<4xi1> -> token
    %t7 = join_tokens %t3, %t5, %t6 : token
    %sum = reduce %tile dim=1 identities=[0.0 : f32] : tile<8x16xf32> -> tile<8xf32> (%a: tile<f32>, %b: tile<f32>) {
      %s = addf %a, %b rounding<nearest_even> : tile<f32>
      yield %s : tile<f32>
    }
    %pre = scan %l dim=0 reverse=true identities=[-3 : i32] : tile<4xi32> -> tile<4xi32> (%a: tile<i32>, %b: tile<i32>) {
      %s = addi %a, %b overflow<no_wrap> : tile<i32>
      yield %s : tile<i32>
    }
    %perm = permute %tile [1, 0] : tile<8x16xf32> -> tile<16x8xf32>
    %e = extract %perm[%x, %y] : tile<16x8xf32> -> tile<4x4xf32>
    %k = cat %e, %e dim = 0 : tile<4x4xf32>, tile<4x4xf32> -> tile<8x4xf32>
    %w = exti %pre signed : tile<4xi32> -> tile<4xi64>
    %d = divi %w, %w signed rounding<positive_inf> : tile<4xi64>
    %f = itof %d unsigned : tile<4xi64> -> tile<4xf64>
    %c1 = constant <tf32: 3.140625> : tile<2xtf32>
    %c2 = constant <f8E4M3FN: [1.0, -2.0]> : tile<2xf8E4M3FN>
    %c3 = constant <bf16: [[1.0, 2.0], [3.0, 4.0]]> : tile<2x2xbf16>
    %c4 = constant <i64: -42> : tile<i64>
    %sh0, %sh1 = get_tensor_shape %v : tensor_view<?x64xf32, strides=[64,1]> -> tile<i32>
    return
  }
}
