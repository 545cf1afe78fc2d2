// RUN: tilewright-opt %s -p 'convert-cuda-tile-to-cute{arch=sm_80}' | filecheck %s
// The pass by the name that it had before.

// CHECK: func.func @k
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>) {
    return
  }
}
