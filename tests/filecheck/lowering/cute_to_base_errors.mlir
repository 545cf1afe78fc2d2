// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p cute-to-base

func.func @algebra(%s: !cute.shape<"?">) {
  // expected-error @+1 {{'cute.size' expected an op that cute-expand-ops leaves, got one that it expands; nearest legal: cute-expand-ops,cute-to-base}}
  %n = cute.size(%s) : (!cute.shape<"?">) -> !cute.int_tuple<"?">
  func.return
}

// -----

func.func @printf() {
  func.return
}
func.func @other_op(%s: !cute.shape<"?">) {
  // expected-error @+1 {{'cute.print' expected @printf to be of !llvm.func<i32 (!llvm.ptr, ...)>, got a 'func.func'}}
  cute.print(%s) : !cute.shape<"?">
  func.return
}

// -----

llvm.func @printf(!llvm.ptr) -> i32
func.func @other_type(%s: !cute.shape<"?">) {
  // expected-error @+1 {{'cute.print' expected @printf to be of !llvm.func<i32 (!llvm.ptr, ...)>, got !llvm.func<i32 (!llvm.ptr)>}}
  cute.print(%s) : !cute.shape<"?">
  func.return
}
