// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{failed to parse layout from "(4,8)x(1,4)": expected the end, got 'x' at position 5 of '(4,8)x(1,4)'}}
func.func @f(%x: !cute.layout<"(4,8)x(1,4)">)

// -----

// expected-error @+1 {{failed to parse layout from "(?{i7},8):(1,4)": expected a width of 1, 8, 16, 32, 64, got '?{i7}'}}
func.func @f(%x: !cute.layout<"(?{i7},8):(1,4)">)

// -----

// expected-error @+1 {{expects no error(`x`) in layout, but got "x:x" (no layout is written (4,8):(1,4,2))}}
func.func @f(%x: !cute.layout<"(4,8):(1,4,2)">)

// -----

// expected-error @+1 {{expected an integer, got 'S' at position 0}}
func.func @f(%x: !cute.layout<"S<2,3,3> o 0 o (64,32):(32,1)">)

// -----

// expected-error @+1 {{failed to parse composed_layout from "(4,8):(1,4)": expected 'o', got the end}}
func.func @f(%x: !cute.composed_layout<"(4,8):(1,4)">)

// -----

// A layout nested deeper than any is an error, not a crash.
// expected-error @+1 {{expected a tuple nested at most 64 deep}}
func.func @f(%x: !cute.layout<"((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((2)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))):2">)

// -----

// expected-error @+1 {{Expected `generic`, `gmem`, `smem`, `dsmem`, `rmem`, or `tmem`.}}
func.func @f(%x: memref<4xf32, #cute<space shared>>)
