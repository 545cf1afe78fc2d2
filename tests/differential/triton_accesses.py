"""Kernels of Triton that load and store at places that are computed in every way: what is compiled,
and what the interpreter sees of views in the pointers, is what NumPy has.

NumPy's values have an axis for programs and one for iterations of the loop, in front of a tile's.
Numbers are small and whole, and sums of them exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from draw import Draw
from tile_writer import DTYPES
from tiles import ARCHS, TileKernel

import tilewright as tw

Array = np.ndarray[Any, np.dtype[Any]]
LIMIT = 1 << 12
RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "slt": np.less, "sle": np.less_equal, "sge": np.greater_equal, "sgt": np.greater,
    "ne": np.not_equal, "eq": np.equal,
}  # fmt: skip
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "addi": np.add, "muli": np.multiply, "subi": np.subtract, "minsi": np.minimum,
    "maxsi": np.maximum, "divsi": lambda a, b: np.trunc(a / b).astype(int), "remsi": np.fmod,
    "andi": np.bitwise_and,
}  # fmt: skip


@dataclass
class Value:
    name: str
    type: str
    of: Array


@dataclass
class TritonKernel(TileKernel):
    expected: list[Array]

    def difference(self) -> str | None:
        got = tw.interpret(self.text, "k", grid=self.grid, args=self.args)
        for number, (a, b) in enumerate(zip(got, self.expected, strict=True)):
            if ((a != b) & ((a == a) | (b == b))).any():
                return f"argument {number} is not what NumPy has"
        return super().difference()


def tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>" if shape else element


class Accesses:
    """A program's text, with what NumPy has for its values."""

    def __init__(self, draw: Draw) -> None:
        self.draw, self.numbers = draw, draw.generator()
        self.grid = draw.pick(((3,), (1,), (2, 3), (5,)))
        self.programs = int(np.prod(self.grid))
        self.lines, self.parameters, self.count = list[str](), list[str](), 0
        self.args, self.expected = list[Any](), list[Array]()
        self.scalars = list[Value]()
        for at, axis in zip(np.indices(self.grid), "xy", strict=False):
            number = at.reshape(-1, 1)
            self.scalars.append(self.do(f"tt.get_program_id {axis} : i32", "i32", number))
        for _ in range(draw.number(1, 4)):
            self.scalars.append(self.argument(draw.pick((16, 32, 1, 5, 7, 8, 13, 33, 48, 0, -3))))

    def do(self, text: str, type_: str, of: Array) -> Value:
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return Value(f"%v{self.count}", type_, of)

    def constant(self, number: int, like: Value | None = None) -> Value:
        type_ = like.type if like else "i32"
        text = f"dense<{number}>" if "<" in type_ else f"{number}"
        rank = like.of.ndim if like else 2
        return self.do(f"arith.constant {text} : {type_}", type_, np.full((1,) * rank, number))

    def argument(self, number: int) -> Value:
        name = f"%n{len(self.parameters)}"
        known = " {tt.divisibility = 16 : i32}" * (number % 16 == 0 and self.draw.chance(70))
        self.parameters.append(f"{name}: i32{known}")
        self.args.append(number)
        return Value(name, "i32", np.full((1, 1), number))

    def pointer(self, element: str, data: Array) -> str:
        name = f"%p{len(self.parameters)}"
        known = " {tt.divisibility = 16 : i32}" * self.draw.chance(85)
        self.parameters.append(f"{name}: !tt.ptr<{element}>{known}")
        self.args.append(data)
        return name

    def both(self, op: str, x: Value, y: Value) -> Value:
        """An operation on two values of one type, or on a scalar too."""
        x, y = (self.splat(one, two) for one, two in ((x, y), (y, x)))
        text, of = f"arith.{op} {x.name}, {y.name} : {x.type}", ARITHMETIC[op](x.of, y.of)
        return self.do(text, x.type, of)

    def splat(self, x: Value, like: Value) -> Value:
        if x.type == like.type or "<" in x.type:
            return x
        of = x.of.reshape(*x.of.shape, *(1,) * (like.of.ndim - 2))
        return self.do(f"tt.splat {x.name} : {x.type} -> {like.type}", like.type, of)

    def scalar(self) -> Value:
        """A number of a program, which may be a new one."""
        x = self.draw.pick(self.scalars)
        if self.draw.chance(40):
            x = self.changed(x)
            self.scalars.append(x)
        return x

    def changed(self, x: Value) -> Value:
        """What an operation makes of indices, unless that is far away."""
        op = self.draw.pick([*ARITHMETIC])
        other = self.constant(self.draw.pick((8, 16, 1, 2, 3, 5, 32)))
        if op not in ("divsi", "remsi", "andi") and self.draw.chance(60):
            other = self.draw.pick(self.scalars)
        elif op in ("divsi", "remsi"):
            positive = [one for one in self.scalars if one.of.min() > 0]
            other = self.draw.pick([other, *positive])
        y = self.both(op, x, other)
        return y if abs(y.of).max() <= LIMIT else x

    def index(self, extent: int) -> Value:
        """Numbers along an axis."""
        text = f"tt.make_range {{end = {extent} : i32, start = 0 : i32}} : tensor<{extent}xi32>"
        x = self.do(text, f"tensor<{extent}xi32>", np.arange(extent).reshape(1, 1, -1))
        start = self.scalar()
        if self.draw.chance(60):
            start = self.both("muli", start, self.constant(extent))
        if self.draw.chance(80):
            x = self.both("addi", start, x)
        while self.draw.chance(35):
            x = self.changed(x)
        return x

    def mask(self, x: Value) -> Value:
        """Which numbers are to one side of one."""
        if self.draw.chance(20):
            x = self.changed(x)
        relation, y = self.draw.pick((*["slt"] * 6, *RELATIONS)), self.splat(self.scalar(), x)
        text = f"arith.cmpi {relation}, {x.name}, {y.name} : {x.type}"
        return self.do(text, x.type.replace("i32", "i1"), RELATIONS[relation](x.of, y.of))

    def spread(self, x: Value, axis: int, shape: tuple[int, ...]) -> Value:
        """Numbers along an axis of two, for all of the other."""
        element, extent = ("i1" if "i1>" in x.type else "i32"), shape[axis]
        thin = tensor((extent, 1)[:: 1 - 2 * axis], element)
        of = np.expand_dims(x.of, 3 - axis)
        text = f"tt.expand_dims {x.name} {{axis = {1 - axis} : i32}} : {x.type} -> {thin}"
        y = self.do(text, thin, of)
        type_ = tensor(shape, element)
        return self.do(f"tt.broadcast {y.name} : {thin} -> {type_}", type_, of)

    def places(self, shape: tuple[int, ...]) -> tuple[Value, Value | None]:
        """Places of a tile's elements, and which are accessed."""
        axes = [self.index(extent) for extent in shape]
        masks = [self.mask(x) for x in axes if self.draw.chance(70)]
        if len(shape) == 1:
            return axes[0], masks[0] if masks else None
        rows, columns = axes
        stride = self.draw.pick((self.scalar(), self.constant(self.draw.pick((16, 32, 64)))))
        rows = self.both("muli", rows, stride)
        if self.draw.chance(15):
            rows, columns = axes[0], self.both("muli", columns, stride)
        wide = [
            self.spread(x, axis, (shape[0], shape[1])) for axis, x in enumerate((rows, columns))
        ]
        place = self.both("addi", *wide)
        kept: Value | None = None
        for one in masks:
            axis = int(one.type != axes[0].type.replace("i32", "i1"))
            whole = self.spread(one, axis, shape)
            kept = self.both("andi", kept, whole) if kept else whole
        return place, kept

    def pointers(self, base: str, element: str, place: Value, first: int) -> tuple[str, str]:
        """Those to places from one on, and their type."""
        pointer, none = f"!tt.ptr<{element}>", np.zeros((1, 1))
        start = Value(base, pointer, none)
        if first or self.draw.chance(20):
            number = self.draw.pick((self.constant, self.argument))(first)
            start = self.do(f"tt.addptr {base}, {number.name} : {pointer}, i32", pointer, none)
        type_ = place.type.replace("i32", pointer)
        wide = self.do(f"tt.splat {start.name} : {pointer} -> {type_}", type_, none)
        text = f"tt.addptr {wide.name}, {place.name} : {type_}, {place.type}"
        return self.do(text, type_, none).name, type_

    def load(self, shape: tuple[int, ...], element: str) -> Value:
        """A tile from memory, which has just room for it."""
        for _ in range(3):
            place, kept = self.places(shape)
            if abs(place.of).max() <= LIMIT:
                break
        else:
            place, kept = self.constant(0, place), None
        first = max(-int(place.of.min()), self.draw.pick((0, 0, 0, 16, 5)))
        size = int(place.of.max()) + first + self.draw.number(1, 9)
        data = self.numbers.integers(-4, 5, size).astype(DTYPES[element])
        base = self.pointer(element, data)
        self.expected.append(data)
        at, type_ = self.pointers(base, element, place, first)
        type_, of = tensor(shape, element), data[place.of + first].astype(int)
        text = f"tt.load {at}"
        if kept:
            other = self.draw.pick((0, 0, 0, 1, -2))
            of = np.where(kept.of, of, other)
            text += f", {kept.name}, {self.number(other, type_, element)}"
        return self.do(f"{text} : {tensor(shape, f'!tt.ptr<{element}>')}", type_, of)

    def number(self, number: int, type_: str, element: str) -> str:
        text = f"{number}.0" if element[0] == "f" else f"{number}"
        return self.do(f"arith.constant dense<{text}> : {type_}", type_, np.zeros(1)).name

    def added(self, total: Value, x: Value, element: str, sums: str) -> Value:
        """The sum with a tile, as its elements."""
        if element != sums:
            op = "extf" if sums == "f32" else "extsi"
            x = self.do(f"arith.{op} {x.name} : {x.type} to {total.type}", total.type, x.of)
        text = f"arith.add{sums[0]} {total.name}, {x.name} : {total.type}"
        return self.do(text, total.type, total.of + x.of)

    def store(self, x: Value, shape: tuple[int, ...], sums: str) -> None:
        """To each program's part of an array."""
        size = int(np.prod(shape))
        flat = tensor((size,), sums)
        if len(shape) > 1:
            text = f"tt.reshape {x.name} : {x.type} -> {flat}"
            x = self.do(text, flat, np.broadcast_to(x.of, (*x.of.shape[:2], *shape)))
        text = f"tt.make_range {{end = {size} : i32, start = 0 : i32}} : tensor<{size}xi32>"
        at = self.do(text, f"tensor<{size}xi32>", np.arange(size).reshape(1, 1, -1))
        program = self.scalars[0]
        if len(self.grid) > 1:
            program = self.both("muli", program, self.constant(self.grid[1]))
            program = self.both("addi", program, self.scalars[1])
        place = self.both("addi", self.both("muli", program, self.constant(size)), at)
        kept = self.mask(self.draw.pick((at, place))) if self.draw.chance(50) else None
        result = np.full(self.programs * size, 77, DTYPES[sums])
        pointers, type_ = self.pointers(self.pointer(sums, result), sums, place, 0)
        self.lines.append(
            f"tt.store {pointers}, {x.name}{f', {kept.name}' if kept else ''} : {type_}"
        )
        wanted, values = (
            result.copy(),
            np.broadcast_to(x.of.reshape(x.of.shape[0], -1), place.of.shape[::2]),
        )
        chosen = np.broadcast_to(kept.of if kept else True, place.of.shape)
        wanted[place.of[chosen]] = values.reshape(chosen.shape)[chosen]
        self.expected.append(wanted)


def triton_accesses(draw: Draw) -> TritonKernel:
    """A kernel that adds tiles up, some in a loop, and stores the sums."""
    g = Accesses(draw)
    shape = draw.pick(((16, 16), (32,), (8, 32), (128,), (32, 8), (4, 64)))
    element = draw.pick(("f32", "f16", "i32", "i16", "i8"))
    sums = "f32" if element[0] == "f" else "i32"
    type_ = tensor(shape, sums)
    zero = g.number(0, type_, sums)
    total = Value(zero, type_, np.zeros((1, 1, *(1,) * len(shape)), int))
    for _ in range(draw.number(1, 2)):
        total = g.added(total, g.load(shape, element), element, sums)
    if draw.chance(60):
        rounds, outside, scalars = draw.number(1, 4), total, list(g.scalars)
        bounds = g.constant(0), draw.pick((g.constant, g.argument))(rounds), g.constant(1)
        low, high, step = (bound.name for bound in bounds)
        g.lines.append(
            f"%r = scf.for %q = {low} to {high} step {step} iter_args(%t = {total.name}) -> "
            f"({type_}) : i32 {{"
        )
        g.scalars += [Value("%q", "i32", np.arange(rounds).reshape(1, -1))] * 3
        inside = Value("%t", type_, np.zeros_like(total.of))
        for _ in range(draw.number(1, 2)):
            inside = g.added(inside, g.load(shape, element), element, sums)
        g.lines += [f"scf.yield {inside.name} : {type_}", "}"]
        times = rounds // inside.of.shape[1]
        total = Value("%r", type_, outside.of + times * inside.of.sum(axis=1, keepdims=True))
        g.scalars = scalars
    g.store(total, shape, sums)
    arch = draw.pick(ARCHS)
    promised = ", tt.disjoint = true" * draw.chance(50)
    if negative := [str(i) for i, one in enumerate(g.args) if isinstance(one, int) and one < 0]:
        promised += f", tt.negative = array<i32: {', '.join(negative)}>"
    warps = draw.pick((4, 1, 2, 8))
    text = "\n    ".join(
        [f"tt.func public @k({', '.join(g.parameters)}) {{", *g.lines, "tt.return"]
    )
    text = (
        f'module attributes {{"ttg.num-warps" = {warps} : i32{promised}}} {{\n  {text}\n  }}\n}}\n'
    )
    return TritonKernel(text, g.args, g.grid, arch, "exact", g.expected)
