// The passes on values of the algebra leave ops on tensors as they are; what is known of a tensor's
// shape is a constant.
// RUN: tilewright-opt %s -p cute-expand-ops | filecheck %s
// RUN: tilewright-opt %s -p cute-fold-static | filecheck %s --check-prefix FOLD

func.func @f(%a: !cute.memref<f16, gmem, "(?,8):(8,1)">, %i: !cute.coord<"(?,_)">, %n: !cute.shape<"(?,2)">) -> (!cute.int_tuple<"?">, !cute.int_tuple<"8">, vector<8xf16>) {
  // CHECK: %r = cute.slice(%a, %i)
  // FOLD: %r = cute.slice(%a, %i)
  %r = cute.slice(%a, %i)
  // CHECK: arith.muli
  // FOLD: %p = cute.size (%n)
  %p = cute.size (%n) : (!cute.shape<"(?,2)">) -> !cute.int_tuple<"?">
  // CHECK: %e = cute.size<[1]> (%a)
  // FOLD: %e = cute.static : !cute.int_tuple<"8">
  %e = cute.size<[1]> (%a)
  // CHECK: cute.memref.load_vec(%r)
  // FOLD: cute.memref.load_vec(%r)
  %v = cute.memref.load_vec(%r)
  func.return %p, %e, %v : !cute.int_tuple<"?">, !cute.int_tuple<"8">, vector<8xf16>
}
