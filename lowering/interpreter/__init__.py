"""The interpreter: any level of IR, executed on the CPU.

`builder` turns a kernel into a `program`, blocks of steps, and `machine` runs them on gangs of
threads and checks every access; in `ops`, one module a dialect or instruction family says what its
ops do. Kernels of threads are run by `kernel`, those of tiles by `cuda_tile`, which needs none of
these.
"""
