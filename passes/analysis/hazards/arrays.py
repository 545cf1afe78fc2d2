"""Arguments of the tile level that threads access and tensor maps are made of.

What a kernel was lowered from says which of its pointers and tensor maps are of one argument
(`cute.from`), and where the elements of that lie (`cute.arguments`). Of others nobody says that
they are of one array.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute import Layout, flatten
from tilewright.dialects.cute.types.argument import signature_of, sources_of
from tilewright.dialects.cute.types.tensors import MemRefType as TensorType
from tilewright.dialects.cute_nvgpu.lattice import tma as rows
from tilewright.dialects.cute_nvgpu.ops import tma
from tilewright.dialects.cute_nvgpu.types.tensor_map import TmaDescriptorType
from tilewright.dialects.frozen import frozen_entity
from tilewright.dialects.ptx import bulk_copy, data_movement
from tilewright.dialects.row_ops import box_corner, memory_operand, ops_of
from tilewright.passes.analysis.hazards.effects import Effect, MemoryPlace
from tilewright.passes.analysis.hazards.thread_accesses import (
    ELEMENTS,
    bytes_of,
    writes,
)
from tilewright.passes.analysis.thread_dependence import reached

FAR = 14
"""Of a mode of which only the launch says how far apart its elements are they are 1 << FAR
elements, of the next one 1 << 2 FAR, ...: what a kernel accesses of each is far less."""

_BOXES = frozenset(ops_of(rows.TENSOR_LOAD, rows.TENSOR_STORE, *rows.TENSOR_REDUCE.values()))
"""Copies of boxes."""

Elements = NDArray[np.int64]


@frozen_entity
class ArgumentArray:
    """An argument: of each leaf of its layout the extent, None where that is not known, and the
    stride in elements; the bytes of an element."""

    extents: tuple[int | None, ...]
    strides: tuple[int, ...]
    item: int


@frozen_entity
class ArrayMap:
    """A tensor map: its array, the leaves that are its dimensions, and its box, outermost first."""

    array: ArgumentArray
    leaves: tuple[int, ...]
    box: tuple[int, ...]

    def elements(self, corner: Sequence[int]) -> Elements:
        """The elements of the box at some coordinates, but for those known to be outside."""
        total = np.zeros(1, dtype=np.int64)
        for leaf, first, length in zip(self.leaves, corner, self.box, strict=True):
            extent, stride = self.array.extents[leaf], self.array.strides[leaf]
            along = first + np.arange(length)
            along = along[(along >= 0) & (True if extent is None else along < extent)]
            total = (total[:, None] + along * stride).reshape(-1)
        return np.unique(total)


class Arrays:
    """The arrays of a kernel that are reached both ways, by their pointers and by their maps."""

    def __init__(self, kernel: Operation):
        self.of_pointer: dict[SSAValue, ArgumentArray] = {}
        self.of_map: dict[SSAValue, ArrayMap] = {}
        self.numbers: dict[SSAValue, int] = {}
        signature = signature_of(kernel)
        if signature is None:
            return
        arguments = kernel.regions[0].blocks[0].args
        given = [
            (value, source)
            for value, source in zip(arguments, sources_of(kernel), strict=True)
            if source is not None and 0 <= source.index.data < len(signature)
        ]
        for value, source in given:
            type_ = signature[source.index.data]
            maps = [
                (map_, other)
                for map_, other in given
                if other.index.data == source.index.data and other.part.data == "tensor_map"
            ]
            if source.part.data != "pointer" or not maps or not isinstance(type_, TensorType):
                continue
            strides = {other.modes.data[0].data: argument for argument, other in given
                       if other.index == source.index and other.part.data == "stride"}  # fmt: skip
            if (array := self._array(type_, strides)) is None:
                continue
            self.of_pointer[value] = array
            for map_, other in maps:
                assert isinstance(other.type, TmaDescriptorType)
                box = tuple(extent.data for extent in other.type.shape)
                self.of_map[map_] = ArrayMap(array, tuple(mode.data for mode in other.modes), box)

    def _array(self, type_: TensorType, said: Mapping[int, SSAValue]) -> ArgumentArray | None:
        """The array of an argument, whose strides kernel arguments say, by their place."""
        layout, bits = type_.tensor.layout, type_.tensor.bits
        if not isinstance(layout, Layout) or bits % 8:
            return None
        extents = [leaf if isinstance(leaf, int) else None for leaf in flatten(layout.shape)]
        leaves = flatten(layout.stride)
        dynamic = [place for place, leaf in enumerate(leaves) if not isinstance(leaf, int)]
        far = {place: 1 << FAR * (n + 1) for n, place in enumerate(reversed(dynamic))}
        self.numbers |= {said[place]: number for place, number in far.items() if place in said}
        strides = [leaf if isinstance(leaf, int) else far[n] for n, leaf in enumerate(leaves)]
        return ArgumentArray(tuple(extents), tuple(strides), bits // 8)

    # What ops do with them

    def effect_of(self, op: Operation) -> Effect | None:
        """An access of threads to one of the arrays: to a line of elements, or at an address."""
        by_address = isinstance(op, data_movement.LdOp | data_movement.StOp)
        if not self.of_pointer:
            return None
        if not by_address and not isinstance(op, ELEMENTS):
            return None
        place = memory_operand(op)
        memory, indices, offset = place
        pointers = [memory]
        if by_address:
            pointers = [
                value for value in reached(memory, lambda _: True) if value in self.of_pointer
            ]
        array = self.of_pointer.get(pointers[0]) if len(pointers) == 1 else None
        indices = (memory,) if indices is None else indices
        if array is None or len(indices) != 1 or (by_address and place.is_shared):
            return None
        place = MemoryPlace(pointers[0], indices, offset=offset, writes=writes(op))
        size = max(bytes_of(op) // array.item, 1)
        return Effect("array", places=(place,), predicate=getattr(op, "predicate", None),
                      constant=(array, array.item if by_address else 0, size))  # fmt: skip

    def corner_of(self, op: Any) -> MemoryPlace | None:
        """The place that a copy of a box begins at in one of the arrays, outermost first."""
        if type(op) not in _BOXES or op.map not in self.of_map:
            return None
        loads = isinstance(op, tma.TmaLoadOp | bulk_copy.TensorLoadOp)
        return MemoryPlace(op.map, box_corner(op), writes=not loads)
