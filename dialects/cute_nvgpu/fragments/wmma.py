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
from tilewright.dialects.cute_nvgpu.fragments.mma import tv_layout

_GROUPS = 8
_GROUP_SIZE = 4
_ROWS_OF_A = 16
_PAIR = 2

Extents = tuple[int, int]


def multiplicand(extents: Extents, width: int, *, as_a: bool, copies: int = 1) -> Layout:
    """`(T32, V) -> row + rows*k`: A or B, (rows, k), with `width` neighbours in k to a register.

    `as_a` says which operand of `mma.sync` it stands for; it is held `copies` times over.
    """
    rows, _ = extents
    return _blocks(extents, (1, rows), width, _ROWS_OF_A if as_a else _GROUPS, copies)


def accumulator(extents: Extents) -> Layout:
    """`(T32, V) -> m + M*n`: C or D, (M, N); on its side where N is longer than M."""
    m, n = extents
    if n > m:
        return _blocks((n, m), (m, 1), _PAIR, _ROWS_OF_A)
    return _blocks((m, n), (1, m), _PAIR, _ROWS_OF_A)


def _blocks(extents: Extents, steps: Extents, width: int, block: int, copies: int = 1) -> Layout:
    """A matrix in blocks of `block` rows, each a fragment of `mma.sync`.

    `steps` are the strides of a row and of a column in the index. A group of four threads holds
    row `g` of every eight, `width` neighbours in it a thread.
    """
    (rows, columns), (row, column) = extents, steps
    block = min(block, rows)
    return tv_layout(
        [(_GROUP_SIZE, width * column), (_GROUPS, row)],
        [
            (width, column),
            (block // _GROUPS, _GROUPS * row),
            (columns // (_GROUP_SIZE * width), _GROUP_SIZE * width * column),
            (rows // block, block * row),
            (copies, 0),
        ],
    )
