// RUN: tilewright-opt %s -p cuda-tile-synthesize-scopes --print-debuginfo | filecheck %s

cuda_tile.module @m {
  entry @k(%x: tile<f32>) {
    %y = negf %x : tile<f32> loc("kernel.py":4:5)
    return loc("kernel.py":5:5)
  } loc("kernel.py":3:1)
} loc("kernel.py":1:1)

// CHECK: cuda_tile.module @m {
// CHECK-NEXT: entry @k(%x: tile<f32>) {
// CHECK-NEXT: %y = negf %x : tile<f32> loc(#loc2)
// CHECK-NEXT: return loc(#loc4)
// CHECK-NEXT: } loc(#loc6)
// CHECK-NEXT: } loc("kernel.py":1:1)
// CHECK-NEXT: } loc(unknown)
// CHECK-NEXT: #loc1 = loc("kernel.py":4:5)
// CHECK-NEXT: #di_file1 = #cuda_tile.di_file<"kernel.py" in "">
// CHECK-NEXT: #di_compile_unit1 = #cuda_tile.di_compile_unit<file = #di_file1>
// CHECK-NEXT: #di_subprogram1 = #cuda_tile.di_subprogram<file = #di_file1, line = 3, name = "k", linkageName = "k", compileUnit = #di_compile_unit1, scopeLine = 3>
// CHECK-NEXT: #loc2 = #cuda_tile.di_loc<#loc1 in #di_subprogram1>
// CHECK-NEXT: #loc3 = loc("kernel.py":5:5)
// CHECK-NEXT: #loc4 = #cuda_tile.di_loc<#loc3 in #di_subprogram1>
// CHECK-NEXT: #loc5 = loc("kernel.py":3:1)
// CHECK-NEXT: #loc6 = #cuda_tile.di_loc<#loc5 in #di_subprogram1>
