"""C's printf formats: what `gpu.printf`, `llvm.call @printf` and PTX's `vprintf` print.

An integer is printed by `%d`, `%i`, `%u`, `%x`, `%X` or `%o`, with `l` or `ll` before the letter
where it has 64 bits, `h` where it has 16 and `hh` where it has 8, an i8 by `%c` too; a float of any
width by `%f`, `%e`, `%g`, or, without a precision, `%a`; a text by `%s`,
where a register has its address, and that itself by `%p`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import copysign, inf, isinf, isnan
from typing import Any

from xdsl.ir import Attribute, Operation

from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.scalar_types import scalar_type
from tilewright.dialects.ptx.types import RegType
from tilewright.source.diagnostic import OpError

_CONVERSION = re.compile(r"%([-+ #0]*\d*(?:\.\d*)?)(hh|h|ll|l|)([a-zA-Z%]?)")
_SHAPE = re.compile(r"([-+ #0]*)(\d*)((?:\.\d*)?)")
_SIGNED, _UNSIGNED, _FLOAT, _HEXADECIMAL = "di", "uxXoc", "fFeEgG", "aA"
_CHARACTERS = ("u8", "u32")
"""The types that `%c` prints: an i8, or the register that one is passed in."""
_WIDTHS = {"hh": "8", "h": "16", "l": "64", "ll": "64"}
"""The bits of the integers that a length is for."""


@frozen
class FormatString:
    """A format that fits the values it is given, and what the bits of each are read as."""

    text: str
    types: tuple[str, ...]

    @staticmethod
    def of(op: Operation, text: str, values: Sequence[Attribute]) -> FormatString:
        """Read a format. Raises OpError where it does not fit values of these types."""
        conversions = [match for match in _CONVERSION.finditer(text) if match[3] != "%"]
        if (count := len(conversions)) != len(values):
            reason = f"'{op.name}' expected {count} values for its format, got {len(values)}"
            raise OpError(op, reason)
        types = list[str]()
        for match, type_ in zip(conversions, values, strict=True):
            types.append(_read_as(op, type_, "s" if match[3] in _SIGNED else "u"))
            _check(op, match, types[-1], type_)
        return FormatString(text, tuple(types))

    def line(self, values: Sequence[Any], at: Callable[[int], str] | None = None) -> str:
        """Values as they are printed, with the text `at` an address."""
        rest = iter(values)

        def shown(match: re.Match[str]) -> str:
            shape, _, letter = match.groups()
            if letter == "%":
                return letter
            value = next(rest)
            return printed(at(value) if letter == "s" and at else value, shape, letter)

        return _CONVERSION.sub(shown, self.text)


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


def _check(op: Operation, match: re.Match[str], scalar: str, type_: Attribute) -> None:
    """Raise OpError where a conversion is not one for the type."""
    shape, length, kind = match.groups()
    is_float, wide = scalar[0] in "fb", scalar in ("s64", "u64")
    fits = is_float or (scalar[1:] == _WIDTHS[length] if length else not wide)
    legal = _SIGNED + _UNSIGNED
    if kind and kind in "sp" and wide and not length and isinstance(type_, RegType):
        return
    if is_float:
        legal = _FLOAT + ("" if "." in shape else _HEXADECIMAL)
    characters = _CHARACTERS if isinstance(type_, RegType) else _CHARACTERS[:1]
    if not kind or kind not in legal or not fits or (kind == "c" and scalar not in characters):
        nearest = "%f" if is_float else "%lld" if wide else "%d"
        raise OpError(
            op,
            f"'{op.name}' expected a conversion for {type_}, got {match[0]}; "
            f"nearest legal: {nearest}",
        )


def printed(value: Any, shape: str, letter: str) -> str:
    """A value as C prints it by a conversion of flags, width and precision."""
    [(flags, width, precision), *_] = _SHAPE.findall(shape)
    if letter == "p":
        letter, value = "s", hex(value) if value else "(nil)"
    elif letter in _FLOAT + _HEXADECIMAL:
        return _float(value, flags, width, precision, letter)
    elif letter in _SIGNED + _UNSIGNED:
        return _integer(value, flags, width, precision, letter)
    return f"%{flags}{width}{precision}{letter}" % value


def _float(value: float, flags: str, width: str, precision: str, letter: str) -> str:
    """As Python prints it, but for the sign of NaN, no zeros around what is not finite, and `a`."""
    if isnan(value):
        text = _float(copysign(inf, value), flags, width, precision, letter)
        return text.replace("inf", "nan").replace("INF", "NAN")
    if isinf(value):
        flags = flags.replace("0", "")
    if letter not in _HEXADECIMAL:
        return f"%{flags}{width}{precision}{letter}" % value
    sign = "-" if copysign(1, value) < 0 else _sign(flags)
    text = re.sub(r"\.?0*p", "p", abs(value).hex())
    if "0" in flags and "-" not in flags:
        text = f"0x{text[2:].zfill(int(width or 0) - len(sign) - 2)}"
    text = sign + text
    return f"%{flags}{width}s" % (text if letter == "a" else text.upper())


def _sign(flags: str) -> str:
    """That of a number that has none of its own."""
    return "+" if "+" in flags else " " if " " in flags else ""


def _integer(value: int, flags: str, width: str, precision: str, letter: str) -> str:
    """As Python prints it, but for flags that C ignores, zeros of no digits, and octal digits
    behind a 0."""
    octal = letter == "o" and "#" in flags
    if letter in _UNSIGNED:
        flags = re.sub("[+ #]" if octal or not value else "[+ ]", "", flags)
    if precision and letter != "c":
        flags = flags.replace("0", "")
        if not value and not int(precision[1:] or 0):
            return f"%{flags}{width}s" % ("0" if octal else _sign(flags))
    text = f"%{flags}{width}{precision}{'d' if letter in 'iu' else letter}" % value
    digits = text.strip()
    if octal and digits[0] != "0":
        return f"%{flags}{width}.{len(digits) + 1}o" % value
    return text


def passed_as(text: str) -> list[str]:
    """The kinds of the registers in which the values of a format are passed."""
    return [
        "f64" if kind in _FLOAT + _HEXADECIMAL
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
