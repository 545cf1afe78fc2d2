"""Constants, and what operators make of them: integers of 64 bits, signed or not, and f64.
PTX ISA 4.5.

What that leaves open is as ptxas 13.5 has it: a remainder is of unsigned numbers, a shift by the
low six bits of its amount, and `?:` has the type of what it chooses.
"""

import operator
import re
import struct
from collections.abc import Callable
from functools import lru_cache
from math import isinf
from typing import Any

_TOKEN = re.compile(
    r"""\s*(?:(?:0[dD](?P<bits>[0-9a-fA-F]{16})
    |(?P<real>(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|[1-9]\d*[eE][-+]?\d+)
    |(?P<integer>0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)(?P<unsigned>U?)
    |(?P<warp>WARP_SZ))(?![\w.$%])
    |(?P<cast>\(\s*\.[su]64\s*\))|(?P<sign><<|>>|[<>=!]=|&&|\|\||[-+*/%~!<>&^|?:()]))\s*""",
    re.VERBOSE | re.ASCII,
)


class _Unsigned(int):
    """An integer without a sign."""


def _quotient(one: Any, other: Any) -> Any:
    if isinstance(one, float):
        return one / other
    size = abs(one) // abs(other)
    return size if (one < 0) == (other < 0) else -size


_OPERATORS: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "||": (1, lambda one, other: bool(one or other)),
    "&&": (2, lambda one, other: bool(one and other)),
    "|": (3, lambda one, other: one | other),
    "^": (4, lambda one, other: one ^ other),
    "&": (5, lambda one, other: one & other),
    "==": (6, operator.eq), "!=": (6, operator.ne),
    "<": (7, operator.lt), "<=": (7, operator.le), ">": (7, operator.gt), ">=": (7, operator.ge),
    "<<": (8, lambda one, other: one << other), ">>": (8, lambda one, other: one >> other),
    "+": (9, operator.add), "-": (9, operator.sub),
    "*": (10, operator.mul), "/": (10, _quotient), "%": (10, operator.mod),
}  # fmt: skip
"""The operators of two operands, and how closely they bind; `?:` binds least."""
_OF_REALS = {"==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/"}


@lru_cache(1 << 14)
def evaluate(text: str) -> int | float | None:
    """The number that an expression is: an integer that 64 bits hold, or a real; None for a text
    that is no expression, and for what no number is."""
    tokens, position = list[re.Match[str]](), 0
    while (token := _TOKEN.match(text, position)) is not None:
        tokens.append(token)
        position = token.end()
    tokens.reverse()
    try:
        number = _parsed(tokens)
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError):
        return None
    if tokens or position < len(text):
        return None
    # What is no `int` itself is looked for one after the other in a range.
    return number if isinstance(number, float) else int(number)


def _parsed(tokens: list[re.Match[str]], closeness: int = 0) -> Any:
    """The number that the last tokens are, up to an operator that does not bind as closely."""
    one = _operand(tokens)
    while tokens and (sign := tokens[-1]["sign"]) in ("?", *_OPERATORS):
        binds, of = _OPERATORS.get(sign, (0, None))
        if binds < closeness:
            break
        tokens.pop()
        if of is not None:
            one = _combined(sign, of, one, _parsed(tokens, binds + 1))
            continue
        chosen = _parsed(tokens)
        if tokens.pop()["sign"] != ":":
            raise ValueError("?")
        other = _parsed(tokens)
        if any(isinstance(number, float) for number in (one, chosen, other)):
            raise TypeError("?")
        one = chosen if one else other
    return one


def _operand(tokens: list[re.Match[str]]) -> Any:
    token = tokens.pop()
    match token.lastgroup:
        case "bits":
            return struct.unpack(">d", bytes.fromhex(token["bits"]))[0]
        case "real":
            if isinf(value := float(token["real"])):
                raise ValueError(token[0])
            return value
        case "unsigned":
            value = int(re.sub(r"^0(?=\d)", "0o", token["integer"]), 0)
            if value >> 64:
                raise ValueError(token[0])
            return _wrapped(value, _Unsigned() if token["unsigned"] or value >> 63 else value)
        case "warp":
            return 32
        case "cast":
            return _wrapped(_whole(tokens), _Unsigned() if "u" in token["cast"] else 0)
        case _:
            return _signed(token["sign"], tokens)


def _signed(sign: str, tokens: list[re.Match[str]]) -> Any:
    """The number behind a sign, or between brackets."""
    match sign:
        case "(":
            value = _parsed(tokens)
            if tokens.pop()["sign"] != ")":
                raise ValueError("(")
            return value
        case "!":
            return int(not _whole(tokens))
        case "~":
            return _wrapped(~_whole(tokens), _Unsigned())
        case "+":
            return _operand(tokens)
        case "-":
            value = _operand(tokens)
            return -value if isinstance(value, float) else _wrapped(-value, value)
        case _:
            raise ValueError(sign)


def _whole(tokens: list[re.Match[str]]) -> int:
    value = _operand(tokens)
    if isinstance(value, float):
        raise TypeError(value)
    return value


def _combined(sign: str, of: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    if isinstance(one, float) or isinstance(other, float):
        if type(one) is not type(other) or sign not in _OF_REALS:
            raise TypeError(sign)
        result = of(one, other)
        return int(result) if isinstance(result, bool) else result
    if sign in ("<<", ">>"):
        return _wrapped(of(one, other % 64), one)
    alike = one, other, _Unsigned() if sign == "%" else 0
    result = of(*(_wrapped(value, *alike) for value in alike[:2]))
    return int(result) if isinstance(result, bool) else _wrapped(result, *alike)


def _wrapped(value: int, *alike: int) -> int:
    """The low 64 bits, as a number without a sign if one of others is one."""
    value %= 1 << 64
    if any(isinstance(number, _Unsigned) for number in alike):
        return _Unsigned(value)
    return value - (value >> 63 << 64)
