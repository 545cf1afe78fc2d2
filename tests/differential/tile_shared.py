"""Kernels of Tile IR whose arguments overlap: one array under several names, views of it that begin
elsewhere or have elements of another width, more of it in one kernel than the kernel knows.

Each block has a part of the array for itself, and loads and stores tiles there through whichever
name; loads are behind the last store by a token, a store behind all of them. NumPy does the same on
one array.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from draw import Draw
from tile_writer import DTYPES, Shape, Value, Writer, size_of, tile
from tiles import ARCHS, TileKernel

import tilewright as tw

_ELEMENTS = ("i8", "i16", "i32", "i32", "i64")
_ALIGNED = 16


@dataclass(frozen=True)
class Name:
    """A parameter, for the bytes from `first` on of the array, as elements of its own."""

    text: str
    element: str
    first: int

    @property
    def width(self) -> int:
        return np.dtype(DTYPES[self.element]).itemsize


@dataclass(frozen=True)
class Chunk:
    """Elements of a name in each block's part of the array: `local`, `step` apart."""

    name: Name
    local: int
    step: int
    count: int

    def of(self, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The elements of a block's part, given as bytes, and which of them these are."""
        start = self.local + self.name.first // self.name.width
        return part.view(DTYPES[self.name.element]), start + self.step * np.arange(self.count)


@dataclass
class SharedKernel(TileKernel):
    """A kernel, and what its array holds after it."""

    expected: np.ndarray

    def difference(self) -> str | None:
        """How any level differs from another one, or the arguments from what NumPy has."""
        options: dict[str, Any] = {"grid": self.grid, "args": self.args, "arch": self.arch}
        found = tw.interpret(self.text, "k", numerics=self.numerics, **options)
        whole = found[0].view(np.uint8)
        if whole.tobytes() != self.expected.tobytes():
            return "not what NumPy has"
        start = self.args[0].ctypes.data
        for arg, seen in zip(self.args, found, strict=True):
            first = arg.ctypes.data - start
            if seen.tobytes() != whole[first : first + seen.nbytes].tobytes():
                return "two names of one memory differ"
        return super().difference()


class Sharing(Writer):
    """A kernel whose pointers are to one array, of `part` bytes for each block."""

    def __init__(self, draw: Draw, blocks: int) -> None:
        super().__init__(draw, blocks)
        self.part = 1 << draw.number(8, 12)
        self.whole = self.numbers.integers(0, 256, self.part * blocks, np.uint8)
        self.expected = self.whole.copy().reshape(blocks, self.part)
        self.held: list[tuple[Value, np.ndarray]] = []
        self.names = [self._name(place) for place in range(draw.number(2, 4))]
        self.stored: str | None = None
        self.loads: list[str] = []

    def _name(self, place: int) -> Name:
        """The whole array first, then others that begin somewhere in it."""
        draw = self.draw
        element = draw.pick(_ELEMENTS)
        width = np.dtype(DTYPES[element]).itemsize
        most = 0 if place == 0 or draw.chance(30) else self.part // 2
        first = draw.number(0, most) // width * width
        if draw.chance(50):
            first = first // _ALIGNED * _ALIGNED
        given = f"%p{place}"
        self.parameters.append(f"{given}: tile<ptr<{element}>>")
        self.args.append(self.whole[first:].view(DTYPES[element]))
        name = Name(given, element, first)
        if first % _ALIGNED == 0 and draw.chance(60):
            self.emit(f"%a{place} = assume div_by<16>, {given} : tile<ptr<{element}>>")
            return replace(name, text=f"%a{place}")
        return name

    def chunk(self, count: int) -> Chunk | None:
        """So many elements of some name within the part of a block; None where there is no room."""
        draw, name = self.draw, self.draw.pick(self.names)
        room = (self.part - name.first) // name.width
        step = draw.pick((1, 1, 1, 2, 3, -1))
        span = (count - 1) * abs(step) + 1
        if span > room:
            return None
        low = draw.number(0, room - span)
        return Chunk(name, low if step > 0 else low + span - 1, step, count)

    # --- accesses ---

    def _behind(self, tokens: list[str]) -> str:
        """The operand of an access that is behind some others."""
        if len(tokens) > 1:
            joined = self.fresh()
            self.emit(f"{joined} = join_tokens {', '.join(tokens)} : token")
            tokens = [joined]
        return "".join(f" token = {token}" for token in tokens)

    def _stores(self) -> list[str]:
        return [] if self.stored is None else [self.stored]

    def _pointers(self, chunk: Chunk, shape: Shape) -> tuple[str, str]:
        index = self.numbers_of(shape)
        by = self.constant(chunk.step, shape)
        index = self.same(f"muli {index.name}, {by.name}", index)
        per = self.constant(self.part // chunk.name.width)
        first = self.same(f"muli %bx, {per.name}", per)
        first = self.same(f"addi {first.name}, {self.constant(chunk.local).name}", first)
        index = self.same(f"addi {index.name}, {self.splat(first, shape).name}", index)
        return self.moved(chunk.name.text, chunk.name.element, index)

    def _boxed(self, chunk: Chunk, shape: Shape) -> tuple[str, str, str] | None:
        """The tile of a view that a chunk is, its rows one behind the other; where it is one."""
        per = self.part // chunk.name.width
        count = size_of(shape)
        if chunk.step != 1 or len(shape) != 2 or chunk.local % count or per % count:
            return None
        rows = per * self.blocks // shape[1] - -(-chunk.name.first // chunk.name.width // shape[1])
        tensor = f"tensor_view<{rows}x{shape[1]}x{chunk.name.element}, strides=[{shape[1]},1]>"
        type_ = f"partition_view<tile=({shape[0]}x{shape[1]}), {tensor}>"
        whole, view = self.fresh(), self.fresh()
        self.emit(f"{whole} = make_tensor_view {chunk.name.text}, shape = [{rows}, {shape[1]}], "
                  f"strides = [{shape[1]}, 1] : {tensor}")  # fmt: skip
        self.emit(f"{view} = make_partition_view {whole} : {type_}")
        each = self.constant(per // count)
        index = self.same(f"muli %bx, {each.name}", each)
        index = self.same(f"addi {index.name}, {self.constant(chunk.local // count).name}", index)
        return view, type_, f"{index.name}, {self.constant(0).name}"

    def shapes(self) -> Shape:
        draw, bits = self.draw, self.draw.number(0, 8)
        rows = draw.number(0, bits)
        return draw.pick(((1 << bits,), (1 << rows, 1 << (bits - rows))))

    def placed(self, shape: Shape) -> tuple[Chunk, tuple[str, str, str] | None] | None:
        """A chunk for a tile, and the view that it is a tile of, if one is to be."""
        chunk = self.chunk(size_of(shape))
        if chunk is not None and len(shape) == 2 and self.draw.chance(60):
            count = size_of(shape)
            chunk = replace(chunk, step=1, local=max(chunk.local - count, 0) // count * count)
        return None if chunk is None else (chunk, self._boxed(chunk, shape))

    def fetch(self) -> None:
        """A tile of the memory as it is now."""
        shape = self.shapes()
        if (placed := self.placed(shape)) is None:
            return
        chunk, box = placed
        result, token = self.fresh(), self.fresh()
        type_ = tile(shape, chunk.name.element)
        behind = self._behind(self._stores() or self.loads[:1])
        if box is None:
            at, kind = self._pointers(chunk, shape)
            self.emit(f"{result}, {token} = load_ptr_tko weak {at}{behind} : {kind} -> "
                      f"{type_}, token")  # fmt: skip
        else:
            self.emit(f"{result}, {token} = load_view_tko weak {box[0]}[{box[2]}]{behind}"
                      f" : {box[1]}, tile<i32> -> {type_}, token")  # fmt: skip
        self.loads.append(token)
        rows = [elements[places] for elements, places in map(chunk.of, self.expected)]
        self.held.append((Value(result, shape, chunk.name.element), np.stack(rows)))

    def put(self) -> None:
        """A tile that was loaded, or a number more in each element, to where another name says."""
        if not self.held:
            return
        value, numbers = self.draw.pick(self.held)
        if (placed := self.placed(value.shape)) is None:
            return
        chunk, box = placed
        to = chunk.name.element
        if self.draw.chance(70):
            value = self.same(
                f"addi {value.name}, {self.constant(1, value.shape, value.element).name}", value
            )
            numbers = numbers + np.ones((), numbers.dtype)
        if to != value.element:
            value, numbers = self.converted(value, to), numbers.astype(DTYPES[to])
        token, behind = self.fresh(), self._behind([*self._stores(), *self.loads])
        if box is None:
            at, kind = self._pointers(chunk, value.shape)
            self.emit(f"{token} = store_ptr_tko weak {at}, {value.name}{behind} : {kind}, "
                      f"{value.type} -> token")  # fmt: skip
        else:
            self.emit(f"{token} = store_view_tko weak {value.name}, {box[0]}[{box[2]}]{behind} : "
                      f"{value.type}, {box[1]}, tile<i32> -> token")  # fmt: skip
        self.stored, self.loads = token, []
        for part, row in zip(self.expected, numbers, strict=True):
            elements, places = chunk.of(part)
            elements[places] = row


def tile_shared(draw: Draw) -> SharedKernel:
    """A kernel of loads and stores through names of one memory."""
    blocks = draw.pick((1, 1, 2, 3))
    kernel = Sharing(draw, blocks)
    kernel.emit("%bx, %by, %bz = get_tile_block_id : tile<i32>")
    kernel.fetch()
    for _ in range(draw.number(2, 10)):
        draw.pick((Sharing.fetch, Sharing.put, Sharing.put))(kernel)
    hint = draw.pick(
        ("", "", "num_cta_in_cga = 2", "occupancy = 2", "num_worker_warps_per_cta = 8")
    )
    hints = f" optimization_hints = <default = {{{hint}}}>" if hint else ""
    lines, parameters = "\n".join(kernel.lines), ", ".join(kernel.parameters)
    text = f"cuda_tile.module @m {{\n  entry @k({parameters}){hints} {{\n{lines}\n  }}\n}}\n"
    expected = kernel.expected.reshape(-1)
    return SharedKernel(text, kernel.args, (blocks,), draw.pick(ARCHS), "exact", expected)
