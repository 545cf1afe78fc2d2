// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expects strides to be either all-integer or all-scaled-basis (zero integers allowed when mixed), but got "(1,1@0)"}}
func.func @f(%x: !cute.stride<"(1,1@0)">)

// -----

// expected-error @+1 {{expects scaled-basis strides to have integer values, not ratios, but got "1/2@0"}}
func.func @f(%x: !cute.stride<"1/2@0">)

// -----

// expected-error @+1 {{expects scaled-basis paths to agree on mode-index depth (no path may terminate at a node that another path continues through), but got "(1@0,1@0@0)"}}
func.func @f(%x: !cute.stride<"(1@0,1@0@0)">)

// -----

// expected-error @+1 {{expects no error(`x`) in layout, but got "x:x" (no layout is written x:1)}}
func.func @f(%x: !cute.layout<"x:1">)

// -----

// expected-error @+1 {{expects positive shape mode, but got "0:1"}}
func.func @f(%x: !cute.layout<"0:1">)

// -----

// expected-error @+1 {{expects strides to be either all-integer or all-scaled-basis (zero integers allowed when mixed), but got "(1,1@0)"}}
func.func @f(%x: !cute.layout<"(2,2):(1,1@0)">)

// -----

// expected-error @+1 {{expects strides to be either all-integer or all-scaled-basis (zero integers allowed when mixed), but got "(1,1@0)"}}
func.func @f(%x: !cute.tile<"[(2,2):(1,1@0)]">)

// -----

// expected-error @+1 {{expects scaled-basis strides to have integer values, not ratios, but got "1/2@0"}}
func.func @f(%x: !cute.tile<"[4:1/2@0]">)

// -----

// expected-error @+1 {{expects no error(`x`) in layout, but got "S<1,2,3> o 0 o 4:x"}}
func.func @f(%x: !cute.composed_layout<"S<1,2,3> o 0 o 4:x">)

// -----

// expected-error @+1 {{expects a non-trivial composed layout (with swizzle bits or non-zero offset); use `!cute.layout` for trivial wraps, but got "S<0,0,0> o 0 o 4:1"}}
func.func @f(%x: !cute.composed_layout<"S<0,0,0> o 0 o 4:1">)

// -----

// expected-error @+1 {{expects positive shape mode, but got "S<1,2,3> o 1 o 0:1"}}
func.func @f(%x: !cute.composed_layout<"S<1,2,3> o 1 o 0:1">)

// -----

// expected-error @+1 {{expects no error(`x`) in layout, but got "4:(1@0,1) o 1 o 4:1"}}
func.func @f(%x: !cute.composed_layout<"4:(1@0,1) o 1 o 4:1">)

// -----

// expected-error @+1 {{expects strides to be either all-integer or all-scaled-basis (zero integers allowed when mixed), but got "(1,1@0)"}}
func.func @f(%x: !cute.composed_layout<"(4,4):(1,1@0) o 1 o 4:1">)

// -----

// expected-error @+1 {{expects offset and `layout_eval(0, outer)` to be addable, but got 2 and (0)}}
func.func @f(%x: !cute.composed_layout<"4:1 o 2 o 8:2@0">)

// -----

// expected-error @+1 {{swizzle layout expects scalar `offset` and `outer` without scaled basis, but got (1,2) and (4,2):(1@0,1@1)}}
func.func @f(%x: !cute.composed_layout<"S<1,2,3> o (1,2) o (4,2):(1@0,1@1)">)

// -----

// expected-error @+1 {{expects arith sum of `layout_eval(0, outer)` and `offset` to be scalar or weakly congruent to inner shape, but got sum (1,2) and inner shape 4}}
func.func @f(%x: !cute.composed_layout<"4:1 o (1,2) o (4,2):(1@0,1@1)">)

// -----

// expected-error @+1 {{failed to parse swizzle from "S<20,20,20>": expected bits + base + |shift| <= 32, got S<20,20,20> at position 1 of 'S<20,20,20>'}}
func.func @f(%x: !cute.swizzle<"S<20,20,20>">)

// -----

// expected-error @+1 {{failed to parse swizzle from "S<3,0,1>": expected bits and base >= 0 and |shift| >= bits, got S<3,0,1> at position 1 of 'S<3,0,1>'}}
func.func @f(%x: !cute.swizzle<"S<3,0,1>">)

// -----

// expected-error @+1 {{failed to parse swizzle from "S<-1,0,1>": expected a number that is not negative, got '-1' at position 2 of 'S<-1,0,1>'}}
func.func @f(%x: !cute.swizzle<"S<-1,0,1>">)

// -----

// expected-error @+1 {{failed to parse shape from "(4,": expected an integer, got the end at position 3 of '(4,'}}
func.func @f(%x: !cute.shape<"(4,">)

// -----

// expected-error @+1 {{failed to parse shape from "(4,)": expected a mode, got ')' at position 3 of '(4,)'}}
func.func @f(%x: !cute.shape<"(4,)">)

// -----

// expected-error @+1 {{failed to parse shape from "(4 5)": expected ',' or ')', got '5' at position 3 of '(4 5)'}}
func.func @f(%x: !cute.shape<"(4 5)">)

// -----

// expected-error @+1 {{failed to parse shape from "4$": expected the end, got '$' at position 1 of '4$'}}
func.func @f(%x: !cute.shape<"4$">)

// -----

// expected-error @+1 {{failed to parse stride from "1/2": expected '@', got the end at position 3 of '1/2'}}
func.func @f(%x: !cute.stride<"1/2">)

// -----

// expected-error @+1 {{failed to parse int_tuple from "(1,_)": expected an integer, got '_' at position 3 of '(1,_)'}}
func.func @f(%x: !cute.int_tuple<"(1,_)">)

// -----

// expected-error @+1 {{expected string}}
func.func @f(%x: !cute.shape<4>)

// -----

// expected-error @+1 {{failed to parse stride from "1@-1": expected a number that is not negative, got '-1' at position 2 of '1@-1'}}
func.func @f(%x: !cute.stride<"1@-1">)

// -----

// expected-error @+1 {{failed to parse composed_layout from "S<1,2,3> o 1": expected 'o', got the end at position 12 of 'S<1,2,3> o 1'}}
func.func @f(%x: !cute.composed_layout<"S<1,2,3> o 1">)

// -----

// expected-error @+1 {{failed to parse tile from "[4:1": expected ';' or ']', got the end at position 4 of '[4:1'}}
func.func @f(%x: !cute.tile<"[4:1">)

// -----

// expected-error @+1 {{failed to parse coord from "a": expected an integer, got 'a' at position 0 of 'a'}}
func.func @f(%x: !cute.coord<"a">)

// -----

// expected-error @+1 {{failed to parse shape from "": expected an integer, got the end at position 0 of ''}}
func.func @f(%x: !cute.shape<"">)

// -----

// expected-error @+1 {{failed to parse shape from "99999999999999999999": expected an integer of 64 bits, got '99999999999999999999' at position 0 of '99999999999999999999'}}
func.func @f(%x: !cute.shape<"99999999999999999999">)
