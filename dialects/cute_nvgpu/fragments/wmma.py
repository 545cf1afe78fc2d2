"""Fragment layouts of `wmma`, as CuTe thread-value layouts.

PTX leaves it to the chip which thread holds which element (PTX ISA 9.7.14.4.1). These layouts are
those of an H200, measured for every form of `wmma.load` (tests/silicon); a program that does not
look into its fragments cannot tell them from another chip's.

A wmma is two `mma.sync` side by side, and its fragments are theirs, one after the other:

    m16n16    two m16n8, along n
    m32n8     two m16n8, along m
    m8n32     two m16n8 of the transposed product, along n: B stands for A, and C lies on its side
    m8n8      one m8n8

So an operand comes in blocks of 16 rows (of A, or of whichever stands for A) or of 8. How the
matrix lies in memory does not show in its fragment. An f16 A or B always takes eight registers:
what is smaller is held two or four times over.
"""

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.fragments.mma import stacked_blocks

_ROWS_OF_A = 16
_ROWS_OF_B = 8
_PAIR = 2

Extents = tuple[int, int]


def multiplicand(extents: Extents, width: int, *, as_a: bool, copies: int = 1) -> Layout:
    """`(T32, V) -> row + rows*k`: A or B, (rows, k), with `width` neighbours in k to a register.

    `as_a` says which operand of `mma.sync` it stands for; it is held `copies` times over.
    """
    rows, _ = extents
    block = min(_ROWS_OF_A, rows) if as_a else _ROWS_OF_B
    return stacked_blocks(extents, (1, rows), width, block, copies=copies)


def accumulator(extents: Extents) -> Layout:
    """`(T32, V) -> m + M*n`: C or D, (M, N); on its side where N is longer than M."""
    m, n = extents
    matrix, steps = ((n, m), (m, 1)) if n > m else (extents, (1, m))
    return stacked_blocks(matrix, steps, _PAIR, min(_ROWS_OF_A, matrix[0]))
