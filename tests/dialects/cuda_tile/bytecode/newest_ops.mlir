cuda_tile.module @kernels {
  entry @newest(%x0: tile<f32>, %i: tile<i32>) {
    %x1 = reshape %x0 : tile<f32> -> tile<1x1xf32>
    %x = broadcast %x1 : tile<1x1xf32> -> tile<4x8xf32>
    %y = broadcast %x1 : tile<1x1xf32> -> tile<2x2xf32>
    %in = insert %y, %x[%i, %i] : tile<2x2xf32>, tile<4x8xf32>
    %n = ftoi %x signed saturating : tile<4x8xf32> -> tile<4x8xi32>
    %pw = fpowi %x, %n : tile<4x8xf32>, tile<4x8xi32>
    %t = gdc_wait_tko -> token
    %t1 = gdc_launch_dependents_tko token = %t -> token
    return
  }
}
