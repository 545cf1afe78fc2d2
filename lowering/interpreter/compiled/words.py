"""Values of one thread, or of each of some, in LLVM IR, to which NumPy's functions may be applied.

A function of arrays of raw bits is declared once, in NumPy (`arithmetic/`). Called with words,
which are to NumPy what it calls array-likes (NEP 13 and NEP 18), it writes the code of one thread.
What an array asks of all threads, `any` and `all`, is answered for the general case; where that
raises a Fault, the condition guards the code, and NumPy decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import starmap
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from tilewright.dialects.frozen import entity
from tilewright.lowering.interpreter.array_types import AnyArray, AnyDType
from tilewright.lowering.interpreter.compiled.llvm import I1, LANES, constant, ir
from tilewright.lowering.interpreter.compiled.ufuncs import EMITTED, intrinsic
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.numerics import fma32, fma64

BOOL = np.dtype(bool)
numpy: Any = np
"""NumPy, as words take its functions."""
PYTHON: tuple[type, ...] = (int, float, bool)
"""Numbers that take the dtype of what they meet."""


def llvm_type(dtype: AnyDType) -> Any:
    """The type of a value. Raises TypeError for what LLVM computes otherwise than NumPy."""
    if dtype.kind in "iub":
        return I1 if dtype == BOOL else ir.IntType(8 * dtype.itemsize)
    if dtype.char in "fd":
        return ir.FloatType() if dtype.itemsize == 4 else ir.DoubleType()
    raise TypeError(dtype)


class Tracer:
    """The questions that a function of words asks of all threads: answers by a plan, and the
    conditions under which they are wrong. Its values are those of one thread, or vectors."""

    def __init__(self, builder: Any):
        self.builder = builder
        self.guards: list[Any] = []
        self.is_vector = False
        self._plan: list[bool] = []
        self._asked: list[Any] = []

    def type(self, dtype: AnyDType) -> Any:
        """The type of values now. Raises TypeError for what LLVM computes otherwise than NumPy."""
        type_ = llvm_type(dtype)
        return ir.VectorType(type_, LANES) if self.is_vector else type_

    def trace(self, function: Callable[..., Any], words: Sequence[LaneWord]) -> Any:
        """The function's results. Raises Fault where it has none, and what NumPy raises of a
        function that words do not have."""
        self._plan = []
        while True:
            self._asked = []
            try:
                result = function(*words)
            except Fault:
                self._plan += [True] * (len(self._asked) - len(self._plan))
                while self._plan and not self._plan[-1]:
                    self._plan.pop()
                if not self._plan:
                    raise
                self._plan[-1] = False
                continue
            self.guards += [
                asked for asked, answer in zip(self._asked, self._plan, strict=False) if not answer
            ]
            return result

    def wrap(self, given: Any, dtype: Any = None) -> LaneWord:
        """A word, or a constant of all threads, of this dtype where it has none."""
        if isinstance(given, LaneWord):
            return given
        number: AnyArray = np.asarray(given, dtype if type(given) in PYTHON else None)
        if number.size != 1:
            raise TypeError(given)
        value = constant(self.type(number.dtype), number.item())
        return LaneWord(self, [value], number.dtype, max(number.ndim, 1))

    def by_column(
        self, compute: Callable[..., Any], words: Sequence[LaneWord], dtype: Any
    ) -> LaneWord:
        """The values of a function of each column of words."""
        count, ndim = max(len(word.columns) for word in words), max(word.ndim for word in words)
        rows = [word.columns * (count if len(word.columns) == 1 else 1) for word in words]
        return LaneWord(self, list(starmap(compute, zip(*rows, strict=True))), dtype, ndim)

    def any(self, condition: Any) -> bool:
        """The answer for a condition: that it holds in some thread, where the plan has none."""
        self._asked.append(condition)
        place = len(self._asked) - 1
        return self._plan[place] if place < len(self._plan) else True


@entity
class Some:
    """`any` of a condition, or `all`, which is not any of its negation."""

    _word: LaneWord
    _negated: bool

    def __bool__(self) -> bool:
        word = ~self._word if self._negated else self._word
        return word.tracer.any(word.value) != self._negated


class LaneWord(NDArrayOperatorsMixin):
    """One value of a thread; or, with two axes, the registers of a list."""

    size = 1

    def __init__(self, tracer: Tracer, columns: Sequence[Any], dtype: Any, ndim: int = 1):
        self.tracer, self.columns = tracer, list(columns)
        self.dtype, self.ndim = np.dtype(dtype), ndim

    @property
    def value(self) -> Any:
        """The one value."""
        [value] = self.columns
        return value

    @property
    def shape(self) -> tuple[int, ...]:
        return (1, len(self.columns))[: self.ndim]

    def __len__(self) -> int:
        return 1

    def _of(self, columns: Sequence[Any], dtype: Any, ndim: int | None = None) -> LaneWord:
        return LaneWord(self.tracer, columns, dtype, self.ndim if ndim is None else ndim)

    def copy(self) -> LaneWord:
        return self._of(self.columns, self.dtype)

    def any(self, axis: int | None = None) -> Some:
        return Some(self, False)

    def all(self, axis: int | None = None) -> Some:
        return Some(self, True)

    def astype(self, dtype: Any, copy: bool = True) -> LaneWord:
        dtype = np.dtype(dtype)
        return self._of([self._cast(value, dtype) for value in self.columns], dtype)

    def _cast(self, value: Any, to: AnyDType) -> Any:
        builder, source, type_ = self.tracer.builder, self.dtype, self.tracer.type(to)
        if source == to:
            return value
        if to == BOOL:
            return (self._of([value], source) != 0).value
        kinds = ("f" if source.kind == "f" else "i") + ("f" if to.kind == "f" else "i")
        if kinds == "ii":
            wider = builder.sext if source.kind == "i" else builder.zext
            return (wider if to.itemsize > source.itemsize or source == BOOL else builder.trunc)(
                value, type_
            )
        if kinds == "ff":
            return (builder.fpext if to.itemsize == 8 else builder.fptrunc)(value, type_)
        signed, unsigned = {
            "if": (builder.sitofp, builder.uitofp), "fi": (builder.fptosi, builder.fptoui),
        }[kinds]  # fmt: skip
        return (signed if (source if kinds == "if" else to).kind == "i" else unsigned)(value, type_)

    def view(self, dtype: Any) -> LaneWord:
        """The bits as another type: of a list also as words of another width, low ones first."""
        dtype, builder = np.dtype(dtype), self.tracer.builder
        if dtype.itemsize == self.dtype.itemsize:
            type_ = self.tracer.type(dtype)
            return self._of([builder.bitcast(value, type_) for value in self.columns], dtype)
        wide, narrow = sorted((dtype, self.dtype), key=lambda one: -one.itemsize)
        times, bits = wide.itemsize // narrow.itemsize, 8 * narrow.itemsize
        if self.ndim == 1 or "f" in (wide.kind, narrow.kind):
            raise TypeError(dtype)
        if dtype == narrow:
            parts = [
                (self._of([value], wide) >> wide.type(bits * place)).astype(narrow).value
                for value in self.columns
                for place in range(times)
            ]
            return self._of(parts, narrow)
        words: list[Any] = []
        for first in range(0, len(self.columns), times):
            total = self._of([self.columns[first]], narrow).astype(wide)
            for place in range(1, times):
                part = self._of([self.columns[first + place]], narrow).astype(wide)
                total = total | part << wide.type(bits * place)
            words += total.columns
        return self._of(words, wide)

    def __getitem__(self, key: Any) -> LaneWord:
        match key:
            case (_, None):
                return self._of(self.columns, self.dtype, 2)
            case (_, int(column)) if self.ndim == 2:
                return self._of([self.columns[column]], self.dtype, 1)
            case _:
                raise TypeError(key)

    def __setitem__(self, mask: LaneWord, value: Any) -> None:
        self.columns = numpy.where(mask, self.dtype.type(value), self).columns  # pyright: ignore

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        if method != "__call__" or ufunc.nout > 1 or set(options) - {"out", "dtype"}:
            return NotImplemented
        wrap = self.tracer.wrap
        if options.get("dtype") is not None:
            given = tuple(wrap(one).astype(options["dtype"]) for one in given)
        kinds: list[Any] = [type(one) if type(one) in PYTHON else wrap(one).dtype for one in given]
        *sources, result = ufunc.resolve_dtypes((*kinds, None))
        if len(set(sources)) > 1:
            return NotImplemented
        words = [wrap(one, to).astype(to) for one, to in zip(given, sources, strict=True)]
        emit = EMITTED.get(ufunc)
        if emit is None:
            return NotImplemented
        return self.tracer.by_column(
            lambda *values: emit(self.tracer.builder, sources[0], *values), words, result
        )

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        own = FUNCTIONS.get(function)
        return NotImplemented if own is None else own(self, *given, **options)


def _where(word: LaneWord, condition: Any, a: Any, b: Any) -> LaneWord:
    wrap = word.tracer.wrap
    dtype = np.result_type(*(one.dtype if isinstance(one, LaneWord) else one for one in (a, b)))
    words = [wrap(condition).astype(bool), *(wrap(x, dtype).astype(dtype) for x in (a, b))]
    return word.tracer.by_column(word.tracer.builder.select, words, dtype)


def _concatenated(word: LaneWord, words: Sequence[LaneWord], axis: int = 0) -> LaneWord:
    assert axis == 1
    return LaneWord(
        word.tracer, [column for one in words for column in one.columns], words[0].dtype, 2
    )


def _fused(function: Any, word: LaneWord, a: Any, b: Any, c: Any, rounding: str = "rn") -> Any:
    """The processor's own, and NaNs as the function that it stands for has them."""
    if rounding != "rn":
        return function.__wrapped__(a, b, c, rounding)
    words = [word.tracer.wrap(one) for one in (a, b, c)]
    fused = partial(intrinsic("fma"), word.tracer.builder, words[0].dtype)
    result = word.tracer.by_column(fused, words, words[0].dtype)
    if words[0].dtype == np.float32:
        return result
    bits: Any = word.tracer.wrap(np.uint64(0xFFF8000000000000))
    for operand in (words[0], words[2], words[1]):
        bits = numpy.where(np.isnan(operand), operand.view(np.uint64) | np.uint64(1 << 51), bits)
    return numpy.where(np.isnan(result), bits.view(np.float64), result)


def _broadcast(word: LaneWord, *given: Any) -> list[LaneWord]:
    return [word.tracer.wrap(one) for one in given]


def _first(word: LaneWord, _: Any) -> int:
    """The one thread."""
    return 0


def _ones(word: LaneWord, x: LaneWord) -> LaneWord:
    return word.tracer.wrap(x.dtype.type(1))


def _clipped(word: LaneWord, x: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.concatenate: _concatenated,
    np.broadcast_arrays: _broadcast,
    np.argmax: _first,
    np.clip: _clipped,
    np.ones_like: _ones,
    fma32: partial(_fused, fma32),
    fma64: partial(_fused, fma64),
}
"""NumPy's functions, and those of `numerics` that the processor has."""
