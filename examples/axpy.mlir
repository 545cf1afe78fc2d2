// y[i] = a * x[i] + y[i], one thread an element.
func.func @axpy(%x: memref<?xf32>, %y: memref<?xf32>, %a: f32, %n: i32) attributes {gpu.kernel} {
  %i = "gpu.global_id"() <{dimension = #gpu<dim x>}> : () -> index
  %end = arith.index_cast %n : i32 to index
  %inside = arith.cmpi slt, %i, %end : index
  scf.if %inside {
    %xi = memref.load %x[%i] : memref<?xf32>
    %yi = memref.load %y[%i] : memref<?xf32>
    %ax = arith.mulf %a, %xi : f32
    %sum = arith.addf %ax, %yi : f32
    memref.store %sum, %y[%i] : memref<?xf32>
  }
  func.return
}
