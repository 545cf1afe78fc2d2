"""The second engine: blocks of `ptx` programs as native code, by LLVM (the extra `fast`).

`words` lets the functions that the first engine computes arrays with write LLVM IR, `code` has
loops over threads and places in memory, `memory` loads and stores with their races, `blocks`
compiles the steps of a program, and `engine` runs gangs through them.
"""
