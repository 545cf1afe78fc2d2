"""Tracing: the body of a kernel runs once as Python, and what it does is written down as IR."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partialmethod
from typing import Any, ClassVar

from xdsl.builder import Builder
from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tilewright import builder


class Trace:
    """Where ops go: the body of the kernel, or its entry, for values that all of it may use.
    `engine` is how blocks reach shared memory, and what multiplies them there."""

    current: ClassVar[Trace]

    def __init__(self, kernel: Block, engine: Any):
        entry_end = arith.ConstantOp(IntegerAttr(0, i32))
        kernel.insert_ops_before([entry_end], kernel.last_op)
        self._entry = Builder(InsertPoint.before(entry_end))
        self._body = Builder(InsertPoint.before(kernel.last_op))
        self._known: dict[Any, Any] = {}
        self.engine, Trace.current = engine, self

    def emit(self, op: Operation, uniform: bool = False) -> Any:
        """Insert an op, at the entry where it is uniform: its first result."""
        (self._entry if uniform else self._body).insert(builder.located(op))
        return op.results[0] if op.results else None

    def once(self, key: Any, op: Callable[[], Operation]) -> Any:
        """A value of the entry, made once for a key."""
        if key not in self._known:
            self._known[key] = self.emit(op(), uniform=True)
        return self._known[key]

    def move(self, place: InsertPoint) -> None:
        """From here on `emit` goes elsewhere."""
        self._body = Builder(place)

    @contextmanager
    def inserting(self, place: InsertPoint) -> Iterator[None]:
        """Meanwhile it does."""
        before, self._body = self._body, Builder(place)
        yield
        self._body = before


def cute(name: str, *operands: Any, uniform: bool = False, **properties: Any) -> Any:
    """An op of the `cute` dialect: its first result."""
    return Trace.current.emit(builder.cute(name, *operands, **properties), uniform)


def typed(name: str, text: str) -> SSAValue:
    """The value that its type says in full: `typed("make_tiled_mma", "!cute.tiled_mma<...>")`."""
    return Trace.current.once(text, lambda: builder.cute(name, text))


def algebra(kind: str, text: str, *leaves: Index) -> SSAValue:
    """A value of the layout algebra: `algebra("shape", "(128,?)", n)`."""
    if not leaves:
        return typed("static", f'!cute.{kind}<"{text}">')
    op = builder.leaves(kind, text, *(leaf.value for leaf in leaves))
    return Trace.current.emit(op, all(leaf.uniform for leaf in leaves))


@dataclass(frozen=True)
class Index:
    """An i32, or a truth, that the kernel knows when it runs; `uniform` where its entry does."""

    value: SSAValue
    uniform: bool = True

    def _map(self, op: Callable[..., Operation], other: Index | int) -> Index:
        right = index(other)
        uniform = self.uniform and right.uniform
        return Index(Trace.current.emit(op(self.value, right.value), uniform), uniform)

    __add__ = partialmethod(_map, arith.AddiOp)
    __lt__ = partialmethod(_map, lambda a, b: arith.CmpiOp(a, b, "ult"))
    __floordiv__ = partialmethod(_map, arith.DivUIOp)


Place = tuple[Index | int | None, ...]


def index(number: Index | int | None) -> Index:
    if isinstance(number, Index):
        return number
    constant = IntegerAttr(number, i32)
    return Index(Trace.current.once(constant, lambda: arith.ConstantOp(constant)))


def hardware(op: Callable[..., Operation], axis: str) -> Index:
    """The index of the thread in its block, or of the block in its grid."""
    wide = Trace.current.emit(op(gpu.DimensionAttr(gpu.DimensionEnum(axis))), uniform=True)
    return Index(Trace.current.emit(arith.IndexCastOp(wide, i32), uniform=True))


def at(tensor: SSAValue, mode: int, place: Index) -> SSAValue:
    """A tensor at one place of its first mode (0), or its last (-1)."""
    whole: list[Index | None] = [None] * tensor.type.typed.value.modes.rank()
    whole[mode] = place
    return cute("slice", tensor, coord(*whole), uniform=place.uniform)


def coord(*place: Index | int | None) -> SSAValue:
    """A coordinate, None being a mode that stays whole: `coord(i, None)` is "(?,_)"."""
    words = ("_" if x is None else "?" if isinstance(x, Index) else str(x) for x in place)
    leaves = (index for index in place if isinstance(index, Index))
    return algebra("coord", f"({','.join(words)})", *leaves)
