"""`pack` and `unpack`: tiles as the bytes that they take in memory."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i1, i8
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF, I4
from tilewright.dialects.cuda_tile.ops.core import PackOp, UnpackOp
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.lowering.cuda_tile.arithmetic.convert_conversions import half_octet
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import on_integers
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel, lowers
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


def _size_bits(op: PackOp | UnpackOp, value: SSAValue) -> int:
    return log2(bytes_of(scalar_type(op, element_of(value))))


def _shared_bits(value: SSAValue) -> int:
    """The logarithm of how many elements share a byte."""
    return log2(max(8 // ELEMENT_OF[element_of(value)].bits, 1))


@finds(PackOp)
def _packed(op: PackOp, table: LayoutTable) -> TileLayout:
    if shared := _shared_bits(op.source):
        source = table.layouts.get(op.source)
        known = None if source is None else _wide(source, shared)
        return known or table.default(shape_of(op.result))
    return _narrow(table.of(op.source), _size_bits(op, op.source))


@lowers(PackOp)
def _pack(op: PackOp, kernel: Kernel) -> None:
    if shared := _shared_bits(op.source):
        layout = kernel.layout(op.result)
        assert layout is not None
        parts, count = kernel.elements(op.source, _narrow(layout, shared)), 1 << shared
        rows = (parts[first : first + count] for first in range(0, len(parts), count))
        kernel.place(op.result, layout, [_octet(row, kernel) for row in rows])
        return
    layout, bits = kernel.layout(op.result), _size_bits(op, op.source)
    assert layout is not None
    source = _wide(layout, bits)
    assert source is not None
    elements = kernel.elements(op.source, source)
    octets = [octet for element in elements for octet in _octets(element, 1 << bits, kernel)]
    kernel.place(op.result, layout, octets)


def _octet(parts: Sequence[SSAValue], kernel: Kernel) -> SSAValue:
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
        above = kernel.emitter.binary("shl", part, kernel.constant(8 // len(parts) * i, i8))
        octet = kernel.emitter.binary("or", octet, above)
    assert octet is not None
    return octet


def _octets(element: SSAValue, count: int, kernel: Kernel) -> list[SSAValue]:
    """The bytes of an element, low ones first."""
    word = _bits(element, IntegerType(8 * count), kernel)
    if count == 1:
        return [word]
    octets: list[SSAValue] = []
    for i in range(count):
        amount = kernel.constant(8 * i, word.type)
        part = kernel.emitter.binary("shr", word, amount) if i else word
        octets.append(kernel.emit(arith.TruncIOp, [part], i8))
    return octets


def _bits(value: SSAValue, type_: Attribute, kernel: Kernel) -> SSAValue:
    return value if value.type == type_ else kernel.emit(arith.BitcastOp, [value], type_)


@finds(UnpackOp)
def _unpacked(op: UnpackOp, table: LayoutTable) -> TileLayout:
    if shared := _shared_bits(op.result):
        return _narrow(table.of(op.source), shared)
    source, bits = table.layouts.get(op.source), _size_bits(op, op.result)
    known = None if source is None else _wide(source, bits)
    return known or table.default(shape_of(op.result))


@lowers(UnpackOp)
def _unpack(op: UnpackOp, kernel: Kernel) -> None:
    if shared := _shared_bits(op.result):
        _parts(op, kernel, shared)
        return
    layout, bits = kernel.layout(op.result), _size_bits(op, op.result)
    assert layout is not None
    type_, count = kernel.scalar_type(op, op.result), 1 << bits
    octets = kernel.elements(op.source, _narrow(layout, bits))
    rows = (octets[first : first + count] for first in range(0, len(octets), count))
    kernel.place(op.result, layout, [_joined(row, type_, kernel) for row in rows])


def _parts(op: UnpackOp, kernel: Kernel, shared: int) -> None:
    """The bits of bytes, or their halves, low ones first; of i4 with their sign."""
    layout = kernel.layout(op.result)
    assert layout is not None
    source, signed = _wide(layout, shared), element_of(op.result) == I4
    assert source is not None
    back: type[Operation] = arith.ShRSIOp if signed else arith.ShRUIOp
    parts: list[SSAValue] = []
    for octet in kernel.elements(op.source, source):
        for low in range(0, 8, 8 >> shared):
            part = on_integers(kernel, back, octet, kernel.constant(low, i8)) if low else octet
            if shared == 3:
                part = kernel.emit(arith.TruncIOp, [part], i1)
            elif not low:
                part = half_octet(kernel, octet, signed=signed)
            parts.append(part)
    kernel.place(op.result, layout, parts)


def _joined(octets: Sequence[SSAValue], type_: Attribute, kernel: Kernel) -> SSAValue:
    """The element that bytes are, low ones first."""
    word = IntegerType(8 * len(octets))
    total: SSAValue | None = None
    for i, octet in enumerate(octets):
        part = octet if word == i8 else kernel.emit(arith.ExtUIOp, [octet], word)
        if i:
            part = kernel.emitter.binary("shl", part, kernel.constant(8 * i, word))
        total = part if total is None else kernel.emitter.binary("or", total, part)
    assert total is not None
    return _bits(total, type_, kernel)
