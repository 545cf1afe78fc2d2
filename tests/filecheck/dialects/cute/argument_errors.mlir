// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{argument expected a part of value, pointer, shape, stride, tensor_map, flat_map, field, got address}}
func.func @f(%a: index {cute.from = #cute.argument<0, address>})

// -----

// expected-error @+1 {{argument expected 1 mode for shape, got 0}}
func.func @f(%a: index {cute.from = #cute.argument<0, shape>})

// -----

// expected-error @+1 {{argument expected 0 mode for pointer, got 1}}
func.func @f(%a: index {cute.from = #cute.argument<0, pointer<1>>})

// -----

// expected-error @+1 {{argument expected at least one mode for tensor_map, got 0}}
func.func @f(%a: index {cute.from = #cute.argument<0, tensor_map, i32>})

// -----

// expected-error @+1 {{argument expected a type for a tensor map alone, got tensor_map}}
func.func @f(%a: index {cute.from = #cute.argument<0, tensor_map<0>>})
