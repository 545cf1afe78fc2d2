// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'ptx.global' expected a name that PTX takes, got 'a b;'; nearest legal: 'a_b_'}}
ptx.global @"a b;" align 1 dense<1> : tensor<2xi8>

// -----

// expected-error @+1 {{'ptx.global' expected bytes as a tensor of i8 with at least one, got tensor<0xi8>}}
ptx.global @g align 1 dense<[]> : tensor<0xi8>

// -----

// expected-error @+1 {{'ptx.global' expected bytes as a tensor of i8 with at least one, got tensor<2xi32>}}
ptx.global @g align 1 dense<1> : tensor<2xi32>

// -----

// expected-error @+1 {{'ptx.global' expected bytes aligned to a power of two of 31 bits, got 12}}
ptx.global @g align 12 dense<1> : tensor<2xi8>

// -----

ptx.entry @k() {
  // expected-error @+1 {{'ptx.global_address' expected a ptx.global of the module, got 'g', which none is}}
  %g = ptx.global_address "g"
  ptx.ret
}
