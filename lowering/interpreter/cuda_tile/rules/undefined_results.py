"""Results that arithmetic of Tile IR leaves undefined, element by element: a row is a reason.

The result is a number all the same, and poison. Tile IR says so of division, of overflow that an
attribute rules out, of `ftoi`, `offset` and scales; of wide shifts it says nothing, and LLVM does.
A wrong `assume` is let pass: cuTile assumes multiples of 16 of strides along one element.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import enclosing
from tilewright.dialects.cuda_tile.ops import OPS
from tilewright.dialects.cuda_tile.ops.conversions import FToIOp
from tilewright.dialects.cuda_tile.ops.core import BroadcastOp, ConstantOp, ReshapeOp
from tilewright.dialects.cuda_tile.ops.module import NEGATIVE, EntryOp
from tilewright.dialects.cuda_tile.ops.operation import is_signed, word
from tilewright.lowering.interpreter.cuda_tile.blocks import Cause, leaves_undefined
from tilewright.lowering.interpreter.cuda_tile.conversions import loses, out_of_range
from tilewright.lowering.interpreter.cuda_tile.elements import (
    Element,
    Tile,
    as_signed,
    as_unsigned,
    element_of_tile,
    pointee_of,
)
from tilewright.lowering.interpreter.cuda_tile.integer_arithmetic import overflowing
from tilewright.lowering.interpreter.cuda_tile.rules.pointwise import (
    flag,
    operand_element,
    result_element,
)

Test = Callable[[Tile], Tile]


def _second(op: Operation, words: str, second: Test, first: Test | None = None) -> Iterator[Cause]:
    """A reason that is a test of the second operand, and maybe of the first; none where a constant
    rules it out."""
    constant = _constant(op.operands[1])
    if constant is not None and not second(constant).any():
        return

    def undefined(x: Tile, y: Tile) -> Tile:
        return second(y) if first is None else first(x) & second(y)

    yield Cause(words, undefined)


def _constant(value: SSAValue) -> Tile | None:
    """The elements of a constant, in any shape; None for what is none."""
    while isinstance(value.owner, BroadcastOp | ReshapeOp):
        value = value.owner.operands[0]
    if not isinstance(value.owner, ConstantOp):
        return None
    elements: Any = value.owner.value
    return elements.array().astype(element_of_tile(value.type).dtype, copy=False)


def _division(op: Operation) -> Iterator[Cause]:
    yield from _second(op, "expected a divisor other than 0, got 0", lambda y: as_unsigned(y) == 0)
    if is_signed(op):
        least = -(1 << (_bits(operand_element(op)) - 1))
        yield from _second(
            op,
            f"expected a quotient that {operand_element(op).name} holds, got that of {least} by -1",
            lambda y: as_signed(y) == -1,
            lambda x: as_signed(x) == least,
        )


def _shift(op: Operation) -> Iterator[Cause]:
    if any(NEGATIVE in entry.attributes for entry in enclosing(op, EntryOp)):
        return  # kernels of Triton's count on what PTX makes of it
    bits = _bits(operand_element(op))
    yield from _second(
        op, f"expected a shift below {bits}, got {bits} or more", lambda y: as_unsigned(y) >= bits
    )


def _bits(element: Element) -> int:
    return 1 if element.dtype == np.bool_ else element.bits


def _overflow(op: Operation) -> Iterator[Cause]:
    name, overflow = op.name.removeprefix("cuda_tile."), word(op, "overflow", "none")
    for kind, view in (("signed", as_signed), ("unsigned", as_unsigned)):
        if overflow in (f"no_{kind}_wrap", "no_wrap"):
            yield Cause(
                f"expected no overflow (overflow<{overflow}>), got a result that no "
                f"{kind} {result_element(op).name} holds",
                partial(overflowing, name, view),
            )


def _shift_left(op: Operation) -> Iterator[Cause]:
    yield from _shift(op)
    yield from _overflow(op)


def _loss(op: Operation) -> Iterator[Cause]:
    source, to, overflow = operand_element(op), result_element(op), word(op, "overflow", "none")
    for kind in ("signed", "unsigned"):
        if overflow in (f"no_{kind}_wrap", "no_wrap"):
            yield Cause(
                f"expected no loss (overflow<{overflow}>), got a number that no {kind} {to.name} "
                f"holds",
                loses(source, to, signed=kind == "signed"),
            )


def _float_to_integer(op: FToIOp) -> Iterator[Cause]:
    if not flag(op, "saturating") and not op.is_truth:
        to = result_element(op)
        outside = partial(out_of_range, operand_element(op), to, is_signed(op))
        yield Cause(f"expected a number that {to.name} holds, got one that it does not", outside)


def _offset(op: Operation) -> Iterator[Cause]:
    size, offset = pointee_of(op.operands[0].type).bytes, element_of_tile(op.operands[1].type)
    if offset.bits == 64 and size > 1:
        most = (1 << 63) // size
        yield from _second(
            op,
            "expected an offset that is less than 2^63 bytes, got more",
            lambda y: (y >= most) | (y < -most),
        )


def _negative_scales(op: Any) -> Iterator[Cause]:
    if element_of_tile(op.lhs_scale.type).name == "f8E4M3FN":
        yield Cause(
            "expected scales of f8E4M3FN that are not negative, got one that is",
            _of_negative_scales,
        )


def _of_negative_scales(*operands: Tile) -> Tile:
    *_, left, right = operands
    return np.any(left < 0, axis=-1, keepdims=True) | np.any(right < 0, axis=-2, keepdims=True)


_ROWS: dict[str, Callable[[Any], Iterator[Cause]]] = {
    "divi": _division,
    "remi": _division,
    "shli": _shift_left,
    "shri": _shift,
    **dict.fromkeys(("addi", "subi", "muli", "negi"), _overflow),
    "trunci": _loss,
    "ftoi": _float_to_integer,
    "offset": _offset,
    "mmaf_scaled": _negative_scales,
}
for _op in OPS:
    if (_row := _ROWS.get(_op.name.removeprefix("cuda_tile."))) is not None:
        leaves_undefined(_op)(_row)
