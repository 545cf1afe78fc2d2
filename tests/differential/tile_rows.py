"""Kernels of Tile IR that go through rows once or several times: sums, maxima, powers, what is
stored tile after tile, as norms and softmax are.

Sums are of whole numbers, or of powers of two near each other: exact in every order.
"""

from __future__ import annotations

from collections.abc import Sequence

from draw import Draw
from tile_chains import Chain
from tile_writer import tile
from tiles import TileKernel

SOURCES = ("f16", "bf16", "f32", "f32", "i32", "i8", "f8E4M3FN", "f8E5M2", "i16")


class Rows(Chain):
    """Blocks of m rows, in steps of n columns."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.sums = "f32"
        m = 1 << draw.number(0, 6)
        n = 1 << draw.number(3, min(11, 13 - m.bit_length()))
        self.of = m, n
        self.rows = m * self.grid[0] - draw.pick((0, 0, m // 2))
        self.columns = max(n * self.steps - draw.pick((0, 0, 0, 1, n // 2)), 1)
        self.extent = self.rows, self.columns
        self.element = draw.pick(SOURCES)
        self.source = self.any_matrix(*self.extent, (m, n), self.element)
        self.width = self.scalar(self.columns)

    def row(self, q: str) -> str:
        """A tile of the rows, as f32; maybe with what is outside left out once more."""
        shape = self.of
        x = self.taken(self.source, f"%i, {q}", shape, self.element)
        x = self.converted(x, shape, self.element, "f32")
        if self.draw.chance(30):
            t, i1 = tile(shape, "i32"), tile(shape, "i1")
            wide = self.spread(self.width, (), shape, "i32")
            at = self.counted(q, shape, 1)
            kept = self.do(f"cmpi less_than {at}, {wide}, signed : {t} -> {i1}")
            other = self.constant(0, shape, "f32")
            x = self.do(f"select {kept}, {x}, {other} : {i1}, {tile(shape, 'f32')}")
        return x

    def each(self, one: str, word: str = "") -> str:
        return self.do(f"{one}{word} : {tile(self.of, 'f32')}")

    def raised(self, x: str, top: str) -> str:
        """2^(x - top), and of little 1/8."""
        low = self.constant(-3, self.of, "f32")
        x = self.each(f"subf {x}, {self.spread(top, (self.of[0], 1), self.of, 'f32')}")
        return self.each(f"exp2 {self.each(f'maxf {x}, {low}')}")

    def folds(self, value: str | None) -> str:
        """A column of what rows hold at most, or, with that given, of the sums of their powers:
        folded step after step, or of a tile that steps were added to."""
        op, start = ("maxf", -1000) if value is None else ("addf", 0)
        late = self.draw.chance(50)
        shape = self.of if late else (self.of[0], 1)
        t = tile(shape, "f32")

        def turn(q: str, given: list[str]) -> Sequence[str]:
            x = self.row(q)
            x = x if value is None else self.raised(x, value)
            x = x if late else self.folded(x, self.of, "f32", op)
            return [self.do(f"{op} {given[0]}, {x} : {t}")]

        first = [self.constant(start, shape, "f32")]
        (column,) = self.loop("%zero", self.scalar(self.steps), first, [t], turn)
        return self.folded(column, shape, "f32", op) if late else column


def tile_rows(draw: Draw) -> TileKernel:
    """Rows that are folded, and what is made of them with that."""
    r = Rows(draw)
    (m, n), line = r.of, (r.of[0], 1)
    top = r.folds(None)
    total = r.folds(top) if draw.chance(60) else None
    for column in filter(None, (top, total)):
        if draw.chance(50):
            r.stored(column, line, "f32", (r.rows, 1), "%i, %zero")
    if draw.chance(70):
        bias = r.any_matrix(1, r.columns, (1, n), "f32") if draw.chance(40) else None
        element = draw.pick(("f32", "f16", "bf16"))
        view = r.matrix(r.rows, r.columns, (m, n), element, zero=True)

        def turn(q: str, given: list[str]) -> Sequence[str]:
            x = r.raised(r.row(q), top)
            if total is not None:
                one = r.do(f"maxf {total}, {r.constant(1, line, 'f32')} : {tile(line, 'f32')}")
                x = r.each(f"divf {x}, {r.spread(one, line, r.of, 'f32')} rounding<nearest_even>")
            if bias is not None:
                b = r.taken(bias, f"%zero, {q}", (1, n), "f32")
                x = r.each(f"addf {x}, {r.spread(b, (1, n), r.of, 'f32')} rounding<nearest_even>")
            x = r.converted(x, r.of, "f32", element)
            done = r.fresh()
            r.lines.append(
                f"      {done} = store_view_tko weak {x}, {view[0]}[%i, {q}] token = {given[0]} : "
                f"{tile(r.of, element)}, {view[1]}, tile<i32> -> token"
            )
            return [done]

        r.loop("%zero", r.scalar(r.steps), [r.do("make_token", "token")], ["token"], turn)
    return r.kernel((r.grid[0], 1))
