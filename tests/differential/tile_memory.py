"""Kernels of Tile IR that load and store what they have stored, as tokens say: in loops of every
kind, behind branches that leave an iteration, by few warps; places beyond memory are guarded.

Each block has a part of every array. Numbers are small and whole, and sums of them exact.
"""

from __future__ import annotations

import re

from draw import Draw
from tile_chains import Chain
from tile_writer import DTYPES, tile
from tiles import ARCHS, TileKernel

KINDS = ("i32", "i32", "i32", "i16", "i64")
"""The types of variables of loops."""


class Memory(Chain):
    """Statements of a block, each of which goes on from a tile and a token."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.element = self.sums = draw.pick(("f32", "f32", "i32"))
        self.kind = "f16" if self.element == "f32" and draw.chance(60) else self.element
        m = 1 << draw.pick((0, 0, 4, 4, 4, 5, 6))
        self.of = m, 1 << draw.number(4, min(13 - m.bit_length(), 11))
        self.blocks, self.tiles = draw.number(1, 2), draw.number(1, 5)
        size = self.tiles * self.of[0] * self.of[1]
        self.arrays = [self.array(size, self.kind) for _ in range(2)]
        self.written = self.array(size, self.kind)
        self.places, self.depth = self.array(self.tiles, "i32"), 0
        self.last: tuple[list[str], str, str, str, str] | None = None
        self.args[-1] = self.args[-1] % self.tiles

    def array(self, size: int, element: str) -> str:
        """A pointer to the block's part of an array."""
        data = self.numbers.integers(-2, 3, size * self.blocks).astype(DTYPES[element])
        base = self.parameter(f"ptr<{element}>", data)
        if self.draw.chance(85):
            self.setup.append(f"    {base}_w = assume div_by<16>, {base} : tile<ptr<{element}>>")
            base += "_w"
        first, name = self.constant(size, (), "i32"), self.fresh()
        self.setup += [
            f"    {name}_o = muli %i, {first} : tile<i32>",
            f"    {name} = offset {base}, {name}_o : tile<ptr<{element}>>, tile<i32> -> "
            f"tile<ptr<{element}>>",
        ]
        return name

    def compared(self, a: str, relation: str, b: str) -> str:
        return self.do(f"cmpi {relation} {a}, {b}, signed : tile<i32> -> tile<i1>")

    def at(self, base: str, number: str) -> tuple[str, str]:
        """Pointers to the elements of a tile of an array, and its type."""
        (_, n), shape = self.of, self.of
        first = self.do(f"muli {number}, {self.constant(shape[0] * n, (), 'i32')} : tile<i32>")
        one = f"tile<ptr<{self.kind}>>"
        base = self.do(f"offset {base}, {first} : {one}, tile<i32> -> {one}")
        t = tile(shape, "i32")
        row = self.do(
            f"muli {self.counted('%zero', shape, 0)}, {self.constant(n, shape, 'i32')}", t
        )
        place = self.do(f"addi {row}, {self.counted('%zero', shape, 1)}", t)
        type_ = tile(shape, f"ptr<{self.kind}>")
        wide = self.spread(base, (), shape, f"ptr<{self.kind}>")
        return self.do(f"offset {wide}, {place} : {type_}, {t} -> {type_}"), type_

    def mask(self, number: str) -> tuple[str, str]:
        """Columns up to one that a number says, or rows, or all of those within the array."""
        way, t, i1 = self.draw.number(0, 4), tile(self.of, "i32"), tile(self.of, "i1")
        if way == 0:
            return "", ""
        count = self.counted("%zero", self.of, way % 2)
        bound = self.scalar(self.draw.number(0, self.of[way % 2]))
        if way > 2:
            bound = self.do(f"subi {bound}, {number} : tile<i32>")
        wide = self.spread(bound, (), self.of, "i32")
        chosen = self.do(f"cmpi less_than {count}, {wide}, signed : {t} -> {i1}")
        return f", {chosen}", f", {i1}"

    def step(self, number: str, x: str, token: str) -> tuple[str, str]:
        """What a statement makes of a tile and of memory, at a number that is in range."""
        ways = [*[self.load] * 5, self.store, self.far, self.choice, self.fold]
        ways += [self.rounds] * (self.depth < 2)
        return self.draw.pick(ways)(number, x, token)

    def steps_of(self, number: str, x: str, token: str) -> tuple[str, str]:
        for _ in range(self.draw.number(1, 3)):
            x, token = self.step(number, x, token)
        return x, token

    def load(self, number: str, x: str, token: str) -> tuple[str, str]:
        """A tile of an array is added, or multiplied by itself."""
        draw, own = self.draw, tile(self.of, self.kind)
        base = draw.pick((*self.arrays, *self.arrays, self.written))
        place, type_ = self.at(base, number)
        mask, types = self.mask(number)
        if mask:
            padding = self.constant(draw.pick((0, 0, 0, 0, 1)), self.of, self.kind)
            mask, types = f"{mask}, {padding}", f"{types}, {own}"
        y = self.fresh()
        order = f" token = {token}" if base == self.written or draw.chance(15) else ""
        self.lines.append(
            f"      {y}, {y}_t = load_ptr_tko weak {place}{mask}{order} : {type_}{types} -> {own}, "
            "token"
        )
        if order:
            token = self.do(f"join_tokens {token}, {y}_t", "token")
        m, n = self.of
        if self.kind == "f16" and min(m, n) > 15 and draw.chance(60):
            low = self.constant(-8, (m, m), "f32"), self.constant(8, (m, m), "f32")
            zero, back = self.constant(0, (m, m), "f32"), self.turned(y, self.of, "f16")
            p = self.mma(y, back, zero, (m, m, n), "f16")
            p = self.do(f"maxf {p}, {low[0]}", tile((m, m), "f32"))
            p = self.converted(self.do(f"minf {p}, {low[1]}", tile((m, m), "f32")), (m, m), "f32",
                               "f16")  # fmt: skip
            return self.mma(p, y, x, (m, n, m), "f16"), token
        y = self.converted(y, self.of, self.kind, self.element)
        return self.do(f"add{self.element[0]} {x}, {y}", tile(self.of, self.element)), token

    def store(self, number: str, x: str, token: str) -> tuple[str, str]:
        """Small numbers of a tile go to the array that is written."""
        own, wide = tile(self.of, self.kind), tile(self.of, self.element)
        low, high = (self.constant(end, self.of, self.element) for end in (-4, 4))
        letter, sign = self.element[0], " signed" * (self.element[0] == "i")
        y = self.do(f"max{letter} {x}, {low}{sign}", wide)
        y = self.do(f"min{letter} {y}, {high}{sign}", wide)
        y = self.converted(y, self.of, self.element, self.kind)
        place, type_ = self.at(self.written, number)
        mask, types = self.mask(number)
        text = f"store_ptr_tko weak {place}, {y}{mask} token = {token} : {type_}, {own}{types}"
        return x, self.do(f"{text} -> token")

    def far(self, number: str, x: str, token: str) -> tuple[str, str]:
        """A statement at a number that is loaded."""
        place = self.do(f"offset {self.places}, {number} : tile<ptr<i32>>, tile<i32> -> "
                        "tile<ptr<i32>>")  # fmt: skip
        y = self.fresh()
        order = f" token = {token}" if self.draw.chance(50) else ""
        self.lines.append(
            f"      {y}, {y}_t = load_ptr_tko weak {place}{order} : tile<ptr<i32>> -> tile<i32>, "
            "token"
        )
        return self.draw.pick((self.load, self.store))(y, x, token)

    def fold(self, number: str, x: str, token: str) -> tuple[str, str]:
        """The greatest number of each row is taken away."""
        top = self.folded(x, self.of, self.element, f"max{self.element[0]}")
        wide = self.spread(top, (self.of[0], 1), self.of, self.element)
        return self.do(f"sub{self.element[0]} {x}, {wide}", tile(self.of, self.element)), token

    def condition(self, number: str) -> str:
        relation = self.draw.pick(("equal", "less_than", "greater_than_or_equal"))
        other = self.draw.pick((self.number(0, 3), "%i", number))
        return self.compared(self.draw.pick((number, number, "%i")), relation, other)

    def choice(self, number: str, x: str, token: str) -> tuple[str, str]:
        """Statements in branches."""
        condition, types = self.condition(number), [tile(self.of, self.element), "token"]
        sides = [lambda: list(self.steps_of(number, x, token)), lambda: [x, token]]
        y, token = self.branch(condition, types, sides[:: self.draw.pick((1, -1))])
        return y, token

    def rounds(self, number: str, x: str, token: str) -> tuple[str, str]:
        """Statements in a loop, whose numbers may go beyond the arrays, where none are."""
        draw, kind = self.draw, self.draw.pick(KINDS)
        most = draw.number(0, self.tiles + 2)
        q, y, t, r, s = (self.fresh() for _ in range(5))
        own = tile(self.of, self.element)
        end = self.parameter(kind, most) if draw.chance(50) else self.constant(most, (), kind)
        low, by = self.constant(draw.pick((0, 0, 1)), (), kind), self.constant(
            draw.pick((1, 1, 2)), (), kind)  # fmt: skip
        word = " unsigned" * draw.chance(30)
        self.lines.append(
            f"      {r}, {s} = for{word} {q} in ({low} to {end}, step {by}) : tile<{kind}> "
            f"iter_values({y} = {x}, {t} = {token}) -> ({own}, token) {{"
        )
        self.depth += 1
        if kind != "i32":
            op = "trunci" if kind == "i64" else "exti"
            q = self.do(f"{op} {q}{' signed' * (op == 'exti')} : tile<{kind}> -> tile<i32>")
        a, b = y, t
        beyond = self.compared(q, "greater_than_or_equal", self.scalar(self.tiles))
        if draw.chance(30):
            self.lines.append(
                f"      if {beyond} {{\n      continue {a}, {b} : {own}, token\n      }}"
            )
            if draw.chance(40):
                inner = f"      continue {a}, {b} : {own}, token"
                self.lines.append(f"      if {self.condition(q)} {{\n{inner}\n      }}")
            a, b = self.steps_of(q, a, b)
            if draw.chance(30):
                inner = f"      continue {a}, {b} : {own}, token"
                self.lines.append(f"      if {self.condition(q)} {{\n{inner}\n      }}")
                a, b = self.steps_of(q, a, b)
        elif draw.chance(20):
            a, b = self.branch(beyond, [own, "token"], (
                lambda: [y, t], lambda: list(self.steps_of(q, y, t))))  # fmt: skip
        else:
            last = self.constant(self.tiles - 1, (), "i32")
            q = self.do(f"mini {q}, {last} signed : tile<i32>")
            a, b = self.steps_of(q, a, b)
        self.depth -= 1
        self.lines.append(f"      continue {a}, {b} : {own}, token\n      }}")
        return r, s

    def leave(self, number: str, x: str, token: str) -> tuple[str, str]:
        """Some blocks end, some behind two branches."""
        inner, outer = self.condition("%i"), self.compared("%i", "equal", self.number(0, 2))
        lines = [f"      if {inner} {{", "      return", "      }"]
        if self.draw.chance(60):
            lines = [f"      if {outer} {{", *lines, "      }"]
        self.lines += lines
        return x, token

    def again(self, number: str, x: str, token: str) -> tuple[str, str]:
        """A loop, or the last one once more, maybe with a statement in it."""
        if self.last is None or self.draw.chance(40):
            start = len(self.lines)
            y, after = self.rounds(number, x, token)
            self.last = self.lines[start:], x, token, y, after
            return y, after
        lines, *values = self.last
        known, suffix = set(re.findall(r"%v\d+", "\n".join(self.setup))), f"r{len(self.lines)}"
        given = dict(zip(values, (x, token), strict=False))

        def renamed(name: re.Match[str]) -> str:
            return given.get(name[0], name[0] if name[0] in known else name[0] + suffix)

        self.lines += [re.sub(r"%v\d+(?:r\d+)*", renamed, line) for line in lines]
        return values[2] + suffix, values[3] + suffix


def tile_memory(draw: Draw) -> TileKernel:
    """A kernel of some such statements."""
    g = Memory(draw)
    x, token = g.constant(0, g.of, g.element), g.do("make_token", "token")
    for _ in range(draw.number(1, 5)):
        x, token = draw.pick((g.again, g.again, g.again, g.step, g.leave))("%zero", x, token)
    out = g.array(g.of[0] * g.of[1], g.element)
    g.kind = g.element
    place, type_ = g.at(out, "%zero")
    g.do(f"store_ptr_tko weak {place}, {x} : {type_}, {tile(g.of, g.element)} -> token")
    arch = draw.pick(ARCHS)
    warps = draw.pick((1, 1, 2, 2, 4, 8))
    promised = " attributes {tt.disjoint = true}" * draw.chance(50)
    text = "\n".join(
        [
            f"cuda_tile.module @m{promised} {{",
            f"  entry @k({', '.join(g.parameters)}) optimization_hints = <{arch.rstrip('a')} = "
            f"{{num_worker_warps_per_cta = {warps}}}> {{",
            "    %i, %j, %b = get_tile_block_id : tile<i32>",
            "    %one = constant <i32: 1> : tile<i32>",
            "    %zero = constant <i32: 0> : tile<i32>",
            *g.setup, *g.lines, "    return", "  }", "}\n",
        ]
    )  # fmt: skip
    return TileKernel(text, g.args, (g.blocks,), arch, "hardware" if "mma" in text else "exact")
