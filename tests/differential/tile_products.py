"""Kernels of Tile IR around products of operands that were made on the way: dequantized, masked,
scaled; of several at once, in parts of K that atomics add up, into what is there already.

Numbers are small and whole, so that sums are exact in every order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from draw import Draw
from tile_chains import Chain, Turn
from tile_gemms import MEMORY
from tile_writer import tile
from tiles import TileKernel

ELEMENTS = (
    "f16", "bf16", "f8E4M3FN", "f8E5M2", "i8", "tf32", "f16", "bf16", "f32", "f64",
)  # fmt: skip
SOURCES = {
    "f16": ("f16", "f16", "f32", "i8", "i4", "f4"), "bf16": ("bf16", "bf16", "f32", "i8", "i4"),
    "tf32": ("tf32", "f32"), "i8": ("i8", "i8", "i4", "i32"),
    "f8E4M3FN": ("f8E4M3FN", "f32", "f16"),
}  # fmt: skip
"""What operands are made of."""
OUTPUTS = {"f32": ("f32", "f32", "f16", "bf16", "i32"), "i32": ("i32", "i32", "f32", "i8")}


class Products(Chain):
    """Blocks of m x n sums, in steps of k."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.element = draw.pick(ELEMENTS)
        self.sums = {"i8": "i32", "f64": "f64"}.get(self.element, "f32")
        m, n, k = (1 << draw.number(4, 7) for _ in range(3))
        if self.element in ("f64", "f32"):
            m, n, k = min(m, 64), min(n, 64), min(k, 32)
        self.of = m, n, k
        self.rows, self.columns = (
            extent * count - draw.pick((0, 0, 0, 1, extent // 2))
            for extent, count in zip((m, n), self.grid, strict=True)
        )
        self.depth = max(k * self.steps - draw.pick((0, 0, 0, 1, k // 2)), 1)
        self.parts = 2 if draw.chance(20) else 1
        """Of K: as many blocks as that add to one result."""

    def operand(self, rows: bool) -> tuple[str, tuple[str, str], tuple[int, int]]:
        """Of A or B what it is made of, where that comes from, and its tiles' extents."""
        m, n, k = self.of
        shape = (m, k) if rows else (k, n)
        extent = (self.rows, self.depth) if rows else (self.depth, self.columns)
        source = self.draw.pick(SOURCES.get(self.element, (self.element,)))
        if source in ("i4", "f4"):
            half = lambda both: (both[0], -(-both[1] // 2))  # noqa: E731
            return source, self.any_matrix(*half(extent), half(shape), "i8"), shape
        return source, self.any_matrix(*extent, shape, source), shape

    def made(
        self, operand: tuple[str, tuple[str, str], tuple[int, int]], index: str, mask: str | None
    ) -> str:
        """An operand of a product; of step %mask a part of K is left out."""
        source, view, shape = operand
        if source in ("i4", "f4"):
            narrow = shape[0], shape[1] // 2
            x = self.taken(view, index, narrow, "i8")
            size = shape[0] * shape[1]
            flat = self.do(f"reshape {x} : {tile(narrow, 'i8')} -> {tile((size // 2,), 'i8')}")
            kind = "i4" if source == "i4" else "f4E2M1FN"
            x = self.do(f"unpack {flat} : {tile((size // 2,), 'i8')} -> {tile((size,), kind)}")
            if source == "i4":
                x = self.do(f"exti {x} signed : {tile((size,), kind)} -> {tile((size,), 'i8')}")
            source = "i8" if source == "i4" else kind
            x = self.do(f"reshape {x} : {tile((size,), source)} -> {tile(shape, source)}")
        else:
            x = self.taken(view, index, shape, source)
        x = self.converted(x, shape, source, self.element)
        if mask is not None and self.element not in ("tf32", "f8E4M3FN", "f8E5M2"):
            axis = int(shape == self.of[::2])
            at = self.counted(mask, shape, axis)
            bound = self.spread(self.scalar(max(self.depth - 3, 1)), (), shape, "i32")
            i1, t = tile(shape, "i1"), tile(shape, self.element)
            kept = self.do(f"cmpi less_than {at}, {bound}, signed : {tile(shape, 'i32')} -> {i1}")
            x = self.do(f"select {kept}, {x}, {self.constant(0, shape, self.element)} : {i1}, {t}")
        return x

    def loops(self) -> list[str]:
        """The sums: one product's, or those of two that share A."""
        m, n, _ = self.of
        count = 2 if self.draw.chance(20) else 1
        a, *b = (self.operand(rows) for rows in (True, *[False] * count))
        t, begin, end = tile((m, n), self.sums), "%zero", self.scalar(self.steps)
        if self.parts > 1:
            part = self.do(f"divi {end}, {self.constant(2, (), 'i32')} signed : tile<i32>")
            begin = self.do(f"muli %bz, {part} : tile<i32>")
            last = self.do("cmpi equal %bz, %one, signed : tile<i32> -> tile<i1>")
            end = self.do(f"select {last}, {end}, {part} : tile<i1>, tile<i32>")
        kept = self.made(a, "%i, %zero", None) if self.draw.chance(15) else None

        def half(last: bool) -> Turn:
            def turn(q: str, given: list[str]) -> Sequence[str]:
                mask = q if last else None
                left = kept or self.made(a, f"%i, {q}", mask)
                rights = [self.made(x, f"{q}, %j", mask if self.draw.chance(50) else None)
                          for x in b]  # fmt: skip
                sums = [self.mma(left, right, acc, self.of, self.element)
                        for right, acc in zip(rights, given, strict=True)]  # fmt: skip
                if self.draw.chance(15):
                    odd = self.do(f"trunci {q} : tile<i32> -> tile<i1>")
                    return self.branch(odd, [t] * count, [lambda: sums, lambda: given])
                return sums

            return turn

        first = [self.constant(0, (m, n), self.sums) for _ in b]
        if self.parts > 1:
            return self.loop(begin, end, first, [t] * count, half(self.draw.chance(50)))
        return self.halves(end, first, [t] * count, half)

    def finish(self, sums: list[str]) -> None:
        """What becomes of the sums."""
        draw, s, (m, n, _) = self.draw, self.sums, self.of
        t, shape, extent = tile((m, n), s), (m, n), (self.rows, self.columns)
        i, sign = ("i", " signed") if s[0] == "i" else ("f", "")
        result = sums[0]
        for other in sums[1:]:
            result = self.do(f"max{i} {result}, {other}{sign} : {t}")
        if self.parts > 1:
            view = self.matrix(*extent, shape, s, zero=True)
            mode = "add" if s[0] == "i" else "addf"
            self.do(
                f"atomic_red_view_tko relaxed device {view[0]}[%i, %j], {mode}, {result} : {t}, "
                f"{view[1]}, tile<i32> -> token"
            )
            return
        if draw.chance(25):  # a bias of rows or columns
            axis = draw.number(0, 1)
            own, index = ((1, n), "%zero, %j") if axis else ((m, 1), "%i, %zero")
            size = (1, self.columns) if axis else (self.rows, 1)
            line = self.taken(self.any_matrix(*size, own, s), index, own, s)
            wide = self.spread(line, own, shape, s)
            word = "" if i == "i" else " rounding<nearest_even>"
            result = self.do(f"add{i} {result}, {wide}{word} : {t}")
        if draw.chance(20):  # what is there already
            view = self.matrix(*extent, shape, s)
            old, done = self.taken(view, "%i, %j", shape, s), self.fresh()
            new = self.do(f"max{i} {result}, {old}{sign} : {t}")
            self.lines.append(
                f"      {done} = store_view_tko weak {new}, {view[0]}[%i, %j] token = {old}_t : "
                f"{t}, {view[1]}, tile<i32> -> token"
            )
            if draw.chance(40):
                result = self.taken(view, "%i, %j", shape, s)
                self.lines[-1] = self.lines[-1].replace("%j]", f"%j] token = {done}")
        if draw.chance(25):
            column = self.folded(result, shape, s, f"{draw.pick(('max', 'add'))}{i}")
            self.stored(column, (m, 1), s, (self.rows, self.grid[1]), "%i, %j")
        for _ in range(draw.pick((1, 1, 2))):
            element = draw.pick(OUTPUTS.get(s, (s,)))
            x, own, size, index = result, shape, extent, "%i, %j"
            x = self.converted(x, shape, s, element)
            if draw.chance(20):
                x, own, size, index = (
                    self.turned(x, shape, element), (n, m), extent[::-1], "%j, %i",
                )  # fmt: skip
            self.stored(x, own, element, size, index)


def tile_products(draw: Draw) -> TileKernel:
    """A product in loops, and what becomes of its sums."""
    p = Products(draw)
    p.finish(p.loops())
    return p.kernel(p.grid, p.parts)


class Scaled(Chain):
    """Blocks of m x n sums of products that have scale factors."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.element, self.factor, self.block = draw.pick((
            ("f8E4M3FN", "f8E8M0FNU", 32), ("f8E5M2", "f8E8M0FNU", 32),
            ("f4E2M1FN", "f8E4M3FN", 16), ("f4E2M1FN", "f8E8M0FNU", 32),
            ("f4E2M1FN", "f8E8M0FNU", 16),
        ))  # fmt: skip
        self.sums = "f32"
        m, n, k = (1 << draw.number(*bits) for bits in ((5, 8), (4, 8), (5, 7)))
        while m * n > 1 << 14:
            m, n = (m // 2, n) if m > n else (m, n // 2)
        self.of = m, n, max(k, 4 * self.block) if draw.chance(50) else k
        self.memory = draw.chance(50)
        """Whether elements of 4 bits lie so in memory."""

    def view(self, element: str, sizes: tuple[int, ...], own: tuple[int, ...]) -> tuple[str, str]:
        """A tensor of factors or elements of 4 bits, row after row."""
        strides = [int(np.prod(sizes[axis + 1 :])) for axis in range(len(sizes))]
        count = sizes[0] * strides[0]
        at, whole, view = self.fresh(), self.fresh(), self.fresh()
        if element == "f4E2M1FN":
            base = self.parameter("ptr<i8>", self.numbers.integers(-128, 128, count // 2)
                                  .astype(np.int8))  # fmt: skip
            self.setup.append(f"    {at}_i = assume div_by<16>, {base} : tile<ptr<i8>>")
            self.setup.append(
                f"    {at} = ptr_to_ptr {at}_i : tile<ptr<i8>> -> tile<ptr<{element}>>"
            )
        else:
            data = self.numbers.choice([0.5, 1, 2], count).astype(MEMORY[element])
            base = self.parameter(f"ptr<{element}>", data)
            self.setup.append(f"    {at} = assume div_by<16>, {base} : tile<ptr<{element}>>")
        shape, steps = "x".join(map(str, sizes)), ",".join(map(str, strides))
        tensor = f"tensor_view<{shape}x{element}, strides=[{steps}]>"
        type_ = f"partition_view<tile=({'x'.join(map(str, own))}), {tensor}>"
        self.setup += [
            f"    {whole} = make_tensor_view {at}, shape = {list(sizes)}, strides = {strides} : "
            f"{tensor}",
            f"    {view} = make_partition_view {whole} : {type_}",
        ]
        return view, type_

    def factors(self, rows: bool) -> tuple[tuple[str, str], bool]:
        """The view of the factors of A's rows or B's columns, and whether as `tcgen05` has them."""
        own, count = self.of[not rows], self.grid[not rows]
        blocks = self.of[2] // self.block
        steps = max(self.steps, 1)
        if own % 128 == 0 and blocks % 4 == 0 and self.draw.chance(70):
            sizes = own * count // 128, blocks // 4 * steps, 32, 16
            return self.view(self.factor, sizes, (own // 128, blocks // 4, 32, 16)), True
        both = (own * count, blocks * steps), (own, blocks)
        if not rows and self.draw.chance(50):
            both = both[0][::-1], both[1][::-1]
        return self.view(self.factor, *both), False

    def scale(self, view: tuple[tuple[str, str], bool], rows: bool, q: str) -> str:
        """The factors of a step."""
        own, blocks, e = self.of[not rows], self.of[2] // self.block, self.factor
        (name, type_), special = view
        at = "%i" if rows else "%j"
        if special:
            tiles, across = own // 128, blocks // 4
            x, t = self.fresh(), tile((tiles, across, 32, 16), e)
            self.lines.append(f"      {x}, {x}_t = load_view_tko weak {name}[{at}, {q}, %zero, "
                              f"%zero] : {type_}, tile<i32> -> {t}, token")  # fmt: skip
            five, four = (tiles, across, 32, 4, 4), (tiles, 4, 32, across, 4)
            x = self.do(f"reshape {x} : {t} -> {tile(five, e)}")
            x = self.do(f"permute {x} [0, 3, 2, 1, 4] : {tile(five, e)} -> {tile(four, e)}")
            x = self.do(f"reshape {x} : {tile(four, e)} -> {tile((own, blocks), e)}")
        elif f"tile=({blocks}x{own})" in type_ and not rows and (blocks != own):
            return self.taken((name, type_), f"{q}, {at}", (blocks, own), e)
        else:
            x = self.taken((name, type_), f"{at}, {q}", (own, blocks), e)
        return x if rows else self.turned(x, (own, blocks), e)


def tile_scaled(draw: Draw) -> TileKernel:
    """A product of elements with scale factors, in a loop."""
    s = Scaled(draw)
    (m, n, k), e = s.of, s.element
    narrow, packed = e == "f4E2M1FN", e == "f4E2M1FN" and s.memory
    steps = max(s.steps, 1)
    extents = ((m * s.grid[0], k * steps), (m, k)), ((k * steps, n * s.grid[1]), (k, n))
    loaded = "f8E4M3FN" if narrow else e
    views = [
        s.view(e, *both) if packed else s.matrix(*both[0], both[1], loaded) for both in extents
    ]
    factors = [s.factors(rows) for rows in (True, False)]
    blocks = k // s.block

    def turn(q: str, given: list[str]) -> Sequence[str]:
        operands = []
        for view, (_, shape), index in zip(views, extents, (f"%i, {q}", f"{q}, %j"), strict=True):
            x = s.taken(view, index, shape, e if packed else loaded)
            operands.append(x if packed else s.converted(x, shape, loaded, e))
        scales = [s.scale(view, rows, q) for view, rows in zip(factors, (True, False), strict=True)]
        shapes = ((m, k), e), ((k, n), e), ((m, n), "f32"), ((m, blocks), s.factor), (
            (blocks, n), s.factor)  # fmt: skip
        types = ", ".join(tile(*both) for both in shapes)
        return [s.do(f"mmaf_scaled {', '.join((*operands, *given, *scales))} : {types}")]

    (result,) = s.halves(
        s.scalar(s.steps), [s.constant(0, (m, n), "f32")], [tile((m, n), "f32")], lambda _: turn
    )
    element = draw.pick(("f32", "f32", "bf16"))
    result = s.converted(result, (m, n), "f32", element)
    s.stored(result, (m, n), element, (m * s.grid[0] - 3, n * s.grid[1]), "%i, %j")
    return s.kernel(s.grid)
