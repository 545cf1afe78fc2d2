"""Kernels of Triton that compute with every number there is and arrange tensors in every way: what
is compiled, and what the interpreter sees, is what NumPy has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import ml_dtypes
import numpy as np
from arithmetic import (
    CASTS,
    DIVISIONS,
    DTYPES,
    FLOAT_LAWS,
    FLOAT_PREDICATES,
    FLOATS,
    INTEGER_LAWS,
    INTEGER_PREDICATES,
    bits,
    compare,
    values,
)
from draw import Draw
from tiles import ARCHS
from triton_accesses import Array, TritonKernel, tensor

INTEGERS = ("i8", "i16", "i32", "i64")
WITHOUT = ("floordivsi", "ceildivsi", "ceildivui")
"""What Triton has no op of."""
COMBINED = ("addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui", "maxnumf",
            "minnumf", "maximumf", "minimumf")  # fmt: skip
EIGHT = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
SHAPES = ((64,), (8, 8), (4, 16), (2, 32), (4, 4, 4), (32, 2), (2, 1, 32))
Law = Callable[..., Any]


@dataclass
class Tensor:
    """A value, and what NumPy has for it."""

    name: str
    element: str
    of: Array

    @property
    def type(self) -> str:
        return tensor(self.of.shape, self.element)


@dataclass
class Values:
    """The lines of a kernel on their way."""

    draw: Draw
    lines: list[str] = field(default_factory=list[str])
    tensors: list[Tensor] = field(default_factory=list[Tensor])
    parameters: list[str] = field(default_factory=list[str])
    args: list[Array] = field(default_factory=list[Array])
    expected: list[Array] = field(default_factory=list[Array])
    count: int = 0

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def add(self, text: str, element: str, of: Array) -> Tensor:
        """A value of an op."""
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        self.tensors.append(Tensor(name, element, of))
        return self.tensors[-1]

    def pointers(self, element: str, data: Array, after: Array) -> str:
        name, at, wide, flat, result = f"%p{len(self.args)}", *(self.fresh() for _ in range(4))
        size, kind = data.size, f"!tt.ptr<{element}>"
        self.parameters.append(f"{name}: {kind}")
        self.args.append(data.reshape(-1))
        self.expected.append(after.reshape(-1))
        i32, many = tensor((size,), "i32"), tensor((size,), kind)
        self.lines += [
            f"{at} = tt.make_range {{end = {size} : i32, start = 0 : i32}} : {i32}",
            f"{wide} = tt.splat {name} : {kind} -> {many}",
            f"{flat} = tt.addptr {wide}, {at} : {many}, {i32}",
            f"{result} = tt.reshape {flat} : {many} -> {tensor(data.shape, kind)}",
        ]
        return result

    def load(self, element: str, shape: Sequence[int]) -> Tensor:
        data = values(element, tuple(shape), self.draw.generator())
        pointers = self.pointers(element, data, data)
        type_ = tensor(data.shape, f"!tt.ptr<{element}>")
        return self.add(f"tt.load {pointers} : {type_}", element, data)

    def store(self, x: Tensor) -> None:
        if x.element == "i1":
            x = self.add(f"arith.extui {x.name} : {x.type} to {tensor(x.of.shape, 'i8')}", "i8",
                         x.of.astype(np.int8))  # fmt: skip
        pointers = self.pointers(x.element, np.zeros_like(x.of), x.of)
        self.lines.append(
            f"tt.store {pointers}, {x.name} : {tensor(x.of.shape, f'!tt.ptr<{x.element}>')}"
        )

    def number(self, number: Any, like: Tensor) -> Tensor:
        text = str(number).lower()
        of = np.full(like.of.shape, number, like.of.dtype)
        return self.add(f"arith.constant dense<{text}> : {like.type}", like.element, of)

    def of(self, elements: Sequence[str]) -> Tensor:
        """A value of one of these elements, rather a late one."""
        there = [x for x in self.tensors if x.element in elements]
        if there and self.draw.chance(85):
            return there[-1 - min(self.draw.number(0, len(there) - 1), self.draw.number(0, 5))]
        return self.load(self.draw.pick(elements), self.draw.pick(SHAPES))

    def like(self, x: Tensor, element: str | None = None) -> Tensor:
        element = element or x.element
        there = [y for y in self.tensors if y.element == element and y.of.shape == x.of.shape]
        if there and self.draw.chance(70):
            return self.draw.pick(there)
        if element == "i1":
            return self.compared(self.load("i32", x.of.shape))
        if self.draw.chance(40):
            info = np.iinfo(x.of.dtype) if element in INTEGERS else None
            ends = (info.min, info.max) if info else (-0.0, 0.5)
            edges = (0, 1, -1, 2, *ends) if info else (0.0, 1.0, -1.0, 2.0, *ends)
            if element == x.element:
                return self.number(self.draw.pick(edges), x)
        return self.load(element, x.of.shape)

    # --- ops of each element ---

    def arithmetic(self) -> None:
        x = self.of(("i1", *INTEGERS, *FLOATS))
        y = self.like(x)
        if x.element in FLOATS:
            op = self.draw.pick([*FLOAT_LAWS])
            text = "tt.precise_divf" if op == "divf" else f"arith.{op}"
            if op == "divf" and x.element in ("f16", "bf16"):
                text = "arith.divf"
            self.add(f"{text} {x.name}, {y.name} : {x.type}", x.element, FLOAT_LAWS[op](x.of, y.of))
            return
        laws = [op for op in INTEGER_LAWS if op not in WITHOUT]
        op = self.draw.pick(("andi", "ori", "xori") if x.element == "i1" else laws)
        if op in DIVISIONS or op in ("shli", "shrsi", "shrui"):
            y = self.within(x, y, op in DIVISIONS)
        self.add(f"arith.{op} {x.name}, {y.name} : {x.type}", x.element,
                 INTEGER_LAWS[op](x.of, y.of))  # fmt: skip

    def within(self, x: Tensor, y: Tensor, divides: bool) -> Tensor:
        """A divisor of 1 or more, or a number of places."""
        most = np.iinfo(x.of.dtype).max if divides else bits(x.element) - 1
        few, one = self.number(most, x), self.number(1, x)
        y = self.add(f"arith.andi {y.name}, {few.name} : {x.type}", x.element, y.of & few.of)
        if not divides:
            return y
        return self.add(f"arith.ori {y.name}, {one.name} : {x.type}", x.element, y.of | one.of)

    def compared(self, x: Tensor) -> Tensor:
        y, real = self.like(x), x.element in FLOATS
        how = self.draw.pick(FLOAT_PREDICATES if real else INTEGER_PREDICATES)
        text = f"arith.cmp{'f' if real else 'i'} {how}, {x.name}, {y.name} : {x.type}"
        return self.add(text, "i1", compare(x.element, how, x.of, y.of))

    def compare(self) -> None:
        self.compared(self.of((*INTEGERS, *FLOATS)))

    def select(self) -> None:
        x = self.of(("i1", *INTEGERS, *FLOATS))
        y, c = self.like(x), self.like(x, "i1")
        self.add(f"arith.select {c.name}, {x.name}, {y.name} : {c.type}, {x.type}", x.element,
                 np.where(c.of, x.of, y.of))  # fmt: skip

    def cast(self) -> None:
        cast = self.draw.pick([one for one in CASTS if "index" not in (one.source, one.result)])
        x = self.of((cast.source,))
        if cast.guarded:
            # Halves within -64 and 64.
            x = self.number_within(x)
        op = "tt.bitcast" if cast.op == "bitcast" else f"arith.{cast.op}"
        word = "->" if cast.op == "bitcast" else "to"
        self.add(f"{op} {x.name} : {x.type} {word} {tensor(x.of.shape, cast.result)}", cast.result,
                 cast.law(x.of))  # fmt: skip

    def number_within(self, x: Tensor) -> Tensor:
        low, high = self.number(0.0, x), self.number(100.0, x)
        for op, y in (("maxnumf", low), ("minnumf", high)):
            x = self.add(f"arith.{op} {x.name}, {y.name} : {x.type}", x.element,
                         FLOAT_LAWS[op](x.of, y.of))  # fmt: skip
        return x

    def eight(self) -> None:
        """To 8 bits, which saturates, and back."""
        x, to = self.of(("f16", "bf16", "f32")), self.draw.pick([*EIGHT])
        most = float(ml_dtypes.finfo(EIGHT[to]).max)
        near = np.clip(x.of.astype(np.float32), -most, most).astype(EIGHT[to])
        y = self.add(f"tt.fp_to_fp {x.name}, rounding = rtne : {x.type} -> "
                     f"{tensor(x.of.shape, to)}", to, near)  # fmt: skip
        back = self.draw.pick(("f16", "f32"))
        self.add(f"tt.fp_to_fp {y.name} : {y.type} -> {tensor(x.of.shape, back)}", back,
                 near.astype(np.float32).astype(DTYPES[back]))  # fmt: skip

    # --- arrangements ---

    def reshape(self) -> None:
        x = self.of(("i1", *INTEGERS, *FLOATS))
        shapes = [shape for shape in SHAPES if np.prod(shape) == x.of.size]
        if shapes:
            shape = self.draw.pick(shapes)
            self.add(f"tt.reshape {x.name} : {x.type} -> {tensor(shape, x.element)}", x.element,
                     x.of.reshape(shape))  # fmt: skip

    def trans(self) -> None:
        x = self.of(("i1", *INTEGERS, *FLOATS))
        order = list(range(x.of.ndim))
        for i in range(len(order) - 1):
            j = self.draw.number(i, len(order) - 1)
            order[i], order[j] = order[j], order[i]
        of = np.ascontiguousarray(x.of.transpose(order))
        if len(order) > 1:
            self.add(f"tt.trans {x.name} {{order = array<i32: {', '.join(map(str, order))}>}} : "
                     f"{x.type} -> {tensor(of.shape, x.element)}", x.element, of)  # fmt: skip

    def join(self) -> None:
        x = self.of((*INTEGERS, *FLOATS))
        if x.of.size < 256:
            y = self.like(x)
            of = np.stack([x.of, y.of], axis=-1)
            self.add(f"tt.join {x.name}, {y.name} : {x.type} -> {tensor(of.shape, x.element)}",
                     x.element, of)  # fmt: skip

    def split(self) -> None:
        pairs = [x for x in self.tensors if x.of.shape[-1] == 2 and x.of.ndim > 1]
        if pairs:
            x = self.draw.pick(pairs)
            names, parts = [self.fresh(), self.fresh()], [x.of[..., 0], x.of[..., 1]]
            self.lines.append(f"{', '.join(names)} = tt.split {x.name} : {x.type} -> "
                              f"{tensor(parts[0].shape, x.element)}")  # fmt: skip
            self.tensors += [Tensor(name, x.element, part.copy())
                             for name, part in zip(names, parts, strict=True)]  # fmt: skip

    def gather(self) -> None:
        x = self.of((*INTEGERS, *FLOATS))
        axis = self.draw.number(0, x.of.ndim - 1)
        index = self.number(x.of.shape[axis] - 1, self.load("i32", x.of.shape))
        free = self.like(index)
        index = self.add(f"arith.andi {free.name}, {index.name} : {free.type}", "i32",
                         free.of & index.of)  # fmt: skip
        self.add(f"tt.gather {x.name}[{index.name}] {{axis = {axis} : i32}} : ({x.type}, "
                 f"{index.type}) -> {x.type}", x.element,
                 np.take_along_axis(x.of, index.of, axis))  # fmt: skip

    def fold(self) -> None:
        """A reduction, or a scan from either end, by one operation or by what is not 0 last."""
        x = self.of((*INTEGERS, *FLOATS))
        axis, scans, back = (self.draw.number(0, x.of.ndim - 1), self.draw.chance(50),
                             self.draw.chance(50))  # fmt: skip
        ops = [op for op in COMBINED if (op[-1] == "f") == (x.element in FLOATS)]
        op, e = self.draw.pick([*ops, *["last"] * (scans and x.element in INTEGERS)]), x.element
        region = [f"%s = arith.{op} %a, %b : {e}"]
        law: Law = {**INTEGER_LAWS, **FLOAT_LAWS}.get(op, lambda a, b: np.where(b != 0, b, a))
        if op == "last":
            region = [f"%z = arith.constant 0 : {e}", f"%c = arith.cmpi ne, %b, %z : {e}",
                      f"%s = arith.select %c, %b, %a : {e}"]  # fmt: skip
        rows = list(np.moveaxis(x.of, axis, 0))
        if scans:
            ends = rows[::-1] if back else rows
            for i in range(1, len(ends)):
                ends[i] = law(ends[i - 1], ends[i])
            of = np.stack(ends[::-1] if back else ends, axis)
        else:
            of = np.asarray(reduce(law, rows))
        if not of.ndim:
            return
        name, kind = self.fresh(), "scan" if scans else "reduce"
        more = f", reverse = {str(back).lower()}" * scans
        self.lines += [f'{name} = "tt.{kind}"({x.name}) <{{axis = {axis} : i32{more}}}> ({{',
                       f"^bb0(%a: {e}, %b: {e}):", *region, f"tt.{kind}.return %s : {e}",
                       f"}}) : ({x.type}) -> {tensor(of.shape, e)}"]  # fmt: skip
        self.tensors.append(Tensor(name, e, of))


OPS: tuple[Callable[[Values], None], ...] = (
    Values.arithmetic, Values.arithmetic, Values.arithmetic,
    Values.compare, Values.select, Values.cast, Values.cast, Values.eight, Values.reshape,
    Values.trans, Values.join, Values.split, Values.gather, Values.fold, Values.fold,
)  # fmt: skip


def triton_values(draw: Draw) -> TritonKernel:
    """A kernel of such ops, the last of whose values are stored."""
    g = Values(draw)
    with np.errstate(all="ignore"):
        for _ in range(draw.number(2, 14)):
            draw.pick(OPS)(g)
    kept = [x for x in g.tensors if x.element in DTYPES]
    for x in kept[-draw.number(1, 5) :]:
        g.store(x)
    lines, warps = "\n    ".join(g.lines), draw.pick((4, 1, 2, 8))
    head = f'module attributes {{"ttg.num-warps" = {warps} : i32}} {{\n  tt.func public @k('
    text = f"{head}{', '.join(g.parameters)}) {{\n    {lines}\n    tt.return\n  }}\n}}\n"
    return TritonKernel(text, g.args, (1,), draw.pick(ARCHS), "exact", g.expected)
