"""The columns of an allocation that a tensor in tensor memory has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cute import flatten
from tilewright.dialects.cute.types.memref import Space, is_memref, space_of
from tilewright.dialects.cute_nvgpu.lattice.tmem import CELL_BITS, LANE_STRIDE
from tilewright.dialects.cute_nvgpu.ops.memory_operand import tmem_layout, tmem_span
from tilewright.dialects.cute_nvgpu.ops.tmem import AllocOp, RetrieveOp, SliceOp
from tilewright.dialects.cute_nvgpu.ops.tmem_access import TmemAccessOp
from tilewright.dialects.frozen import frozen
from tilewright.dialects.integers import constant_integer
from tilewright.dialects.once import once_each

Overlap = Literal["same", "maybe", "distinct"]
"""The relation of two tensors: they share columns, they may, they do not."""

Slot = tuple[SSAValue, tuple[int | SSAValue, ...]]
"""A word of shared memory: its memref and indices."""


@frozen
class Columns:
    """`count` columns from `first` on of what has the address in `root`, a word of shared memory or
    a value; or, where it is not `exact`, some of them."""

    root: Slot | SSAValue
    first: int
    count: int
    exact: bool = True

    def overlap(self, other: Columns) -> Overlap:
        """Both have a column. Tensors of different roots are not compared."""
        if self.root != other.root:
            return "maybe"
        if self.end <= other.first or other.end <= self.first:
            return "distinct"
        certain = self._covers(other) if self.exact else other._covers(self)
        return "same" if certain else "maybe"

    @property
    def end(self) -> int:
        """The first column behind them."""
        return self.first + self.count

    def _covers(self, other: Columns) -> bool:
        """These, exact ones, meet the other ones wherever in their range those are."""
        whole = self.first <= other.first and other.end <= self.end
        return self.exact and (other.exact or whole)


def in_tensor_memory(value: SSAValue) -> bool:
    """A value is a tensor there."""
    return _is_there(value.type)


@once_each
def _is_there(type_: Attribute) -> bool:
    return is_memref(type_) and space_of(type_.memory_space) is Space.TMEM


def slot_of(op: AllocOp | RetrieveOp) -> Slot:
    """The word that holds the address."""
    place: list[int | SSAValue] = []
    for index in op.indices:
        constant = constant_integer(index)
        place.append(index if constant is None else constant)
    return op.slot, tuple(place)


def columns(value: SSAValue) -> Columns:
    """The columns of a tensor in tensor memory, as its slices place it."""
    span = Columns(value, 0, _count(value))
    while isinstance(owner := value.owner, SliceOp):
        value = owner.source
        span = _placed(span, value, owner.indices)
    return replace(span, root=slot_of(owner) if isinstance(owner, RetrieveOp) else value)


def accessed(op: TmemAccessOp) -> Columns:
    """The columns that a load or a store accesses."""
    value, indices = op.tile_operand
    return columns_from(value, indices, op.access.columns)


def columns_from(value: SSAValue, indices: Sequence[SSAValue], count: int) -> Columns:
    """So many columns from an element of a tensor on."""
    whole = columns(value)
    if not whole.exact:
        return whole
    part = _placed(Columns(value, 0, count), value, indices)
    return replace(part, root=whole.root, first=whole.first + part.first)


def _placed(part: Columns, value: SSAValue, indices: Sequence[SSAValue]) -> Columns:
    """A part of a tensor that begins at these indices, in columns of the tensor."""
    begin = _column(value, indices)
    if begin is None:
        return replace(part, first=0, count=_count(value), exact=False)
    return replace(part, first=part.first + begin)


def _count(value: SSAValue) -> int:
    type_ = value.type
    assert is_memref(type_)
    return tmem_span("operand", type_)[1]


def _column(value: SSAValue, indices: Sequence[SSAValue]) -> int | None:
    """The column of an element, counted from the tensor's first; None where it is not known."""
    type_ = value.type
    layout, bits = tmem_layout(type_)
    lane = LANE_STRIDE * CELL_BITS // bits
    offset = 0
    for mode, index in enumerate(indices):
        place = constant_integer(index)
        if place is not None:
            offset += layout[mode](place)
        elif any(int(stride) % lane for stride in flatten(layout[mode].stride)):
            return None
    return offset * bits // CELL_BITS % LANE_STRIDE
