// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{Expected 'in'}}
#f = #cuda_tile.di_file<"a.py" "b">

// -----

// expected-error @+1 {{expected one of file, got folder}}
#f = #cuda_tile.di_compile_unit<folder = "a">

// -----

// expected-error @+1 {{'cuda_tile.di_subprogram' expected name, got none}}
#f = #cuda_tile.di_subprogram<file = #cuda_tile.di_file<"a" in "b">, line = 1>

// -----

// expected-error @+1 {{Expected `unsigned`, or `signed`.}}
#f = #cuda_tile.signedness<sign>

// -----

// expected-error @+1 {{Expected `nearest_even`, `zero`, `negative_inf`, `positive_inf`, `approx`, `full`, `nearest_int_to_zero`, or `nearest_away`.}}
#f = #cuda_tile.rounding<near>

// -----

// expected-error @+1 {{'cuda_tile.optimization_hints' expected a dictionary of hints for sm_100, got 4 : i64}}
#f = #cuda_tile.optimization_hints<sm_100 = 4>

// -----

// expected-error @+1 {{expected one entry for sm_100, got two}}
#f = #cuda_tile.optimization_hints<sm_100 = {}, sm_100 = {}>
