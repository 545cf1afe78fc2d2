"""The text of a kernel of matrices: loops of every form around what is loaded by views, multiplied,
folded, raised, masked, and stored; blocks in any order, hints of every target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
from draw import Draw
from tile_gemms import MEMORY, Gemm
from tile_writer import Shape, tile
from tiles import ARCHS, TileKernel

MEMORY["f8E8M0FNU"] = np.dtype(ml_dtypes.float8_e8m0fnu)
Turn = Callable[[str, list[str]], Sequence[str]]
"""An iteration: of its number and what it is given, what the next one is."""
HINTS = (
    ("num_cta_in_cga", (1, 2, 2, 4)), ("occupancy", (1, 2, 4)),
    ("num_worker_warps_per_cta", (4, 8)),
)  # fmt: skip
NAMES = {"default": ARCHS, **{arch.rstrip("a"): (arch,) for arch in ARCHS}}


class Chain(Gemm):
    """Blocks that compute tiles of `m` rows, in steps of `n`."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.lines: list[str] = []
        self.names = 0

    def do(self, text: str, type_: str = "") -> str:
        """A value of an op."""
        name = self.fresh()
        self.lines.append(f"      {name} = {text}{type_ and f' : {type_}'}")
        return name

    def number(self, least: int, most: int) -> str:
        return self.scalar(self.draw.number(least, most))

    def any_matrix(
        self, rows: int, columns: int, extent: tuple[int, int], element: str, *, zero: bool = False
    ) -> tuple[str, str]:
        """A matrix, or one of two in a row, or one whose rows are named one by one."""
        view, type_ = self.matrix(rows, columns, extent, element, zero=zero)
        if not zero and "dim_map" not in type_ and self.draw.chance(12):
            words = re.split(r"[\]\[,= ]+", self.setup[-2].strip())
            return " ".join((words[2], *words[4:6], *words[7:9])), "pointers"
        way, tensor = self.draw.number(0, 9), self.setup[-1].split()[3]
        if way == 1 and "dim_map" not in type_:
            type_ = type_.replace("partition", "gather_scatter")[:-1] + ", sparse_dim=0>"
            self.setup[-1] = f"    {view} = make_gather_scatter_view {tensor} : {type_}"
        elif way > 7:
            place = next(i for i in reversed(range(len(self.args))) if not isinstance(
                self.args[i], int))  # fmt: skip
            one = self.args[place]
            one = np.concatenate([one, np.zeros(-len(one) % 16, one.dtype)])
            self.args[place] = np.concatenate([one, one[::-1]])
            for old, new in (
                ("shape = [", "shape = [2, "), ("strides = [", f"strides = [{len(one)}, "),
                ("_view<?x", "_view<2x?x"), ("strides=[", f"strides=[{len(one)},"),
                ("tile=(", "tile=(1x"), ("dim_map=[1, 0]", "dim_map=[0, 2, 1]"),
            ):  # fmt: skip
                self.setup[-2:] = [line.replace(old, new) for line in self.setup[-2:]]
            type_ = self.setup[-1].partition(" : ")[2]
        return view, type_

    def at(self, view: tuple[str, str], index: str, shape: tuple[int, int]) -> tuple[str, str]:
        """The index of a tile of a view, and its types."""
        rows, columns = shape
        if "tile=(1x" in view[1] and "<2x?" in view[1]:
            return f"{self.draw.pick(('%zero', '%one'))}, {index}", "tile<i32>"
        if "sparse_dim" not in view[1]:
            return index, "tile<i32>"
        first, _, second = index.partition(", ")
        t = tile((rows,), "i32")
        count = self.do(f"xori {self.do('iota', t)}, {self.constant(rows - 1, (rows,), 'i32')}", t)
        start = self.do(f"muli {first}, {self.constant(rows, (), 'i32')} : tile<i32>")
        own = self.do(f"addi {count}, {self.spread(start, (), (rows,), 'i32')}", t)
        second = self.do(f"muli {second}, {self.constant(columns, (), 'i32')} : tile<i32>")
        return f"{own}, {second}", f"{t}, tile<i32>"

    def taken(self, view: tuple[str, str], index: str, shape: tuple[int, int], element: str) -> str:
        """A tile of a view."""
        if view[1] == "pointers":
            return self.pointed(view[0].split(), index, shape, element)
        place, types = self.at(view, index, shape)
        name = self.load(self.lines, view, place, shape, element)
        self.lines[-1] = self.lines[-1].replace(", tile<i32> ->", f", {types} ->")
        if "<2x?" not in view[1]:
            return name
        ones = tile((1, *shape), element)
        self.lines[-1] = self.lines[-1].replace(f"-> {tile(shape, element)}", f"-> {ones}")
        return self.do(f"reshape {name} : {ones} -> {tile(shape, element)}")

    def pointed(self, words: list[str], index: str, shape: tuple[int, int], element: str) -> str:
        """A tile of a matrix that is given by a pointer, its sizes and strides."""
        base, *numbers = words
        t, i1, p = (tile(shape, kind) for kind in ("i32", "i1", f"ptr<{element}>"))
        inside, offset = "", ""
        for axis, at in enumerate(index.split(", ")):
            count, size, stride = self.counted(at, shape, axis), numbers[axis], numbers[2 + axis]
            wide = self.spread(size, (), shape, "i32")
            within = self.do(f"cmpi less_than {count}, {wide}, signed : {t} -> {i1}")
            inside = self.do(f"andi {inside}, {within} : {i1}") if inside else within
            if stride != "1":
                count = self.do(f"muli {count}, {self.spread(stride, (), shape, 'i32')} : {t}")
            offset = self.do(f"addi {offset}, {count} : {t}") if offset else count
        where = self.spread(base, (), shape, f"ptr<{element}>")
        where = self.do(f"offset {where}, {offset} : {p}, {t} -> {p}")
        zero, own, name = self.constant(0, shape, element), tile(shape, element), self.fresh()
        self.lines.append(
            f"      {name}, {name}_t = load_ptr_tko weak {where}, {inside}, {zero} : {p}, {i1}, "
            f"{own} -> {own}, token"
        )
        return name

    def stored(
        self, x: str, shape: tuple[int, int], element: str, extent: tuple[int, int], index: str
    ) -> None:
        """A tile to a tensor of its own, of which it may be the edge."""
        view = self.any_matrix(*extent, shape, element, zero=True)
        own = tile(shape, element)
        place, types = self.at(view, index, shape)
        if "<2x?" in view[1]:
            ones = tile((1, *shape), element)
            x, own = self.do(f"reshape {x} : {own} -> {ones}"), ones
        hint = self.draw.pick(("", "", "", "latency = 2", "allow_tma = false"))
        words = hint and f" optimization_hints = <default = {{{hint}}}>"
        t = f"{own}, {view[1]}, {types} -> token"
        self.do(f"store_view_tko weak {x}, {view[0]}[{place}]{words} : {t}")

    def mma(self, a: str, b: str, acc: str, of: tuple[int, int, int], element: str) -> str:
        m, n, k = of
        op, signs = ("mmai", " signed signed") if element == "i8" else ("mmaf", "")
        sums = {"i8": "i32", "f64": "f64"}.get(element, "f32")
        types = tile((m, k), element), tile((k, n), element), tile((m, n), sums)
        return self.do(f"{op} {a}, {b}, {acc}{signs}", ", ".join(types))

    def converted(self, x: str, shape: Shape, source: str, to: str) -> str:
        """Numbers of another type."""
        if source == to:
            return x
        kinds = "".join("i" if element[0] == "i" else "f" for element in (source, to))
        op = {"ff": "ftof", "if": "itof", "fi": "ftoi", "ii": "trunci"}[kinds]
        sign = " signed" * (kinds in ("if", "fi"))
        return self.do(f"{op} {x}{sign} : {tile(shape, source)} -> {tile(shape, to)}")

    def turned(self, x: str, shape: tuple[int, int], element: str) -> str:
        back = tile((shape[1], shape[0]), element)
        return self.do(f"permute {x} [1, 0] : {tile(shape, element)} -> {back}")

    def spread(self, x: str, own: Shape, shape: Shape, element: str) -> str:
        """A number, a column or a row as a tile."""
        if own == ():
            own = (1,) * len(shape)
            x = self.do(f"reshape {x} : tile<{element}> -> {tile(own, element)}")
        if own == shape:
            return x
        return self.do(f"broadcast {x} : {tile(own, element)} -> {tile(shape, element)}")

    def folded(self, x: str, shape: tuple[int, int], element: str, combine: str) -> str:
        """What the rows of %x hold at most, or in all: a column."""
        r, line = self.fresh(), tile(shape[:1], element)
        integer = element[0] == "i"
        start = "0" if combine[:3] == "add" else "-100000"
        start += "" if integer else ".0"
        word = " rounding<nearest_even>" * (combine == "addf") + " signed" * (combine == "maxi")
        t = f"tile<{element}>"
        self.lines += [
            f"      {r} = reduce {x} dim=1 identities=[{start} : {element}] :"
            f" {tile(shape, element)} -> {line}",
            f"      ({r}_a: {t}, {r}_b: {t}) {{",
            f"        {r}_c = {combine} {r}_a, {r}_b{word} : {t}",
            f"        yield {r}_c : {t}\n      }}",
        ]
        return self.do(f"reshape {r} : {line} -> {tile((shape[0], 1), element)}")

    def counted(self, at: str, shape: tuple[int, int], axis: int) -> str:
        """The number of each row, or column, of the tile that is number %at of its kind."""
        extent = shape[axis]
        own = (extent, 1) if axis == 0 else (1, extent)
        count = self.do(f"iota : tile<{extent}xi32>")
        count = self.do(f"reshape {count} : tile<{extent}xi32> -> {tile(own, 'i32')}")
        first = self.do(f"muli {at}, {self.constant(extent, (), 'i32')} : tile<i32>")
        count = self.do(f"addi {count}, {self.spread(first, (), own, 'i32')}", tile(own, "i32"))
        return self.spread(count, own, shape, "i32")

    def branch(self, condition: str, types: list[str], sides: Sequence[Callable[[], list[str]]]
               ) -> list[str]:  # fmt: skip
        """An if with results."""
        results = [self.fresh() for _ in types]
        self.lines.append(f"      {', '.join(results)} = if {condition} -> ({', '.join(types)}) {{")
        for side, end in zip(sides, ("} else {", "}"), strict=True):
            self.lines += [f"      yield {', '.join(side())} : {', '.join(types)}", end]
        return results

    def loop(
        self, low: str, high: str, first: list[str], types: list[str], turn: Turn
    ) -> list[str]:
        """What iterations make of values, in a loop of some form."""
        q, last, draw = self.fresh(), self.fresh(), self.draw
        names, results = ([self.fresh() for _ in first] for _ in range(2))
        given = ", ".join(f"{name} = {value}" for name, value in zip(names, first, strict=True))
        all_, joined, out = ", ".join(types), ", ".join(names), ", ".join(results)
        if draw.number(0, 9) < 7:
            self.lines.append(
                f"      {out} = for {q} in ({low} to {high}, step %one) : tile<i32> "
                f"iter_values({given}) -> ({all_}) {{"
            )
            if draw.chance(8):
                odd = self.do(f"trunci {q} : tile<i32> -> tile<i1>")
                self.lines.append(f"      if {odd} {{\n      continue {joined} : {all_}\n      }}")
            self.lines += [f"      continue {', '.join(turn(q, names))} : {all_}", "      }"]
            return results
        self.lines.append(
            f"      {last}, {out} = loop iter_values({q} = {low}, {given}) : tile<i32>, {all_} -> "
            f"tile<i32>, {all_} {{"
        )
        done = self.do(f"cmpi greater_than_or_equal {q}, {high}, signed : tile<i32> -> tile<i1>")
        self.lines.append(
            f"      if {done} {{\n      break {q}, {joined} : tile<i32>, {all_}\n      }}"
        )
        new = ", ".join(turn(q, names))
        after = self.do(f"addi {q}, %one : tile<i32>")
        self.lines += [f"      continue {after}, {new} : tile<i32>, {all_}", "      }"]
        return results

    def leave(self) -> None:
        """Some blocks end here, behind one branch or two."""
        last, second = (
            self.do(f"cmpi equal {place}, %one, signed : tile<i32> -> tile<i1>")
            for place in ("%i", "%j")
        )
        inner = ["LEAVE"] if self.draw.chance(30) else [f"if {last} {{", "LEAVE", "}"]
        self.lines += [f"      {line}" for line in (f"if {second} {{", *inner, "}")]

    def sometimes(
        self, values: list[str], types: list[str], build: Callable[[list[str]], list[str]]
    ) -> list[str]:
        """What is made of values, by some blocks alone, of which some do so twice."""
        if self.draw.chance(70):
            return build(values)
        place, number = self.draw.pick(("%i", "%j")), self.number(0, 1)
        condition = self.do(f"cmpi equal {place}, {number}, signed : tile<i32> -> tile<i1>")
        sides = [lambda: self.sometimes(build(values), types, build), lambda: values]
        return self.branch(condition, types, sides[:: self.draw.pick((1, -1))])

    def halves(
        self, high: str, first: list[str], types: list[str], turn: Callable[[bool], Turn]
    ) -> list[str]:
        """A loop, or two in a row, of which the second one's iterations are told so, or one in
        another."""
        draw = self.draw
        way = draw.number(0, 9)
        if way < 4:
            return self.loop("%zero", high, first, types, turn(draw.chance(50)))
        if way < 8:
            middle = self.do(f"mini {draw.pick(('%i', '%one', high))}, {high} signed : tile<i32>")
            values = self.loop("%zero", middle, first, types, turn(False))
            if draw.chance(25):
                self.leave()
            values = self.sometimes(
                values, types, lambda given: self.loop(middle, high, given, types, turn(True))
            )
            if draw.chance(15):
                values = self.loop("%zero", middle, values, types, turn(False))
            return values
        outer = self.number(1, 2)
        return self.loop(
            "%zero", outer, first, types,
            lambda _, values: self.loop("%zero", high, values, types, turn(False)),
        )  # fmt: skip

    def kernel(self, grid: tuple[int, int], depth: int = 1) -> TileKernel:
        """What was written for block (%i, %j), in blocks of which each has one such, or several."""
        draw = self.draw
        lines, names = self.lines, "%i, %j, %bz"
        way = draw.number(0, 9)
        if way < 2:  # rows of blocks in turn
            end = self.scalar(grid[0])
            head = [f"    for %i in (%bx to {end}, step %gx) : tile<i32> {{"]
            lines, names = [*head, *lines, "      continue\n    }"], "%bx, %j, %bz"
            grid = draw.number(1, grid[0]), grid[1]
        elif way < 4:  # all blocks in turn
            rows, end = self.scalar(grid[0]), self.scalar(grid[0] * grid[1])
            head = [
                f"    for %t in (%bx to {end}, step %gx) : tile<i32> {{",
                f"      %i = remi %t, {rows} signed : tile<i32>",
                f"      %j = divi %t, {rows} signed : tile<i32>",
            ]
            lines, names = [*head, *lines, "      continue\n    }"], "%bx, %by, %bz"
            grid = draw.number(1, grid[0] * grid[1]), 1
        elif way < 5:  # one of the other direction in front
            lines = [f"    %j = subi {self.scalar(grid[1] - 1)}, %jj : tile<i32>", *lines]
            names = "%i, %jj, %bz"
        end = "continue" if way < 4 else "return"
        lines = [line.replace("LEAVE", end) for line in lines]
        arch = draw.pick(ARCHS)
        targets = [name for name, of in NAMES.items() if name == "default" or arch in of]
        said: list[str] = []
        for target in targets:
            hints = [f"{name} = {draw.pick(of)}" for name, of in HINTS if draw.chance(25)]
            said += [f"{target} = {{{', '.join(hints)}}}"] if hints else []
        words = f" optimization_hints = <{', '.join(said)}>" if said else ""
        text = "\n".join(
            [
                "cuda_tile.module @m {",
                f"  entry @k({', '.join(self.parameters)}){words} {{",
                f"    {names} = get_tile_block_id : tile<i32>",
                "    %gx, %gy, %gz = get_num_tile_blocks : tile<i32>",
                "    %one = constant <i32: 1> : tile<i32>",
                "    %zero = constant <i32: 0> : tile<i32>",
                *self.setup, *lines, "    return", "  }", "}\n",
            ]
        )  # fmt: skip
        return TileKernel(text, self.args, (*grid, depth), arch, "hardware")
