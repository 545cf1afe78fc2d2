// RUN: tilewright-opt %s -p "cuda-tile-load-for-each-shape" | filecheck %s

// A row that is broadcast to two shapes is loaded for each, and what comes behind one load comes
// behind both; one that is broadcast twice to one shape is loaded once.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f16>>, %q: tile<ptr<f32>>) {
    %r = reshape %p : tile<ptr<f16>> -> tile<1xptr<f16>>
    %b = broadcast %r : tile<1xptr<f16>> -> tile<8xptr<f16>>
    %i = iota : tile<8xi32>
    %at = offset %b, %i : tile<8xptr<f16>>, tile<8xi32> -> tile<8xptr<f16>>
    %x, %t = load_ptr_tko weak %at : tile<8xptr<f16>> -> tile<8xf16>, token
    %y, %s = load_ptr_tko weak %at token=%t : tile<8xptr<f16>> -> tile<8xf16>, token
    %f = ftof %x : tile<8xf16> -> tile<8xf32>
    %f1 = reshape %f : tile<8xf32> -> tile<1x8xf32>
    %wide = broadcast %f1 : tile<1x8xf32> -> tile<4x8xf32>
    %tall = broadcast %f1 : tile<1x8xf32> -> tile<16x8xf32>
    %y1 = reshape %y : tile<8xf16> -> tile<8x1xf16>
    %y2 = broadcast %y1 : tile<8x1xf16> -> tile<8x4xf16>
    %y3 = broadcast %y1 : tile<8x1xf16> -> tile<8x4xf16>
    %u = store_ptr_tko weak %at, %y token=%s : tile<8xptr<f16>>, tile<8xf16> -> token
    return
  }
}

// CHECK: %x, %t = load_ptr_tko weak %at :
// CHECK-NEXT: %x_1, %t_1 = load_ptr_tko weak %at :
// CHECK-NEXT: %0 = join_tokens %t, %t_1
// CHECK-NEXT: %y, %s = load_ptr_tko weak %at token=%0
// CHECK-NOT: load_ptr_tko
// CHECK: %wide = broadcast %f1
// CHECK-NEXT: %f_1 = ftof %x_1
// CHECK-NEXT: %f1_1 = reshape %f_1
// CHECK-NEXT: %tall = broadcast %f1_1
