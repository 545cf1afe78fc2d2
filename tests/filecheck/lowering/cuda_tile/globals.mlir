// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute-nvgpu | filecheck %s

// A global is a variable of the module, bytes as they lie in memory.

// CHECK-LABEL: func.func @k
// CHECK:         %{{.*}} = memref.get_global @g : memref<8xi8>
// CHECK:       "memref.global"() <{sym_name = "g", type = memref<8xi8>
// CHECK-SAME:  alignment = 64 : i64
cuda_tile.module @m {
  global @g alignment = 64 <f32: [1.0, 2.0]> : tile<2xf32>
  entry @k(%out: tile<ptr<f32>>) {
    %p = get_global @g : tile<ptr<f32>>
    %x, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %u = store_ptr_tko weak %out, %x : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}
