"""C's printf formats: what `gpu.printf` and `llvm.call @printf` print.

An integer is printed by `%d`, `%i`, `%u`, `%x`, `%X` or `%o`, with `l` or `ll` before the letter
where it has 64 bits, an i8 by `%c` too; a float of any width by `%f`, `%e` or `%g`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.diagnostic import OpError
from tilewright.lowering.interpreter.arithmetic.scalar import typed
from tilewright.lowering.interpreter.ops.base.arith import type_name
from tilewright.lowering.interpreter.values import spread

_CONVERSION = re.compile(r"%([-+ #0]*\d*(?:\.\d*)?)(hh|h|ll|l|)([a-zA-Z%]?)")
_SIGNED, _UNSIGNED, _FLOAT = "di", "uxXoc", "fFeEgG"


@dataclass(frozen=True, slots=True)
class FormatString:
    """A format that fits the values it is given: Python's spelling, and what the bits of each
    value are read as."""

    template: str
    types: tuple[str, ...]

    @staticmethod
    def of(op: Operation, text: str, values: Sequence[SSAValue]) -> FormatString:
        """Read a format. Raises OpError where it does not fit the values."""
        kinds = [match[3] for match in _CONVERSION.finditer(text) if match[3] != "%"]
        if len(kinds) != len(values):
            reason = f"'{op.name}' expected {len(kinds)} values for its format, got {len(values)}"
            raise OpError(op, reason)
        types = [
            type_name(op, value.type, "s" if kind in _SIGNED else "u")
            for kind, value in zip(kinds, values, strict=True)
        ]
        pairs = iter(zip(types, [value.type for value in values], strict=True))

        def spelled(match: re.Match[str]) -> str:
            return "%%" if match[3] == "%" else _python(op, match, *next(pairs))

        return FormatString(_CONVERSION.sub(spelled, text), tuple(types))

    def lines(self, values: Sequence[Any], count: int) -> list[str]:
        """The line of each of `count` threads."""
        if not values:
            return [self.template % ()] * count
        columns = [
            typed(spread(value, count), type_).tolist()
            for value, type_ in zip(values, self.types, strict=True)
        ]
        return [self.template % row for row in zip(*columns, strict=True)]


def _python(op: Operation, match: re.Match[str], scalar: str, type_: Attribute) -> str:
    """A conversion in Python's spelling. Raises OpError where it is not one for the type."""
    shape, length, kind = match.groups()
    is_float, wide = scalar[0] in "fb", scalar in ("s64", "u64")
    fits = is_float or wide == (length in ("l", "ll"))
    legal = _FLOAT if is_float else _SIGNED + _UNSIGNED
    if not kind or kind not in legal or not fits or (kind == "c" and scalar != "u8"):
        nearest = "%f" if is_float else "%lld" if wide else "%d"
        raise OpError(
            op,
            f"'{op.name}' expected a conversion for {type_}, got {match[0]}; "
            f"nearest legal: {nearest}",
        )
    return f"%{shape}{'d' if kind in 'iu' else kind}"
