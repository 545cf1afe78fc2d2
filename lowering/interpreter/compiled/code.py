"""LLVM IR of functions: loops over threads, places in memory, and ways out for what is rare."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tilewright.lowering.interpreter.compiled.llvm import I8, I64, ir
from tilewright.lowering.interpreter.compiled.words import BOOL, LaneWord, Tracer, llvm_type

INT64 = np.dtype(np.int64)


class Code(Tracer):
    """The code of a function of LLVM that is being written, `arguments` and result of 64 bits or
    pointers."""

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
        constant = isinstance(value, int)
        return LaneWord(
            self, [ir.Constant(llvm_type(np.dtype(dtype)), value) if constant else value], dtype
        )

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
        return ir.Constant(I64, number) if isinstance(number, int) else number

    def load(self, pointer: Any, dtype: Any, index: Any = 0) -> LaneWord:
        """An element of an array."""
        dtype = np.dtype(dtype)
        if dtype == BOOL:
            return self.load(pointer, np.uint8, index) != np.uint8(0)
        value = self.builder.load(self.place(pointer, dtype, index), typ=llvm_type(dtype), align=1)
        return LaneWord(self, [value], dtype)

    def store(self, pointer: Any, index: Any, word: LaneWord) -> None:
        """The inverse."""
        stored = word.astype(np.uint8) if word.dtype == BOOL else word
        self.builder.store(stored.value, self.place(pointer, word.dtype, index), align=1)

    def pointer(self, place: Any, index: Any = 0) -> Any:
        """A pointer that is an element of an array of them."""
        return self.builder.inttoptr(self.load(place, INT64, index).value, ir.PointerType())

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
    def where(self, condition: LaneWord) -> Generator[None]:
        """Code for where something holds."""
        with self.builder.if_then(condition.value):
            yield

    def leave(self, condition: LaneWord, result: Any) -> None:
        """The function returns a result where something holds."""
        with self.builder.if_then(condition.value):
            self.builder.ret(self.value(result))

    def variable(self, type_: Any, start: Any) -> Any:
        """A place of the function's own."""
        with self.builder.goto_entry_block():
            place = self.builder.alloca(type_)
        self.builder.store(start, place)
        return place

    def call(self, function: Any, *arguments: Any) -> LaneWord:
        """The result of another function of the module."""
        return self.word(self.builder.call(function, [self.value(one) for one in arguments]))
