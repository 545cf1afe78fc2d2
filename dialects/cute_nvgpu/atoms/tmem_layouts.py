"""How matrices lie in tensor memory, as CuTe layouts: coordinates -> offset in elements.

An element of `b` bits at offset x starts at bit x * b of the address space: cell x * b / 32, whose
bits 31 to 16 are the lane and 15 to 0 the column. So a lane is 65536 * 32 / b elements after its
neighbour, a column 32 / b. Where two CTAs hold a matrix, the second one's elements are
`PAIR_STRIDE` cells after the first one's, beyond the 32 bits of an address. Offsets count from the
operand's address. PTX ISA, tcgen05 data path layouts.
"""

from tilewright.dialects.cute import Layout, flatten, make_layout
from tilewright.dialects.cute.tensor_memory import extents
from tilewright.dialects.cute_nvgpu.fragments.mma import mode
from tilewright.dialects.cute_nvgpu.lattice.tmem import CELL_BITS, LANE_STRIDE, LANES, WINDOW
from tilewright.dialects.frozen import frozen

PAIR_STRIDE = 1 << 32
"""Cells between the same address in the two CTAs of a pair."""

PAIR_LANES = PAIR_STRIDE // LANE_STRIDE
"""The same as a number of lanes."""


class TmemLayoutError(ValueError):
    """A matrix that tensor memory holds in no documented way: what is legal, and what was found."""


def lane_stride(bits: int) -> int:
    """Elements of `bits` from a lane to the next."""
    return LANE_STRIDE * CELL_BITS // bits


def column_stride(bits: int) -> int:
    """Elements of `bits` from a column to the next."""
    return CELL_BITS // bits


def span(layout: Layout, bits: int) -> tuple[int, int]:
    """(lanes, columns) from the first element of a layout to its last, both included.

    Raises ValueError for a layout that is none of one CTA's tensor memory.
    """
    if any(not isinstance(stride, int) or stride < 0 for stride in flatten(layout.stride)):
        raise ValueError(f"expected a layout of strides of 0 or more, got {layout}")
    return extents(layout, bits)


@frozen
class DataPath:
    """Which lanes the rows of a matrix of M rows lie in.

    `letter` is PTX's name of it. `rows` are the modes of the row, (extent, lanes from one to the
    next): `PAIR_LANES` goes to the pair's other CTA. The columns of D are cut into `parts`, `apart`
    lanes from one to the next; A and the metadata are there once for each part.
    """

    letter: str
    m: int
    cta_group: int
    ws: tuple[bool, ...]
    sparse: tuple[bool, ...]
    rows: tuple[tuple[int, int], ...]
    parts: int = 1
    apart: int = 0

    def row_mode(self, bits: int) -> Layout:
        """row -> offset in elements of `bits`."""
        return mode(*((extent, lanes * lane_stride(bits)) for extent, lanes in self.rows))

    @property
    def lane_groups(self) -> tuple[tuple[int, int], ...]:
        """The modes of the number of 16 neighbouring rows: (extent, lanes)."""
        (first, _), *others = self.rows
        return ((first // 16, 16), *others)


_ANY = (False, True)
_EACH_CTA = (2, PAIR_LANES)
_QUARTERS = ((16, 1), (4, 32))

DATA_PATHS: tuple[DataPath, ...] = (
    DataPath("A", 256, 2, (False,), _ANY, ((128, 1), _EACH_CTA)),
    DataPath("B", 128, 2, (False,), (False,), ((64, 1), _EACH_CTA), 2, 64),
    DataPath("C", 128, 2, (False,), (True,), (*_QUARTERS, _EACH_CTA)),
    DataPath("D", 128, 1, _ANY, _ANY, ((128, 1),)),
    DataPath("E", 64, 1, (True,), _ANY, ((64, 1),), 2, 64),
    DataPath("F", 64, 1, (False,), _ANY, _QUARTERS),
    DataPath("G", 32, 1, (True,), _ANY, ((32, 1),), 4, 32),
)
"""PTX ISA, tcgen05 data path layout organization. F and C use every other 16 lanes: the address
says whether those from 0 or from 16 on, the same for D, A and the metadata."""


def data_path(m: int, cta_group: int = 1, *, ws: bool = False, sparse: bool = False) -> DataPath:
    """The data path of an MMA of M rows. Raises TmemLayoutError where there is none."""
    rows = [row for row in DATA_PATHS if ws in row.ws and row.cta_group == cta_group]
    for row in rows:
        if row.m == m and sparse in row.sparse:
            return row
    legal = sorted({row.m for row in rows}) or ["none"]
    raise TmemLayoutError(
        f"expected M {' or '.join(map(str, legal))} with cta_group {cta_group}"
        f"{' weight-stationary' if ws else ''}, got {m}"
    )


def accumulator(path: DataPath, n: int, bits: int = CELL_BITS) -> Layout:
    """D: (row, column) -> offset. An element of 16 bits has a cell of its own.

    Raises TmemLayoutError where the parts of the data path are not whole columns.
    """
    if n % path.parts:
        raise TmemLayoutError(f"expected N a multiple of {path.parts}, got {n}")
    part, apart = n // path.parts, path.apart * lane_stride(bits)
    columns = mode((part, column_stride(bits)), (path.parts, apart))
    return make_layout(path.row_mode(bits), columns)


def multiplicand(path: DataPath, k: int, bits: int) -> Layout:
    """A: (row, k) -> offset, elements of `bits` side by side; `copies` of it are needed. A sparse A
    has the elements that are stored, an element that is narrower than its byte all 8 bits."""
    return make_layout(path.row_mode(bits), Layout(k, 1))


def copies(path: DataPath, bits: int) -> Layout:
    """copy -> offset of A or the metadata: once for each part of D's columns."""
    return Layout(path.parts, path.apart * lane_stride(bits))


METADATA_BITS = 2
_ROWS, _WORD = 8, 8


def metadata(path: DataPath, bits: int, indices: int) -> Layout:
    """(row, index) -> offset in 2-bit indices, `indices` of them a row, for A of `bits` bits.

    Of 16- and 32-bit types half a cell holds 8 indices of a row, the other half 8 of the row 8
    below it, and the row's next 8 are 8 lanes on; of narrower types a row has a lane to itself.
    `copies` of it are needed. PTX ISA, tcgen05 sparse matrices.
    """
    lane = lane_stride(METADATA_BITS)
    groups = [(extent, lanes * lane) for extent, lanes in path.lane_groups]
    if bits < 16:
        return make_layout(mode((2 * _ROWS, lane), *groups), Layout(indices, 1))
    rows = mode((_ROWS, lane), (2, _WORD), *groups)
    return make_layout(rows, mode((_WORD, 1), (indices // _WORD, _ROWS * lane)))


SCALE_BITS = 8
_PER_WORD = CELL_BITS // SCALE_BITS


def scale_factors(rows: int, words: int = 1, group: int | None = None) -> Layout:
    """(row, (byte, word)) -> offset of the scale factors of the rows of A, or columns of B, that
    one CTA has: 32 rows a column, 4 factors of a row in a cell. `SCALE_COPIES` of it are needed.

    `rows` are rounded up to whole columns. With several words a row, each is `group` columns after
    the one before, or all the columns of one. PTX ISA, tcgen05 scale factor layouts.
    """
    columns = -(-rows // WINDOW)
    step = _PER_WORD * (columns if group is None else group)
    across = mode((min(rows, WINDOW), lane_stride(SCALE_BITS)), (columns, _PER_WORD))
    return make_layout(across, mode((_PER_WORD, 1), (words, step)))


SCALE_COPIES = Layout(LANES // WINDOW, WINDOW * lane_stride(SCALE_BITS))
"""copy -> offset: scale factors are there for every 32 lanes."""


def halved_scale_factors(columns: int, words: int = 1, group: int | None = None) -> Layout:
    """((column % half, column / half), (byte, word)) -> offset of the scale factors of B where a
    pair of CTAs computes 128 rows: each half of D's columns has its own 64 lanes, with its factors
    twice (`HALVED_SCALE_COPIES`)."""
    half = scale_factors(columns // 2, words, group)
    halves = Layout(2, LANES // 2 * lane_stride(SCALE_BITS))
    return make_layout(make_layout(half.mode(0), halves), half.mode(1))


HALVED_SCALE_COPIES = Layout(2, WINDOW * lane_stride(SCALE_BITS))
