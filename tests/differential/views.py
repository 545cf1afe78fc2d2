"""Programs on views whose own modes share elements: strides of 0, strides that overlap, modes in
any order, in every operand of every op, against elements that are moved one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

import numpy as np
from draw import Draw
from program import Expected, Program, Refused
from reductions import LAWS
from tile_levels import kernel, memref
from view_products import warp_mma

SIZE = 32
"""The elements of each of a thread's tensors."""
THREADS = 32
DTYPES: dict[str, np.dtype] = {
    "f32": np.dtype(np.float32), "f16": np.dtype(np.float16), "i32": np.dtype(np.int32),
    "f64": np.dtype(np.float64), "i8": np.dtype(np.int8), "i64": np.dtype(np.int64),
    "ui4": np.dtype(np.uint8), "ui2": np.dtype(np.uint8),
}  # fmt: skip
PACKED = {"ui4": 4, "ui2": 2}
"""Bits of the elements that share bytes: they are copied, registers of them at a time."""
EXACT = 1 << 10, 99
"""Numbers that every element type has, and i8."""
SPACES = {"x": "gmem", "y": "gmem", "s": "smem", "r": "rmem", "q": "rmem"}
SCATTER = "expected one element of the source for those of the destination"
APART = "whose elements lie apart"


@dataclass(frozen=True)
class View:
    """A view of one of the tensors: of each mode its leaves, extents and strides."""

    tensor: str
    modes: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def extents(self) -> tuple[int, ...]:
        return tuple(prod(extent for extent, _ in mode) for mode in self.modes)

    @property
    def places(self) -> np.ndarray:
        """The place of each element, the first mode running fastest."""
        places = np.zeros(1, np.int64)
        for extent, stride in (leaf for mode in self.modes for leaf in mode):
            places = (np.arange(extent)[:, None] * stride + places).ravel()
        return places

    @property
    def layout(self) -> str:
        def text(part: int) -> str:
            modes = [[str(leaf[part]) for leaf in mode] for mode in self.modes]
            return ",".join(f"({','.join(m)})" if len(m) > 1 else m[0] for m in modes)

        return f"({text(0)}):({text(1)})"

    def times(self, factor: int, tensor: str) -> View:
        """The view of another tensor whose elements share places where these do."""
        scaled = [tuple((extent, factor * step) for extent, step in mode) for mode in self.modes]
        return View(tensor, tuple(scaled))

    def splits(self, source: View) -> bool:
        """Elements in one place come from two of a source."""
        return len({*zip(self.places, source.places, strict=True)}) > len({*self.places})

    @property
    def is_apart(self) -> bool:
        return len({*self.places}) == len(self.places)


@dataclass
class Kernel:
    """A kernel that is being drawn: its text, and what its tensors hold behind it, [threads,
    elements] each. `refused` are words of the error that the last op must be."""

    draw: Draw
    element: str
    state: dict[str, np.ndarray]
    limits: tuple[int, int]
    lines: list[str] = field(default_factory=list)
    active: np.ndarray | bool = True
    refused: str | None = None
    count: int = 0

    @property
    def bits(self) -> int:
        """Of an element."""
        return PACKED.get(self.element, 8 * DTYPES[self.element].itemsize)

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def add(self, line: str) -> None:
        self.lines.append(f"  {line}")

    def made(self, view: View) -> str:
        """A view in the text."""
        layout, name = self.name(), self.name()
        self.add(f'{layout} = cute.static : !cute.layout<"{view.layout}">')
        self.add(f"{name} = cute.make_view(%{view.tensor}, {layout})")
        return name

    def read(self, view: View) -> np.ndarray:
        return self.state[view.tensor][:, view.places]

    def write(self, view: View, values: np.ndarray, chosen: np.ndarray | None = None) -> None:
        """In the order of coordinates."""
        state = self.state[view.tensor]
        for number, place in enumerate(view.places):
            keeps = self.active if chosen is None else self.active & chosen[number]
            state[:, place] = np.where(keeps, values[:, number], state[:, place])

    def fits(self, values: np.ndarray) -> bool:
        """Numbers that stay exact."""
        return bool(np.abs(values.astype(np.float64)).max() <= EXACT[self.element == "i8"])

    # --- views ---

    def tensor(self, *spaces: str) -> str:
        return self.draw.pick([name for name, space in SPACES.items() if space in spaces])

    def extents(self) -> tuple[int, int]:
        return self.draw.number(1, 6), self.draw.number(1, 4)

    def view(self, tensor: str, extents: tuple[int, ...], run: int = 1) -> View:
        """Any view of these extents, of which the first `run` elements are neighbours, and others
        begin at multiples of it."""
        first, *others = extents
        leaves = [self._leaves(n) for n in (first // run, *others)]
        flat = [n for mode in leaves for n in mode]
        way, most = self.draw.pick(("apart", "zeros", "overlapping")), SIZE // run - 1
        if way == "overlapping":
            strides = [self.draw.number(0, max(most // (len(flat) * n), 0)) for n in flat]
        else:
            order = list(range(len(flat)))
            for i in range(len(order) - 1):
                j = self.draw.number(i, len(order) - 1)
                order[i], order[j] = order[j], order[i]
            strides, reach = [0] * len(flat), 1
            for i in order:
                if way == "apart" or self.draw.chance(50):
                    strides[i], reach = reach, reach * flat[i]
        steps = iter([run * stride for stride in strides])
        modes = [tuple((n, next(steps)) for n in mode) for mode in leaves]
        if run > 1:
            modes[0] = ((run, 1), *modes[0])
        return View(tensor, tuple(modes))

    def _leaves(self, extent: int) -> list[int]:
        """An extent as a mode of one leaf or two."""
        factors = [n for n in range(2, extent) if extent % n == 0]
        if not factors or self.draw.chance(60):
            return [extent]
        first = self.draw.pick(factors)
        return [first, extent // first]

    def pair(self, source: str, dest: str, extents: tuple[int, ...], run: int) -> tuple[View, View]:
        """Views to copy from and to; where the destination shares places the source mostly does."""
        to = self.view(dest, extents, run)
        if not to.is_apart and self.draw.chance(85):
            return to.times(1 if run > 1 else self.draw.pick((1, 0)), source), to
        return self.view(source, extents, run), to


# --- ops ------------------------------------------------------------------------------------------


def _copier(k: Kernel, vector: int, kind: str = "universal") -> str:
    """The operand of a tiled copy, or nothing."""
    if not vector:
        return ""
    bits = k.bits * vector
    cache = "" if kind == "universal" else f", cache = {'cg' if bits == 128 else 'ca'}"
    name = k.name()
    k.add(
        f"{name} = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<{kind}, {k.element}, "
        f'{bits}{cache}>, layout_tv = "(32,{vector}):({vector},1)", tiler_mn = "[{32 * vector}]">'
    )
    return f"{name}, "


def copy(k: Kernel) -> None:
    """Plain, or by vectors; within bounds where global memory is on a side."""
    kind = k.draw.pick(("universal", "universal", "cp_async"))
    source, dest = k.tensor("gmem", "smem", "rmem"), k.tensor("gmem", "smem", "rmem")
    least = 32 if k.element in PACKED else 1
    if kind == "cp_async":
        source, dest, least = k.tensor("gmem"), "s", 32
    vectors = [n for n in (1, 2, 4, 8, 16, 32) if least <= n * k.bits <= 128]
    plain = kind != "cp_async" and k.element not in PACKED
    vector = k.draw.pick([0, *vectors] if plain else vectors)
    (rows, columns), run = k.extents(), max(vector, 1)
    rows = run * min(rows, max(SIZE // run // columns, 1))
    columns = min(columns, SIZE // rows)
    a, b = k.pair(source, dest, (rows, columns), run)
    if kind == "cp_async" and not b.is_apart:
        k.refused = APART
    elif kind != "cp_async" and b.splits(a):
        k.refused = SCATTER
    copier = _copier(k, vector, kind)
    within, chosen = "", None
    if "gmem" in (SPACES[source], SPACES[dest]) and k.draw.chance(60):
        within, chosen = _bounds(k, (rows, columns), run, kind)
    k.add(f"cute.copy({copier}{k.made(a)}, {k.made(b)}){within}")
    if kind == "cp_async":
        k.add("cute_nvgpu.cp.async.commit_group")
        k.add("cute_nvgpu.cp.async.wait_group 0")
    values = k.read(a)
    if chosen is None or SPACES[dest] == "gmem":
        k.write(b, values, chosen)
        return
    k.write(b, np.zeros_like(values))
    k.write(b, values, chosen)


def _bounds(k: Kernel, extents: tuple[int, int], run: int, kind: str) -> tuple[str, np.ndarray]:
    """The text of bounds, and which elements are within them. Rows may be counted along two
    dimensions, so that those within are not the first ones of a run."""
    rows, columns = extents
    packed = k.element in PACKED
    halves = rows % 2 == 0 and not packed and (kind != "cp_async" or k.bits >= 32)
    down = [2, rows // 2] if halves and k.draw.chance(30) else [rows]
    row, column = np.arange(rows), np.arange(columns)
    at = [row % 2, row // 2] if len(down) == 2 else [row]
    modes = [(down, [x[:, None] for x in at]), ([columns], [column[None, :]])]
    shape, identity = [mode for mode, _ in modes], k.name()
    turned = k.draw.chance(30)
    given = k.name()
    k.add(f'{given} = cute.static : !cute.shape<"{_nested(shape[::-1] if turned else shape)}">')
    k.add(f"{identity} = cute.make_identity_tensor({given})")
    if turned:
        k.add(f"{(turned_ := k.name())} = cute.select<[1, 0]> ({identity})")
        identity, modes = turned_, modes[::-1]
    limits, limit = [[n] for n in k.limits], "%limits"
    if packed or len(down) == 2 or k.draw.chance(30):
        limits, limit = [[k.draw.number(0, n + 1) for n in mode] for mode, _ in modes], k.name()
        if packed:
            # The elements of a register are all within bounds, or none is.
            limits[turned] = [run * k.draw.number(0, rows // run)]
        k.add(f'{limit} = cute.static : !cute.shape<"{_nested(limits)}">')
    inside = np.ones((rows, columns), np.bool_)
    for (_, places), most in zip(modes, limits, strict=True):
        for place, n in zip(places, most, strict=True):
            inside = inside & (place < n)
    return f" bounds({identity}, {limit})", inside.ravel(order="F")


def _nested(modes: list[list[int]]) -> str:
    def text(mode: list[int]) -> str:
        return str(mode[0]) if len(mode) == 1 else f"({','.join(map(str, mode))})"

    return f"({','.join(map(text, modes))})"


def fill(k: Kernel) -> None:
    number = k.draw.number(0, 9)
    value, name = f"{number}.0" if k.element[0] == "f" else str(number), k.name()
    k.add(f"{name} = arith.constant {value} : {k.element}")
    b = k.view(k.tensor("gmem", "smem", "rmem"), k.extents())
    k.add(f"cute.fill({k.made(b)}, {name})")
    k.write(b, np.full((THREADS, len(b.places)), number, DTYPES[k.element]))


def vectors(k: Kernel) -> None:
    """All elements of a view, less what they are elsewhere, to another one."""
    extents = k.extents()
    size, spaces = prod(extents), ("gmem", "smem", "rmem")
    a, c, b = (k.view(k.tensor(*spaces), shape) for shape in (extents, (size, 1), extents[::-1]))
    result = k.read(a) - k.read(c)
    if not k.fits(result):
        return
    loaded = [k.name(), k.name()]
    for name, view in zip(loaded, (a, c), strict=True):
        k.add(f"{name} = cute.memref.load_vec({k.made(view)})")
    less, op = k.name(), "subf" if k.element[0] == "f" else "subi"
    k.add(f"{less} = arith.{op} {loaded[0]}, {loaded[1]} : vector<{size}x{k.element}>")
    k.add(f"cute.memref.store_vec({less}, {k.made(b)})")
    k.write(b, result)


def reduce(k: Kernel) -> None:
    """What falls on one element of the destination, in the order of coordinates."""
    kind, extents = k.draw.pick(tuple(LAWS)), k.extents()
    a, b = k.view(k.tensor("rmem"), extents), k.view(k.tensor("rmem"), extents)
    values, sums = k.read(a), dict[int, np.ndarray]()
    for number, place in enumerate(b.places.tolist()):
        value = values[:, number]
        sums[place] = LAWS[kind](sums[place], value) if place in sums else value
    if not k.fits(np.stack(list(sums.values()))):
        return
    k.add(f"cute.reduce<{kind}> ({k.made(a)}, {k.made(b)})")
    k.write(b, np.stack([sums[place] for place in b.places.tolist()], axis=1))


def element(k: Kernel) -> None:
    """One element to another place; in memory at a coordinate that the thread's number gives."""
    spaces = ("gmem", "smem") if k.draw.chance(50) else ("gmem", "smem", "rmem")
    a, b = (k.view(k.tensor(*spaces), k.extents()) for _ in range(2))
    coords: list[tuple[str, np.ndarray]] = []
    for view in (a, b):
        at, name = k.draw.number(0, len(view.places) - 1), k.name()
        if len(spaces) == 2:
            extent, place = k.name(), k.name()
            k.add(f"{extent} = arith.constant {at + 1} : i32")
            k.add(f"{place} = arith.remsi %t, {extent} : i32")
            k.add(f'{name} = cute.make_coord({place}) : (i32) -> !cute.coord<"?">')
            coords.append((name, np.arange(THREADS) % (at + 1)))
        else:
            k.add(f'{name} = cute.static : !cute.coord<"{at}">')
            coords.append((name, np.full(THREADS, at)))
    loaded, rows = k.name(), np.arange(THREADS)
    k.add(f"{loaded} = cute.memref.load({k.made(a)}, {coords[0][0]})")
    k.add(f"cute.memref.store({loaded}, {k.made(b)}, {coords[1][0]})")
    value, place = k.read(a)[rows, coords[0][1]], b.places[coords[1][1]]
    state = k.state[b.tensor]
    state[rows, place] = np.where(k.active, value, state[rows, place])


def gemm(k: Kernel) -> None:
    """Outer products of registers, whose sums may be added to any others."""
    if k.element not in ("f32", "f64"):
        return
    m, n, depth = (k.draw.number(1, 4) for _ in range(3))
    shapes = (m, n), (m, depth), (n, depth), (m, n)
    d, a, b, c = (k.view(k.tensor("rmem"), shape) for shape in shapes)
    d, a, b, c = (View(view.tensor, (((1, 0),), *view.modes)) for view in (d, a, b, c))
    if k.draw.chance(50):
        c = d
    x, y = k.read(a).reshape(-1, depth, m), k.read(b).reshape(-1, depth, n)
    result = np.einsum("tkm,tkn->tnm", x, y).reshape(THREADS, -1) + k.read(c)
    if not k.fits(result):
        return
    if not d.is_apart:
        k.refused = APART
    name = k.name()
    k.add(
        f"{name} = cute.make_tiled_mma : !cute.tiled_mma<!cute_nvgpu.universal_fma<1x1x1, "
        f"elem_type = ({', '.join([k.element] * 3)})>>"
    )
    into = k.made(d)
    start = into if c is d else k.made(c)
    k.add(f"cute.gemm({name}, {into}, {k.made(a)}, {k.made(b)}, {start})")
    k.write(d, result)


def convert(k: Kernel) -> None:
    """To f16: elements may share registers on both sides."""
    if k.element != "f32":
        return
    extents = 2 * k.draw.number(1, 3), k.draw.number(1, 4)
    a, h = k.view(k.tensor("rmem"), extents), k.view("h", extents)
    k.add(f'cute.convert<#cute_nvgpu.convert<"rn.f16x2.f32">> ({k.made(a)}, {k.made(h)})')
    k.write(h, k.read(a))


OPS = (copy, copy, copy, copy, fill, vectors, vectors, reduce, element, gemm, warp_mma, convert)


# --- programs -------------------------------------------------------------------------------------


def views(draw: Draw) -> Program | Refused:
    """Some ops on views of five tensors of each thread."""
    element = draw.pick(tuple(DTYPES))
    dtype, limits = DTYPES[element], (draw.number(0, 6), draw.number(0, 4))
    rng = draw.generator()
    low, high = (0, 1 << PACKED[element]) if element in PACKED else (-9, 10)
    given = {name: rng.integers(low, high, (THREADS, SIZE)).astype(dtype) for name in "xysrq"}
    given["h"] = rng.integers(-9, 10, (THREADS, SIZE)).astype(np.float16)
    state = {name: values.copy() for name, values in given.items()}
    k = Kernel(draw, element, state, limits)
    for _ in range(draw.number(1, 6)):
        _branch(k)
        if k.refused is not None:
            break
    outputs = ["s", "r", "q", *(["h"] if element == "f32" else [])]
    text = kernel(", ".join(_arguments(element, outputs)), "\n".join(_body(element, k, outputs)))
    arrays = [_packed(given[name], element) for name in ("x", "y", *outputs)]
    expected = {
        i: Expected(_packed(state[name], element)) for i, name in enumerate(("x", "y", *outputs))
    }
    program = Program(text, [*arrays, *limits], THREADS, expected, arch="sm_80")
    return program if k.refused is None else Refused(program, k.refused)


def _packed(values: np.ndarray, element: str) -> np.ndarray:
    """The bytes of elements that share them, the first one in the low bits."""
    if element not in PACKED:
        return values
    bits = PACKED[element]
    each = values.reshape(len(values), -1, 8 // bits) << np.arange(0, 8, bits, dtype=np.uint8)
    return np.bitwise_or.reduce(each, axis=-1)


def _branch(k: Kernel) -> None:
    """One op, by all threads or by half of them."""
    ops = (copy,) if k.element in PACKED else OPS
    if k.draw.chance(75):
        k.draw.pick(ops)(k)
        return
    k.add("scf.if %odd {")
    k.active = np.arange(THREADS) % 2 == 1
    k.draw.pick(ops)(k)
    k.active = True
    k.add("}")


def _arguments(element: str, outputs: list[str]) -> Iterator[str]:
    for name in ("x", "y", *outputs):
        type_ = "f16" if name == "h" else element
        yield f"%g{name}: {memref(type_, 'gmem', f'({THREADS},{SIZE}):({SIZE},1)', 16)}"
    yield from ("%limit0: i32", "%limit1: i32")


def _body(element: str, k: Kernel, outputs: list[str]) -> Iterator[str]:
    """Each thread's part of every tensor, the ops, and what the tensors hold then."""
    yield '  %own = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">'
    yield '  %limits = cute.make_coord(%limit0, %limit1) : (i32, i32) -> !cute.coord<"(?,?)">'
    yield "  %bit = arith.andi %t, %c1 : i32"
    yield "  %odd = arith.cmpi eq, %bit, %c1 : i32"
    for name in ("x", "y"):
        yield f"  %{name} = cute.slice(%g{name}, %own)"
    whole = memref(element, "smem", f"({THREADS},{SIZE}):({SIZE},1)", 16)
    yield f"  %shared = cute.memref.alloc() : {whole}"
    yield "  %s = cute.slice(%shared, %own)"
    for name in outputs:
        yield f"  %o{name} = cute.slice(%g{name}, %own)"
        if name != "s":
            type_ = "f16" if name == "h" else element
            yield f"  %{name} = cute.memref.alloca() : {memref(type_, 'rmem', f'{SIZE}:1')}"
        yield f"  cute.copy(%o{name}, %{name})"
    yield from k.lines
    for name in outputs:
        yield f"  cute.copy(%{name}, %o{name})"
