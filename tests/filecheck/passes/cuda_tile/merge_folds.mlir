// RUN: tilewright-opt %s -p cuda-tile-merge-folds | filecheck %s

// Sums of sums along all three dimensions are one; not what is read in between, nor a maximum of
// sums, nor a sum along the first dimension and then the last.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>) {
    %x = iota : tile<64xi32>
    %c = reshape %x : tile<64xi32> -> tile<4x2x8xi32>
    %a0 = reduce %c dim=1 identities=[0 : i32] : tile<4x2x8xi32> -> tile<4x8xi32>
    (%l: tile<i32>, %r: tile<i32>) { %s = addi %l, %r : tile<i32>  yield %s : tile<i32> }
    %a1 = reduce %a0 dim=0 identities=[0 : i32] : tile<4x8xi32> -> tile<8xi32>
    (%l: tile<i32>, %r: tile<i32>) { %s = addi %l, %r : tile<i32>  yield %s : tile<i32> }
    %a2 = reduce %a1 dim=0 identities=[0 : i32] : tile<8xi32> -> tile<i32>
    (%l: tile<i32>, %r: tile<i32>) { %s = addi %l, %r : tile<i32>  yield %s : tile<i32> }
    print_tko "%i", %a2 : tile<i32> -> token
    %b0 = reduce %c dim=0 identities=[0 : i32] : tile<4x2x8xi32> -> tile<2x8xi32>
    (%l: tile<i32>, %r: tile<i32>) { %s = addi %l, %r : tile<i32>  yield %s : tile<i32> }
    %b1 = reduce %b0 dim=1 identities=[0 : i32] : tile<2x8xi32> -> tile<2xi32>
    (%l: tile<i32>, %r: tile<i32>) { %s = addi %l, %r : tile<i32>  yield %s : tile<i32> }
    %b2 = reduce %b1 dim=0 identities=[0 : i32] : tile<2xi32> -> tile<i32>
    (%l: tile<i32>, %r: tile<i32>) { %s = maxi %l, %r signed : tile<i32>  yield %s : tile<i32> }
    print_tko "%i %i", %b1, %b2 : tile<2xi32>, tile<i32> -> token
    return
  }
}

// CHECK: %[[C:.*]] = reshape %x : tile<64xi32> -> tile<4x2x8xi32>
// CHECK: reshape %{{.*}} : tile<8x8xi32> -> tile<64xi32>
// CHECK: reduce %{{.*}} dim=0 {{.*}} : tile<64xi32> -> tile<i32>
// CHECK: reduce %[[C]] dim=0 {{.*}} -> tile<2x8xi32>
// CHECK: reduce %{{.*}} dim=1 {{.*}} -> tile<2xi32>
// CHECK: reduce %{{.*}} dim=0 {{.*}} -> tile<i32>
