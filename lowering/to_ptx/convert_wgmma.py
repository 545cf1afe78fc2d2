"""`cute_nvgpu.sm90` to `ptx`: descriptors as arithmetic on addresses, and the order of wgmma."""

from dataclasses import replace

from xdsl.ir import SSAValue

from tilewright.dialects.cute import ComposedLayout
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    CHUNK,
    FIELD_OF,
    TCGEN05,
    SmemDescriptor,
)
from tilewright.dialects.cute_nvgpu.descriptors.solve_descriptor import SmemTile
from tilewright.dialects.cute_nvgpu.ops.sm90 import MmaOp, SparseMmaOp
from tilewright.dialects.cute_nvgpu.ops.smem_desc import MakeSmemDescOp
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.dialects.integers import constant_integer
from tilewright.dialects.once import once_each
from tilewright.dialects.ptx import wgmma
from tilewright.dialects.ptx.registers import PackOp, UndefOp
from tilewright.dialects.ptx.scalars import AddOp, AndOp, OrOp, ShlOp, ShrOp
from tilewright.dialects.ptx.types import reg
from tilewright.lowering.to_ptx.conversion import Conversion, Tile, constant, lowers
from tilewright.lowering.to_ptx.convert_memref import locate
from tilewright.source.diagnostic import OpError

_HALF = 32
_START_SHIFT = FIELD_OF["start_address"].shift
_WINDOW = 0x3FFFF
"""The bits of an address that a descriptor takes. PTX ISA 9.7.15.5.1.2.2: x & 0x3FFFF."""
_BASE_LOW = FIELD_OF["base_offset"].low - _HALF
_ROW_SHIFT = 7
"""Base offset counts rows of 128 bytes. PTX ISA 9.7.15.5.1.2.2."""


@lowers
def _make_smem_desc(op: MakeSmemDescOp, to: Conversion) -> SSAValue:
    """The descriptor's two halves: its start address and LBO, its SBO, base offset and swizzle.

    The hardware swizzles the addresses that it makes, so a start address is that of the layout
    without its swizzle.
    """
    smem_tile, tile = op.result.type.tile, to.tile(op.source)
    layout, offset = tile.layout, 0
    if isinstance(layout, ComposedLayout):
        assert isinstance(layout.offset, int)
        layout, offset = layout.outer, layout.offset * tile.element_bytes
    zero = replace(tile, layout=layout, address=to.const(0, "b32"))
    place, known = locate(op, zero, op.indices, to)
    known += offset
    if known % CHUNK:
        raise OpError(
            op,
            f"'{op.name}' expected a matrix that starts at a multiple of {CHUNK} bytes, "
            f"got byte {known}; nearest legal: byte {round(known / CHUNK) * CHUNK}",
        )
    word = _descriptor(op.result.type)
    low_bits, address = word & 0xFFFFFFFF, tile.address
    if (chunks := _chunks(op.result.type, place, to)) is None:
        address = to.plus(place, address, "u32")
    # In a cluster the bits above the window are the CTA's rank, which other fields would take.
    address = to.scalar(AndOp, "b32", address, to.const(_WINDOW, "b32"))
    low = to.scalar(ShrOp, "u32", address, to.const(_START_SHIFT, "b32"))
    if chunks is not None:
        low = to.plus(chunks, to.plus(low, to.const(low_bits, "b32"), "u32"), "u32")
        low_bits = 0
    # In a loop they stay in it: registers that hold them all are dearer than an addition each.
    if low_bits := low_bits + (known >> _START_SHIFT):
        low = to.emit(AddOp("u32", (low, to.const(low_bits, "b32"))))
    high = _high_half(word >> _HALF, tile, smem_tile, to)
    return to.emit(PackOp(low, high))


def _chunks(view: SmemDescViewType, place: SSAValue, to: Conversion) -> SSAValue | None:
    """Bytes in chunks of 16, where shifts say so, and one thread has the descriptor."""
    amount = -_START_SHIFT
    while isinstance(owner := place.owner, ShlOp) and (by := constant(owner.inputs[1])) is not None:
        place, amount = owner.inputs[0], amount + by
    alone = view.format is TCGEN05 and amount >= 0
    return to.times(place, 1 << amount, "u32") if alone else None


@once_each
def _descriptor(view: SmemDescViewType) -> int:
    """The word of a matrix at address 0."""
    tile = view.tile
    return SmemDescriptor(
        0,
        tile.leading_byte_offset,
        tile.stride_byte_offset,
        tile.swizzle,
        swizzle_atom=tile.swizzle_atom,
        format=tile.format,
    ).encode()


def _high_half(bits: int, tile: Tile, smem_tile: SmemTile, to: Conversion) -> SSAValue:
    """SBO and swizzle with the base offset: 0 for memory that starts with its pattern, as what is
    allocated does; what is cast from there may start with any of the pattern's rows."""
    high = to.const(bits, "b32")
    if smem_tile.pattern_rows == 1 or tile.address is tile.base:
        return high
    rows = (smem_tile.pattern_rows - 1) << _ROW_SHIFT
    row = to.scalar(AndOp, "b32", tile.address, to.const(rows, "b32"))
    moved = to.scalar(ShlOp, "b32", row, to.const(_BASE_LOW - _ROW_SHIFT, "b32"))
    return to.scalar(OrOp, "b32", moved, high)


@lowers
def _mma(op: MmaOp | SparseMmaOp, to: Conversion) -> SSAValue:
    known = None if op.scale_d is None else constant_integer(op.scale_d)
    sparse = isinstance(op, SparseMmaOp)
    return to.emit(
        wgmma.WgmmaOp(
            to[op.a],
            to[op.b],
            to.emit(UndefOp(reg(*op.mma_atom.registers("C")))) if known == 0 else to[op.c],
            op.mma_atom,
            negated=op.negated,
            scale_d=to.given(op.scale_d) if known is None else None,
            zero=known == 0,
            metadata=to[op.e] if sparse else None,
            selector=op.selector.value.data if sparse else None,
        )
    )
