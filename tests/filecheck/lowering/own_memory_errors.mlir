// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx --split-input-file --verify-diagnostics

// expected-error @+1 {{'memref.global' expected elements of i8 that are given, got memref<4xf32>}}
"memref.global"() <{sym_name = "g", sym_visibility = "private", type = memref<4xf32>, initial_value = dense<1.0> : tensor<4xf32>}> : () -> ()
