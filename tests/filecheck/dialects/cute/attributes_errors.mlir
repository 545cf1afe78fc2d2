// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected ':', got 'x' at position 5 of '(4,8)x(1,4)'}}
func.func @f(%x: !cute.layout<"(4,8)x(1,4)">)

// -----

// expected-error @+1 {{expected an integer or '(', got '?' (dynamic extents are not supported)}}
func.func @f(%x: !cute.layout<"(?,8):(1,4)">)

// -----

// expected-error @+1 {{at position}}
func.func @f(%x: !cute.layout<"(4,8):(1,4,2)">)

// -----

// expected-error @+1 {{expected a plain layout, got 'S<2,3,3> o 0 o (64,32):(32,1)'}}
func.func @f(%x: !cute.layout<"S<2,3,3> o 0 o (64,32):(32,1)">)

// -----

// expected-error @+1 {{expected a composed layout, got '(4,8):(1,4)'}}
func.func @f(%x: !cute.composed_layout<"(4,8):(1,4)">)

// -----

// A layout nested deeper than any is an error, not a crash.
// expected-error @+1 {{expected a tuple nested at most 64 deep}}
func.func @f(%x: !cute.layout<"((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((2)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))):2">)

// -----

// expected-error @+1 {{Expected `generic`, `gmem`, `smem`, `rmem`, or `tmem`.}}
func.func @f(%x: memref<4xf32, #cute<space shared>>)
