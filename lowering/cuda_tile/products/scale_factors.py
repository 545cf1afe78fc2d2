"""The scale factors of a block-scaled `tcgen05.mma`: each warp stores for its own lanes what its
threads have of their rows, as every 32 lanes have all factors.

    factors (row, k):  threads (row0..row4, none, ...)  registers (k0, k1, row5, ..., k2, ...)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from operator import mul

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float8E4M3FNType, i8, i32
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atoms.tmem_layouts import lane_stride
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import TCGEN05
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES
from tilewright.dialects.cute_nvgpu.lattice.tmem import LANES
from tilewright.dialects.cute_nvgpu.ops.smem_desc import MakeSmemDescOp
from tilewright.dialects.cute_nvgpu.ops.tmem_copy import CopyOp, CopyShapeAttr
from tilewright.dialects.cute_nvgpu.types.fragments import MLIR_TYPES
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import ThreadWord, bitcast
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.shared_tiles import SharedTile
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS, TileLayout, dim_bits, log2
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    FACTORS_OF_WORD,
    ScaleFactors,
    factor_bits,
)

_BITS, _WORD_BITS = 8, 32
"""The bits of a factor, and of four."""
_GROUP_BITS = 7
"""The bits of the rows that a copy has the factors of."""


def factor_copies(
    factors: ScaleFactors, value: SSAValue, axis: int, kernel: EntryLowering
) -> Iterator[Operation]:
    """The copies of factors to their columns from where TMA has put them, by one thread."""
    emitter, tile = kernel.emitter, kernel[value]
    assert isinstance(tile, SharedTile)
    tile.ready()
    across, depth = factor_bits(shape_of(value), axis)
    order, block = tile.order, [*depth[:2], *across[WARP_BITS:_GROUP_BITS]]
    element = ELEMENT_TYPES["e4m3" if isinstance(tile.element, Float8E4M3FNType) else "u8"]
    view = order.view(across[:WARP_BITS], block, element, TCGEN05)
    assert view is not None
    batch, rows, blocks = factors.extents
    strides = (1 << across[0], 1 << depth[0], rows * blocks)
    for place in product(range(0, rows, LANES), range(0, blocks, FACTORS_OF_WORD), range(batch)):
        number = sum(map(mul, place, strides))
        far = sum(1 << at for bit, at in order.order.position.items() if number >> bit & 1)
        at = emitter.binary("add", tile.start, far)
        matrix = emitter.emit(MakeSmemDescOp(tile.line, [at], view))
        shape = Layout((LANES, FACTORS_OF_WORD), (lane_stride(_WORD_BITS), 1))
        row, k, item = place
        column = factors.column_of(item, row, k)
        cells = kernel.tensor.slice(column, i32, (LANES, FACTORS_OF_WORD), shape)
        begin = [emitter.constant(0, None)] * 2
        shape, ctas = CopyShapeAttr("32x128b.warpx4"), kernel.tensor.ctas
        yield CopyOp(matrix, cells, begin, shape, cta_group=ctas)


def store_factors(factors: ScaleFactors, value: SSAValue, axis: int, kernel: EntryLowering) -> None:
    """Lay factors down, whose rows or columns are along an axis and K along the other one."""
    batch, *_ = dim_bits((factors.extents[0], *shape_of(value)[-2:]))
    rows, depth = factor_bits(shape_of(value), axis)
    low, high = depth[: log2(FACTORS_OF_WORD)], depth[log2(FACTORS_OF_WORD) :]
    lanes = rows[:WARP_BITS]
    idle = (None,) * (kernel.table.thread_bits - len(lanes))
    layout = TileLayout((*lanes, *idle), (*low, *rows[WARP_BITS:], *high, *batch))
    elements, count = kernel.elements(value, layout), 1 << len(low)
    words = [_word(elements[i : i + count], kernel) for i in range(0, len(elements), count)]
    kernel.tensor.store_words(factors.column, words)


def _word(elements: Sequence[SSAValue], kernel: EntryLowering) -> SSAValue:
    word = ThreadWord(kernel, kernel.constant(0, i32))
    for i, element in enumerate(elements):
        part = kernel.emit(arith.ExtUIOp, [bitcast(kernel, element, i8)], i32)
        word |= ThreadWord(kernel, part) << _BITS * i
    return word.value


def factors_operand(
    factors: ScaleFactors,
    which: str,
    atom: UmmaAtom,
    place: tuple[int, int, int],
    kernel: EntryLowering,
) -> tuple[SSAValue, int]:
    """The operand of an MMA whose factors begin at a place (batch, row, factor), and its id."""
    layout = atom.cta_layout(which)
    shape = layout[0].size(), layout[1].size()
    type_ = MLIR_TYPES[atom.element(which).name]
    operand = kernel.tensor.slice(factors.column_of(*place), type_, shape, layout)
    return operand, place[2] % FACTORS_OF_WORD
