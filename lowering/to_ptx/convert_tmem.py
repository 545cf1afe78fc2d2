"""Tensor memory of `cute_nvgpu` to `ptx`.

A memref in tensor memory is the 32-bit address of its first element: the lane in bits 31 to 16, the
column in bits 15 to 0. So lanes and columns of a layout add up like bytes do elsewhere.
"""

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.lattice.tmem import CELL_BITS
from tilewright.dialects.cute_nvgpu.ops import tmem
from tilewright.dialects.cute_nvgpu.ops.memory_operand import tmem_layout
from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.data_movement import LdOp
from tilewright.dialects.ptx.scalars import ShrOp
from tilewright.lowering.to_ptx.conversion import Conversion, constant, lowers
from tilewright.lowering.to_ptx.convert_memref import locate, mode_terms
from tilewright.source.diagnostic import OpError


@frozen
class TmemTile:
    """A memref in tensor memory: the address of its first element, and its layout in elements."""

    address: SSAValue
    bits: int
    layout: Layout


def tmem_tile(type_: Attribute, address: SSAValue) -> TmemTile:
    """The tile of a memref type at an address."""
    layout, bits = tmem_layout(type_)
    return TmemTile(address, bits, layout)


def locate_cell(
    op: Operation, tile: TmemTile, indices: Sequence[SSAValue], to: Conversion
) -> tuple[SSAValue, int]:
    """The address of an element that begins a cell, as a register plus a constant.

    Raises OpError where it is known to begin none.
    """
    terms = [
        (value, step)
        for mode, index in enumerate(indices)
        for value, step in mode_terms(tile.layout[mode], to.narrow(to[index]), "u32", to)
        if isinstance(step, int)
    ]
    per_cell = CELL_BITS // tile.bits
    whole = [term for term in terms if term[1] % per_cell == 0]
    within = [term for term in terms if term[1] % per_cell]
    cells, known = _sum([(value, step // per_cell) for value, step in whole], tile.address, to)
    inside, begins = _sum(within, to.const(0, "b32"), to)
    if begins % per_cell:
        raise OpError(
            op,
            f"'{op.name}' expected an element that begins a cell of {CELL_BITS} bits, got one "
            f"{begins % per_cell * tile.bits} bits behind (its index times "
            f"{tile.bits} bits is no multiple of {CELL_BITS})",
        )
    if constant(inside) != 0:
        inside = to.scalar(ShrOp, "u32", inside, to.const(per_cell.bit_length() - 1, "b32"))
    return to.plus(inside, cells, "u32"), known + begins // per_cell


def _sum(
    terms: Sequence[tuple[SSAValue, int]], base: SSAValue, to: Conversion
) -> tuple[SSAValue, int]:
    """base + sum(coordinate * stride); what is constant is kept apart."""
    known = 0
    for coordinate, stride in terms:
        if (at := constant(coordinate)) is not None:
            known += at * stride
        elif stride:
            base = to.plus(to.times(coordinate, stride, "u32"), base, "u32")
    return base, known


# Allocation


@lowers
def _retrieve(op: tmem.RetrieveOp, to: Conversion) -> TmemTile:
    slot, offset = locate(op, to.tile(op.slot), op.indices, to)
    address = to.emit(LdOp("shared", "b32", slot, offset))
    return tmem_tile(op.result.type, address)


@lowers
def _slice(op: tmem.SliceOp, to: Conversion) -> TmemTile:
    address, offset = locate_cell(op, to.values[op.source], op.indices, to)
    address = to.plus(address, to.const(offset, "b32"), "u32")
    return tmem_tile(op.result.type, address)
