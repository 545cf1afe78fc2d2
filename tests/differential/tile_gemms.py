"""Kernels of Tile IR around products: loops of loads that are multiplied, what comes before them
and after, and the hints that say how. What is compiled computes what the interpreter says.

Numbers are small and whole, so that sums are exact in every order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from draw import Draw
from tile_writer import DTYPES, tile
from tiles import ARCHS, TileKernel

TYPES = (
    ("f16", "f32"), ("bf16", "f32"), ("f16", "f16"), ("f8E4M3FN", "f32"), ("f8E5M2", "f32"),
    ("i8", "i32"), ("tf32", "f32"), ("f32", "f32"), ("f64", "f64"),
)  # fmt: skip
MEMORY = {"tf32": np.dtype(np.float32), **{name: np.dtype(kind) for name, kind in DTYPES.items()}}
MOST = 1 << 14
"""Elements of a tile."""


class Gemm:
    """The text of a kernel on its way, and its arguments."""

    def __init__(self, draw: Draw) -> None:
        self.draw, self.numbers = draw, draw.generator()
        self.element, self.sums = draw.pick((*TYPES[:5], *TYPES))
        sizes = [1 << draw.number(4, 7) for _ in range(3)]
        m, n, k = sizes if draw.chance(75) else (sizes[0], sizes[1], 1 << draw.number(0, 5))
        while m * n > MOST or max(m, n) * k > MOST:
            m, n, k = max(m // 2, 1), n, max(k // 2, 1)
        self.tile = m, n, k
        self.grid = draw.number(1, 2), draw.number(1, 2)
        self.steps = draw.number(0, 4)
        self.setup: list[str] = []
        self.parameters: list[str] = []
        self.args: list[Any] = []
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def parameter(self, type_: str, argument: Any) -> str:
        name = f"%p{len(self.parameters)}"
        self.parameters.append(f"{name}: tile<{type_}>")
        self.args.append(argument)
        return name

    def scalar(self, number: int) -> str:
        """A number: of the kernel's text, or of its caller."""
        if self.draw.chance(50):
            return self.parameter("i32", number)
        name = self.fresh()
        self.setup.append(f"    {name} = constant <i32: {number}> : tile<i32>")
        return name

    def matrix(
        self, rows: int, columns: int, extent: tuple[int, int], element: str, *, zero: bool = False
    ) -> tuple[str, str]:
        """A view of a tensor of so many rows and columns, and its type."""
        draw = self.draw
        kind = MEMORY[element]
        turned = draw.chance(35)
        across = rows if turned else columns
        aligned = draw.chance(75)
        stride = across + draw.number(0, 3)
        if aligned:
            stride = -(-stride * kind.itemsize // 16) * 16 // kind.itemsize
        length = stride * (columns if turned else rows)
        least = -1 if self.sums == "f16" or draw.chance(30) else -3
        data = self.numbers.integers(least, 1 - least, max(length, 1)).astype(kind)
        if zero:
            data[:] = 0
        at = self.parameter(f"ptr<{element}>", data)
        step = self.parameter("i32", stride)
        sizes = [self.parameter("i32", size) for size in (rows, columns)]
        if aligned:
            base, whole = self.fresh(), self.fresh()
            self.setup += [
                f"    {base} = assume div_by<16>, {at} : tile<ptr<{element}>>",
                f"    {whole} = assume div_by<{16 // kind.itemsize}>, {step} : tile<i32>",
            ]
            at, step = base, whole
        strides, words = ((f"1, {step}"), "1,?") if turned else ((f"{step}, 1"), "?,1")
        tensor = f"tensor_view<?x?x{element}, strides=[{words}]>"
        whole, view = self.fresh(), self.fresh()
        padding = "" if zero else "padding_value = zero, "
        mapped, shown = "", extent
        if draw.chance(15):
            mapped, shown = ", dim_map=[1, 0]", extent
            tensor_sizes = f"{sizes[1]}, {sizes[0]}"
            strides = ", ".join(reversed(strides.split(", ")))
            tensor = f"tensor_view<?x?x{element}, strides=[{','.join(reversed(words.split(',')))}]>"
        else:
            tensor_sizes = ", ".join(sizes)
        type_ = f"partition_view<tile=({shown[0]}x{shown[1]}), {padding}{tensor}{mapped}>"
        self.setup += [
            f"    {whole} = make_tensor_view {at}, shape = [{tensor_sizes}], strides = [{strides}]"
            f" : tile<i32> -> {tensor}",
            f"    {view} = make_partition_view {whole} : {type_}",
        ]
        return view, type_

    def load(
        self, lines: list[str], view: tuple[str, str], index: str, shape: tuple[int, int],
        element: str,
    ) -> str:  # fmt: skip
        name = self.fresh()
        hints = self.draw.pick(
            ("", "", "", "latency = 1", "latency = 3", "latency = 8", "allow_tma = false")
        )
        words = hints and f" optimization_hints = <default = {{{hints}}}>"
        lines.append(
            f"      {name}, {name}_t = load_view_tko weak {view[0]}[{index}]{words} : {view[1]}, "
            f"tile<i32> -> {tile(shape, element)}, token"
        )
        return name

    def multiplied(
        self, lines: list[str], a: str, b: str, acc: str, of: tuple[int, int, int]
    ) -> str:
        m, n, k = of
        e, name = self.element, self.fresh()
        op, signs = ("mmai", " signed signed") if e == "i8" else ("mmaf", "")
        if e.startswith("f8") and self.draw.chance(50):
            signs = " fast_acc"
        lines.append(
            f"      {name} = {op} {a}, {b}, {acc}{signs} : {tile((m, k), e)}, {tile((k, n), e)}, "
            f"{tile((m, n), self.sums)}"
        )
        return name

    def changed(self, lines: list[str], x: str, shape: tuple[int, int], element: str) -> str:
        """A tile, or what threads make of it: of the same whole numbers."""
        t, name, draw = tile(shape, element), self.fresh(), self.draw
        if element == "tf32" or element.startswith("f8"):
            return x
        way = draw.number(0, 2)
        if way == 0:
            op = "negi" if element[0] == "i" else "negf"
            lines.append(f"      {name} = {op} {x} : {t}")
        elif way == 1:
            zero, wide = self.constant(0, shape, element), self.fresh()
            op = "maxi" if element[0] == "i" else "maxf"
            sign = " signed" if element[0] == "i" else ""
            del wide
            lines.append(f"      {name} = {op} {x}, {zero}{sign} : {t}")
        else:
            back, turned = self.fresh(), tile((shape[1], shape[0]), element)
            lines += [
                f"      {back} = permute {x} [1, 0] : {t} -> {turned}",
                f"      {name} = permute {back} [1, 0] : {turned} -> {t}",
            ]
        return name

    def constant(self, number: int, shape: tuple[int, ...], element: str) -> str:
        name = self.fresh()
        words = str(number) if element[0] == "i" else f"{float(number)}"
        self.setup.append(f"    {name} = constant <{element}: {words}> : {tile(shape, element)}")
        return name

    def clamped(self, lines: list[str], x: str, shape: tuple[int, int]) -> str:
        """Sums as numbers of -2 to 2, of the type that is multiplied."""
        e, t = self.sums, tile(shape, self.sums)
        low, high, y, z = (
            self.constant(-2, shape, e), self.constant(2, shape, e), self.fresh(), self.fresh(),
        )  # fmt: skip
        i, sign = ("i", " signed") if e[0] == "i" else ("f", "")
        lines += [
            f"      {y} = max{i} {x}, {low}{sign} : {t}",
            f"      {z} = min{i} {y}, {high}{sign} : {t}",
        ]
        if self.element == e:
            return z
        name, op = self.fresh(), "trunci" if e[0] == "i" else "ftof"
        lines.append(f"      {name} = {op} {z} : {t} -> {tile(shape, self.element)}")
        return name


def tile_gemms(draw: Draw) -> TileKernel:
    """A kernel that multiplies in a loop, and does something with the sums."""
    g = Gemm(draw)
    m, n, k = g.tile
    e, s = g.element, g.sums
    rows, columns = (
        max(extent * count - (draw.number(0, extent - 1) if draw.chance(50) else 0), 1)
        for extent, count in zip((m, n), g.grid, strict=True)
    )
    depth = max(k * g.steps - (draw.number(0, k - 1) if draw.chance(40) else 0), 1)
    acc = tile((m, n), s)
    lines: list[str] = []
    a_view = g.matrix(rows, depth, (m, k), e)
    b_view = g.matrix(depth, columns, (k, n), e)
    chained = draw.chance(30) and n <= 128
    width = 1 << draw.number(4, 6)
    if chained:
        v_view = g.matrix(columns, width, (n, width), e)
    persistent = draw.chance(30)
    # One step of the loop.
    body: list[str] = []
    shared = draw.chance(25) and not chained
    a = "%kept" if shared else g.load(body, a_view, "%i, %q", (m, k), e)
    b = g.load(body, b_view, "%q, %j", (k, n), e)
    if draw.chance(25):
        a = g.changed(body, a, (m, k), e)
    if draw.chance(25):
        b = g.changed(body, b, (k, n), e)
    head: list[str] = []
    if shared:
        g.load(head, a_view, "%i, %zero", (m, k), e)
        head[-1] = head[-1].replace(head[-1].split(",")[0].strip(), "%kept", 2)
    zero = g.constant(0, (m, n), s)
    out = (m, width) if chained else (m, n)
    out_zero = g.constant(0, out, s)
    if chained:
        scores = g.multiplied(body, a, b, zero, (m, n, k))
        p = g.clamped(body, scores, (m, n))
        v = g.load(body, v_view, "%j, %zero", (n, width), e)
        total = g.multiplied(body, p, v, "%acc", (m, width, n))
    else:
        total = g.multiplied(body, a, b, "%acc", (m, n, k))
    if draw.chance(20):
        total = g.changed(body, total, out, s)
    if draw.chance(10):
        other = g.multiplied(body, a, b, total, (m, n, k)) if not chained else total
        total = other
    acc = tile(out, s)
    steps = g.scalar(g.steps)
    g.setup.append("    %one = constant <i32: 1> : tile<i32>")
    g.setup.append("    %zero = constant <i32: 0> : tile<i32>")
    start = out_zero
    lines += head
    if draw.chance(15):
        c0 = g.load(lines, g.matrix(rows, out[1] * g.grid[1], out, s), "%i, %j", out, s)
        start = c0
    way = draw.number(0, 9)
    if way < 7:
        lines.append(
            f"      %sum = for %q in (%zero to {steps}, step %one) : tile<i32> "
            f"iter_values(%acc = {start}) -> ({acc}) {{"
        )
        lines += body
        lines += [f"      continue {total} : {acc}", "      }"]
    elif way < 9:
        lines.append(
            f"      %last, %sum = loop iter_values(%q = %zero, %acc = {start}) : tile<i32>, {acc} "
            f"-> tile<i32>, {acc} {{"
        )
        lines += [
            f"      %done = cmpi greater_than_or_equal %q, {steps}, signed : tile<i32> -> tile<i1>",
            f"      if %done {{\n        break %q, %acc : tile<i32>, {acc}\n      }}",
            *body,
            "      %q1 = addi %q, %one : tile<i32>",
            f"      continue %q1, {total} : tile<i32>, {acc}",
            "      }",
        ]
    else:
        once = [line.replace("%acc", start).replace("%q", "%zero") for line in body]
        lines += [*once, f"      %sum = reshape {total} : {acc} -> {acc}"]
    result, element = "%sum", s
    if draw.chance(30):
        result = g.changed(lines, result, out, s)
    if draw.chance(30) and s == "f32":
        element, name = draw.pick(("f16", "bf16")), g.fresh()
        lines.append(f"      {name} = ftof {result} : {acc} -> {tile(out, element)}")
        result = name
    if draw.chance(20):
        # Also what a row holds at most.
        i, sign, low = ("i", " signed", "-100000") if s[0] == "i" else ("f", "", "-60000.0")
        top = g.parameter(f"ptr<{s}>", np.zeros(m * g.grid[0] * g.grid[1], MEMORY[s]))
        line, name = tile((m,), s), g.fresh()
        lines += [
            f"      {name} = reduce %sum dim=1 identities=[{low} : {s}] : {acc} -> {line}",
            f"      ({name}_a: tile<{s}>, {name}_b: tile<{s}>) {{",
            f"        {name}_c = max{i} {name}_a, {name}_b{sign} : tile<{s}>",
            f"        yield {name}_c : tile<{s}>\n      }}",
            f"      {name}_i = iota : {tile((m,), 'i32')}",
            f"      {name}_m = constant <i32: {m}> : tile<i32>",
            f"      {name}_g = constant <i32: {g.grid[0]}> : tile<i32>",
            f"      {name}_y = muli %j, {name}_g : tile<i32>",
            f"      {name}_x = addi {name}_y, %i : tile<i32>",
            f"      {name}_o = muli {name}_x, {name}_m : tile<i32>",
            f"      {name}_r = reshape {name}_o : tile<i32> -> tile<1xi32>",
            f"      {name}_s = broadcast {name}_r : tile<1xi32> -> {tile((m,), 'i32')}",
            f"      {name}_n = addi {name}_s, {name}_i : {tile((m,), 'i32')}",
            f"      {name}_p = reshape {top} : tile<ptr<{s}>> -> tile<1xptr<{s}>>",
            f"      {name}_q = broadcast {name}_p : tile<1xptr<{s}>> -> tile<{m}xptr<{s}>>",
            f"      {name}_w = offset {name}_q, {name}_n : tile<{m}xptr<{s}>>, "
            f"{tile((m,), 'i32')} -> tile<{m}xptr<{s}>>",
            f"      {name}_t = store_ptr_tko weak {name}_w, {name} : tile<{m}xptr<{s}>>, {line} "
            "-> token",
        ]
    shape = (rows, out[1] * g.grid[1] if chained else columns)
    c_view = g.matrix(*shape, out, element, zero=True)
    lines.append(
        f"      %stored = store_view_tko weak {result}, {c_view[0]}[%i, %j] : "
        f"{tile(out, element)}, {c_view[1]}, tile<i32> -> token"
    )
    grid = g.grid
    if persistent:
        end = g.scalar(g.grid[0])
        lines = [
            f"    for %i in (%bx to {end}, step %gx) : tile<i32> {{", *lines, "      continue",
            "    }",
        ]  # fmt: skip
        grid = (draw.number(1, g.grid[0]), g.grid[1])
    names = "%bx, %j, %bz" if persistent else "%i, %j, %bz"
    hints = []
    if draw.chance(25):
        hints.append(f"num_cta_in_cga = {draw.pick((1, 2, 2, 4))}")
    if draw.chance(20):
        hints.append(f"occupancy = {draw.number(1, 4)}")
    if draw.chance(20):
        hints.append(f"num_worker_warps_per_cta = {draw.pick((4, 8))}")
    said = f" optimization_hints = <default = {{{', '.join(hints)}}}>" if hints else ""
    text = "\n".join(
        [
            "cuda_tile.module @m {",
            f"  entry @k({', '.join(g.parameters)}){said} {{",
            f"    {names} = get_tile_block_id : tile<i32>",
            "    %gx, %gy, %gz = get_num_tile_blocks : tile<i32>",
            *g.setup, *lines, "    return", "  }", "}\n",
        ]
    )  # fmt: skip
    return TileKernel(text, g.args, grid, draw.pick(ARCHS), "hardware")
