"""The language of kernels: arrays, blocks of them, and what threads hold in registers.

    acc = zeros(128, 128)
    for k in steps(a.extent(1), 32):
        dot(load(a, (128, 32), (i, k)), load(b, (32, 128), (k, j)), acc)
    store(c, (i, j), acc.max(0.0))

Registers hold a block as the C operand of a tiled MMA does, or one element for each of its rows;
which register is which element, the layout algebra says. `dot` and `[:] =` write them, all else
makes new ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, partialmethod
from typing import Any

from tile_frontend.trace import Index, Place, Trace, algebra, at, coord, cute, hardware
from xdsl.dialects import arith, gpu, math, vector
from xdsl.dialects import builtin as mlir
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import SSAValue

from tilewright import builder
from tilewright.dialects.cute import Layout, flatten
from tilewright.dialects.cute.accumulators import along, lanes_along

ROWS, COLUMNS = 0, 1
_FAST = arith.FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])
"""Functions by the chip's approximations: nothing below 2^-126."""


@dataclass(frozen=True)
class GlobalTensor:
    tensor: SSAValue

    @property
    def element(self) -> str:
        return self.tensor.type.tensor.element


class Array(GlobalTensor):
    """A row-major array in global memory: an argument of the kernel, or a view of one."""

    def _once(self, name: str, *operands: Any) -> Any:
        return Trace.current.once((self.tensor, name), lambda: builder.cute(name, *operands))

    @property
    def shape(self) -> SSAValue:
        return self._once("get_shape", self.tensor)

    def extent(self, mode: int) -> Index:
        return Index(self._once("get_scalars", self.shape).owner.results[mode])

    def __getitem__(self, place: Index) -> Array:
        """The array at one place of its first mode."""
        return Array(at(self.tensor, 0, place))

    def blocks(self, extents: tuple[int, int], place: Place) -> list[SSAValue]:
        """The block at a coordinate of blocks, None keeping all of them as a last mode; and the
        coordinates of its elements."""
        identity = self._once("make_identity_tensor", self.shape)
        return [block_of(tensor, extents, place) for tensor in (self.tensor, identity)]


def block_of(tensor: SSAValue, extents: tuple[int, int], place: Place) -> SSAValue:
    tiler = algebra("tile", "[{};{}]".format(*extents))
    return cute("local_tile", tensor, tiler, coord(*place), uniform=True)


@dataclass(frozen=True)
class Shared(GlobalTensor):
    """A matrix in shared memory: one stage of a tensor whose last mode is stages."""

    stage: Index

    @property
    def T(self) -> Shared:
        return Shared(cute("select", self.tensor, uniform=True, mode=[1, 0, 2]), self.stage)

    @property
    def major(self) -> str:
        """True where neighbours along its columns, K, lie side by side, or along its rows."""
        return "k" if flatten(self.tensor.type.tensor.modes[1].stride)[0] == 1 else "mn"


@dataclass(frozen=True)
class BlockShape:
    """A block as threads of a tiled MMA hold its C."""

    mma: SSAValue
    extents: tuple[int, int]

    def part(self, block: SSAValue) -> SSAValue:
        """A thread's part of a tensor of these extents."""
        return part("mma.partition", self.mma, block, operand_id="C")

    def along(self, axes: tuple[int, ...]) -> Layout:
        """Registers (V,M,N), shared by what does not differ along the axes."""
        return along(self.mma.type.tiled, self.extents, axes)


def part(name: str, *operands: SSAValue, **properties: str) -> SSAValue:
    """A thread's part of a tensor."""
    thread = Trace.current.engine.thread.value
    return cute(f"tiled.{name}", *operands, thread, uniform=True, **properties)


class Registers:
    """Numbers that differ along `axes` of a frame, in registers."""

    major = "k"

    def __init__(self, frame: BlockShape, element: str, axes: tuple[int, ...] = (ROWS, COLUMNS)):
        self.frame, self.element, self.axes = frame, element, axes
        self.layout, size = frame.along(axes), frame.along(axes).cosize()
        self.tensor = alloca(element, self.layout if len(axes) == 2 else Layout((1, size)))
        self.view = self.through(self.layout)
        self.type = mlir.VectorType(self.tensor.type.element_type, [size])

    def through(self, layout: Layout) -> SSAValue:
        """The registers through another layout."""
        return cute("make_view", self.tensor, algebra("layout", str(layout)))

    def vector(self, values: Registers | float | SSAValue) -> SSAValue:
        """Other registers as these take them, rows spread over their elements; or a number."""
        if isinstance(values, Registers):
            spread = len(values.axes) < len(self.axes)
            view = values.through(self.frame.along(values.axes)) if spread else values.tensor
            return cute("memref.load_vec", view)
        if isinstance(values, SSAValue):
            return Trace.current.emit(vector.BroadcastOp(values, self.type))
        dense = mlir.DenseIntOrFPElementsAttr.from_list(self.type, [values])
        return Trace.current.once(dense, lambda: arith.ConstantOp(dense))

    def write(self, values: SSAValue) -> Registers:
        cute("memref.store_vec", values, self.tensor)
        return self

    def __setitem__(self, whole: slice, values: Registers | float | SSAValue) -> None:
        self.write(self.vector(values))

    def map(self, op: Any, *others: Any) -> Registers:
        """An op on each element of these registers and of others, or numbers."""
        given = (operand for operand in (self, *others) if isinstance(operand, Registers))
        widest = max(given, key=lambda operand: len(operand.axes))
        result = Registers(widest.frame, self.element, widest.axes)
        return result.write(Trace.current.emit(op(*map(result.vector, (self, *others)))))

    __add__ = partialmethod(map, arith.AddfOp)
    __sub__ = partialmethod(map, arith.SubfOp)
    __mul__ = partialmethod(map, arith.MulfOp)
    __truediv__ = partialmethod(map, arith.DivfOp)
    max = partialmethod(map, arith.MaximumfOp)
    exp2 = partialmethod(map, partial(math.Exp2Op, fastmath=_FAST))

    def to(self, element: str) -> Registers:
        """The values rounded to a narrower type."""
        if element == self.element:
            return self
        result = Registers(self.frame, element, self.axes)
        return result.write(Trace.current.emit(arith.TruncFOp(self.vector(self), result.type)))

    def rows(self, fill: float) -> Registers:
        """Registers for one element a row."""
        result = Registers(self.frame, self.element, (ROWS,))
        return result.write(result.vector(fill))

    def reduced(self, kind: str) -> Registers:
        """The elements of each row combined, by `add` or `max`."""
        result = Registers(self.frame, self.element, (ROWS,))
        lanes = lanes_along(self.frame.mma.type.tiled, COLUMNS)
        cute("reduce", self.view, result.view, kind=kind, lanes=lanes)
        return result


def alloca(element: str, layout: Layout) -> SSAValue:
    """Registers of a thread."""
    return cute("memref.alloca", f'!cute.memref<{element}, rmem, "{layout}">')


program = partial(hardware, gpu.BlockIdOp)
"""The number of this block of threads along an axis of the grid: `program("x")`."""


def blocks_of(extent: Index, size: int) -> Index:
    return (extent + (size - 1)) // size


def zeros(m: int, n: int) -> Registers:
    """Accumulators of a block."""
    mma = Trace.current.engine.mma(n, "bf16", "k", "k")
    result = Registers(BlockShape(mma, (m, n)), "f32")
    return result.write(result.vector(0.0))


def steps(extent: Index, size: int, stages: int = 3) -> Iterator[Index]:
    """Once through blocks of a size; what is loaded meanwhile is on its way `stages` ahead."""
    with Trace.current.engine.loop(blocks_of(extent, size), stages) as step:
        yield step


def load(array: Array, extents: tuple[int, int], place: Place) -> Shared:
    """A block of a matrix, in shared memory; beyond the matrix are zeros."""
    return Trace.current.engine.load(array, extents, place)


def dot(a: Shared | Registers, b: Shared, acc: Registers) -> None:
    """acc += a b."""
    Trace.current.engine.multiply(a, b, acc)


def store(array: Array, place: Place, values: Registers) -> None:
    """Registers to a block of a matrix, as far as the matrix goes."""
    rounded, frame = values.to(array.element), values.frame
    block, coords = map(frame.part, array.blocks(frame.extents, place))
    cute("copy", None, rounded.view, block, bounds=(coords, array.shape))
