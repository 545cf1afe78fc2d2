"""Reductions and scans of a drawn kernel of Tile IR, of one tile or of several."""

from __future__ import annotations

from collections.abc import Callable

from tile_writer import FLOATS, INTEGERS, Value, Writer, tile

COMBINED = {
    "addi": "0", "maxi": "-100", "xori": "0", "mini": "-1", "muli": "1", "ori": "0", "andi": "-1",
}  # fmt: skip
"""What combines integers in any order, and the identity."""
Pairs = list[tuple[str, str]]
LEAST = {element: str(-(1 << int(element[1:]) - 1)) for element in INTEGERS}


class Folds(Writer):
    """Ops whose regions combine elements."""

    def fold(self) -> None:
        """A reduction or a scan, of one tile or of several side by side."""
        draw = self.draw
        x = self.of((*INTEGERS, *FLOATS))
        if not x.shape:
            return
        way = draw.pick(("one", "one", "several", "best", "chain"))
        name = draw.pick(("reduce", "scan"))
        dim = draw.number(0, len(x.shape) - 1)
        if way == "best" and x.element in INTEGERS:
            self.best(name, x, dim)
        elif way == "chain" and x.element in ("i32", "i64"):
            self.chain(x, dim)
        else:
            others = (*INTEGERS, *FLOATS)
            count = draw.number(2, 3) if way == "several" else 1
            tiles = [x, *(self.like(x, draw.pick(others)) for _ in range(count - 1))]
            # Of floats the identity is one of all that are there: of magnitudes.
            tiles = [self.same(f"absf {y.name}", y) if y.element in FLOATS else y for y in tiles]
            ops = ["maxf" if y.element in FLOATS else draw.pick(list(COMBINED)) for y in tiles]
            starts = [COMBINED.get(op, "0.0") for op in ops]
            signs = {"maxi": " signed", "mini": " unsigned"}

            def each(pairs: Pairs) -> list[str]:
                return [
                    self.said(f"{op} {a}, {b}{signs.get(op, '')} : tile<{y.element}>")
                    for op, y, (a, b) in zip(ops, tiles, pairs, strict=True)
                ]

            self.combined(name, tiles, dim, starts, each)

    def said(self, text: str) -> str:
        """The name of an op's result, which is no tile of the kernel."""
        name = self.fresh()
        self.emit(f"    {name} = {text}")
        return name

    def combined(
        self, name: str, tiles: list[Value], dim: int, starts: list[str],
        body: Callable[[Pairs], list[str]],
    ) -> None:  # fmt: skip
        """Tiles combined along a dimension by what a body says of two elements of each."""
        shape = tiles[0].shape
        more = ""
        if name == "reduce":
            shape = (*shape[:dim], *shape[dim + 1 :])
        else:
            more = f" reverse={self.draw.pick(('false', 'true'))}"
        results = [Value(self.fresh(), shape, x.element) for x in tiles]
        pairs = [(self.fresh(), self.fresh()) for _ in tiles]
        identities = ", ".join(
            f"{start} : {x.element}" for start, x in zip(starts, tiles, strict=True)
        )
        scalars = [tile((), x.element) for x in tiles]
        arguments = ", ".join(
            f"{one} : {t}" for pair, t in zip(pairs, scalars, strict=True) for one in pair
        )
        self.emit(
            f"{', '.join(y.name for y in results)} = {name} {', '.join(x.name for x in tiles)} dim "
            f"= {dim}{more} identities = [{identities}] : {', '.join(x.type for x in tiles)} -> "
            f"{', '.join(y.type for y in results)}"
        )
        self.emit(f"  ({arguments}) {{")
        self.emit(f"    yield {', '.join(body(pairs))} : {', '.join(scalars)}")
        self.emit("  }")
        self.values += results

    def best(self, name: str, x: Value, dim: int) -> None:
        """The largest element and the first place where it is."""
        s, i = tile((), x.element), tile((), "i32")

        def body(pairs: Pairs) -> list[str]:
            (a, b), (m, n) = pairs
            more = self.said(f"cmpi greater_than {a}, {b}, signed : {s} -> tile<i1>")
            same = self.said(f"cmpi equal {a}, {b}, signed : {s} -> tile<i1>")
            first = self.said(f"cmpi less_than {m}, {n}, signed : {i} -> tile<i1>")
            tie = self.said(f"andi {same}, {first} : tile<i1>")
            taken = self.said(f"ori {more}, {tie} : tile<i1>")
            return [
                self.said(f"select {taken}, {a}, {b} : tile<i1>, {s}"),
                self.said(f"select {taken}, {m}, {n} : tile<i1>, {i}"),
            ]

        starts = [LEAST[x.element], "2147483647"]
        self.combined(name, [x, self.numbers_of(x.shape)], dim, starts, body)

    def chain(self, x: Value, dim: int) -> None:
        """`chained`, with a tile that is there."""
        self.chained(x, self.like(x), dim)

    def chained(self, x: Value, y: Value, dim: int) -> None:
        """z = a z + b all along: two numbers each, whose order matters."""
        t = tile((), x.element)

        def body(pairs: Pairs) -> list[str]:
            (a, before), (b, sum_) = pairs
            scaled = self.said(f"muli {a}, {sum_} : {t}")
            return [
                self.said(f"muli {a}, {before} : {t}"), self.said(f"addi {b}, {scaled} : {t}"),
            ]  # fmt: skip

        self.combined("scan", [x, y], dim, ["1", "0"], body)
