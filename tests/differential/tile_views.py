"""Kernels of Tile IR that copy tiles through views of every kind: tensors whose dimensions lie in
any order, with gaps or one over the other, that begin anywhere; tiles of dimensions in another
order, of rows by number, beyond the ends of the tensor. NumPy says what is where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from draw import Draw
from tile_writer import DTYPES, FLOATS, INTEGERS, STORED, Shape, tile
from tiles import ARCHS
from triton_accesses import Array, TritonKernel

PADDINGS = {"zero": 0.0, "neg_zero": -0.0, "nan": np.nan, "pos_inf": np.inf, "neg_inf": -np.inf}
Place = Sequence[int]


@dataclass
class View:
    """A view, its array, and where the elements of its tiles are in that."""

    name: str
    type: str
    tile: Shape
    data: Array
    first: int
    sizes: Sequence[int]
    strides: Sequence[int]
    steps: Sequence[int]
    dims: Sequence[int]
    rows: Array | None = None
    """Instead of an index along dimension 0."""

    def elements(self, index: Place) -> tuple[Array, Array]:
        """The places of a tile's elements in the array, and which are within the tensor."""
        place, within = np.full(self.tile, self.first), np.ones(self.tile, bool)
        for axis, numbers in enumerate(np.indices(self.tile)):
            dim = self.dims[axis]
            at = numbers + index[axis] * self.steps[axis]
            if self.rows is not None and axis == 0:
                at = self.rows[numbers]
            place += at * self.strides[dim]
            within &= (at >= 0) & (at < self.sizes[dim])
        return np.where(within, place, 0), within


class Copies:
    """The lines of a kernel on their way."""

    def __init__(self, draw: Draw) -> None:
        self.draw, self.numbers, self.count = draw, draw.generator(), 0
        self.lines, self.parameters = list[str](), list[str]()
        self.args, self.expected = list[Any](), list[Any]()
        self.grid, self.rounds = (draw.pick((1, 2, 3)),), draw.pick((1, 1, 2, 3))

    def do(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def parameter(self, type_: str, value: Any) -> str:
        name = f"%p{len(self.parameters)}"
        self.parameters.append(f"{name}: tile<{type_}>")
        self.args.append(value)
        self.expected += [value] * isinstance(value, np.ndarray)
        known = value.itemsize if isinstance(value, np.ndarray) else int(value % 16 == 0)
        if known and self.draw.chance(60):
            return self.do(f"assume div_by<16>, {name} : tile<{type_}>")
        return name

    def extents(self, numbers: Sequence[int], kind: str) -> tuple[str, list[str]]:
        """Numbers of which some are parameters, and as the type has them."""
        given = [self.draw.chance(30) or number == 0 for number in numbers]
        words = [
            self.parameter(kind, np.dtype(DTYPES[kind]).type(number)) if one else str(number)
            for one, number in zip(given, numbers, strict=True)
        ]
        return ", ".join(words), ["?" if one else str(n)
                                  for one, n in zip(given, numbers, strict=True)]  # fmt: skip

    def order(self, rank: int, percent: int) -> list[int]:
        order = list(range(rank))
        if self.draw.chance(percent):
            for i in range(rank - 1):
                j = self.draw.number(i, rank - 1)
                order[i], order[j] = order[j], order[i]
        return order

    def view(self, shape: Shape, element: str, most: Place, *, written: bool) -> View:
        """A view of tiles of a shape that has one at every index up to some."""
        draw, rank = self.draw, len(shape)
        way = draw.pick(("partition", "partition", "strided", "gather_scatter"))
        way = "partition" if written or (way[0] == "g" and rank != 2) else way
        dims = self.order(rank, 40) if way[0] != "g" else list(range(rank))
        ways = {"strided": lambda extent: max(extent // draw.pick((1, 2)), 1), "partition": int}
        steps = [ways.get(way, lambda _: 1)(extent) for extent in shape]
        sizes = [0] * rank
        for axis, dim in enumerate(dims):
            # The last tile begins within the tensor, and may end beyond it.
            sizes[dim] = most[axis] * steps[axis] + draw.number(1, shape[axis])
            sizes[dim] += draw.pick((0, 0, shape[axis]))
        strides, step = [0] * rank, 1
        for dim in reversed(self.order(rank, 40)):
            strides[dim] = step
            wide = sizes[dim] + draw.pick((0, 0, 0, 1, -sizes[dim] % 16))
            step *= 1 if not written and draw.chance(8) else wide
            if step == strides[dim] and not written and draw.chance(50):
                strides[dim] = 0
        first = draw.pick((0, 0, 0, 16, 1))
        size = first + 1 + sum((n - 1) * stride for n, stride in zip(sizes, strides, strict=True))
        size += draw.pick((0, 0, 5))
        raw = self.numbers.integers(0, 256, size * np.dtype(DTYPES[element]).itemsize, np.uint8)
        base = self.parameter(f"ptr<{element}>", raw.view(DTYPES[element]))
        data = self.expected[-1] if not written else raw.view(DTYPES[element]).copy()
        if written:
            self.expected[-1] = data
        if first:
            pointer = f"tile<ptr<{element}>>"
            number = self.do(f"constant <i32: {first}> : tile<i32>")
            base = self.do(f"offset {base}, {number} : {pointer}, tile<i32> -> {pointer}")
        kind = draw.pick(("i32", "i32", "i64"))
        shown, texts = self.extents(sizes, kind)
        along, moves = self.extents(strides, kind)
        tensor = (
            f"tensor_view<{''.join(x + 'x' for x in texts)}{element}, strides=[{','.join(moves)}]>"
        )
        dynamic = f"tile<{kind}> -> " * ("?" in tensor)
        whole = self.do(f"make_tensor_view {base}, shape = [{shown}], strides = [{along}] : "
                        f"{dynamic}{tensor}")  # fmt: skip
        padding = draw.pick([*PADDINGS] if element in FLOATS else ["zero"])
        words = [f"tile=({'x'.join(map(str, shape))})"]
        words += [f"traversal_strides=[{','.join(map(str, steps))}]"] * (way == "strided")
        words += ([] if written else [f"padding_value = {padding}"]) + [tensor]
        words += [f"dim_map=[{', '.join(map(str, dims))}]"] * (dims != sorted(dims))
        words += ["sparse_dim=0"] * (way[0] == "g")
        type_ = f"{way}_view<{', '.join(words)}>"
        name = self.do(f"make_{way}_view {whole} : {type_}")
        view = View(name, type_, shape, data, first, sizes, strides, steps, dims)
        if way[0] == "g":
            view.rows = self.numbers.integers(-2, sizes[0] + 2, shape[0])
        self.padding = np.array(PADDINGS[padding]).astype(data.dtype)
        return view

    def index(self, view: View, places: Sequence[str]) -> tuple[str, str]:
        """An index, and its types."""
        names, types = list(places), ["tile<i32>"] * len(places)
        if view.rows is not None:
            numbers = ", ".join(map(str, view.rows.tolist()))
            types[0] = tile((len(view.rows),), "i32")
            names[0] = self.do(f"constant <i32: [{numbers}]> : {types[0]}")
        return ", ".join(names), ", ".join(types if view.rows is not None else types[:1])

    def copy(self) -> Callable[[Place], None]:
        """A tile of a view to one of another, its dimensions maybe in another order; what NumPy
        does at a block and a round."""
        draw, rank = self.draw, self.draw.pick((1, 2, 2, 2, 3, 4))
        shape, room = list[int](), 11
        for _ in range(rank):
            some = draw.number(0, min(room, 7))
            shape, room = [*shape, 1 << some], room - some
        element = draw.pick((*INTEGERS, *FLOATS, *STORED, "f32", "f16"))
        last = self.grid[0] - 1, self.rounds - 1
        ways = [draw.pick((-1, 0, 1)) for _ in shape]
        source = self.view(tuple(shape), element, [last[way] if way >= 0 else 1 for way in ways],
                           written=False)  # fmt: skip
        padding, order = self.padding, self.order(rank, 30)
        wide = tuple(shape[axis] for axis in order)
        target = self.view((1, 1, *wide), element, (*last, *[0] * rank), written=True)
        names = ["%bx", "%q", draw.pick(("%zero", "%one"))]
        fixed = int(names[2] == "%one")

        def lines() -> None:
            index, types = self.index(source, [names[way] for way in ways])
            x, token = self.do(""), f"%t{self.count}"
            self.lines[-1] = (
                f"{x}, {token} = load_view_tko weak {source.name}[{index}] : {source.type}, {types}"
                f" -> {tile(source.tile, element)}, token"
            )
            if order != sorted(order):
                x = self.do(f"permute {x} {order} : {tile(source.tile, element)} -> "
                            f"{tile(wide, element)}")  # fmt: skip
            y = self.do(f"reshape {x} : {tile(wide, element)} -> {tile(target.tile, element)}")
            at = ", ".join(["%bx", "%q", *["%zero"] * rank])
            self.do(f"store_view_tko weak {y}, {target.name}[{at}] : {tile(target.tile, element)}, "
                    f"{target.type}, tile<i32> -> token")  # fmt: skip

        self.later.append(lines)

        def run(at: Place) -> None:
            index = [at[way] if way >= 0 else fixed for way in ways]
            place, within = source.elements(index)
            x = np.where(within, source.data[place], padding).transpose(order)
            place, within = target.elements((*at, *[0] * rank))
            target.data[place[within]] = x.reshape(target.tile)[within]

        return run

    later: list[Callable[[], None]]


def tile_views(draw: Draw) -> TritonKernel:
    """A kernel of such copies, in a loop or not."""
    g = Copies(draw)
    g.later = []
    copies = [g.copy() for _ in range(draw.number(1, 3))]
    g.lines += [
        f"%{name} = constant <i32: {number}> : tile<i32>"
        for name, number in (("zero", 0), ("one", 1), ("end", g.rounds))
    ]
    loops = g.rounds > 1 or draw.chance(30)
    g.lines.append(
        "for %q in (%zero to %end, step %one) : tile<i32> {"
        if loops
        else "%q = constant <i32: 0> : tile<i32>"
    )
    for lines in g.later:
        lines()
    g.lines += ["continue", "}"] * loops
    for at, copy in product(np.ndindex(*g.grid, g.rounds), copies):
        copy(at)
    body = "\n    ".join(["%bx, %by, %bz = get_tile_block_id : tile<i32>", *g.lines, "return"])
    text = (
        f"cuda_tile.module @m {{\n  entry @k({', '.join(g.parameters)}) {{\n    {body}\n  }}\n}}\n"
    )
    return TritonKernel(text, g.args, g.grid, draw.pick(ARCHS), "exact", g.expected)
