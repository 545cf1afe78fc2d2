"""What a kernel is written in: arrays, tiles of them, and what threads hold in registers.

    acc = zeros(128, 128)
    for k in steps(a.extent(1), 32):
        acc += load(a, (128, 32), (i, k)) @ load(b, (32, 128), (k, j))
    store(c, (i, j), (acc + columns_of(bias, j, acc)).max(0.0))

Registers hold a tile as the C operand of a tiled MMA does, or one element for each of its rows, or
columns; which register is which element, the layout algebra says. `+=` and `[:] =` write them, all
else makes new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partialmethod
from typing import Any

from tile_frontend.trace import OPS, Index, Trace, attribute, coord, cute, dynamic, hardware
from xdsl.dialects import arith, gpu, math, vector
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    StringAttr,
    VectorType,
    i32,
)
from xdsl.ir import SSAValue

from tilewright.dialects.cute import Layout, flatten, unflatten

ROWS, COLUMNS = 0, 1


@dataclass(frozen=True)
class Array:
    """A row-major array in global memory: an argument of the kernel, or a slice of one."""

    tensor: SSAValue

    def _once(self, name: str, *operands: Any) -> Any:
        return Trace.current.once((self.tensor, name), lambda: cute(name, *operands))

    @property
    def shape(self) -> SSAValue:
        return self._once("get_shape", self.tensor)

    def extent(self, mode: int) -> Index:
        return Index(self._once("get_scalars", self.shape).owner.results[mode])

    def __getitem__(self, place: Index) -> Array:
        """The array at one place of its first mode."""
        rest = [None] * (self.tensor.type.tensor.modes.rank() - 1)
        return Array(Trace.current.emit(cute("slice", self.tensor, coord(place, *rest)), True))

    def tiles(self, extents: Sequence[int], at: Sequence[Any]) -> list[SSAValue]:
        """The tile at a coordinate of tiles, None keeping all of them as a last mode; and the
        coordinates of its elements."""
        identity = self._once("make_identity_tensor", self.shape)
        return [tile(tensor, extents, at) for tensor in (self.tensor, identity)]


def tile(tensor: SSAValue, extents: Sequence[int], at: Sequence[Any]) -> SSAValue:
    tiler = Trace.current.static("tile", f"[{';'.join(map(str, extents))}]")
    return Trace.current.emit(cute("local_tile", tensor, tiler, coord(*at)), uniform=True)


@dataclass(frozen=True)
class Shared:
    """A matrix in shared memory: one stage of a tensor whose last mode is stages."""

    tensor: SSAValue
    stage: Index

    @property
    def T(self) -> Shared:  # noqa: N802
        modes = DenseArrayBase.from_list(i32, [1, 0, 2])
        return Shared(Trace.current.emit(cute("select", self.tensor, mode=modes), True), self.stage)

    @property
    def rows_run(self) -> bool:
        """Whether neighbours in a row lie side by side, not those in a column."""
        return flatten(self.tensor.type.tensor.modes[1].stride)[0] == 1

    def __matmul__(self, other: Shared) -> Product:
        return Product(self, other)


@dataclass(frozen=True)
class Product:
    """What `+=` adds to accumulators."""

    a: Shared | Registers
    b: Shared


@dataclass(frozen=True)
class Frame:
    """A tile as a thread of a tiled MMA holds its C."""

    mma: SSAValue
    extents: tuple[int, int]
    thread: Index

    def part(self, tile: SSAValue) -> SSAValue:
        """What the thread has of a tensor of these extents."""
        operands, c = (self.mma, tile, self.thread.value), StringAttr("C")
        op = cute("tiled.mma.partition", *operands, operand_id=c)
        return Trace.current.emit(op, uniform=True)

    def along(self, axes: tuple[int, ...]) -> Layout:
        """Registers (V,M,N), one for each place that differs along the axes, shared along others."""
        places = self.mma.type.tiled.partition("C", Layout(self.extents))
        strides, count = [], 1
        for extent, step in zip(flatten(places.shape), flatten(places.stride), strict=True):
            kept = (COLUMNS if step >= self.extents[0] else ROWS) in axes
            strides.append(count if kept else 0)
            count *= extent if kept else 1
        return Layout(places.shape, unflatten(tuple(strides), places.shape))

    def first(self, axis: int) -> str:
        """The coordinate of registers that differ along an axis, being the first along others."""
        layout = self.along((axis,))
        kept = tuple("_" if step else 0 for step in flatten(layout.stride))
        return str(unflatten(kept, layout.shape)).replace("'", "").replace(" ", "")

    def lanes(self) -> list[int]:
        """The bits of a lane's number that change its column: with whom it shares rows."""
        tiled = self.mma.type.tiled
        tv, rows = tiled.tv_layout("C"), tiled.tile_of("C")[0]
        bits = [1 << bit for bit in range((tiled.threads - 1).bit_length())]
        found = [bit for bit in bits if tv((bit, 0)) >= rows]
        if any(bit >= 32 for bit in found):
            raise ValueError(f"expected warps that have whole rows, got {self.mma.type}")
        return found


class Registers:
    """What differs along `axes` of a frame, in registers."""

    def __init__(self, frame: Frame, element: str, axes: tuple[int, ...] = (ROWS, COLUMNS)):
        self.frame, self.element, self.axes = frame, element, axes
        self.layout = frame.along(axes)
        self.tensor = alloca(element, self.layout.cosize())
        self.type = VectorType(self.tensor.type.element_type, [self.layout.cosize()])

    def view(self, layout: Layout | None = None) -> SSAValue:
        """The registers through a layout, by default as the MMA has them."""
        static = Trace.current.static("layout", layout or self.layout)
        return Trace.current.emit(cute("make_view", self.tensor, static))

    def load(self, like: Registers) -> SSAValue:
        """The values as a vector, spread to every element of `like` where that has more axes."""
        spread = len(like.axes) > len(self.axes)
        view = self.view(like.frame.along(self.axes)) if spread else self.tensor
        return Trace.current.emit(cute("memref.load_vec", view))

    def vector(self, values: Registers | float | SSAValue) -> SSAValue:
        """A vector of what these registers could hold: of other registers, or of one number."""
        if isinstance(values, Registers):
            return values.load(self)
        if isinstance(values, SSAValue):
            return Trace.current.emit(vector.BroadcastOp(values, self.type))
        return Trace.current.constant(DenseIntOrFPElementsAttr.from_list(self.type, [values]))

    def __setitem__(self, whole: slice, values: Registers | float | SSAValue) -> None:
        Trace.current.emit(cute("memref.store_vec", self.vector(values), self.tensor))

    def map(self, op: Any, *others: Any) -> Registers:
        """An op on each element of these registers and of others, or numbers."""
        given = [self, *(each for each in others if isinstance(each, Registers))]
        widest = max(given, key=lambda each: len(each.axes))
        found = Registers(widest.frame, self.element, widest.axes)
        result = Trace.current.emit(op(*map(found.vector, (self, *others))))
        Trace.current.emit(cute("memref.store_vec", result, found.tensor))
        return found

    __add__ = partialmethod(map, arith.AddfOp)
    __sub__ = partialmethod(map, arith.SubfOp)
    __mul__ = partialmethod(map, arith.MulfOp)
    __truediv__ = partialmethod(map, arith.DivfOp)
    max = partialmethod(map, arith.MaximumfOp)
    exp2 = partialmethod(map, math.Exp2Op)

    def to(self, element: str) -> Registers:
        """The values rounded to a narrower type."""
        if element == self.element:
            return self
        found = Registers(self.frame, element, self.axes)
        rounded = Trace.current.emit(arith.TruncFOp(self.load(self), found.type))
        Trace.current.emit(cute("memref.store_vec", rounded, found.tensor))
        return found

    def rows(self, fill: float) -> Registers:
        """Registers for one element a row."""
        found = Registers(self.frame, self.element, (ROWS,))
        found[:] = fill
        return found

    def reduced(self, kind: str) -> Registers:
        """The elements of each row combined, by `add` or `max`."""
        found = Registers(self.frame, self.element, (ROWS,))
        lanes = DenseArrayBase.from_list(i32, self.frame.lanes())
        operands = self.view(), found.view()
        Trace.current.emit(cute("reduce", *operands, kind=StringAttr(kind), lanes=lanes))
        return found

    def __matmul__(self, other: Shared) -> Product:
        return Product(self, other)

    def __iadd__(self, other: Product | Registers) -> Registers:
        if isinstance(other, Product):
            Trace.current.engine.multiply(self, other.a, other.b)
        else:
            self[:] = self + other
        return self


def alloca(element: str, size: int) -> SSAValue:
    """Registers of a thread."""
    type_ = attribute(f'!cute.memref<{element}, rmem, "{size}:1">')
    return Trace.current.emit(OPS["memref.alloca"](type_))


def program(axis: str) -> Index:
    """The number of this block of threads along an axis of the grid."""
    return hardware(gpu.BlockIdOp, axis)


def zeros(m: int, n: int) -> Registers:
    """Accumulators of a tile."""
    found = Registers(Trace.current.engine.frame(m, n), "f32")
    found[:] = 0.0
    return found


def steps(extent: Index, size: int, stages: int = 3) -> Iterator[Index]:
    """Once through blocks of a size; what is loaded meanwhile is on its way `stages` ahead."""
    with Trace.current.engine.loop((extent + (size - 1)) // size, stages) as step:
        yield step


def load(array: Array, extents: tuple[int, int], at: tuple[Index | int, Index | int]) -> Shared:
    """A block of a matrix, in shared memory; beyond the matrix are zeros."""
    return Trace.current.engine.load(array, extents, at)


def columns_of(array: Array, at: Index | int, like: Registers) -> Registers:
    """One element for each column of a tile, from an array of one mode."""
    trace, (m, n), frame = Trace.current, like.frame.extents, like.frame
    found = Registers(frame, array.tensor.type.tensor.element, (COLUMNS,))
    rows = trace.static("layout", f"({m},{n}):(0,1)")
    source = trace.emit(cute("make_view", tile(array.tensor, [n], [at]), rows), uniform=True)
    limits = dynamic("shape", f"({m},{array.shape.type.typed.text})", array.extent(0))
    identity = trace.emit(cute("make_identity_tensor", limits), uniform=True)
    places = tile(identity, [m, n], [0, at])
    first = trace.static("coord", frame.first(COLUMNS))
    source, places = (trace.emit(cute("slice", frame.part(each), first), uniform=True)
                      for each in (source, places))  # fmt: skip
    target = found.view(Layout(source.type.tensor.modes.shape))
    trace.emit(OPS["copy"](None, source, target, bounds=(places, limits)))
    return found


def store(array: Array, at: tuple[Index | int, Index | int], values: Registers) -> None:
    """A tile to its place in a matrix, as far as the matrix goes."""
    target, places = map(values.frame.part, array.tiles(values.frame.extents, at))
    rounded = values.to(array.tensor.type.tensor.element).view()
    Trace.current.emit(OPS["copy"](None, rounded, target, bounds=(places, array.shape)))
