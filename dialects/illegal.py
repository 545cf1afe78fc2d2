"""The base of the errors that say why something is not legal, and how they tell values."""

from collections.abc import Iterable
from typing import Any, cast


class Error(Exception):
    """The base of what tilewright raises: every public error is one."""


class Illegal(Error, ValueError):
    """Something that is not legal: what was found, what is legal, and why. An op's verification
    says it of the op."""


_LONG = 80
"""Characters that are told of an argument, at most."""


def told(value: Any) -> str:
    """A value as the message that refuses it has it: in one line, of an array what it is."""
    try:
        dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
        if dtype is not None and isinstance(shape, tuple) and shape:
            return f"{type(value).__name__} of {dtype} {list(cast('tuple[int, ...]', shape))}"
        text = " ".join(repr(value).split())
    except Exception:  # of a number with too many digits, or the value's own
        bits = f" of {value.bit_length()} bits" if isinstance(value, int) else ""
        return f"one of {type(value).__name__}{bits}"
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def listed(values: Iterable[object]) -> str:
    """Types or numbers as diagnostics list them."""
    return ", ".join(map(str, values))
