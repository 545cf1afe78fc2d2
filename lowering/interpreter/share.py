"""A share of a grid: some of its CTAs, run by themselves on a copy of memory, anywhere.

Where no share touches what another one wrote, all of them together are the run of the whole grid,
bit for bit. Where one does, the whole grid has to run in one place, which says what was wrong: so
does a kernel that prints or combines atomically, as what it gives depends on the order of CTAs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NoReturn, TextIO

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.frozen import factory, frozen
from tilewright.lowering.interpreter.array_types import BoolArray, UInt8Array
from tilewright.source.diagnostic import ExecutionError, at

Octets = UInt8Array
Flags = BoolArray


class OrderMatters(ExecutionError):
    """A share of a grid did what depends on the CTAs of others."""


@frozen
class BufferUse:
    """The bytes of a buffer that a share accessed and, of those, wrote: bits, packed; and what the
    share left in the latter."""

    touched: Octets
    written: Octets
    content: Octets

    @classmethod
    def of(cls, touched: Flags, written: Flags, data: Octets) -> BufferUse:
        """That of a buffer that holds `data`, by flags of its bytes."""
        touched = touched | written
        return cls(np.packbits(touched), np.packbits(written), data[written])


@dataclass
class Share:
    """Share `number` of `count`: how many `ctas` it was, how many operations of threads it took,
    and what it did to each buffer of global memory, in order."""

    number: int
    count: int
    ctas: int = 0
    executed: int = 0
    uses: list[BufferUse] = factory(list)

    def part(self, total: int, unit: int) -> tuple[int, int]:
        """The CTAs of this share, the first and that behind the last; `unit` of them at a time stay
        together."""
        units = -(-total // unit)
        first, last = (
            min(units * number // self.count * unit, total)
            for number in (self.number, self.number + 1)
        )
        self.ctas = last - first
        return first, last


Elsewhere = Callable[[Sequence[Octets], int], int | None]
"""Runs so many CTAs elsewhere on copies of these buffers, and puts the results there: how many
operations of threads it took; None, and nothing is changed, where they have to run in one place."""


OUTPUT: ContextVar[TextIO | None] = ContextVar("where kernels print to", default=None)
"""None: to where `print` goes."""


class PrintedText(str):
    """A text that an op of a kernel prints, and the line of the source that the op is of."""

    line: int | None = None

    @classmethod
    def of(cls, op: Operation, text: str) -> PrintedText:
        printed = cls(text)
        printed.line = at(op.location, "").line
        return printed


def print_text(text: str) -> None:
    """Write the text of a kernel, as it is, to its output."""
    output = OUTPUT.get()
    if output is None:
        print(text, end="")
    else:
        output.write(text)


def refuse(what: Any) -> NoReturn:
    """End a share that does what depends on the order of CTAs."""
    raise OrderMatters(f"expected no order of CTAs to matter, got {what}")


def refuse_text(text: str) -> NoReturn:
    """End a share that prints."""
    refuse(f"the text {text!r} to print")


def merge(buffers: Sequence[Octets], shares: Sequence[Share]) -> bool:
    """Put what all shares wrote into the buffers; False, and nothing is changed, where one touched
    what another wrote."""
    for uses in zip(*(share.uses for share in shares), strict=True):
        touched, written = (np.zeros_like(uses[0].touched) for _ in range(2))
        for use in uses:
            if (use.touched & written).any() or (use.written & touched).any():
                return False
            touched |= use.touched
            written |= use.written
    for share in shares:
        # Behind the arguments' buffers are those of the program's own globals.
        for buffer, use in zip(buffers, share.uses, strict=False):
            buffer[np.unpackbits(use.written, count=len(buffer)).astype(np.bool_)] = use.content
    return True
