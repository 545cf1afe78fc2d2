"""Canonical fragment layouts of MMAs, as CuTe thread-value layouts.

A TV layout maps (thread, value) to an index of the matrix: A `m + M*k`, B `n + N*k`,
C and D `m + M*n`; values count in register order, low bits of a register first.

All `m8n8` and `m16n8` shapes share one pattern (PTX ISA 9.7.14.5.2 to 9.7.14.5.13). A warp is
eight groups of four threads; with `w` elements to a register,

    A row r of the 8 x 4w block:  | t0: k=0..w-1 | t1: k=w..2w-1 | t2 | t3 |     group g holds row g

and the registers of a thread walk the blocks: rows first (`m + 8`), then `k + 4w`. A sparse A is
stored as the dense A of half its K. `m8n8k4` on f16 has a pattern of its own, below.
The four warps of a warpgroup hold 16 rows each, one below the other (PTX ISA 9.7.15.5.1.1).
"""

from functools import cache

from tilewright.dialects.cute import Layout, make_layout

_GROUPS = 8
_GROUP_SIZE = 4


@cache
def blocks(rows: int, columns: int, width: int, warps: int = 1) -> Layout:
    """`(T32*warps, V) -> row + rows*column`: A, B, C or D in blocks of 8 rows x 4*width columns.

    `width` is how many neighbours in a row one thread holds: those of a register of A or B, two of
    C or D. Blocks follow each other down the rows of a warp first.
    """
    own = rows // warps
    return stacked_blocks((own, columns), (1, rows), width, own, warps=(warps, own))


def stacked_blocks(
    extents: tuple[int, int],
    steps: tuple[int, int],
    width: int,
    block: int,
    *,
    copies: int = 1,
    warps: tuple[int, int] = (1, 0),
) -> Layout:
    """A matrix in blocks of `block` rows, one below the other, each a fragment of `mma.sync`.

    `steps` are the strides of a row and of a column in the index, `warps` (extent, stride) of the
    warps. A group of four threads holds row `g` of every eight, `width` neighbours in it a thread.
    """
    (rows, columns), (row, column) = extents, steps
    return tv_layout(
        [(_GROUP_SIZE, width * column), (_GROUPS, row), warps],
        [
            (width, column),
            (block // _GROUPS, _GROUPS * row),
            (columns // (_GROUP_SIZE * width), _GROUP_SIZE * width * column),
            (rows // block, block * row),
            (copies, 0),
        ],
    )


@cache
def metadata(rows: int, indices: int, *, across: bool, warps: int = 1) -> Layout:
    """`(T32*warps, V16) -> m + M*j`: the 2-bit indices of a sparse A, `j` counting along its row.

    A group of four threads holds rows `g` and `g + 8`; as many neighbours of the group as it takes
    contribute a word each, and the sparsity selector says which neighbours (those that do not
    repeat the words of the others). With `across`, a word holds indices of one row and the rows
    alternate between neighbours; without, a word holds a stretch of both rows, low half and high.
    PTX ISA 9.7.14.6.2 has the layouts as figures only; these equal what an H200 does with all
    selectors (tests/silicon).
    """
    contributors = rows // warps * indices // (_GROUPS * 16)
    repeated = (_GROUP_SIZE // contributors, 0)
    others = [repeated, (_GROUPS, 1), (warps, rows // warps)]
    if across:
        modes = [(2, _GROUPS), (contributors // 2, 16 * rows), *others]
        return tv_layout(modes, [(16, rows)])
    return tv_layout([(contributors, 8 * rows), *others], [(8, rows), (2, _GROUPS)])


@cache
def scale_a(rows: int, vector: int) -> Layout:
    """`(T32, V4) -> m + M*s`: scale factors of A, `vector` a row, one a byte.

    Two neighbours of each group of four hold rows `g` and `g + 8`; the selector {byte-id-a,
    thread-id-a} says which two, and from which byte on. PTX ISA 9.7.14.3.
    """
    return tv_layout(
        [(2, rows // 2), (2, 0), (_GROUPS, 1)], [(vector, rows), (_GROUP_SIZE // vector, 0)]
    )


@cache
def scale_b(columns: int, vector: int) -> Layout:
    """`(T32, V4) -> n + N*s`: scale factors of B, `vector` a column, one a byte.

    One thread of each group of four holds column `g`; {byte-id-b, thread-id-b} says which one, and
    from which byte on. PTX ISA 9.7.14.3.
    """
    return tv_layout(
        [(_GROUP_SIZE, 0), (_GROUPS, 1)], [(vector, columns), (_GROUP_SIZE // vector, 0)]
    )


def tv_layout(threads: list[tuple[int, int]], values: list[tuple[int, int]]) -> Layout:
    """The layout of (extent, stride) modes, those of extent 1 left out."""
    return make_layout(mode(*threads), mode(*values))


def mode(*steps: tuple[int, int]) -> Layout:
    """A mode of these (extent, stride), without those that do not move."""
    moving = [step for step in steps if step[0] > 1] or [(1, 0)]
    if len(moving) == 1:
        return Layout(*moving[0])
    return Layout(tuple(extent for extent, _ in moving), tuple(step for _, step in moving))


# m8n8k4 on f16. PTX ISA 9.7.14.5.1.
#
# One instruction computes four MMAs, each on a quad pair: threads 4q..4q+3 and 16+4q..16+4q+3. The
# four matrices lie side by side: the index is `m + 8*k + 32*q` for A, `n + 8*k + 32*q` for B and
# `m + 8*n + 64*q` for C and D. With `t` the thread in its quad and `h` its half of the warp:
#
#     A row-major, m = t + 4h, k = i (B column-major: n for m)
#     A column-major, m = i + 4h, k = t (B row-major: n for m)
#     C, D of f16: m = t + 4h, n = i
#     C, D of f32: m = t%2 + 2*(i/2%2) + 4h, n = i%2 + 2*(t/2) + 4*(i/4)

QUAD_PAIRS = 4
QUAD_PAIR = Layout((_GROUP_SIZE, 2), (1, 16))
"""thread of the first quad pair -> thread of the warp."""


@cache
def quad_pair_multiplicand(along_k: bool) -> Layout:
    """`(T32, V4)` of A or B: a thread's values run along k, or along m (A) and n (B)."""
    if along_k:
        return Layout(((4, 4, 2), 4), ((1, 32, 4), 8))
    return Layout(((4, 4, 2), 4), ((8, 32, 4), 1))


@cache
def quad_pair_accumulator(element: str) -> Layout:
    """`(T32, V8)` of C or D, which depends on their type: f16 or f32."""
    if element == "f16":
        return Layout(((4, 4, 2), 8), ((1, 64, 4), 8))
    return Layout(((2, 2, 4, 2), (2, 2, 2)), ((1, 16, 64, 4), (8, 2, 32)))
