"""Kernels of Tile IR with poison: tiles of which nothing determines some elements, and beside each
the tile that says which, go through the same ops by what these do to poison.

Selected or masked by it they run, and give what the compiled kernel gives; a twin stores one as it
is, which is an error where and only where an element of it is not determined.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from draw import Draw
from tile_folds import Pairs
from tile_tracked import Poison, Tracked
from tile_writer import FLOATS, INTEGERS, Shape, Value, size_of, tile
from tiles import ARCHS, TileKernel

import tilewright as tw


@dataclass
class PoisonKernel(TileKernel):
    """A kernel that takes no poison, and the twin of it that stores all of one tile. The last
    argument of both says which elements are determined, the last but one has the tile."""

    twin: str

    def difference(self) -> str | None:
        """The fault of the kernel or of its twin; None where there is none."""
        if (difference := super().difference()) is not None:
            return difference
        options: dict[str, Any] = {"grid": self.grid, "args": self.args, "numerics": self.numerics}
        *_, known = tw.interpret(self.text, "k", **options)
        try:
            tw.interpret(self.twin, "k", **options)
        except tw.ExecutionError as error:
            said = str(error).splitlines()[0]
            if known.all():
                return f"twin refused: {said.partition('error: ')[2]}"
            place = re.search(r"at index \(([\d, ]*)\)", said)
            block = re.search(r"\(block \((\d+), 0, 0\)\)", said)
            shape = (self.grid[0], *self.shape)
            index = tuple(map(int, place[1].split(", "))) if place else ()
            if known.reshape(shape)[(int(block[1]) if block else 0, *index)]:
                return "twin refused for an element that is determined"
            return None
        return None if known.all() else "twin runs"

    @property
    def shape(self) -> Shape:
        """Of the tile that the twin stores."""
        match = re.search(r"// tile of ([\dx]*)", self.twin)
        assert match is not None
        return tuple(int(extent) for extent in match[1].split("x") if extent)


class PoisonOps(Poison):
    """A kernel of ops on tracked tiles."""

    def elementwise(self) -> None:
        x = self.pick((*INTEGERS, *FLOATS))
        y = self.beside(x)
        text = {True: ("addi", "muli", "xori", "subi", "maxi"), False: ("addf", "mulf", "maxf")}
        name = self.draw.pick(text[x.value.element in INTEGERS])
        word = " signed" if name == "maxi" else ""
        word = " rounding<nearest_even>" if name in ("addf", "mulf") else word
        value = self.same(f"{name} {x.value.name}, {y.value.name}{word}", x.value)
        self.add(value, self.both(x.known, y.known))

    def compare(self) -> None:
        x = self.pick(INTEGERS)
        y = self.beside(x)
        self.add(self.compared("less_than", x.value, y.value), self.both(x.known, y.known))

    def convert(self) -> None:
        x = self.pick((*INTEGERS, *FLOATS))
        to = self.draw.pick((*INTEGERS, *FLOATS))
        if to != x.value.element:
            self.add(self.converted(x.value, to, "signed"), x.known)

    def chosen(self) -> None:
        """A select, whose condition may be poison too."""
        x = self.pick((*INTEGERS, *FLOATS))
        y, c = self.beside(x), self.beside(x, "i1")
        value = self.op(f"select {c.value.name}, {x.value.name}, {y.value.name} : {c.value.type}, "
                        f"{x.value.type}", x.value.shape, x.value.element)  # fmt: skip
        known = self.op(f"select {c.value.name}, {x.known.name}, {y.known.name} : {c.value.type}, "
                        f"{x.known.type}", x.known.shape, "i1")  # fmt: skip
        self.add(value, self.both(c.known, known))

    def absorbed(self) -> None:
        """`andi` and `ori`, of which a determined element may say the result."""
        x = self.pick(("i1",))
        if x.value.element != "i1":
            return
        y, name = self.beside(x), self.draw.pick(("andi", "ori"))
        value = self.same(f"{name} {x.value.name}, {y.value.name}", x.value)
        known = self.both(x.known, y.known)
        says = self.constant(name == "ori", x.value.shape, "i1")
        for z in (x, y):
            alone = self.both(z.known, self.compared("equal", z.value, says))
            known = self.same(f"ori {known.name}, {alone.name}", known)
        self.add(value, known)

    def move(self) -> None:
        """Elements that change places, and what is known of them alike."""
        x = self.pick((*INTEGERS, *FLOATS))
        shape = x.value.shape
        if not shape:
            return
        way = self.draw.pick(("reshape", "permute", "cat", "extract", "broadcast", "insert"))
        y = self.beside(x) if way in ("cat", "insert") else x
        order = list(range(len(shape)))[::-1]
        dim = self.draw.number(0, len(shape) - 1)
        half = tuple(max(1, n // 2) if i == dim else n for i, n in enumerate(shape))
        at = self.draw.number(0, shape[dim] // half[dim] - 1)
        index = ", ".join(self.constant(at * (i == dim)).name for i in range(len(shape)))
        target: dict[str, Shape] = {
            "reshape": (size_of(shape),), "permute": tuple(shape[i] for i in order),
            "cat": tuple(2 * n if i == dim else n for i, n in enumerate(shape)), "extract": half,
            "broadcast": (4, *shape), "insert": shape,
        }  # fmt: skip

        def moved(a: Value, b: Value) -> Value:
            to = tile(target[way], a.element)
            ones = tile((1, *shape), a.element)
            if way == "broadcast":
                a = self.op(f"reshape {a.name} : {a.type} -> {ones}", (1, *shape), a.element)
            if way == "insert":
                part = self.op(f"extract {a.name}[{index}] : {a.type} -> {tile(half, a.element)}",
                               half, a.element)  # fmt: skip
                text = f"insert {part.name}, {b.name}[{index}] : {part.type}, {b.type}"
                return self.op(text, shape, a.element)
            text = {
                "reshape": f"reshape {a.name} : {a.type} -> {to}",
                "permute": f"permute {a.name} {order} : {a.type} -> {to}",
                "cat": f"cat {a.name}, {b.name} dim = {dim} : {a.type}, {b.type} -> {to}",
                "extract": f"extract {a.name}[{index}] : {a.type} -> {to}",
                "broadcast": f"broadcast {a.name} : {a.type} -> {to}",
            }
            return self.op(text[way], target[way], a.element)

        if size_of(target[way]) <= 2048 and (way != "permute" or len(shape) > 1):
            self.add(moved(x.value, y.value), moved(x.known, y.known))

    def fold_poison(self) -> None:
        """A reduction or a scan; all that it meets is to be known."""
        x = self.pick(INTEGERS)
        shape, draw = x.value.shape, self.draw
        if not shape:
            return
        dim, name = draw.number(0, len(shape) - 1), draw.pick(("reduce", "scan"))
        if draw.chance(30) and name == "reduce":
            self.best(name, x.value, dim)
            largest, _ = self.values[-2:]
            self.add(largest, self.all_along(x.known, dim, name))
            return
        op = draw.pick(("addi", "maxi", "xori"))
        start = {"addi": "0", "maxi": "-100", "xori": "0"}[op]
        word = " signed" * (op == "maxi")
        before = len(self.lines)

        def body(pairs: Pairs) -> list[str]:
            ((a, b),) = pairs
            return [self.said(f"{op} {a}, {b}{word} : tile<{x.value.element}>")]

        self.combined(name, [x.value], dim, [start], body)
        value = self.values[-1]
        back = "reverse=true" in self.lines[before]
        self.add(value, self.all_along(x.known, dim, name, back))

    def product(self) -> None:
        """A product whose rows and columns may be poison."""
        draw = self.draw
        m, n, k = (1 << draw.number(2, 4) for _ in range(3))
        factors: list[Tracked] = []
        for shape, element in (((m, k), "f16"), ((k, n), "f16"), ((m, n), "f32")):
            name = self.parameter(element, size_of(shape) * self.blocks)
            at, type_ = self.pointers(name, element, shape)
            mask, result = self.mask(shape), self.fresh()
            self.emit(f"{result}, {self.fresh()} = load_ptr_tko weak {at}, {mask.name} : {type_}, "
                      f"{mask.type} -> {tile(shape, element)}, token")  # fmt: skip
            factors.append(Tracked(Value(result, shape, element), mask))
        a, b, c = factors
        value = self.op(f"mmaf {a.value.name}, {b.value.name}, {c.value.name} : {a.value.type}, "
                        f"{b.value.type}, {c.value.type}", (m, n), "f32")  # fmt: skip
        known = c.known
        for factor, dim, shape in ((a, 1, (m, 1)), (b, 0, (1, n))):
            line = self.all_along(factor.known, dim, "reduce")
            line = self.op(f"reshape {line.name} : {line.type} -> {tile(shape, 'i1')}", shape, "i1")
            wide = tile((m, n), "i1")
            known = self.both(
                known, self.op(f"broadcast {line.name} : {line.type} -> {wide}", (m, n), "i1")
            )
        self.add(value, known)

    def branch(self) -> None:
        """One of two tiles, by the block."""
        x = self.pick((*INTEGERS, *FLOATS))
        y = self.beside(x)
        some = self.constant(self.draw.number(0, self.blocks))
        condition = self.op(
            f"cmpi less_than %bx, {some.name}, signed : tile<i32> -> tile<i1>", (), "i1"
        )
        results = [Value(self.fresh(), z.shape, z.element) for z in (x.value, x.known)]
        types = f"{x.value.type}, {x.known.type}"
        self.emit(f"{results[0].name}, {results[1].name} = if {condition.name} -> ({types}) {{")
        self.emit(f"  yield {x.value.name}, {x.known.name} : {types}")
        self.emit("} else {")
        self.emit(f"  yield {y.value.name}, {y.known.name} : {types}")
        self.emit("}")
        self.add(results[0], results[1])

    def loop(self) -> None:
        """A sum that a loop carries, of as many steps as the block says."""
        x = self.pick(INTEGERS)
        y = self.beside(x)
        zero, one, index = self.constant(0), self.constant(1), self.fresh()
        results = [Value(self.fresh(), z.shape, z.element) for z in (x.value, x.known)]
        carried, summed = [self.fresh(), self.fresh()], [self.fresh(), self.fresh()]
        types = f"{x.value.type}, {x.known.type}"
        self.emit(
            f"{results[0].name}, {results[1].name} = for {index} in ({zero.name} to %bx, step "
            f"{one.name}) : tile<i32> iter_values({carried[0]} = {x.value.name}, {carried[1]} = "
            f"{x.known.name}) -> ({types}) {{"
        )
        self.emit(f"  {summed[0]} = addi {carried[0]}, {y.value.name} : {x.value.type}")
        self.emit(f"  {summed[1]} = andi {carried[1]}, {y.known.name} : {x.known.type}")
        self.emit(f"  continue {', '.join(summed)} : {types}")
        self.emit("}")
        self.add(results[0], results[1])

    def sum_of_products(self) -> None:
        """`chained`: a scan of two tiles, here of one twice; each element takes all before it."""
        x = self.pick(("i32", "i64"))
        if not x.value.shape:
            return
        dim, before = self.draw.number(0, len(x.value.shape) - 1), len(self.lines)
        self.chained(x.value, x.value, dim)
        _, sums = self.values[-2:]
        back = "reverse=true" in self.lines[before]
        self.add(sums, self.all_along(x.known, dim, "scan", back))

    def repacked(self) -> None:
        """The bytes of elements, and elements of bytes."""
        x = self.pick(("i16", "f16", "i32", "f32"))
        count = size_of(x.value.shape)
        size = int(x.value.element[1:]) // 8
        if count < 2:
            return

        def reshaped(y: Value, shape: Shape) -> Value:
            text = f"reshape {y.name} : {y.type} -> {tile(shape, y.element)}"
            return self.op(text, shape, y.element)

        flat, known = reshaped(x.value, (count,)), reshaped(x.known, (count, 1))
        octets = self.op(
            f"pack {flat.name} : {flat.type} -> {tile((count * size,), 'i8')}",
            (count * size,),
            "i8",
        )
        wide = tile((count, size), "i1")
        known = self.op(f"broadcast {known.name} : {known.type} -> {wide}", (count, size), "i1")
        known = reshaped(known, (count * size,))
        self.add(octets, known)
        half = count * size // 2
        words = self.op(f"unpack {octets.name} : {octets.type} -> {tile((half,), 'i16')}",
                        (half,), "i16")  # fmt: skip
        self.add(words, self.all_along(reshaped(known, (half, 2)), 1, "reduce"))

    def gathered(self) -> None:
        """A load by numbers that may be poison, where a mask of them has them."""
        x = self.pick(("i32",))
        shape, element = x.value.shape, self.draw.pick(("i32", "f32", "i16"))
        name = self.parameter(element, 8)
        seven, two = self.constant(7, shape), self.constant(2, shape)
        number = self.same(f"andi {x.value.name}, {seven.name}", x.value)
        mask = self.compared("greater_than_or_equal", number, two)
        at, type_ = self.moved(name, element, number)
        padding, result = self.constant(1, shape, element), self.fresh()
        self.emit(f"{result}, {self.fresh()} = load_ptr_tko weak {at}, {mask.name}, {padding.name} "
                  f": {type_}, {mask.type}, {padding.type} -> {padding.type}, token")  # fmt: skip
        self.add(Value(result, shape, element), x.known)

    def updated(self) -> None:
        """An atomic operation on the elements that are known."""
        x = self.pick(("i32", "i64"))
        name = self.parameter(x.value.element, size_of(x.value.shape) * self.blocks)
        at, type_ = self.pointers(name, x.value.element, x.value.shape)
        result, mode = self.fresh(), self.draw.pick(("add", "max", "xchg"))
        self.emit(f"{result}, {self.fresh()} = atomic_rmw_tko relaxed device {at}, {mode}, "
                  f"{x.value.name}, {x.known.name} : {type_}, {x.value.type}, {x.known.type} -> "
                  f"{x.value.type}, token")  # fmt: skip
        self.add(Value(result, x.value.shape, x.value.element), x.known)


STEPS: tuple[Callable[[PoisonOps], None], ...] = (
    PoisonOps.elementwise, PoisonOps.elementwise, PoisonOps.compare, PoisonOps.convert,
    PoisonOps.chosen, PoisonOps.absorbed, PoisonOps.move, PoisonOps.move, PoisonOps.fold_poison,
    PoisonOps.product, PoisonOps.branch, PoisonOps.loop, PoisonOps.sum_of_products,
    PoisonOps.repacked, PoisonOps.gathered, PoisonOps.updated,
)  # fmt: skip


def tile_poison(draw: Draw) -> PoisonKernel:
    """A kernel of some ops on tiles of poison."""
    blocks = draw.pick((1, 2, 3))
    kernel = PoisonOps(draw, blocks)
    kernel.emit("%bx, %by, %bz = get_tile_block_id : tile<i32>")
    for _ in range(draw.number(1, 2)):
        kernel.poison(draw.pick((*INTEGERS, *FLOATS)))
    for _ in range(draw.number(0, 5)):
        draw.pick(STEPS)(kernel)
    for x in kernel.tracked[-draw.number(1, 3) :]:
        kernel.take(x)
    last = kernel.tracked[-1]
    zero = kernel.constant(0, last.value.shape, last.value.element)
    text = (
        f"select {last.known.name}, {last.value.name}, {zero.name} : {last.known.type}, {zero.type}"
    )
    clean = kernel.op(text, zero.shape, zero.element)
    kernel.put(clean)
    stored = kernel.lines[-1]
    kernel.put(last.known)
    shape = "x".join(map(str, last.value.shape))
    parameters = ", ".join(kernel.parameters)
    text, twin = (
        f"cuda_tile.module @m {{\n  entry @k({parameters}) {{\n" + "\n".join(lines) + "\n  }\n}\n"
        for lines in (
            kernel.lines,
            [
                line.replace(f"{clean.name} :", f"{last.value.name} :") + f" // tile of {shape}"
                if line is stored else line
                for line in kernel.lines
            ],
        )
    )  # fmt: skip
    numerics = "hardware" if "mma" in text else "exact"
    return PoisonKernel(text, kernel.args, (blocks,), draw.pick(ARCHS), numerics, twin)
