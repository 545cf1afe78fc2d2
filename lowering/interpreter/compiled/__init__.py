"""The second engine: blocks of `ptx` programs as native code, by LLVM (the extra `fast`).

`words` lets the functions that the first engine computes arrays with write LLVM IR, by `ufuncs`;
`code` has vectors of threads and places in memory, `memory` loads and stores with their races.
`stretches` finds the parts of a program that have code, `blocks` and `regions` write and `native`
compiles it,
and `engine` runs gangs through it.
"""
