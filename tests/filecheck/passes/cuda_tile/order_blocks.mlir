// RUN: tilewright-opt %s -p cuda-tile-order-blocks | filecheck %s

// Blocks whose loop is longer the larger their number is begin first.

cuda_tile.module @m {
  entry @k() {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    for %i in (%0 to %y, step %1) : tile<i32> {
      continue
    }
    return
  }
}

// CHECK: %0, %1, %2 = get_tile_block_id
// CHECK: %3, %4, %5 = get_num_tile_blocks
// CHECK: %9 = addi %8, %0
// CHECK: %10 = muli %3, %5
// CHECK: %12 = divi %9, %10 unsigned
// CHECK: %16 = subi %4, %15
// CHECK: %17 = subi %16, %12
// CHECK: %25 = select %23, %17, %1
// CHECK-NEXT: %y = assume bounded<0, ?>, %25
// CHECK: for %i in (%27 to %y, step %28)
