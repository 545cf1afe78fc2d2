// RUN: tilewright-opt %s --split-input-file --verify-diagnostics -p inline-calls

func.func @f() {
  // expected-error @+1 {{'func.call' expected a callee that does not call itself}}
  func.call @f() : () -> ()
  func.return
}
func.func @k() attributes {gpu.kernel} {
  func.call @f() : () -> ()
  func.return
}

// -----

func.func @branches(%b: i1) {
  cf.cond_br %b, ^one, ^one
^one:
  func.return
}
func.func @k(%b: i1) attributes {gpu.kernel} {
  scf.if %b {
    // expected-error @+1 {{'func.call' inside 'scf.if' expected a callee of one block, got 2; nearest legal: scf instead of branches}}
    func.call @branches(%b) : (i1) -> ()
  }
  func.return
}

// -----

func.func private @extern()
func.func @k() attributes {gpu.kernel} {
  // expected-error @+1 {{'func.call' expected a function with a body, got @extern}}
  func.call @extern() : () -> ()
  func.return
}

// -----

func.func @k() attributes {gpu.kernel} {
  func.return
}
func.func @l() attributes {gpu.kernel} {
  // expected-error @+1 {{'func.call' expected a device function, got the kernel @k; nearest legal: a function without gpu.kernel that both call}}
  func.call @k() : () -> ()
  func.return
}
