"""Which columns of an allocation a tensor in tensor memory has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.ir import SSAValue

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute.dialect import Space, is_memref, layout_of, space_of
from tilewright.dialects.cute_nvgpu.lattice.tmem import CELL_BITS, LANE_STRIDE
from tilewright.dialects.cute_nvgpu.ops.memory_operand import bits_of, constant_index, tmem_span
from tilewright.dialects.cute_nvgpu.ops.tmem import SliceOp

Overlap = Literal["same", "maybe", "distinct"]
"""What is known of two tensors: they share columns, they may, they do not."""


@dataclass(frozen=True, slots=True)
class Columns:
    """`count` columns from `first` on of what `root` is; None where an index is no constant."""

    root: SSAValue
    first: int | None
    count: int

    def overlap(self, other: Columns) -> Overlap:
        """Whether both have a column. Tensors of different roots are not compared."""
        if self.root is not other.root or self.first is None or other.first is None:
            return "maybe"
        apart = self.first + self.count <= other.first or other.first + other.count <= self.first
        return "distinct" if apart else "same"


def in_tensor_memory(value: SSAValue) -> bool:
    """Whether a value is a tensor there."""
    type_ = value.type
    return is_memref(type_) and space_of(type_.memory_space) is Space.TMEM


def columns(value: SSAValue) -> Columns:
    """The columns of a tensor in tensor memory, as its slices place it."""
    type_ = value.type
    assert is_memref(type_)
    _, count = tmem_span("tensor", "operand", type_)
    first: int | None = 0
    while isinstance(owner := value.owner, SliceOp):
        begin = _begin(owner)
        first = None if first is None or begin is None else first + begin
        value = owner.source
    return Columns(value, first, count)


def _begin(op: SliceOp) -> int | None:
    """The column that a slice begins in, counted from that of its source."""
    type_ = op.source.type
    assert is_memref(type_)
    layout, bits = layout_of(type_), bits_of(type_.element_type)
    assert isinstance(layout, Layout) and bits is not None
    places = [constant_index(each) for each in op.indices]
    offset = 0
    for mode, place in enumerate(places):
        if place is None:
            return None
        offset += layout[mode](place)
    return offset * bits // CELL_BITS % LANE_STRIDE
