// RUN: tilewright-opt %s -p convert-triton-to-cuda-tile | filecheck %s

module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 2 : i32, "ttg.maxnreg" = 40 : i32, tt.fp_fusion = false} {
  tt.func public @scale(%x: !tt.ptr<f32>, %factor: f32) {
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %at = tt.addptr %xs, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %value = tt.load %at : tensor<128x!tt.ptr<f32>>
    %factors = tt.splat %factor : f32 -> tensor<128xf32>
    %scaled = arith.mulf %value, %factors : tensor<128xf32>
    %sum = arith.addf %scaled, %factors : tensor<128xf32>
    tt.store %at, %sum : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}

// Options of a launch are attributes of the module; nothing is fused where they say so.
// CHECK: entry @scale(%x: tile<ptr<f32>>, %factor: tile<f32>) optimization_hints=<default = {num_cta_in_cga = 2, num_worker_warps_per_cta = 2}> {
// CHECK: %scaled = mulf %value, %factors : tile<128xf32>
// CHECK-NEXT: %sum = addf %scaled, %factors : tile<128xf32>
// CHECK: } {cuda_tile.computes_late, nvvm.maxnreg = 40 : i32, tt.negative = array<i32>}
