"""`print_tko`: the first thread prints every element, nested in brackets as the tile is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, IntegerType, i1, i32
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cuda_tile.ops.miscellaneous import PrintTkoOp
from tilewright.dialects.cuda_tile.types import PointerType
from tilewright.dialects.cute_nvgpu.ops.address import LoadOp, bytes_of
from tilewright.dialects.frozen import frozen
from tilewright.dialects.gpu import PrintfOp
from tilewright.lowering.cuda_tile.arithmetic.convert_conversions import float_converted
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.lowering.cuda_tile.kernel.threads import scaled
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, bits_of, log2, spread
from tilewright.passes.cuda_tile.layouts.shared_order import SharedOrder, row_major

_CONVERSION = re.compile(r"%([-+ #0]*\d*(?:\.\d*)?)(?:hh|h|ll|l|)([a-zA-Z%])")
_MOST, _AT_ONCE = 256, 32
"""The elements of a tile that is printed without a loop, and the values that one call takes."""
_ROOM = 1 << 15
"""The bytes of shared memory from which a loop prints."""

Piece = tuple[str, SSAValue | None]
"""Text, and the value that it prints."""


@lowers
def _print(op: PrintTkoOp, kernel: EntryLowering) -> None:
    pieces: list[Piece] = []
    for piece in _pieces(op, kernel):
        if isinstance(piece, _LargeTile):
            kernel.emitter.when(kernel.threads.is_first, partial(_say, pieces, kernel))
            piece.say(kernel)
            pieces = []
        else:
            pieces.append(piece)
    kernel.emitter.when(kernel.threads.is_first, partial(_say, pieces, kernel))
    kernel[op.result_token] = kernel.token_of(op)


def _say(pieces: Sequence[Piece], kernel: EntryLowering) -> None:
    text, values = "", list[SSAValue]()
    for i, (part, value) in enumerate(pieces):
        text += part
        values += [] if value is None else [value]
        if len(values) == _AT_ONCE or i == len(pieces) - 1:
            kernel.emitter.add(PrintfOp(text, values))
            text, values = "", []


@frozen
class _LargeTile:
    """A tile that a loop prints, from shared memory, and its conversion."""

    tile: SSAValue
    conversion: re.Match[str]

    def say(self, kernel: EntryLowering) -> None:
        """Print the tile, part after part."""
        layout = kernel.layout(self.tile) or kernel.table.default(shape_of(self.tile))
        elements = kernel.elements(self.tile, layout)
        count, size = bits_of(shape_of(self.tile)), bytes_of(elements[0].type)
        order, scratch = row_major(min(count, log2(_ROOM // size)), size), kernel.scratch
        parted = range(len(order.position), count)
        left = layout.without(parted)
        for number in range(1 << len(parted)):
            first = spread(number, parted)
            own = [elements[layout.register_of(place | first)] for place in left.places]
            base = scratch.take(order.bytes)
            writes = kernel.threads.matches(left.idle, layout.thread_of(first))
            scratch.store(base, left, own, order, writes)
            scratch.written()
            loop = partial(self._loop, kernel, first, base, order, elements[0].type)
            kernel.emitter.when(kernel.threads.is_first, loop)

    def _loop(
        self,
        kernel: EntryLowering,
        first: int,
        base: SSAValue,
        order: SharedOrder,
        element: Attribute,
    ) -> None:
        emitter = kernel.emitter

        def say(number: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            at = emitter.binary("add", base, scaled(emitter, number, order.size))
            value = emitter.emit(LoadOp(at, (), [element], 0))
            number = emitter.binary("add", number, first)
            after = emitter.binary("add", number, 1)
            self._brackets(kernel, "[", number)
            _say([*_nested(self.tile, (), iter([value]), self.conversion, kernel)], kernel)
            self._brackets(kernel, "]", after)
            more = emitter.compare("ne", after, prod(shape_of(self.tile)))
            emitter.when(more, lambda: emitter.add(PrintfOp(", ", [])))
            return ()

        begin, end, step = (emitter.constant(x, 32) for x in (0, 1 << len(order.position), 1))
        emitter.loop((begin, end, step), (), say)

    def _brackets(self, kernel: EntryLowering, bracket: str, number: SSAValue) -> None:
        """Print a bracket for each dimension that begins or ends at an element."""
        emitter, shape = kernel.emitter, shape_of(self.tile)
        for axis in range(len(shape)):
            rest = emitter.binary("and", number, prod(shape[axis:]) - 1)
            ends = emitter.compare("eq", rest, 0)
            emitter.when(ends, lambda: emitter.add(PrintfOp(bracket, [])))


def _pieces(op: PrintTkoOp, kernel: EntryLowering) -> Iterator[Piece | _LargeTile]:
    text, args, end = op.str_.data, iter(op.args), 0
    for match in _CONVERSION.finditer(text):
        yield text[end : match.start()], None
        end = match.end()
        if match[2] == "%":
            yield "%%", None
            continue
        value = next(args)
        if prod(shape_of(value)) > _MOST:
            yield _LargeTile(value, match)
            continue
        layout = TileLayout(
            (None,) * kernel.table.thread_bits, tuple(range(bits_of(shape_of(value))))
        )
        elements = iter(kernel.elements(value, layout))
        yield from _nested(value, shape_of(value), elements, match, kernel)
    yield text[end:], None


def _nested(
    tile: SSAValue, shape: Sequence[int], elements: Iterator[SSAValue],
    conversion: re.Match[str], kernel: EntryLowering,
) -> Iterator[Piece]:  # fmt: skip
    """Every element of a tile in a conversion, in brackets for each dimension."""
    if not shape:
        value = _promoted(next(elements), element_of(tile), conversion[2], kernel)
        wide = "ll" if value.type == IntegerType(64) else ""
        yield f"%{conversion[1]}{wide}{conversion[2]}", value
        return
    yield "[", None
    for i in range(shape[0]):
        yield ", " * (i > 0), None
        yield from _nested(tile, shape[1:], elements, conversion, kernel)
    yield "]", None


def _promoted(value: SSAValue, element: Attribute, letter: str, kernel: EntryLowering) -> SSAValue:
    """An element as C passes it."""
    if isinstance(element, PointerType) or element in (i32, IntegerType(64)):
        return value
    if isinstance(element, IntegerType):
        signed = letter in "di" and element != i1
        return kernel.emit(arith.ExtSIOp if signed else arith.ExtUIOp, [value], i32)
    if str(element) == "f64":
        return value
    return float_converted(kernel, value, element, Float32Type())
