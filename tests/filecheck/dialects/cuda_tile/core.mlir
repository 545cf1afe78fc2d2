// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK: cuda_tile.module @core {
cuda_tile.module @core {
  // CHECK-NEXT: entry @core(%s: tile<i32>, %p: tile<ptr<f32>>) {
  entry @core(%s: tile<i32>, %p: tile<ptr<f32>>) {
    // CHECK-NEXT: %c = constant <i1: true> : tile<4xi1>
    %c = constant <i1: true> : tile<4xi1>
    // CHECK-NEXT: %x = constant <f32: [1.000000e+00, -2.500000e+00, 0xFF800000, 0.000000e+00]> : tile<4xf32>
    %x = constant <f32: [1.000000e+00, -2.500000e+00, 0xFF800000, 0.000000e+00]> : tile<4xf32>
    // CHECK-NEXT: %e = constant <f16: 1.500000e+00> : tile<8xf16>
    %e = constant <f16: 1.500000e+00> : tile<8xf16>
    // CHECK-NEXT: %n = constant <i8: {{\[\[}}1, 2], [3, -4]]> : tile<2x2xi8>
    %n = constant <i8: [[1, 2], [3, -4]]> : tile<2x2xi8>
    // CHECK-NEXT: %i = iota : tile<4xi32>
    %i = iota : tile<4xi32>
    // CHECK-NEXT: %bx, %by, %bz = get_tile_block_id : tile<i32>
    %bx, %by, %bz = get_tile_block_id : tile<i32>
    // CHECK-NEXT: %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
    %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
    // CHECK-NEXT: %r = reshape %x : tile<4xf32> -> tile<4x1xf32>
    %r = reshape %x : tile<4xf32> -> tile<4x1xf32>
    // CHECK-NEXT: %b = broadcast %r : tile<4x1xf32> -> tile<4x8xf32>
    %b = broadcast %r : tile<4x1xf32> -> tile<4x8xf32>
    // CHECK-NEXT: %t = permute %b [1, 0] : tile<4x8xf32> -> tile<8x4xf32>
    %t = permute %b [1, 0] : tile<4x8xf32> -> tile<8x4xf32>
    // CHECK-NEXT: %cat = cat %b, %b dim = 1 : tile<4x8xf32>, tile<4x8xf32> -> tile<4x16xf32>
    %cat = cat %b, %b dim = 1 : tile<4x8xf32>, tile<4x8xf32> -> tile<4x16xf32>
    // CHECK-NEXT: %part = extract %cat[%s, %s] : tile<4x16xf32> -> tile<4x4xf32>
    %part = extract %cat[%s, %s] : tile<4x16xf32> -> tile<4x4xf32>
    // CHECK-NEXT: %whole = insert %part, %cat[%s, %s] : tile<4x4xf32>, tile<4x16xf32>
    %whole = insert %part, %cat[%s, %s] : tile<4x4xf32>, tile<4x16xf32>
    // CHECK-NEXT: %sel = select %c, %x, %x : tile<4xi1>, tile<4xf32>
    %sel = select %c, %x, %x : tile<4xi1>, tile<4xf32>
    // CHECK-NEXT: %q = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %q = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    // CHECK-NEXT: %qs = broadcast %q : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %qs = broadcast %q : tile<1xptr<f32>> -> tile<4xptr<f32>>
    // CHECK-NEXT: %qo = offset %qs, %i : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %qo = offset %qs, %i : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    // CHECK-NEXT: %w = pack %e : tile<8xf16> -> tile<16xi8>
    %w = pack %e : tile<8xf16> -> tile<16xi8>
    // CHECK-NEXT: %u = unpack %w : tile<16xi8> -> tile<32xf4E2M1FN>
    %u = unpack %w : tile<16xi8> -> tile<32xf4E2M1FN>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
// CHECK: }
}
