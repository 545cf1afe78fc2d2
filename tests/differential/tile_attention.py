"""Kernels of Tile IR in which a product's rows are folded, raised and multiplied once more: what
attention is made of.

Exponents are whole, and no power is less than 1/8 of the largest, so that sums are exact in every
order.
"""

from __future__ import annotations

from collections.abc import Sequence

from draw import Draw
from tile_chains import Chain, Turn
from tile_writer import tile
from tiles import TileKernel

QUERIES = ("f16", "bf16", "f16", "bf16", "f8E4M3FN", "f8E5M2", "tf32", "f32", "i8")
VALUES = ("f16", "bf16", "f16", "bf16", "tf32", "f32")


class Attention(Chain):
    """Blocks of `m` queries that meet tiles of `n` keys."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.element = draw.pick(QUERIES)
        self.values = self.element if self.element in VALUES else draw.pick(VALUES)
        self.sums = "f32"
        sizes = (draw.number(*bits) for bits in ((4, 7), (4, 7), (4, 6), (4, 7)))
        self.m, self.n, self.k, self.width = (1 << bits for bits in sizes)
        if "f32" in (self.element, self.values):
            self.m, self.n, self.width = (min(n, 32) for n in (self.m, self.n, self.width))
        self.more = draw.chance(20)
        """Whether what is raised also multiplies something else, turned."""
        rows, keys = self.m * self.grid[0], self.n * max(self.steps, 1)
        rows -= draw.pick((0, 0, self.m // 2 - 1))
        keys -= draw.pick((0, 0, self.n // 2 + 1))
        self.rows, self.columns = rows, self.width * self.grid[1] - draw.pick((0, 0, 3))
        self.q = self.any_matrix(rows, self.k, (self.m, self.k), self.element)
        self.keys_first = draw.chance(50)
        extent, shape = ((keys, self.k), (self.n, self.k)) if self.keys_first else (
            (self.k, keys), (self.k, self.n))  # fmt: skip
        self.key = self.any_matrix(*extent, shape, self.element)
        self.value = self.any_matrix(keys, self.columns, (self.n, self.width), self.values)
        self.keys = self.scalar(keys)
        self.causal = draw.chance(50)

    def power(self, x: str, shape: tuple[int, int]) -> str:
        """2^x, and of little 1/8."""
        t = tile(shape, "f32")
        x = self.do(f"maxf {x}, {self.constant(-3, shape, 'f32')}", t)
        return self.do(f"exp2 {x}{self.draw.pick(('', ' flush_to_zero'))}", t)

    def scores(self, queries: str, q: str) -> str:
        m, n, k, e = self.m, self.n, self.k, self.element
        if self.keys_first:
            key = self.turned(self.taken(self.key, f"{q}, %zero", (n, k), e), (n, k), e)
        else:
            key = self.taken(self.key, f"%zero, {q}", (k, n), e)
        sums = "i32" if e == "i8" else "f32"
        none = self.constant(0, (m, n), sums)
        return self.converted(self.mma(queries, key, none, (m, n, k), e), (m, n), sums, "f32")

    def masked(self, scores: str, q: str) -> str:
        """Scores of keys behind the queries, or behind the last one, left out."""
        shape = self.m, self.n
        t, f = tile(shape, "i32"), tile(shape, "f32")
        columns = self.counted(q, shape, 1)
        rows = self.counted("%i", shape, 0) if self.causal else self.spread(
            self.keys, (), shape, "i32")  # fmt: skip
        way = "less_than_or_equal" if self.causal else "less_than"
        kept = self.do(f"cmpi {way} {columns}, {rows}, signed : {t} -> {tile(shape, 'i1')}")
        least = self.constant(-10000, shape, "f32")
        return self.do(f"select {kept}, {scores}, {least} : {tile(shape, 'i1')}, {f}")

    def turn(self, queries: str, last: bool) -> Turn:
        m, n, width = self.m, self.n, self.width

        def turn(q: str, given: list[str]) -> Sequence[str]:
            acc, top, total, *rest = given
            line, t = tile((m, 1), "f32"), tile((m, n), "f32")
            scores = self.scores(queries, q)
            if last and self.draw.chance(30):
                odd = self.do(f"trunci {q} : tile<i32> -> tile<i1>")
                (scores,) = self.branch(
                    odd, [t], [lambda: [self.masked(scores, q)], lambda: [scores]]
                )
            elif last:
                scores = self.masked(scores, q)
            new = self.do(f"maxf {top}, {self.folded(scores, (m, n), 'f32', 'maxf')}", line)
            p = self.power(
                self.do(f"subf {scores}, {self.spread(new, (m, 1), (m, n), 'f32')}", t), (m, n)
            )
            less = self.power(self.do(f"subf {top}, {new}", line), (m, 1))
            scaled = self.do(f"mulf {total}, {less}", line)
            total = self.do(f"addf {scaled}, {self.folded(p, (m, n), 'f32', 'addf')}", line)
            out = tile((m, width), "f32")
            acc = self.do(f"mulf {acc}, {self.spread(less, (m, 1), (m, width), 'f32')}", out)
            narrow = self.converted(p, (m, n), "f32", self.values)
            value = self.taken(self.value, f"{q}, %j", (n, width), self.values)
            acc = self.mma(narrow, value, acc, (m, width, n), self.values)
            if self.more:
                # Of what the maxima do not change: weights of the last keys alone.
                back = self.turned(value, (n, width), self.values)
                rest = [self.mma(back, self.turned(narrow, (m, n), self.values),
                                 self.constant(0, (width, m), "f32"), (width, m, n),
                                 self.values)]  # fmt: skip
            return [acc, new, total, *rest]

        return turn


def tile_attention(draw: Draw) -> TileKernel:
    """Weights times values, what they are divided by, and the largest scores."""
    a = Attention(draw)
    m, width = a.m, a.width
    queries = a.taken(a.q, "%i, %zero", (m, a.k), a.element)
    shapes = [(m, width), (m, 1), (m, 1), *[(width, m)] * a.more]
    first = [
        a.constant(start, shape, "f32")
        for start, shape in zip((0, -1000, 0, 0), shapes, strict=False)
    ]
    end = a.scalar(a.steps)
    if a.causal and draw.chance(50):
        end = a.do(f"mini {a.do('addi %i, %one : tile<i32>')}, {end} signed : tile<i32>")
    acc, top, total, *more = a.halves(
        end, first, [tile(shape, "f32") for shape in shapes], lambda last: a.turn(queries, last)
    )
    if draw.chance(50):
        # By 1 where there were no keys.
        one = a.do(f"maxf {total}, {a.constant(1, (m, 1), 'f32')}", tile((m, 1), "f32"))
        wide = a.spread(one, (m, 1), (m, width), "f32")
        acc = a.do(f"divf {acc}, {wide} rounding<nearest_even>", tile((m, width), "f32"))
    element = draw.pick(("f32", a.values)) if a.values != "tf32" else "f32"
    acc = a.converted(acc, (m, width), "f32", element)
    a.stored(acc, (m, width), element, (a.rows, a.columns), "%i, %j")
    for value in (top, total):
        if draw.chance(60):
            a.stored(value, (m, 1), "f32", (a.rows, a.grid[1]), "%i, %j")
    if more:
        extent = width * a.grid[1], m * a.grid[0]
        a.stored(more[0], (width, m), "f32", extent, "%j, %i")
    return a.kernel(a.grid)
