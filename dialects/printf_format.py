"""C's printf formats: what `gpu.printf`, `llvm.call @printf` and PTX's `vprintf` print.

An integer is printed by `%d`, `%i`, `%u`, `%x`, `%X` or `%o`, with `l` or `ll` before the letter
where it has 64 bits, `h` where it has 16 and `hh` where it has 8, an i8 by `%c` too; a float of any
width by `%f`, `%e`, `%g`, or, without a precision, `%a`; a text by `%s`,
where a register has its address, and that itself by `%p`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.ir import Attribute, Operation

from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.scalar_types import scalar_type
from tilewright.dialects.ptx.types import RegType
from tilewright.source.diagnostic import OpError

_CONVERSION = re.compile(r"%([-+ #0]*\d*(?:\.\d*)?)(hh|h|ll|l|)([a-zA-Z%]?)")
_SIGNED, _UNSIGNED, _FLOAT, HEXADECIMAL = "di", "uxXoc", "fFeEgG", "aA"
_CHARACTERS = ("u8", "u32")
"""The types that `%c` prints: an i8, or the register that one is passed in."""
_WIDTHS = {"hh": "8", "h": "16", "l": "64", "ll": "64"}
"""The bits of the integers that a length is for."""


@frozen
class FormatString:
    """A format that fits the values it is given: Python's spelling, what the bits of each value are
    read as, the number and letter of those that are `hexadecimal`, and which are texts."""

    template: str
    types: tuple[str, ...]
    hexadecimals: tuple[tuple[int, str], ...] = ()
    texts: tuple[int, ...] = ()

    @staticmethod
    def of(op: Operation, text: str, values: Sequence[Attribute]) -> FormatString:
        """Read a format. Raises OpError where it does not fit values of these types."""
        kinds = [match[3] for match in _CONVERSION.finditer(text) if match[3] != "%"]
        if len(kinds) != len(values):
            reason = f"'{op.name}' expected {len(kinds)} values for its format, got {len(values)}"
            raise OpError(op, reason)
        types = [
            _read_as(op, type_, "s" if kind in _SIGNED else "u")
            for kind, type_ in zip(kinds, values, strict=True)
        ]
        pairs = iter(zip(types, values, strict=True))

        def spelled(match: re.Match[str]) -> str:
            return "%%" if match[3] == "%" else _python(op, match, *next(pairs))

        own = tuple((i, kind) for i, kind in enumerate(kinds) if kind in HEXADECIMAL + "p")
        texts = tuple(i for i, kind in enumerate(kinds) if kind == "s")
        return FormatString(_CONVERSION.sub(spelled, text), tuple(types), own, texts)


def _read_as(op: Operation, type_: Attribute, letter: str) -> str:
    """The instruction type of a scalar, or of a register. Raises OpError for anything else."""
    if isinstance(type_, RegType):
        kind = type_.kind.data
        return kind if kind[0] == "f" else f"{letter}{kind[1:]}"
    scalar = scalar_type(type_)
    if scalar is None:
        raise OpError(op, f"'{op.name}' cannot print {type_}")
    if scalar.bits == 1:
        return "pred"
    return f"{letter}{scalar.bits}" if str(type_).startswith("i") else str(type_)


def _python(op: Operation, match: re.Match[str], scalar: str, type_: Attribute) -> str:
    """A conversion in Python's spelling. Raises OpError where it is not one for the type."""
    shape, length, kind = match.groups()
    is_float, wide = scalar[0] in "fb", scalar in ("s64", "u64")
    fits = is_float or (scalar[1:] == _WIDTHS[length] if length else not wide)
    legal = _SIGNED + _UNSIGNED
    if kind and kind in "sp" and wide and not length and isinstance(type_, RegType):
        return f"%{shape}s"
    if is_float:
        legal = _FLOAT + ("" if "." in shape else HEXADECIMAL)
    characters = _CHARACTERS if isinstance(type_, RegType) else _CHARACTERS[:1]
    if not kind or kind not in legal or not fits or (kind == "c" and scalar not in characters):
        nearest = "%f" if is_float else "%lld" if wide else "%d"
        raise OpError(
            op,
            f"'{op.name}' expected a conversion for {type_}, got {match[0]}; "
            f"nearest legal: {nearest}",
        )
    return f"%{shape}{'d' if kind in 'iu' else 's' if kind in HEXADECIMAL else kind}"


def hexadecimal(number: float, letter: str) -> str:
    """A number as C's `%a` or `%A` prints it, an address as `%p` does."""
    if isinstance(number, int):
        return hex(number) if number else "(nil)"
    text = re.sub(r"\.?0*p", "p", number.hex())
    return text if letter == "a" else text.upper()


def passed_as(text: str) -> list[str]:
    """The kinds of the registers in which the values of a format are passed."""
    return [
        "f64" if kind in _FLOAT + HEXADECIMAL
        else "b64" if kind in "ps" or _WIDTHS.get(length) == "64" else "b32"
        for _, length, kind in _CONVERSION.findall(text) if kind != "%"
    ]  # fmt: skip


def passed(text: str) -> str:
    """A format for values passed in 32 bits or more: `vprintf` takes a value too few for each
    `%hhd` (seen on an H100)."""
    return _CONVERSION.sub(lambda match: f"%{match[1]}{match[2].strip('h')}{match[3]}", text)


def failed_assertion(message: str) -> str:
    """The format of a failed `cf.assert`, for the places of its block and of its thread there."""
    words = message.replace("%", "%%")
    return f"block: [%d,%d,%d], thread: [%d,%d,%d] Assertion `{words}` failed.\n"


def failed_tile_assertion(message: str, place: tuple[str, int, int] | None, rank: int) -> str:
    """The format of a failed `cuda_tile.assert` of a file's line, for the numbers of its block and
    the index of an element: tileiras 13.5."""
    where = "" if place is None else f"{place[0]}:{place[1]}: "
    position = ", ".join(["%d"] * rank)
    words = f"{where}tile block: [%d, %d, %d], position: [{position}]: "
    return words + message.replace("%", "%%") + "\n"


PLACES = tuple(f"{name}.{axis}" for name in ("ctaid", "tid") for axis in "xyz")
"""The special registers that it prints."""
SAID = "tilewright.said"
"""The attribute of a `cf.assert` that prints nothing: what fails was printed."""
