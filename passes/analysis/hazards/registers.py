"""Numbers of all threads: what ops and instructions on integers compute.

A register holds its bits as a signed number, of all threads at once or by thread (`scalars`).
"""

import operator
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Attribute, Operation

from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RANK_SHIFT
from tilewright.dialects.ptx import cluster, registers, scalars
from tilewright.dialects.ptx.instruction import ScalarOp
from tilewright.dialects.ptx.types import KINDS
from tilewright.passes.analysis.hazards.scalars import (
    BINARY,
    COMPARISONS,
    SIGNED,
    UNKNOWN,
    Binary,
    Unknown,
    high,
    select,
    truncated,
    unsigned,
)
from tilewright.passes.analysis.hazards.trace import PendingRegisters


def _mad(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def _field(a: Any, first: Any, length: Any) -> Any:
    """Bits of a number without a sign."""
    if not isinstance(first, int) or not isinstance(length, int):
        return UNKNOWN
    return (a >> min(first & 255, 63)) & ((1 << min(length & 255, 63)) - 1)


def _same(a: Any, *_: Any) -> Any:
    return a


def _packed(half: int) -> Binary:
    """The function that puts two halves of so many bits into one register, the low one first."""
    return lambda low, high: (high << half) | (low & ((1 << half) - 1))


def mapped(address: Any, rank: Any) -> Any:
    """The address of a place in the CTA of a rank."""
    return address | (rank + 1) << RANK_SHIFT


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of numbers as one of values: of what is unknown, or on its way to registers, the
    result is unknown."""

    def lifted(*values: Any) -> Any:
        if any(value is UNKNOWN or isinstance(value, PendingRegisters) for value in values):
            return UNKNOWN
        return function(*values)

    return lifted


def _chosen(a: Any, b: Any, p: Any) -> Any:
    return UNKNOWN if p is UNKNOWN else select(p, a, b)


_LIKE = {
    "add": "addi", "sub": "subi", "mul": "muli", "and": "andi", "or": "ori", "xor": "xori",
    "shl": "shli", "shr": "shrsi", "div": "divsi", "rem": "remsi", "min": "minsi", "max": "maxsi",
}  # fmt: skip
"""The op of `arith` that computes the same of numbers with a sign."""

_ARITH = {op.name.removeprefix("arith."): function for op, function in BINARY.items()}

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _ARITH[op] for name, op in _LIKE.items()},
    "mad": _mad,
    "bfe": _field,
    "not": operator.invert,
    "neg": operator.neg,
    "abs": abs,
    "cvt": _same,
}

_WHOLE = re.compile(r"[usb]\d+|pred")
"""The types of one number without a fraction."""

_WITHOUT_SIGN = ("div", "rem", "min", "max", "shr", "setp", "cvt", "bfe")
"""Instructions to which the sign of their operands matters."""


def _cast(value: Any) -> Any:
    """A number of another width."""
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, int | Unknown) else value.astype(np.int64)


def _bit(function: Binary) -> Binary:
    return lambda a, b: truncated(function(a, b), 1)


def _whole_product(width: int) -> Binary:
    """The low and the high half of a product."""
    low, above = BINARY[arith.MuliOp], high(width)
    return lambda a, b: (low(a, b), above(a, b))


def computed(op: Operation) -> Callable[..., Any] | None:
    """The function that an op computes of its operands, or None; of several results a tuple."""
    if (function := BINARY.get(type(op))) is not None:
        return _bit(function) if op.results[0].type == i1 else function
    match op:
        case arith.ConstantOp():
            return None  # first, there being so many
        case arith.IndexCastOp() | arith.ExtUIOp() | arith.ExtSIOp():
            return _cast
        case arith.TruncIOp():
            assert isinstance(op.result.type, IntegerType)
            width = op.result.type.width.data
            return partial(truncated, width=width)
        case arith.CmpiOp():
            return COMPARISONS[op.predicate.value.data]
        case arith.SelectOp():
            return select
        case arith.MulUIExtendedOp():
            type_: Attribute = op.low.type
            return _whole_product(type_.width.data if isinstance(type_, IntegerType) else 64)
        case scalars.CvtaOp() | registers.MovOp() | registers.ListGetOp():
            return _same
        case registers.PackOp():
            half = KINDS[op.result.type.kind.data] // 2
            return _of_numbers(_packed(half))
        case cluster.MapaOp():
            return _of_numbers(mapped)
        case ScalarOp():
            return _scalar(op)
        case _:
            return None


def _scalar(op: ScalarOp) -> Callable[..., Any] | None:
    name, form = op.name.removeprefix("ptx."), op.row
    types = *form.types, form.result
    if not all(map(_WHOLE.fullmatch, types)) or "sat" in form.suffix:
        return None
    kinds = [REGISTER_OF[type_] for type_ in types]
    width = KINDS[kinds[-1]]
    if name == "selp":
        return _chosen
    if name == "setp":
        compare = SIGNED[op.form.data.split(".")[0]]
        return _of_numbers(unsigned(compare) if form.types[0][0] == "u" else compare)
    above = op.form.data.startswith("hi.")
    function = high(width) if above and name == "mul" else _FUNCTIONS.get(name)
    if function is None or (above and name != "mul") or op.name + form.suffix[0] == "ptx.bfes":
        return None
    widths = [KINDS[kind] for kind in kinds[:-1]]
    widened = above or op.form.data.startswith("wide.")
    plain = form.types[0][0] == "s" or not (widened or name in _WITHOUT_SIGN)

    def result(*values: Any) -> Any:
        if not plain:
            values = tuple(map(_unsigned, values, widths))
        value: Any = function(*values)
        return value if value is UNKNOWN else truncated(value, width)

    return _of_numbers(result)


def _unsigned(value: Any, width: int) -> Any:
    """The number without a sign; one of 64 bits in threads that differ has none to lose."""
    wide = width > 62 and not isinstance(value, int)
    return value if wide else value & ((1 << width) - 1)
