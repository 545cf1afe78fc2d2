// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute-nvgpu | filecheck %s
// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute-nvgpu,convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_80

// What follows an `if` that leaves the loop goes into its branches.

cuda_tile.module @m {
  entry @halves(%p: tile<ptr<i32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %r = loop iter_values(%x = %n, %k = %zero) : tile<i32>, tile<i32> -> tile<i32> {
      %c = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
      if %c {
        break %k : tile<i32>
      }
      %h = shri %x, %one unsigned : tile<i32>
      %l = addi %k, %one : tile<i32>
      continue %h, %l : tile<i32>, tile<i32>
    }
    %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}

// CHECK: {{.*}}, {{.*}}, [[R:%[0-9]+]] = scf.while ([[X:%[0-9]+]] = %n, [[K:%[0-9]+]] = {{.*}}) : (i32, i32) -> (i32, i32, i32) {
// CHECK: [[C:%[0-9]+]] = arith.cmpi eq, [[X]]
// CHECK: [[G:%[0-9]+]], {{.*}} = scf.if [[C]] -> (i1, i32, i32, i32) {
// CHECK: scf.yield {{.*}}, [[K]] : i1, i32, i32, i32
// CHECK: } else {
// CHECK: arith.shrui [[X]]
// CHECK: scf.condition([[G]])
// CHECK: cute_nvgpu.address.store [[R]] to
