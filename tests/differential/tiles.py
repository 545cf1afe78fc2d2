"""Kernels of Tile IR: what is compiled for a target computes what the interpreter of Tile IR says.

Tiles of any rank and element come from memory in every way, go through ops, loops and branches, and
each is stored in the end. Numbers are such that every order of adding is exact where it is open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from draw import Draw
from tile_accesses import Accesses
from tile_control_flow import ControlFlow
from tile_folds import Folds
from tile_writer import (
    ANY,
    DTYPES,
    FLOATS,
    INTEGERS,
    NARROW,
    SAME_BITS,
    STORED,
    Shape,
    size_of,
    tile,
)

import tilewright as tw
from tilewright.launch import ptxas

ARCHS = (
    "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a",
    "sm_90a", "sm_100a",
)  # fmt: skip


@dataclass
class TileKernel:
    """A kernel, and what it is run on."""

    text: str
    args: list[Any]
    grid: Shape
    arch: str
    numerics: str

    levels: ClassVar[Sequence[str]] = ("ptx",)
    """Where it runs: `tile`, `atom`, `ptx`, or on the `chip` of this machine."""
    target: ClassVar[str | None] = None
    """Instead of its own."""

    def difference(self) -> str | None:
        """How what is compiled differs, or what ptxas has against it; None where nothing."""
        arch = self.target or self.arch
        options: dict[str, Any] = {"grid": self.grid, "args": self.args, "arch": arch}
        wanted = tw.interpret(self.text, "k", numerics=self.numerics, **options)
        try:
            kernel = tw.compile(self.text, arch)
            for level in self.levels:
                if level == "chip":
                    block = kernel.entry("k").block or (1,)
                    got = kernel.launch(*self.args, grid=self.grid, block=block)
                else:
                    got = tw.interpret(self.text, "k", level=level, **options)
                for number, (a, b) in enumerate(zip(got, wanted, strict=True)):
                    with np.errstate(all="ignore"):
                        equal = (a == b) | ((a != a) & (b != b))
                    if not equal.all():
                        return f"argument {number} differs" + f" at {level}" * (level != "ptx")
        except tw.CompileError as error:
            return f"{arch} refuses: {str(error).splitlines()[0].partition('error: ')[2]}"
        report = ptxas.assemble(kernel.ptx, arch)
        return None if report.clean else "ptxas complains"


def tried_at(levels: Sequence[str], target: str | None) -> None:
    """From now on kernels run there."""
    TileKernel.levels, TileKernel.target = levels, target


class TileOps(Accesses, ControlFlow, Folds):
    """A kernel whose ops are drawn."""

    # --- ops ---

    def inner(self) -> None:
        """Some op of a region."""
        ops = SIMPLE if self.depth > 1 else (*SIMPLE, TileOps.branch, TileOps.repeat)
        self.draw.pick(ops)(self)

    def step(self) -> None:
        """Some op."""
        self.draw.pick(OPS)(self)

    def integers(self) -> None:
        x = self.of(INTEGERS)
        y = self.like(x)
        name = self.draw.pick(
            ("addi", "subi", "muli", "andi", "ori", "xori", "maxi", "mini", "shri", "shli", "divi",
             "remi", "mulhii", "negi", "absi")
        )  # fmt: skip
        sign = self.draw.pick((" signed", " unsigned"))
        if name in ("negi", "absi"):
            self.same(f"{name} {x.name}", x)
            return
        if name in ("shri", "shli", "divi", "remi"):
            few = self.constant(7, x.shape, x.element)
            y = self.same(f"andi {y.name}, {few.name}", y)
        if name in ("divi", "remi"):
            y = self.same(f"ori {y.name}, {self.constant(1, x.shape, x.element).name}", y)
        word = sign if name in ("maxi", "mini", "shri", "divi", "remi") else ""
        self.same(f"{name} {x.name}, {y.name}{word}", x)

    def floats(self) -> None:
        x = self.of(FLOATS)
        y = self.like(x)
        name = self.draw.pick(("addf", "subf", "mulf", "maxf", "minf", "negf", "absf", "fma",
                               "floor", "divf"))  # fmt: skip
        rounding = " rounding<nearest_even>"
        if name in ("negf", "absf", "floor"):
            self.same(f"{name} {x.name}", x)
        elif name == "fma":
            z = self.like(x)
            self.same(f"fma {x.name}, {y.name}, {z.name}{rounding}", x)
        else:
            word = (
                self.draw.pick(("", " propagate_nan"))
                if name[3] == "f" and name[0] == "m"
                else rounding
            )
            word = word if name != "mulf" else rounding
            self.same(f"{name} {x.name}, {y.name}{word}", x)

    def booleans(self) -> None:
        x = self.of(("i1",))
        y = self.like(x)
        self.same(
            f"{self.draw.pick(('andi', 'ori', 'xori', 'addi', 'muli'))} {x.name}, {y.name}", x
        )

    def bits(self) -> None:
        """A tile as other elements of the same words."""
        x = self.of(tuple(element for same in SAME_BITS for element in same))
        others = next(same for same in SAME_BITS if x.element in same)
        to = self.draw.pick([element for element in others if element != x.element])
        if x.element in ("f16", "f32", "f64", "bf16", *STORED) or to[0] == "i":
            y = self.op(f"bitcast {x.name} : {x.type} -> {tile(x.shape, to)}", x.shape, to)
            if y.element[0] == "i":
                return
        if not x.shape or x.shape[-1] < 2 or self.draw.chance(50):
            return
        half = self.draw.pick(("i4", "f4E2M1FN"))
        flat = self.op(f"reshape {x.name} : {x.type} -> {tile((size_of(x.shape),), x.element)}",
                       (size_of(x.shape),), x.element)  # fmt: skip
        size = size_of(x.shape) * np.dtype(DTYPES[x.element]).itemsize
        octets = flat
        if x.element in STORED:
            octets = self.op(f"bitcast {flat.name} : {flat.type} -> {tile((size,), 'i8')}",
                             (size,), "i8")  # fmt: skip
        elif x.element != "i8":
            octets = self.op(f"pack {flat.name} : {flat.type} -> {tile((size,), 'i8')}",
                             (size,), "i8")  # fmt: skip
        if size > 4096:
            return
        wide, to = tile((2 * size,), half), "i16" if half == "i4" else "f16"
        name = self.fresh()
        self.emit(f"{name} = unpack {octets.name} : {octets.type} -> {wide}")
        text = f"exti {name} signed" if half == "i4" else f"ftof {name}"
        self.op(f"{text} : {wide} -> {tile((2 * size,), to)}", (2 * size,), to)
        self.op(f"pack {name} : {wide} -> {octets.type}", (size,), "i8")

    def exact(self) -> None:
        """Functions of floats that every level has to the bit."""
        x = self.of(FLOATS)
        y = self.like(x)
        name = self.draw.pick(("ceil", "remf", "sqrt", "divf", "addf", "mulf", "fma"))
        mode = self.draw.pick(("nearest_even", "zero", "negative_inf", "positive_inf"))
        operands = {"ceil": 1, "sqrt": 1, "fma": 3}.get(name, 2)
        word = "" if name in ("ceil", "remf") else f" rounding<{mode}>"
        self.same(f"{name} {', '.join((x.name, y.name, x.name)[:operands])}{word}", x)

    def compare(self) -> None:
        x = self.of((*INTEGERS, *FLOATS))
        y = self.like(x)
        relation = self.draw.pick(("equal", "not_equal", "less_than", "greater_than_or_equal"))
        result = tile(x.shape, "i1")
        if x.element in FLOATS:
            order = self.draw.pick(("ordered", "unordered"))
            self.op(
                f"cmpf {relation} {order} {x.name}, {y.name} : {x.type} -> {result}", x.shape, "i1"
            )
        else:
            sign = self.draw.pick(("signed", "unsigned"))
            self.op(
                f"cmpi {relation} {x.name}, {y.name}, {sign} : {x.type} -> {result}", x.shape, "i1"
            )

    def select(self) -> None:
        x = self.of(ANY)
        y, c = self.like(x), self.like(x, "i1")
        self.op(f"select {c.name}, {x.name}, {y.name} : {c.type}, {x.type}", x.shape, x.element)

    def convert(self) -> None:
        x = self.of(("i1", *INTEGERS, *FLOATS, *NARROW))
        to = self.draw.pick(("i1", *INTEGERS, *FLOATS, *STORED, *NARROW))
        if to == "f4E2M1FN" and size_of(x.shape) == 1:
            return
        if to != x.element and "f8E8M0FNU" not in (to if x.element[0] == "i" else "", x.element):
            value = self.converted(x, to, self.draw.pick(("signed", "unsigned")))
            if to in STORED:
                self.converted(value, "f32")

    def reshape(self) -> None:
        x = self.of(ANY)
        left, shape = size_of(x.shape), list[int]()
        while left > 1 or self.draw.chance(20):
            if len(shape) > 5:
                shape.append(left)
                break
            part = 1 << self.draw.number(0, max(left.bit_length() - 1, 0))
            shape.append(part)
            left //= part
        self.op(
            f"reshape {x.name} : {x.type} -> {tile(tuple(shape), x.element)}",
            tuple(shape),
            x.element,
        )

    def permute(self) -> None:
        x = self.of(ANY)
        order = list(range(len(x.shape)))
        for i in range(len(order) - 1):
            j = self.draw.number(i, len(order) - 1)
            order[i], order[j] = order[j], order[i]
        shape = tuple(x.shape[i] for i in order)
        if len(order) > 1:
            self.op(
                f"permute {x.name} {order} : {x.type} -> {tile(shape, x.element)}", shape, x.element
            )

    def broadcast(self) -> None:
        x = self.of(ANY)
        shape, room = list(x.shape), 12 - size_of(x.shape).bit_length()
        for i, extent in enumerate(shape):
            if extent == 1 and room > 0:
                bits = self.draw.number(0, room)
                shape[i], room = 1 << bits, room - bits
        if shape != list(x.shape):
            self.op(
                f"broadcast {x.name} : {x.type} -> {tile(tuple(shape), x.element)}",
                tuple(shape),
                x.element,
            )

    def cat(self) -> None:
        x = self.of(ANY)
        y = self.like(x)
        if not x.shape or size_of(x.shape) > 1024:
            return
        dim = self.draw.number(0, len(x.shape) - 1)
        shape = tuple(extent * (1 + (i == dim)) for i, extent in enumerate(x.shape))
        self.op(f"cat {x.name}, {y.name} dim = {dim} : {x.type}, {y.type} -> "
                f"{tile(shape, x.element)}",
                shape, x.element)  # fmt: skip

    def part(self) -> None:
        """A part of a tile, and maybe that part in another place."""
        x = self.of(ANY)
        if not x.shape:
            return
        shape, index = [], []
        for extent in x.shape:
            part = 1 << self.draw.number(0, extent.bit_length() - 1)
            shape.append(part)
            number = self.constant(self.draw.number(0, extent // part - 1))
            if self.draw.chance(30) and part < extent:
                most = self.constant(extent // part - 1)
                number = self.same(f"andi %bx, {most.name}", most)
            index.append(number.name)
        if size_of(tuple(shape)) == 1 and x.element in NARROW:
            return
        type_ = tile(tuple(shape), x.element)
        listed = ", ".join(index)
        y = self.op(f"extract {x.name}[{listed}] : {x.type} -> {type_}", tuple(shape), x.element)
        if self.draw.chance(50):
            index = [
                self.constant(self.draw.number(0, a // b - 1)).name
                for a, b in zip(x.shape, shape, strict=True)
            ]
            self.op(
                f"insert {y.name}, {x.name}[{', '.join(index)}] : {y.type}, {x.type}",
                x.shape,
                x.element,
            )

    def product(self) -> None:
        """A product of small numbers, of a batch or not."""
        draw = self.draw
        batch = draw.pick(((), (), (2,)))
        m, n, k = (1 << draw.number(0, 6) for _ in range(3))
        kind = draw.pick(("f16", "bf16", "f32", "f64", "i8", "tf", "f8E4M3FN", "f8E5M2"))
        if kind == "tf":
            kind = "f16"
        a = self.load((*batch, m, k), kind)
        b = self.load((*batch, k, n), kind)
        if draw.chance(30):
            t = self.load((*batch, n, k), kind)
            order = [*range(len(batch)), len(batch) + 1, len(batch)]
            b = self.op(
                f"permute {t.name} {order} : {t.type} -> {tile((*batch, k, n), kind)}",
                (*batch, k, n),
                kind,
            )
        sums = {"f64": "f64", "i8": "i32", "f16": draw.pick(("f16", "f32"))}.get(kind, "f32")
        c = self.load((*batch, m, n), sums)
        if kind == "i8":
            signs = " ".join(draw.pick(("signed", "unsigned")) for _ in range(2))
            text = f"mmai {a.name}, {b.name}, {c.name} {signs}"
        else:
            text = f"mmaf {a.name}, {b.name}, {c.name}"
        self.op(f"{text} : {a.type}, {b.type}, {c.type}", c.shape, sums)


SIMPLE: tuple[Callable[[TileOps], None], ...] = (
    TileOps.integers, TileOps.floats, TileOps.booleans, TileOps.compare, TileOps.select,
    TileOps.convert, TileOps.reshape, TileOps.permute, TileOps.broadcast, TileOps.cat, TileOps.part,
    TileOps.fold, TileOps.bits, TileOps.exact,
)  # fmt: skip
OPS = (
    *SIMPLE, TileOps.fold, TileOps.product, TileOps.atomic, TileOps.branch, TileOps.repeat,
    TileOps.repeat, TileOps.exchange, TileOps.collide, TileOps.store_view, TileOps.gather,
    TileOps.leave, TileOps.hand_on, TileOps.update,
)  # fmt: skip


def tiles(draw: Draw) -> TileKernel:
    """A kernel of some ops, all of whose last tiles are stored."""
    blocks = draw.pick((1, 2, 2, 3, 5))
    kernel = TileOps(draw, blocks)
    kernel.emit("%bx, %by, %bz = get_tile_block_id : tile<i32>")
    for _ in range(draw.number(1, 2)):
        kernel.source()
    for _ in range(draw.number(1, 7)):
        kernel.step()
    for value in kernel.values[-draw.number(1, 5) :]:
        kernel.store(value)
    lines = "\n".join(kernel.lines)
    parameters = ", ".join(kernel.parameters)
    ctas = f" optimization_hints = <default = {{num_cta_in_cga = {draw.pick((2, 2, 4))}}}>"
    hints = ctas if draw.chance(20) else ""
    text = f"cuda_tile.module @m {{\n  entry @k({parameters}){hints} {{\n{lines}\n  }}\n}}\n"
    numerics = "hardware" if "mma" in text else "exact"
    return TileKernel(text, kernel.args, (blocks,), draw.pick(ARCHS), numerics)
