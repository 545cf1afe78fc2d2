"""The integers that may stand in an operand's place, and how diagnostics speak of them."""

from collections.abc import Iterable

from tilewright.dialects.cute_nvgpu.lattice.operand_text import Written

Integers = tuple[int, ...] | range

COUNTING = range(1 << 63)
"""Integers of 0 or more; PTX's have 63 bits and a sign."""


def selects(item: Written, legal: Integers | None) -> bool:
    """True for a register, and for a legal integer; None stands for all."""
    whole = item.kind == "integer" and (legal is None or item.value in legal)
    return whole or item.kind == "register"


def nearest_of(legal: Integers | None, written: Written) -> str | None:
    """Of the integers; None where no integer was written."""
    if written.kind != "integer" or not legal:
        return None
    if isinstance(legal, tuple):
        return str(min(legal, key=lambda value: abs(value - written.value)))
    place = round((written.value - legal.start) / legal.step)
    return str(legal[min(max(place, 0), (legal[-1] - legal[0]) // legal.step)])


def either_of(choices: Iterable[int]) -> str:
    """`0, 1 or 2`."""
    *others, last = map(str, choices)
    return f"{', '.join(others)} or {last}" if others else last


def some_of(legal: range | None, integer: str) -> str:
    """`an integer of 0 to 16`, `a multiple of 8 from 24 to 256`."""
    if legal is None:
        return f"an {integer}"
    if legal == COUNTING:
        return f"an {integer} of 0 or more"
    if legal.step > 1:
        return f"a multiple of {legal.step} from {legal[0]} to {legal[-1]}"
    return f"an {integer} of {legal[0]} to {legal[-1]}"
