"""`print_tko`: the first thread prints every element, nested in brackets as the tile is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, IntegerType, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.diagnostic import OpError
from tilewright.dialects.cuda_tile.ops.miscellaneous import PrintTkoOp
from tilewright.dialects.cuda_tile.types import PointerType
from tilewright.dialects.gpu import PrintfOp
from tilewright.lowering.cuda_tile.arithmetic.convert_conversions import float_converted
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel, lowers
from tilewright.lowering.cuda_tile.kernel.memory_order import Token
from tilewright.lowering.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.lowering.cuda_tile.layouts.layouts import TileLayout, bits_of
from tilewright.lowering.cuda_tile.memory.convert_pointers import token_of

_CONVERSION = re.compile(r"%([-+ #0]*\d*(?:\.\d*)?)(?:hh|h|ll|l|)([a-zA-Z%])")
_MOST, _AT_ONCE = 1024, 32
"""The elements of a tile that is printed, and the values that one call of vprintf takes."""

Piece = tuple[str, SSAValue | None]
"""Text, and the value that it prints."""


@lowers(PrintTkoOp)
def _print(op: PrintTkoOp, kernel: Kernel) -> None:
    pieces = list(_pieces(op, kernel))
    everyone = TileLayout((None,) * kernel.table.thread_bits, ())
    first = kernel.threads.first_of(everyone)
    assert first is not None
    kernel.emitter.when(first, lambda: _say(pieces, kernel))
    kernel[op.result_token] = token_of(op.token, kernel) or Token()


def _say(pieces: Sequence[Piece], kernel: Kernel) -> None:
    text, values = "", list[SSAValue]()
    for i, (part, value) in enumerate(pieces):
        text += part
        values += [] if value is None else [value]
        if len(values) == _AT_ONCE or i == len(pieces) - 1:
            kernel.emitter.add(PrintfOp(text, values))
            text, values = "", []


def _pieces(op: PrintTkoOp, kernel: Kernel) -> Iterator[Piece]:
    text, args, end = op.str_.data, iter(op.args), 0
    for match in _CONVERSION.finditer(text):
        yield text[end : match.start()], None
        end = match.end()
        if match[2] == "%":
            yield "%%", None
            continue
        value = next(args)
        if prod(shape_of(value)) > _MOST:
            raise OpError(
                op, f"'{op.name}' of {prod(shape_of(value))} elements has no lowering to cute; "
                f"nearest legal: {_MOST} elements, as extract takes them",
            )  # fmt: skip
        layout = TileLayout(
            (None,) * kernel.table.thread_bits, tuple(range(bits_of(shape_of(value))))
        )
        elements = iter(kernel.elements(value, layout))
        yield from _nested(op, value, shape_of(value), elements, match, kernel)
    yield text[end:], None


def _nested(
    op: Operation, tile: SSAValue, shape: Sequence[int], elements: Iterator[SSAValue],
    conversion: re.Match[str], kernel: Kernel,
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
        yield from _nested(op, tile, shape[1:], elements, conversion, kernel)
    yield "]", None


def _promoted(value: SSAValue, element: Attribute, letter: str, kernel: Kernel) -> SSAValue:
    """An element as C passes it."""
    if isinstance(element, PointerType) or element in (i32, IntegerType(64)):
        return value
    if isinstance(element, IntegerType):
        signed = letter in "di" and element != i1
        return kernel.emit(arith.ExtSIOp if signed else arith.ExtUIOp, [value], i32)
    if str(element) == "f64":
        return value
    return float_converted(kernel, value, element, Float32Type())
