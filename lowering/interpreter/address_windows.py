"""Addresses of global memory: each allocation owns a window of 2^40 of them and lies in its middle.

So an address names its allocation however far an offset strays, and address arithmetic is plain
arithmetic of 64 bits.
"""

from typing import TypeVar

from tilewright.lowering.interpreter.array_types import AnyArray

_BITS = 40

Address = TypeVar("Address", int, AnyArray)


def base_of(number: int) -> int:
    """Where the allocation of a number, from 0, begins."""
    return (number + 1 << _BITS) + (1 << _BITS - 1)


def window_of(address: Address) -> Address:
    """The number of the allocation that an address names, or each of an array; others name none."""
    return (address >> _BITS) - 1
