"""`pack` and `unpack`: tiles as the bytes that they take in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i1, i8
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF, I4
from tilewright.dialects.cuda_tile.ops.core import PackOp, UnpackOp
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.lowering.cuda_tile.arithmetic.convert_conversions import half_octet
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import bitcast, on_integers
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.passes.cuda_tile.layouts.elements import element_of, scalar_type, shape_of
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable, finds
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, log2


def _narrow(wide: TileLayout, bits: int) -> TileLayout:
    """The layout of bytes of elements in a layout: those of one are in one thread."""
    threads = tuple(None if bit is None else bit + bits for bit in wide.threads)
    return TileLayout(threads, (*range(bits), *(bit + bits for bit in wide.registers)))


def _wide(narrow: TileLayout, bits: int) -> TileLayout | None:
    """The inverse; None where bytes of one element are in several threads."""
    if narrow.registers[:bits] != tuple(range(bits)):
        return None
    threads = tuple(None if bit is None else bit - bits for bit in narrow.threads)
    return TileLayout(threads, tuple(bit - bits for bit in narrow.registers[bits:]))


class _Regrouping:
    """How `pack` and `unpack` regroup bytes: `1 << bits` of the tile with more elements are one of
    the other, which the op `joins`, or splits."""

    def __init__(self, op: PackOp | UnpackOp):
        value = op.source if isinstance(op, PackOp) else op.result
        element = element_of(value)
        # Two halves, or eight bits, share a byte; a wider element has several.
        shared = log2(max(8 // ELEMENT_OF[element].bits, 1))
        self.bits = shared or log2(bytes_of(scalar_type(op, element)))
        self.joins = isinstance(op, PackOp) is bool(shared)


@finds
def _regrouped(op: PackOp | UnpackOp, table: LayoutTable) -> TileLayout:
    group = _Regrouping(op)
    if not group.joins:
        return _narrow(table.of(op.source), group.bits)
    source = table.layouts.get(op.source)
    known = None if source is None else _wide(source, group.bits)
    return known or table.default(shape_of(op.result))


@lowers
def _regroup(op: PackOp | UnpackOp, kernel: EntryLowering) -> None:
    group, layout = _Regrouping(op), kernel.layout(op.result)
    assert layout is not None
    count, type_ = 1 << group.bits, kernel.scalar_type(op, op.result)
    if group.joins:
        join = _octet if isinstance(op, PackOp) else partial(_joined, type_=type_)
        parts = kernel.elements(op.source, _narrow(layout, group.bits))
        rows = (parts[first : first + count] for first in range(0, len(parts), count))
        kernel.place(op.result, layout, [join(row, kernel=kernel) for row in rows])
        return
    split = (
        _octets if isinstance(op, PackOp) else partial(_parts, signed=element_of(op.result) == I4)
    )
    source = _wide(layout, group.bits)
    assert source is not None
    elements = kernel.elements(op.source, source)
    kernel.place(
        op.result, layout, [part for x in elements for part in split(x, count, kernel=kernel)]
    )


def _octet(parts: Sequence[SSAValue], kernel: EntryLowering) -> SSAValue:
    """The byte of two halves, or of eight bits, low ones first."""
    octet: SSAValue | None = None
    for i, part in enumerate(parts):
        if part.type == i1:
            part = kernel.emit(arith.ExtUIOp, [part], i8)
        elif i == 0:
            part = half_octet(kernel, part, signed=False)
        if octet is None:
            octet = part
            continue
        above = kernel.emitter.binary("shl", part, 8 // len(parts) * i)
        octet = kernel.emitter.binary("or", octet, above)
    assert octet is not None
    return octet


def _octets(element: SSAValue, count: int, kernel: EntryLowering) -> list[SSAValue]:
    """The bytes of an element, low ones first."""
    word = bitcast(kernel, element, IntegerType(8 * count))
    if count == 1:
        return [word]
    octets: list[SSAValue] = []
    for i in range(count):
        part = kernel.emitter.binary("shr", word, 8 * i) if i else word
        octets.append(kernel.emit(arith.TruncIOp, [part], i8))
    return octets


def _parts(octet: SSAValue, count: int, *, signed: bool, kernel: EntryLowering) -> list[SSAValue]:
    """The bits of a byte, or its halves, low ones first; of i4 with their sign."""
    back: type[Operation] = arith.ShRSIOp if signed else arith.ShRUIOp
    parts: list[SSAValue] = []
    for low in range(0, 8, 8 // count):
        part = on_integers(kernel, back, octet, kernel.constant(low, i8)) if low else octet
        if count == 8:
            part = kernel.emit(arith.TruncIOp, [part], i1)
        elif not low:
            part = half_octet(kernel, octet, signed=signed)
        parts.append(part)
    return parts


def _joined(octets: Sequence[SSAValue], type_: Attribute, kernel: EntryLowering) -> SSAValue:
    """The element that bytes are, low ones first."""
    word = IntegerType(8 * len(octets))
    total: SSAValue | None = None
    for i, octet in enumerate(octets):
        part = octet if word == i8 else kernel.emit(arith.ExtUIOp, [octet], word)
        if i:
            part = kernel.emitter.binary("shl", part, 8 * i)
        total = part if total is None else kernel.emitter.binary("or", total, part)
    assert total is not None
    return bitcast(kernel, total, type_)
