"""Fragment layouts of `m8n8k4` on f16, as CuTe thread-value layouts. PTX ISA 9.7.14.5.1.

One instruction computes four MMAs, each on a quad pair: threads 4q..4q+3 and 16+4q..16+4q+3.
The four matrices lie side by side: the index is `m + 8*k + 32*q` for A, `n + 8*k + 32*q` for B and
`m + 8*n + 64*q` for C and D. With `t` the thread in its quad and `h` its half of the warp:

    A row-major, m = t + 4h, k = i (B column-major: n for m)
    A column-major, m = i + 4h, k = t (B row-major: n for m)
    C, D of f16: m = t + 4h, n = i
    C, D of f32: m = t%2 + 2*(i/2%2) + 4h, n = i%2 + 2*(t/2) + 4*(i/4)
"""

from __future__ import annotations

from functools import cache

from tilewright.dialects.cute import Layout

MATRICES = 4


@cache
def multiplicand(along_k: bool) -> Layout:
    """`(T32, V4)` of A or B: a thread's values run along k, or along m (A) and n (B)."""
    if along_k:
        return Layout(((4, 4, 2), 4), ((1, 32, 4), 8))
    return Layout(((4, 4, 2), 4), ((8, 32, 4), 1))


@cache
def accumulator(element: str) -> Layout:
    """`(T32, V8)` of C or D, which depends on their type: f16 or f32."""
    if element == "f16":
        return Layout(((4, 4, 2), 8), ((1, 64, 4), 8))
    return Layout(((2, 2, 4, 2), (2, 2, 2)), ((1, 16, 64, 4), (8, 2, 32)))
