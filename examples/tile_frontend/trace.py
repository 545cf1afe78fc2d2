"""Tracing: the body of a kernel runs once as Python, and what it does is written down as IR."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partialmethod
from typing import Any, ClassVar

from xdsl.builder import Builder
from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.rewriter import InsertPoint

from tilewright.dialects.cute.dialect import CUTE
from tilewright.parsing import default_context

OPS = {op.name.removeprefix("cute."): op for op in CUTE.operations}


@cache
def attribute(text: str) -> Any:
    """A type or an attribute as IR spells it."""
    return Parser(default_context(), text).parse_attribute()


def cute(name: str, *operands: SSAValue, **properties: Attribute) -> Operation:
    """An op of the `cute` dialect, with the result types that it infers."""
    found = OPS[name].infer(tuple(each.type for each in operands), properties)
    if isinstance(found, str):
        raise ValueError(f"'cute.{name}' {found}")
    return OPS[name].create(operands=operands, result_types=found, properties=properties)


class Trace:
    """Where ops go: the body of the kernel, or its entry, for values that all of it may use.
    `engine` is how tiles reach shared memory, and what multiplies them there."""

    current: ClassVar[Trace]

    def __init__(self, entry: InsertPoint, body: InsertPoint, engine: Any):
        self._entry, self._body, self.engine = Builder(entry), Builder(body), engine
        self._known: dict[Any, Any] = {}
        Trace.current = self

    def emit(self, op: Operation, uniform: bool = False) -> Any:
        """Insert an op, at the entry where it is uniform: its first result."""
        (self._entry if uniform else self._body).insert(op)
        return op.results[0] if op.results else None

    def once(self, key: Any, op: Callable[[], Operation]) -> Any:
        """A value of the entry, made once for a key."""
        if key not in self._known:
            self._known[key] = self.emit(op(), uniform=True)
        return self._known[key]

    def constant(self, value: Attribute) -> SSAValue:
        return self.once(value, lambda: arith.ConstantOp(value))

    def typed(self, name: str, text: str) -> SSAValue:
        """A value that its type says: `typed("static", '!cute.tile<"[64;32]">')`."""
        return self.once(text, lambda: OPS[name](attribute(text)))

    def move(self, place: InsertPoint) -> None:
        """From here on `emit` goes elsewhere."""
        self._body = Builder(place)

    @contextmanager
    def inserting(self, place: InsertPoint) -> Iterator[None]:
        """Meanwhile it does."""
        before, self._body = self._body, Builder(place)
        yield
        self._body = before


@dataclass(frozen=True)
class Index:
    """An i32 that the kernel knows when it runs; `uniform` where its entry does."""

    value: SSAValue
    uniform: bool = True

    def _map(self, op: Callable[..., Operation], other: Index | int) -> Index:
        right = index(other)
        uniform = self.uniform and right.uniform
        return Index(Trace.current.emit(op(self.value, right.value), uniform), uniform)

    __add__ = partialmethod(_map, arith.AddiOp)
    __sub__ = partialmethod(_map, arith.SubiOp)
    __mul__ = partialmethod(_map, arith.MuliOp)
    __floordiv__ = partialmethod(_map, arith.DivUIOp)


def index(number: Index | int) -> Index:
    if isinstance(number, Index):
        return number
    return Index(Trace.current.constant(IntegerAttr(number, i32)))


def hardware(op: Callable[..., Operation], axis: str) -> Index:
    """The index of the thread in its block, or of the block in its grid."""
    dimension = gpu.DimensionAttr(gpu.DimensionEnum(axis))
    wide = Trace.current.once((op, axis), lambda: op(dimension))
    return Index(Trace.current.once(wide, lambda: arith.IndexCastOp(wide, i32)))


def dynamic(kind: str, text: str, *leaves: Index) -> SSAValue:
    """A value with its dynamic leaves filled: `dynamic("shape", "(128,?)", n)`."""
    text = f'!cute.{kind}<"{text}">'
    if not leaves:
        return Trace.current.typed("static", text)
    values = [each.value for each in leaves]
    op = OPS[f"make_{kind}"].create(operands=values, result_types=[attribute(text)])
    return Trace.current.emit(op, all(each.uniform for each in leaves))


def coord(*parts: Index | int | None) -> SSAValue:
    """A coordinate, None being a mode that stays open: `coord(i, None)` is "(?,_)"."""
    words = ("_" if each is None else "?" if isinstance(each, Index) else each for each in parts)
    leaves = (each for each in parts if isinstance(each, Index))
    return dynamic("coord", f"({','.join(map(str, words))})", *leaves)
