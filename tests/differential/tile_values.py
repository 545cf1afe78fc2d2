"""Kernels of Tile IR that compute with every number there is: NaN, infinities, zeros of both signs,
subnormal ones, the ends of integers; constants and comparisons such as simplifications look for,
every rounding, and conversions between all types."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from arithmetic import values
from draw import Draw
from tile_accesses import Accesses
from tile_writer import DTYPES, FLOATS, INTEGERS, STORED, Shape, Value, tile
from tiles import ARCHS, TileKernel

from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF, types_of
from tilewright.dialects.cuda_tile.ops.conversions import ftof_roundings

ROUNDED = ("addf", "subf", "mulf", "divf", "fma", "sqrt")
MODES = ("nearest_even", "zero", "negative_inf", "positive_inf")
RELATIONS = ("equal", "not_equal", "less_than", "less_than_or_equal", "greater_than",
             "greater_than_or_equal")  # fmt: skip
SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -3.0, math.inf, -math.inf, math.nan, 2.0**-130, 65504.0)


class Numbers(Accesses):
    """A kernel of ops on tiles of one shape, and on scalars."""

    of_shape: Shape = (64,)

    def content(self, element: str, count: int) -> Any:
        if element in STORED:
            return self.numbers.integers(0, 256, count, np.uint8).view(DTYPES[element])
        return values(element, (count,), self.numbers)

    def source(self, element: str | None = None, shape: Shape | None = None) -> Value:
        element = element or self.draw.pick((*INTEGERS, *FLOATS, "f32", "i32"))
        shape = self.of_shape if shape is None else shape
        return self.special(element, shape) if self.draw.chance(35) else self.load(shape, element)

    def special(self, element: str, shape: Shape) -> Value:
        """A constant that is a neutral or an absorbing element, or an end."""
        if element[0] != "i":
            number = self.draw.pick(SPECIAL)
            dtype = np.dtype(DTYPES[element])
            if np.isfinite(number):
                words = f"{number:.20f}" if 0 < abs(number) < 1e-9 else f"{number}"
            else:
                with np.errstate(all="ignore"):
                    bits = np.array(number).astype(dtype).view(f"u{dtype.itemsize}")
                words = f"0x{int(bits):0{2 * dtype.itemsize}X}"
            return self.op(
                f"constant <{element}: {words}> : {tile(shape, element)}", shape, element
            )
        if element == "i1":
            return self.constant(self.draw.number(0, 1), shape, element)
        top = 1 << int(element[1:]) - 1
        number = self.draw.pick((0, 1, -1, 2, 3, 7, -4, 16, 10, top - 1, -top, top // 2))
        return self.constant(number, shape, element)

    def other(self, x: Value) -> Value:
        """Another operand beside one: a tile, or a scalar that is spread."""
        if x.shape and self.draw.chance(20):
            there = [y for y in self.values if not y.shape and y.element == x.element]
            one = self.draw.pick(there) if there else self.source(x.element, ())
            return self.splat(one, x.shape)
        return self.source(x.element, x.shape) if self.draw.chance(30) else self.like(x)

    def flushed(self, x: Value) -> str:
        return " flush_to_zero" * (x.element == "f32" and self.draw.chance(15))

    def floats(self) -> None:
        x = self.of(FLOATS)
        name = self.draw.pick((*ROUNDED, *ROUNDED, "remf", "maxf", "minf", "negf", "absf", "floor",
                               "ceil"))  # fmt: skip
        count = {"fma": 3, "sqrt": 1, "negf": 1, "absf": 1, "floor": 1, "ceil": 1}.get(name, 2)
        word = f" rounding<{self.draw.pick(MODES)}>" * (name in ROUNDED)
        word += " propagate_nan" * (name in ("maxf", "minf") and self.draw.chance(50))
        word += self.flushed(x) * (name not in ("remf", "negf", "absf", "floor", "ceil"))
        operands = [x, *(self.other(x) for _ in range(count - 1))]
        self.draw.chance(50) and operands.reverse()
        self.same(f"{name} {', '.join(y.name for y in operands)}{word}", x)

    def integers(self) -> None:
        x = self.of(INTEGERS)
        name = self.draw.pick(("addi", "subi", "muli", "andi", "ori", "xori", "maxi", "mini",
                               "shri", "shli", "divi", "remi", "mulhii", "negi",
                               "absi"))  # fmt: skip
        signed = self.draw.chance(50)
        word = (" signed" if signed else " unsigned") * (
            name in ("maxi", "mini", "shri", "divi", "remi"))  # fmt: skip
        if name in ("negi", "absi"):
            self.same(f"{name} {x.name}", x)
            return
        y, bits = self.other(x), int(x.element[1:])
        if name in ("shri", "shli"):
            y = self.same(f"andi {y.name}, {self.constant(bits - 1, x.shape, x.element).name}", y)
        if name in ("divi", "remi"):
            y = self.divisor(x, y)
            word += f" rounding<{self.draw.pick(MODES[1:])}>" * (name == "divi" and signed)
        self.same(f"{name} {x.name}, {y.name}{word}", x)

    def divisor(self, x: Value, y: Value) -> Value:
        """No zero, nor -1, by which the least number has no quotient."""
        top = 1 << int(x.element[1:]) - 1
        if self.draw.chance(60):
            number = self.draw.pick((1, 2, 3, 7, 10, 16, -2, -3, -64, top - 1, -top, top // 2))
            return self.constant(number, x.shape, x.element)
        few = self.constant(self.draw.pick((top - 1, 7, 1)), x.shape, x.element)
        y = self.same(f"andi {y.name}, {few.name}", x)
        return self.same(f"maxi {y.name}, {self.constant(1, x.shape, x.element).name} signed", x)

    def booleans(self) -> None:
        x = self.of(("i1",))
        self.same(f"{self.draw.pick(('andi', 'ori', 'xori'))} {x.name}, {self.other(x).name}", x)

    def compare(self) -> None:
        x = self.of((*INTEGERS, *FLOATS))
        y, relation = self.other(x), self.draw.pick(RELATIONS)
        a, b = (x, y) if self.draw.chance(50) else (y, x)
        result = tile(x.shape, "i1")
        if x.element in FLOATS:
            order = self.draw.pick(("ordered", "unordered"))
            text = f"cmpf {relation} {order} {a.name}, {b.name}"
        else:
            text = f"cmpi {relation} {a.name}, {b.name}, {self.draw.pick(('signed', 'unsigned'))}"
        c = self.op(f"{text} : {x.type} -> {result}", x.shape, "i1")
        if self.draw.chance(50):
            x, y = (a, b) if self.draw.chance(50) else (b, a)
            self.same_select(c, x, y)

    def same_select(self, c: Value, x: Value, y: Value) -> None:
        self.op(f"select {c.name}, {x.name}, {y.name} : {c.type}, {x.type}", x.shape, x.element)

    def select(self) -> None:
        x = self.of(("i1", *INTEGERS, *FLOATS))
        self.same_select(self.like(x, "i1"), x, self.other(x))

    def convert(self) -> None:
        """Another type, by every rounding that there is; 8-bit floats and back."""
        x = self.of(("i1", *INTEGERS, *FLOATS))
        to = self.draw.pick(("i1", *INTEGERS, *FLOATS, *STORED, "tf32"))
        if to == x.element:
            return
        if x.element[0] == "i" or to[0] == "i":
            y = self.converted(x, to, self.draw.pick(("signed", "unsigned")))
        else:
            y = self.rounded(x, to)
        if to in (*STORED, "tf32"):
            back = self.draw.pick((*FLOATS, *(("i32", "i8") if to in STORED else ())))
            if back[0] == "i":
                self.converted(y, back, self.draw.pick(("signed", "unsigned")))
            else:
                self.rounded(y, back)

    def rounded(self, x: Value, to: str) -> Value:
        modes = ftof_roundings(*(ELEMENT_OF[type_] for type_ in types_of(x.element, to)))
        mode = self.draw.pick([mode.value for mode in modes])
        word = f" rounding<{mode}>" * self.draw.chance(70)
        return self.op(f"ftof {x.name}{word} : {x.type} -> {tile(x.shape, to)}", x.shape, to)

    def bits(self) -> None:
        """The float whose bits a number is."""
        x = self.of(("i16", "i32", "i64"))
        to = self.draw.pick({"i16": ("f16", "bf16"), "i32": ("f32",), "i64": ("f64",)}[x.element])
        self.op(f"bitcast {x.name} : {x.type} -> {tile(x.shape, to)}", x.shape, to)


OPS: tuple[Callable[[Numbers], None], ...] = (
    Numbers.floats, Numbers.floats, Numbers.floats, Numbers.integers, Numbers.integers,
    Numbers.integers, Numbers.booleans, Numbers.compare, Numbers.compare, Numbers.select,
    Numbers.convert, Numbers.convert, Numbers.bits,
)  # fmt: skip


def tile_values(draw: Draw) -> TileKernel:
    """A kernel of such ops, all of whose last tiles are stored."""
    blocks = draw.pick((1, 2))
    kernel = Numbers(draw, blocks)
    kernel.of_shape = draw.pick(((64,), (8, 16), (2,), (128, 4), ()))
    kernel.emit("%bx, %by, %bz = get_tile_block_id : tile<i32>")
    kernel.source()
    for _ in range(draw.number(2, 14)):
        draw.pick(OPS)(kernel)
    for value in [x for x in kernel.values if x.element in DTYPES][-draw.number(1, 4) :]:
        kernel.store(value)
    lines, parameters = "\n".join(kernel.lines), ", ".join(kernel.parameters)
    text = f"cuda_tile.module @m {{\n  entry @k({parameters}) {{\n{lines}\n  }}\n}}\n"
    return TileKernel(text, kernel.args, (blocks,), draw.pick(ARCHS), "exact")
