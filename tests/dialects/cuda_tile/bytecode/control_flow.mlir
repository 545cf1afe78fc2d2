cuda_tile.module @kernels {
  global @table <f32: [1.0, 2.0, 3.0, 4.0]> : tile<4xf32>
  global @one alignment = 16 <i32: 1> : tile<1xi32>
  entry @control(%n: tile<i32>, %x: tile<f32>, %p: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %step = constant <i32: 1> : tile<i32>
    %sum = for %i in (%zero to %n, step %step) : tile<i32> iter_values(%s = %x) -> (tile<f32>) {
      %c = cmpi less_than %i, %step, signed : tile<i32> -> tile<i1>
      %v = if %c -> (tile<f32>) {
        %d = addf %s, %x rounding<zero> flush_to_zero : tile<f32>
        yield %d : tile<f32>
      } else {
        yield %s : tile<f32>
      }
      continue %v : tile<f32>
    }
    %c0 = constant <i1: true> : tile<i1>
    %r = loop iter_values(%a = %sum) : tile<f32> -> tile<f32> {
      %less = cmpf less_than ordered %a, %x : tile<f32> -> tile<i1>
      if %less {
        break %a : tile<f32>
      }
      continue %a : tile<f32>
    }
    assert %c0, "not so" : tile<i1>
    print_tko "x = %f\n", %r : tile<f32> -> token
    return
  }
}
