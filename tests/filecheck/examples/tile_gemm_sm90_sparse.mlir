// The example round-trips, with and without the types of its operands and in the generic form.
// RUN: tilewright-opt %examples/tile_gemm_sm90_sparse.mlir -o %t.custom
// RUN: tilewright-opt --print-op-generic %t.custom | tilewright-opt | diff %t.custom -
// RUN: tilewright-opt %t.custom -p cute-fold-static | tilewright-opt | filecheck %s

// CHECK: cute.gemm
