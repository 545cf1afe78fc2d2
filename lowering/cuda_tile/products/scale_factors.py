"""The scale factors of a block-scaled `tcgen05.mma`: each warp stores for its own lanes what its
threads have of their rows, as every 32 lanes have all factors.

    factors (row, k):  threads (row0..row4, none, ...)  registers (k0, k1, row5, ..., k2, ...)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float8E4M3FNType, Float8E8M0FNUType, i8, i32
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import on_integers
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel
from tilewright.lowering.cuda_tile.layouts.elements import shape_of
from tilewright.lowering.cuda_tile.layouts.layouts import WARP_BITS, TileLayout, dim_bits, log2
from tilewright.lowering.cuda_tile.layouts.tensor_memory_layouts import (
    FACTORS_OF_WORD,
    ScaleFactors,
)

_TYPES: dict[str, Attribute] = {"ue8m0": Float8E8M0FNUType(), "ue4m3": Float8E4M3FNType()}
_BITS = 8
"""The bits of a factor."""


def store_factors(factors: ScaleFactors, value: SSAValue, along: int, kernel: Kernel) -> None:
    """Lay factors down, whose rows or columns are along an axis and K along the other one."""
    batch, *own = dim_bits((factors.extents[0], *shape_of(value)[-2:]))
    rows, depth = own[along], own[-3 - along]
    low, high = depth[: log2(FACTORS_OF_WORD)], depth[log2(FACTORS_OF_WORD) :]
    lanes = rows[:WARP_BITS]
    idle = (None,) * (kernel.table.thread_bits - len(lanes))
    layout = TileLayout((*lanes, *idle), (*low, *rows[WARP_BITS:], *high, *batch))
    elements, count = kernel.elements(value, layout), 1 << len(low)
    words = [_word(elements[i : i + count], kernel) for i in range(0, len(elements), count)]
    kernel.tensor.store_words(factors.column, words)


def _word(elements: Sequence[SSAValue], kernel: Kernel) -> SSAValue:
    word = kernel.constant(0, i32)
    for i, element in enumerate(elements):
        if element.type != i8:
            element = kernel.emit(arith.BitcastOp, [element], i8)
        part = kernel.emit(arith.ExtUIOp, [element], i32)
        part = on_integers(kernel, arith.ShLIOp, part, kernel.constant(_BITS * i, i32))
        word = on_integers(kernel, arith.OrIOp, word, part)
    return word


def factors_operand(
    factors: ScaleFactors, which: str, atom: UmmaAtom, place: tuple[int, int, int], kernel: Kernel
) -> tuple[SSAValue, int]:
    """The operand of an MMA whose factors begin at a place (batch, row, factor), and its id."""
    layout = atom.cta_layout(which)
    shape = layout[0].size(), layout[1].size()
    type_ = _TYPES[atom.element(which).name]
    operand = kernel.tensor.slice(factors.column_of(*place), type_, shape, layout)
    return operand, place[2] % FACTORS_OF_WORD
