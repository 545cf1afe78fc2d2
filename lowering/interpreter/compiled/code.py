"""LLVM IR of functions: loops over threads, places in memory, and ways out for what is rare."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tilewright.lowering.interpreter.array_types import AnyDType
from tilewright.lowering.interpreter.compiled.llvm import I8, I32, I64, LANES, POINTER, constant, ir
from tilewright.lowering.interpreter.compiled.ufuncs import intrinsic
from tilewright.lowering.interpreter.compiled.words import BOOL, LaneWord, Tracer, llvm_type

INT64 = np.dtype(np.int64)


class Code(Tracer):
    """The code of a function of LLVM that is being written, `arguments` and result of 64 bits or
    pointers. Where values are vectors, so are elements of arrays, which lie behind one another."""

    def __init__(self, module: Any, name: str, arguments: Sequence[Any], *, apart: bool = False):
        function = ir.Function(module, ir.FunctionType(I64, arguments), name)
        function.linkage = "internal"
        if apart:
            function.attributes.add("noinline")
        super().__init__(ir.IRBuilder(function.append_basic_block()))
        self.function = function

    @property
    def arguments(self) -> Sequence[Any]:
        return self.function.args

    def word(self, value: Any, dtype: Any = INT64) -> LaneWord:
        """A word of this dtype; of a Python number its constant."""
        if isinstance(value, int):
            value = constant(self.type(np.dtype(dtype)), value)
        return LaneWord(self, [value], dtype)

    # Memory

    def place(self, pointer: Any, dtype: Any, index: Any) -> Any:
        """The place of an element."""
        dtype = np.dtype(dtype)
        type_ = I8 if dtype == BOOL else llvm_type(dtype)
        return self.builder.gep(pointer, [self.value(index)], source_etype=type_)

    def value(self, number: Any) -> Any:
        """The LLVM value of a number."""
        if isinstance(number, LaneWord):
            return number.astype(INT64).value
        return ir.Constant(I64, int(number)) if isinstance(number, int) else number

    def load(self, pointer: Any, dtype: Any, index: Any = 0) -> LaneWord:
        """An element of an array."""
        dtype = np.dtype(dtype)
        if dtype == BOOL:
            return self.load(pointer, np.uint8, index) != np.uint8(0)
        value = self.builder.load(self.place(pointer, dtype, index), typ=self.type(dtype), align=1)
        return LaneWord(self, [value], dtype)

    def entry(self, table: Any, number: int) -> LaneWord:
        """A word of a table of words of 64 bits."""
        return self.load(table, INT64, number)

    def add(self, table: Any, number: int, by: LaneWord | int) -> None:
        """Add to one."""
        self.store(table, number, self.entry(table, number) + by)

    def store(self, pointer: Any, index: Any, word: LaneWord) -> None:
        """The inverse of `load`."""
        stored = word.astype(np.uint8) if word.dtype == BOOL else word
        self.builder.store(stored.value, self.place(pointer, word.dtype, index), align=1)

    def gather(self, places: LaneWord, dtype: AnyDType, here: LaneWord) -> LaneWord:
        """The elements at addresses, for the threads of a vector that are here."""
        zero = self.word(0, dtype)
        return self.word(self._at_places("gather", places, here, zero.value, zero.value), dtype)

    def scatter(self, places: LaneWord, word: LaneWord, here: LaneWord) -> None:
        """The inverse, for one thread after the other."""
        self._at_places("scatter", places, here, word.value)

    def _at_places(
        self, name: str, places: LaneWord, here: LaneWord, value: Any, *more: Any
    ) -> Any:
        pointers = self.builder.inttoptr(places.value, ir.VectorType(POINTER, LANES))
        align, loads = ir.Constant(I32, 1), bool(more)
        given = [*([] if loads else [value]), pointers, align, here.value, *more]
        result = value.type if loads else ir.VoidType()
        kinds = [f"v{LANES}{value.type.element}", f"v{LANES}p0"]
        of = ir.FunctionType(result, [one.type for one in given])
        name = ".".join(("llvm.masked", name, *kinds))
        return self.builder.call(self.builder.module.declare_intrinsic(name, (), of), given)

    def pointer(self, place: Any, index: Any = 0) -> Any:
        """A pointer that is an element of an array of them."""
        return self.builder.load(self.place(place, INT64, index), typ=POINTER, align=8)

    # Control flow

    @contextmanager
    def loop(self, count: Any) -> Generator[Any]:
        """Code for each number below a count."""
        builder, count = self.builder, self.value(count)
        before = builder.block
        body, after = (self.function.append_basic_block() for _ in range(2))
        some = builder.icmp_signed(">", count, ir.Constant(I64, 0))
        builder.cbranch(some, body, after)
        builder.position_at_end(body)
        index = builder.phi(I64)
        index.add_incoming(ir.Constant(I64, 0), before)
        yield index
        following = builder.add(index, ir.Constant(I64, 1))
        index.add_incoming(following, builder.block)
        builder.cbranch(builder.icmp_signed("<", following, count), body, after)
        builder.position_at_end(after)

    @contextmanager
    def vectors(self, threads: Any) -> Generator[Any]:
        """Code for vectors, of so many threads in all: the number of the first one of each."""
        width = ir.Constant(I64, LANES)
        with self.loop(self.builder.udiv(threads, width)) as index:
            first = self.builder.mul(index, width)
            self.is_vector = True
            yield first
            self.is_vector = False

    def mask(self, word: LaneWord) -> Any:
        """A bit for each thread of a vector in which something holds."""
        return self.builder.bitcast(word.value, ir.IntType(LANES))

    def holds(self, condition: LaneWord) -> Any:
        """That something holds, in a vector for some thread."""
        if not self.is_vector:
            return condition.value
        mask = self.mask(condition)
        return self.builder.icmp_unsigned("!=", mask, ir.Constant(mask.type, 0))

    def count(self, total: Any, here: LaneWord, times: int) -> None:
        """Add so many to a variable for each thread that is here."""
        builder, width = self.builder, np.dtype(f"u{LANES // 8}")
        number = builder.zext(intrinsic("ctpop")(builder, width, self.mask(here)), I64)
        product = builder.mul(number, ir.Constant(I64, times))
        builder.store(builder.add(builder.load(total, typ=I64), product), total)

    def least(self, vector: LaneWord) -> Any:
        """The least of the elements of a vector of 32 bits each."""
        of, name = ir.FunctionType(I32, [vector.value.type]), f"llvm.vector.reduce.smin.v{LANES}i32"
        function = self.builder.module.declare_intrinsic(name, (), of)
        return self.builder.call(function, [vector.value])

    @contextmanager
    def where(self, condition: LaneWord) -> Generator[None]:
        """Code for where something holds."""
        with self.builder.if_then(self.holds(condition)):
            yield

    def leave(self, condition: LaneWord, result: int) -> None:
        """The function returns a result where something holds."""
        with self.builder.if_then(self.holds(condition)):
            self.builder.ret(ir.Constant(I64, result))

    def variable(self, type_: Any, start: Any = None) -> Any:
        """A place of the function's own."""
        with self.builder.goto_entry_block():
            place = self.builder.alloca(type_)
        if start is not None:
            self.builder.store(start, place)
        return place

    def broadcast(self, value: Any) -> Any:
        """A vector of a value."""
        type_, zero = ir.VectorType(value.type, LANES), ir.Constant(I64, 0)
        one = self.builder.insert_element(ir.Constant(type_, ir.Undefined), value, zero)
        zeros = ir.Constant(ir.VectorType(I32, LANES), [0] * LANES)
        return self.builder.shuffle_vector(one, one, zeros)

    def call(self, function: Any, *arguments: Any) -> LaneWord:
        """The result of another function of the module."""
        return self.word(self.builder.call(function, [self.value(one) for one in arguments]))
