"""What a kernel is written in: arrays, blocks of them, and what threads hold in registers.

    acc = zeros(128, 128)
    for k in steps(a.extent(1), 32):
        dot(load(a, (128, 32), (i, k)), load(b, (32, 128), (k, j)), acc)
    store(c, (i, j), (acc + fetch(bias.row(128), (0, j), acc)).max(0.0))

Registers hold a block as the C operand of a tiled MMA does, or one element for each of its rows;
which register is which element, the layout algebra says. `dot` and `[:] =` write them, all else
makes new ones.
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
Place = Sequence[Index | int | None]


@dataclass(frozen=True)
class Array:
    """A row-major array in global memory: an argument of the kernel, or a view of one."""

    tensor: SSAValue

    def _once(self, name: str, *operands: Any) -> Any:
        return Trace.current.once((self.tensor, name), lambda: cute(name, *operands))

    @property
    def element(self) -> str:
        return self.tensor.type.tensor.element

    @property
    def shape(self) -> SSAValue:
        return self._once("get_shape", self.tensor)

    def extent(self, mode: int) -> Index:
        return Index(self._once("get_scalars", self.shape).owner.results[mode])

    def __getitem__(self, place: Index) -> Array:
        """The array at one place of its first mode."""
        rest = [None] * (self.tensor.type.tensor.modes.rank() - 1)
        return Array(Trace.current.emit(cute("slice", self.tensor, coord(place, *rest)), True))

    def row(self, count: int) -> Array:
        """An array of one mode as so many equal rows."""
        shape = dynamic("shape", f"({count},{self.shape.type.typed.text})", self.extent(0))
        layout = Trace.current.emit(cute("make_layout", shape, dynamic("stride", "(0,1)")), True)
        return Array(Trace.current.emit(cute("make_view", self.tensor, layout), True))

    def blocks(self, extents: Sequence[int], at: Place) -> list[SSAValue]:
        """The block at a coordinate of blocks, None keeping all of them as a last mode; and the
        coordinates of its elements."""
        identity = self._once("make_identity_tensor", self.shape)
        return [block_of(each, extents, at) for each in (self.tensor, identity)]


def block_of(tensor: SSAValue, extents: Sequence[int], at: Place) -> SSAValue:
    tiler = dynamic("tile", f"[{';'.join(map(str, extents))}]")
    return Trace.current.emit(cute("local_tile", tensor, tiler, coord(*at)), uniform=True)


@dataclass(frozen=True)
class Shared:
    """A matrix in shared memory: one stage of a tensor whose last mode is stages."""

    tensor: SSAValue
    stage: Index

    @property
    def element(self) -> str:
        return self.tensor.type.tensor.element

    @property
    def T(self) -> Shared:
        modes = DenseArrayBase.from_list(i32, [1, 0, 2])
        return Shared(Trace.current.emit(cute("select", self.tensor, mode=modes), True), self.stage)

    @property
    def rows_run(self) -> bool:
        """Whether neighbours in a row lie side by side, not those in a column."""
        return flatten(self.tensor.type.tensor.modes[1].stride)[0] == 1


@dataclass(frozen=True)
class Frame:
    """A block as a thread of a tiled MMA holds its C."""

    mma: SSAValue
    extents: tuple[int, int]
    thread: Index

    def part(self, block: SSAValue) -> SSAValue:
        """What the thread has of a tensor of these extents."""
        c = StringAttr("C")
        op = cute("tiled.mma.partition", self.mma, block, self.thread.value, operand_id=c)
        return Trace.current.emit(op, uniform=True)

    def along(self, axes: tuple[int, ...]) -> Layout:
        """Registers (V,M,N): one for each place along the axes, shared along the others."""
        places = self.mma.type.tiled.partition("C", Layout(self.extents))
        strides, count = [], 1
        for extent, step in zip(flatten(places.shape), flatten(places.stride), strict=True):
            kept = (COLUMNS if step >= self.extents[0] else ROWS) in axes
            strides.append(count if kept else 0)
            count *= extent if kept else 1
        return Layout(places.shape, unflatten(tuple(strides), places.shape))

    def lanes(self) -> list[int]:
        """The bits of a lane's number that change its column: with whom it shares rows."""
        tiled = self.mma.type.tiled
        tv, rows = tiled.tv_layout("C"), tiled.tile_of("C")[0]
        found = [bit for bit in (1, 2, 4, 8, 16) if tv((bit, 0)) >= rows]
        if tiled.atom_layout.shape[1] != 1:
            raise ValueError(f"expected warps that have whole rows, got {self.mma.type}")
        return found


class Registers:
    """What differs along `axes` of a frame, in registers."""

    def __init__(self, frame: Frame, element: str, axes: tuple[int, ...] = (ROWS, COLUMNS)):
        self.frame, self.element, self.axes = frame, element, axes
        self.layout, whole = frame.along(axes), len(axes) == 2
        size = self.layout.cosize()
        self.tensor = alloca(element, self.layout if whole else Layout((1, size)))
        self.view = self.tensor if whole else self.through(self.layout)
        self.type = VectorType(self.tensor.type.element_type, [size])

    @property
    def rows_run(self) -> bool:
        """As `Shared`'s: A in registers has no other way to lie."""
        return True

    def through(self, layout: Layout) -> SSAValue:
        """The registers through another layout."""
        static = dynamic("layout", str(layout))
        return Trace.current.emit(cute("make_view", self.tensor, static))

    def vector(self, values: Registers | float | SSAValue) -> SSAValue:
        """Other registers as these take them, rows spread over their elements; or a number."""
        emit = Trace.current.emit
        if isinstance(values, Registers):
            narrow = len(values.axes) < len(self.axes)
            held = values.through(self.frame.along(values.axes)) if narrow else values.tensor
            return emit(cute("memref.load_vec", held))
        if isinstance(values, SSAValue):
            return emit(vector.BroadcastOp(values, self.type))
        return Trace.current.constant(DenseIntOrFPElementsAttr.from_list(self.type, [values]))

    def write(self, values: SSAValue) -> Registers:
        Trace.current.emit(cute("memref.store_vec", values, self.tensor))
        return self

    def __setitem__(self, whole: slice, values: Registers | float | SSAValue) -> None:
        self.write(self.vector(values))

    def map(self, op: Any, *others: Any) -> Registers:
        """An op on each element of these registers and of others, or numbers."""
        given = [self, *(each for each in others if isinstance(each, Registers))]
        widest = max(given, key=lambda each: len(each.axes))
        found = Registers(widest.frame, self.element, widest.axes)
        return found.write(Trace.current.emit(op(*map(found.vector, (self, *others)))))

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
        return found.write(Trace.current.emit(arith.TruncFOp(self.vector(self), found.type)))

    def rows(self, fill: float) -> Registers:
        """Registers for one element a row."""
        found = Registers(self.frame, self.element, (ROWS,))
        found[:] = fill
        return found

    def reduced(self, kind: str) -> Registers:
        """The elements of each row combined, by `add` or `max`."""
        found = Registers(self.frame, self.element, (ROWS,))
        lanes = DenseArrayBase.from_list(i32, self.frame.lanes())
        op = cute("reduce", self.view, found.view, kind=StringAttr(kind), lanes=lanes)
        Trace.current.emit(op)
        return found


def alloca(element: str, layout: Layout) -> SSAValue:
    """Registers of a thread."""
    type_ = attribute(f'!cute.memref<{element}, rmem, "{layout}">')
    return Trace.current.emit(OPS["memref.alloca"](type_))


def program(axis: str) -> Index:
    """The number of this block of threads along an axis of the grid."""
    return hardware(gpu.BlockIdOp, axis)


def zeros(m: int, n: int) -> Registers:
    """Accumulators of a block."""
    found = Registers(Trace.current.engine.frame(m, n), "f32")
    found[:] = 0.0
    return found


def steps(extent: Index, size: int, stages: int = 3) -> Iterator[Index]:
    """Once through blocks of a size; what is loaded meanwhile is on its way `stages` ahead."""
    with Trace.current.engine.loop((extent + (size - 1)) // size, stages) as step:
        yield step


def load(array: Array, extents: tuple[int, int], at: Place) -> Shared:
    """A block of a matrix, in shared memory; beyond the matrix are zeros."""
    return Trace.current.engine.load(array, extents, at)


def dot(a: Shared | Registers, b: Shared, acc: Registers) -> None:
    """acc += a b."""
    Trace.current.engine.multiply(a, b, acc)


def fetch(array: Array, at: Place, like: Registers) -> Registers:
    """A block of a matrix, in registers of a frame; beyond the matrix are zeros."""
    frame, found = like.frame, Registers(like.frame, array.element)
    block, places = map(frame.part, array.blocks(frame.extents, at))
    Trace.current.emit(OPS["copy"](None, block, found.view, bounds=(places, array.shape)))
    return found


def store(array: Array, at: Place, values: Registers) -> None:
    """Registers to a block of a matrix, as far as the matrix goes."""
    frame, rounded = values.frame, values.to(array.element)
    block, places = map(frame.part, array.blocks(frame.extents, at))
    Trace.current.emit(OPS["copy"](None, rounded.view, block, bounds=(places, array.shape)))
