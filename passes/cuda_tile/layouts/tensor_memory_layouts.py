"""Accumulators in tensor memory, and the layout in which threads load them.

A CTA has 128 lanes of 512 columns. `tcgen05.mma` multiplies 128 rows by up to 256 columns at once,
a row in each lane; of 64 rows each warp has 16, in half of its lanes. A warp loads and stores its
own 32 lanes: a thread has a row, or, of 64 rows, half of one; a second warpgroup has the other half
of the columns, or the next 128 rows.

    128x128, 128 threads:  threads (m0..m6)               registers (n0..n6)
    64x128, 128 threads:   threads (m0..m3, n6, m4, m5)   registers (n0..n5)
    of a pair of CTAs:     threads (m0..m5, n6)           registers (n0..n5)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFScaledOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma_lookup import find_umma
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, SCALE_TYPES
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.lattice.tmem import CELL_BITS, LANE_STRIDE, LANES
from tilewright.dialects.cute_nvgpu.types.fragments import MLIR_TYPES
from tilewright.dialects.frozen import frozen
from tilewright.dialects.integers import integer_of
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, dim_bits, log2
from tilewright.passes.cuda_tile.layouts.mma_layouts import (
    HALVES,
    AsyncLayouts,
    Bit,
    Multiplication,
    product_types,
)

ACCUMULATORS = "cute.accumulators"
"""The attribute of multiplications by `tcgen05.mma`: the address of their accumulators, with the
lane in bits 31 to 16."""

OPERAND = "cute.operand_columns"
"""The attribute of those whose A is in tensor memory: its address."""

SCALE_FACTORS = "cute.scale_factors"
"""The attribute of those that scale: the first column of their scale factors."""

PAIR = "cute.pair"
"""The attribute of those that a pair of CTAs multiplies: B is half in the memory of each."""

_FEW_ROWS, _COLUMNS, _MOST_COLUMNS, _DEPTH = 64, 8, 256, 32
"""The fewest rows and columns of a `tcgen05.mma`, its most columns, and its bytes of K."""
_FEWEST_TURNED = 16
"""The fewest rows or columns of bytes that need not lie along K."""
FACTORS_OF_WORD = 4
"""The scale factors in 32 bits."""
_LANE_BITS = 5
_FACTORS = {row.mlir: row.name for row in SCALE_TYPES.values()}
"""PTX's names of the types of scale factors."""
_WIDE = 32
"""The elements along K that share a scale factor of kind::mxf4."""
_WARPGROUP_BITS = 7
_PACKED = (*HALVES, "e4m3", "e5m2")
"""The types of A in tensor memory."""


@frozen
class Accumulators:
    """A tile of so many `b`, `m` and `n` in tensor memory from an address on, and its elements as
    the threads of a CTA load them. 64 rows that are half of a pair's may be `folded`: the second
    half of the columns is in the lanes above."""

    extents: tuple[int, int, int]
    name: str
    address: int
    thread_bits: int
    folded: bool = False

    @property
    def element(self) -> Attribute:
        """The type of an element."""
        return MLIR_TYPES[self.name]

    @property
    def lane(self) -> int:
        """The lane of the first row."""
        return self.address // LANE_STRIDE

    @property
    def column(self) -> int:
        """The first column."""
        return self.address % LANE_STRIDE

    @property
    def halved(self) -> bool:
        """True of 64 rows: each warp has 16 of them."""
        return self.extents[1] < LANES and not self.folded

    @property
    def block(self) -> tuple[int, int]:
        """The rows and the columns of one MMA."""
        _, rows, columns = self.extents
        return min(rows, LANES), min(columns, _MOST_COLUMNS)

    @property
    def columns(self) -> int:
        """The columns that they take."""
        batch, rows, columns = self.extents
        return batch * -(-rows // LANES) * (columns >> self.folded)

    def address_of(self, batch: int, row: int, column: int) -> int:
        """The address of an element."""
        _, rows, columns = self.extents
        columns >>= self.folded
        block = batch * -(-rows // LANES) + row // LANES
        return self.address + block * columns + (column % columns if self.folded else column)

    @property
    def _bits(self) -> tuple[list[int], list[int], list[int]]:
        batch, rows, columns = dim_bits(self.extents)
        return list(batch), list(rows), list(columns)

    @property
    def group_bit(self) -> int | None:
        """The bit of an element's number that tells the two warpgroups apart."""
        if self.thread_bits == _WARPGROUP_BITS:
            return None
        _, rows, columns = self._bits
        return rows[log2(LANES)] if 1 << len(rows) > LANES else columns[-1 - self.folded]

    @property
    def half_bit(self) -> int | None:
        """The bit that tells the two halves of a warp apart that have half a row each."""
        if not self.halved:
            return None
        *_, columns = self._bits
        return columns[-1] if self.thread_bits == _WARPGROUP_BITS else columns[-2]

    def layout(self, operand: str = "C") -> TileLayout:
        """The layout of the tile."""
        batch, rows, columns = self._bits
        lanes: list[int | None] = [*rows[: log2(LANES)]]
        if self.halved:
            lanes = [*rows[:4], self.half_bit, *rows[4:]]
        if self.folded:
            lanes.append(columns[-1])
        if self.group_bit is not None:
            lanes.append(self.group_bit)
        rest = [bit for bit in (*columns, *rows, *batch) if bit not in lanes]
        return TileLayout(tuple(lanes), tuple(rest))


@dataclass(frozen=True)
class PackedOperand(Accumulators):
    """A of a multiplication in tensor memory, of so many `b`, `m` and K, several in a cell: its
    columns are counted in elements."""

    @property
    def per_cell(self) -> int:
        """The elements of a cell."""
        return CELL_BITS // ELEMENT_TYPES[self.name].bits

    @property
    def columns(self) -> int:
        return super().columns // self.per_cell

    def address_of(self, batch: int, row: int, column: int) -> int:
        return super().address_of(batch, row, column) + self.address * (self.per_cell - 1)


@frozen
class TensorCoreLayouts(AsyncLayouts):
    """The operands of a multiplication that one thread issues for all of the CTA."""

    @property
    def units(self) -> list[Bit | None]:
        """None: the MMAs are numbered, not the threads."""
        return []

    def may_be_turned(self, size: int, across: int) -> bool:
        return size > 1 or across >= _FEWEST_TURNED


def tensor_core_atom(op: Multiplication, arch: Target | None) -> UmmaAtom | None:
    """The `tcgen05.mma` of an op, both operands K-major; None where there is none."""
    types = product_types(op)
    if types is None or arch is None:
        return None
    *_, rows, depth = shape_of(op.lhs)
    columns, step = shape_of(op.rhs)[-1], _DEPTH * 8 // ELEMENT_TYPES[types[0]].bits
    if rows < _FEW_ROWS or columns < _COLUMNS or depth < step:
        return None
    kind: dict[str, Any] = {}
    if isinstance(op, MmaFScaledOp):
        factor = _FACTORS.get(shown(element_of(op.lhs_scale)))
        if factor is None:
            return None
        narrow = types[0] == "e2m1"
        kind = {
            "kind": "mxf8f6f4" if not narrow else "mxf4" if block_of(op) == _WIDE else "mxf4nvf4",
            "scale_vector": step // block_of(op),
            "scale_type": factor,
        }
    pair = 1 + (PAIR in op.attributes)
    block = pair * min(rows, LANES), min(columns, _MOST_COLUMNS)
    try:
        op_name = "sm100.mma_bs" if kind else "sm100.mma"
        atom = find_umma(op_name, (*block, step), types, cta_group=pair, **kind)
    except AtomError:
        return None
    return atom if arch.supports(atom.row.target) else None


def bytes_of_name(name: str) -> int:
    """The bytes of an element by PTX's name of its type."""
    return max(ELEMENT_TYPES[name].bits // 8, 1)


def block_of(op: MmaFScaledOp) -> int:
    """The elements along K that share a scale factor."""
    return shape_of(op.lhs)[-1] // shape_of(op.lhs_scale)[-1]


def in_tensor_memory(op: Operation) -> bool:
    """True of a multiplication whose accumulators have a place in tensor memory."""
    return ACCUMULATORS in op.attributes


def products_in(op: Operation) -> list[Operation]:
    """The multiplications in tensor memory within an op."""
    return [inner for inner in op.walk() if in_tensor_memory(inner)]


def accumulators_of(op: Multiplication, thread_bits: int) -> Accumulators | None:
    """The accumulators of a multiplication that has some in tensor memory."""
    place, types = op.attributes.get(ACCUMULATORS), product_types(op)
    if not isinstance(place, IntegerAttr) or types is None:
        return None
    extents = extents_of(op)
    folded = PAIR in op.attributes and extents[1] < LANES
    return Accumulators(extents, types[2], place.value.data, thread_bits, folded)


def packed_operand(op: Multiplication, thread_bits: int) -> PackedOperand | None:
    """A of a multiplication that has it in tensor memory, or may have, from address 0 on."""
    place, types = integer_of(op.attributes.get(OPERAND), 0), product_types(op)
    batch, rows, columns = extents_of(op)
    if types is None or types[0] not in _PACKED or columns % _FEWEST_TURNED:
        return None
    extents = batch, rows, shape_of(op.lhs)[-1]
    return PackedOperand(extents, types[0], place, thread_bits)


def extents_of(op: Multiplication) -> tuple[int, int, int]:
    """The batch, rows and columns of a product."""
    *batch, rows, columns = shape_of(op.result)
    return (batch or [1])[0], rows, columns


@frozen
class ScaleFactors:
    """The scale factors of an operand from a column on, of so many batches, rows or columns, and
    blocks of K: a word has four of a row, 32 rows are a column, and the next words are in the next
    columns. Every 32 lanes have all of them."""

    extents: tuple[int, int, int]
    column: int

    @property
    def _of_word(self) -> int:
        """The columns of one word of each row."""
        return max(self.extents[1] >> _LANE_BITS, 1)

    @property
    def columns(self) -> int:
        """The columns that they take."""
        batch, _, depth = self.extents
        return batch * max(depth // FACTORS_OF_WORD, 1) * self._of_word

    def column_of(self, batch: int, row: int, k: int) -> int:
        """The column of the word of a factor."""
        words = max(self.extents[2] // FACTORS_OF_WORD, 1)
        word = batch * words + k // FACTORS_OF_WORD
        return self.column + word * self._of_word + (row >> _LANE_BITS)


def scale_factors_of(op: MmaFScaledOp) -> tuple[ScaleFactors, ScaleFactors]:
    """The scale factors of A and of B, from the column that was found for them on."""
    column = integer_of(op.attributes.get(SCALE_FACTORS), 0)
    (batch, rows, columns), depth = extents_of(op), shape_of(op.lhs_scale)[-1]
    a = ScaleFactors((batch, rows, depth), column)
    return a, ScaleFactors((batch, columns, depth), column + a.columns)


def factors_of(op: Operation) -> list[tuple[ScaleFactors, SSAValue, int]]:
    """The scale factors of a multiplication, if it scales: the operand that they are, and its
    dimension of rows or columns."""
    if not isinstance(op, MmaFScaledOp):
        return []
    return list(zip(scale_factors_of(op), (op.lhs_scale, op.rhs_scale), (-2, -1), strict=True))


def factor_bits(shape: Sequence[int], axis: int) -> tuple[range, range]:
    """The bits of the rows or columns of factors, which are along an axis, and of the blocks of
    K."""
    bits = dim_bits(shape)
    return bits[axis], bits[-3 - axis]


def lie_for_copies(places: Sequence[int], shape: Sequence[int], axis: int) -> bool:
    """True of factors whose bits lie at such places in memory that `tcgen05.cp` takes them: four
    of a row side by side, behind them those of the rows 32, 64 and 96 on, 16 bytes for each
    lane."""
    across, depth = factor_bits(shape, axis)
    block = [*depth[:2], *across[_LANE_BITS:_WARPGROUP_BITS], *across[:_LANE_BITS]]
    return [places[bit] for bit in block] == list(range(_WARPGROUP_BITS + 2))


def scale_columns(op: Multiplication) -> int:
    """The columns of all scale factors of a multiplication."""
    if not isinstance(op, MmaFScaledOp):
        return 0
    return sum(factors.columns for factors in scale_factors_of(op))
