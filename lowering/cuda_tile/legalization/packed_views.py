"""Elements of 4 bits, which lie two in a byte of memory: views of bytes in place of views of those.

Along one dimension, whose stride is 1, a tile of bytes has half the extent; everything else is
halved with it. A tile is the halves of its bytes, brought to where they were along the last
dimension of a tile of bytes that is turned for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, i1, i8, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.diagnostic import OpError
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.enums import IntegerOverflow, PaddingValue, Signedness
from tilewright.dialects.cuda_tile.ops import core, integer, views
from tilewright.dialects.cuda_tile.ops.control_flow import AssertOp
from tilewright.dialects.cuda_tile.ops.conversions import PtrToPtrOp, TruncIOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import (
    DYNAMIC,
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TileType,
    TileView,
)
from tilewright.dialects.cuda_tile.value_types import TOKEN, TensorViewType
from tilewright.lowering.cuda_tile.analysis.facts import divisor
from tilewright.lowering.cuda_tile.analysis.view_access import (
    PADDING_WORD,
    contiguous,
    tensor_of,
    tile_dimensions,
)
from tilewright.lowering.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.lowering.cuda_tile.legalization.before import Before

_PAIR = 2
_NEG_ZEROS = 0x88 - 0x100


def is_packed(op: views.ViewAccess) -> bool:
    """True of an access to elements of 4 bits."""
    tensor: Any = op.view_type.tensor_view
    return ELEMENT_OF[tensor.element_type].bits == 4


def replace_load(op: views.LoadViewTkoOp, before: Before) -> None:
    """Load bytes, and take their halves."""
    octets = _Octets.of(op, before)
    loaded = before.insert(
        views.LoadViewTkoOp.build(
            operands=[octets.view, octets.index, [op.token] if op.token else []],
            result_types=[octets.tile, TOKEN],
            properties=_kept(op),
            attributes=_padding(op),
        )
    )
    tile = octets.unpacked(loaded.results[0], op.tile.type)  # type: ignore[arg-type]
    tile.name_hint = op.tile.name_hint
    op.tile.replace_all_uses_with(tile)
    op.result_token.replace_all_uses_with(loaded.results[1])
    Rewriter.erase_op(op)


def replace_store(op: views.StoreViewTkoOp, before: Before) -> None:
    """Store the bytes of pairs."""
    octets = _Octets.of(op, before)
    stored = before.insert(
        views.StoreViewTkoOp.build(
            operands=[octets.packed(op.tile), octets.view, octets.index,
                      [op.token] if op.token else []],
            result_types=[TOKEN],
            properties=_kept(op),
        )
    )  # fmt: skip
    op.result_token.replace_all_uses_with(stored.results[0])
    Rewriter.erase_op(op)


def _padding(op: views.ViewAccess) -> dict[str, Attribute | None]:
    """The byte of two elements outside of the tensor, where it is not zero."""
    padding = op.view_type.padding_value
    if padding in (None, PaddingValue.ZERO):
        return {}
    if padding is not PaddingValue.NEG_ZERO:
        why = "an f4E2M1FN is neither infinite nor NaN"
        raise _shared(op, f"padding_value zero or neg_zero, got {padding} ({why})")
    return {PADDING_WORD: IntegerAttr(_NEG_ZEROS, i8)}


def _kept(op: Operation) -> dict[str, Any]:
    return {key: value for key, value in op.properties.items() if key != "operandSegmentSizes"}


@dataclass(frozen=True)
class _Octets:
    """A view of the bytes that another one's elements lie in, where a tile is, and the dimension of
    its tiles along which they lie two in a byte."""

    before: Before
    view: SSAValue
    index: list[SSAValue]
    tile: TileType
    along: int

    @classmethod
    def of(cls, op: views.ViewAccess, before: Before) -> _Octets:
        """The bytes of what an access goes to. Raises OpError where a byte would be shared."""
        type_, dimensions = op.view_type, tile_dimensions(op)
        along, shape = contiguous(dimensions), list(type_.tile_shape)
        if along is None or shape[along] < _PAIR:
            raise _shared(op, "tiles of 2 or more elements along a dimension of stride 1")
        axis = getattr(type_, "dim_map", range(len(shape)))[along]
        tensor = _Halved(op, axis, before).tensor()
        shape[along] //= _PAIR
        view = _view_of(op, type_, tuple(shape), tensor.type, along)  # type: ignore[arg-type]
        made = before.add(_MAKES[type(view)], [tensor], view)
        index: list[SSAValue] = list(op.index)  # type: ignore[attr-defined]
        if isinstance(type_, GatherScatterViewType):
            index[along] = _half(index[along], f"index {along} of {shown(type_)} is even", before)
        return cls(before, made, index, TileType.get(tuple(shape), i8), along)

    def unpacked(self, octets: SSAValue, type_: TileType) -> SSAValue:
        """The halves of the bytes of a tile."""
        last = self._turned(octets)
        flat = self._reshaped(last, (self.tile.elements,))
        halves = TileType.get((_PAIR * self.tile.elements,), type_.element_type)
        tile = self.before.add(core.UnpackOp, [flat], halves)
        *outer, extent = shape_of(last)
        return self._turned(self._reshaped(tile, (*outer, _PAIR * extent)), back=True)

    def packed(self, tile: SSAValue) -> SSAValue:
        """The bytes of the halves of a tile."""
        last = self._turned(tile)
        flat = self._reshaped(last, (_PAIR * self.tile.elements,))
        octets = self.before.add(core.PackOp, [flat], TileType.get((self.tile.elements,), i8))
        *outer, extent = shape_of(last)
        return self._turned(self._reshaped(octets, (*outer, extent // _PAIR)), back=True)

    def _reshaped(self, tile: SSAValue, shape: Sequence[int]) -> SSAValue:
        type_ = TileType.get(tuple(shape), element_of(tile))
        return self.before.add(core.ReshapeOp, [tile], type_)

    def _turned(self, tile: SSAValue, *, back: bool = False) -> SSAValue:
        """The tile with the dimension of pairs as the last one, or back from there."""
        shape = shape_of(tile)
        rank = len(shape)
        order = [*(i for i in range(rank) if i != self.along), self.along]
        if back:
            order = [order.index(i) for i in range(rank)]
        if order == list(range(rank)):
            return tile
        type_ = TileType.get(tuple(shape[i] for i in order), element_of(tile))
        permutation = DenseArrayBase.from_list(i32, order)
        return self.before.add(core.PermuteOp, [tile], type_, permutation=permutation)


def _shared(op: Operation, rule: str) -> OpError:
    return OpError(op, f"'{op.name}' of elements of 4 bits expected {rule}")


_MAKES: dict[type[TileView], type[Operation]] = {
    PartitionViewType: views.MakePartitionViewOp,
    StridedViewType: views.MakeStridedViewOp,
    GatherScatterViewType: views.MakeGatherScatterViewOp,
}


def _view_of(
    op: Operation, type_: TileView, shape: tuple[int, ...], tensor: TensorViewType, along: int
) -> TileView:
    match type_:
        case PartitionViewType():
            return PartitionViewType.get(shape, tensor, type_.dim_map)
        case StridedViewType():
            steps = list(type_.traversal_strides)
            if steps[along] % _PAIR:
                raise _shared(op, f"traversal strides that are even, got {steps[along]}")
            steps[along] //= _PAIR
            return StridedViewType.get(shape, tuple(steps), tensor, type_.dim_map)
        case _:
            assert isinstance(type_, GatherScatterViewType)
            return GatherScatterViewType.get(shape, tensor, type_.sparse_dim)


class _Halved:
    """The tensor of bytes in place of one of elements, which lie two in a byte along an axis."""

    def __init__(self, op: views.ViewAccess, axis: int, before: Before) -> None:
        self.op, self.axis, self.before = op, axis, before
        self.source: Any = tensor_of(op.view)  # type: ignore[attr-defined]

    def tensor(self) -> SSAValue:
        """A view of the bytes."""
        type_ = self.source.result.type
        sizes, rest = self._extents(type_.shape, self.source.dynamic_shape, [self.axis])
        others = [i for i in range(len(type_.shape)) if i != self.axis]
        steps, more = self._extents(type_.strides, self.source.dynamic_strides, others)
        pointer = TileType.get((), PointerType.get(i8))
        base = self.before.add(PtrToPtrOp, [self.source.base], pointer)
        lies = TensorViewType.get(i8, sizes, steps, type_.ptr_attr)
        made = views.MakeTensorViewOp.build(operands=[base, rest, more], result_types=[lies])
        return self.before.insert(made).results[0]

    def _extents(
        self, static: Sequence[int], dynamic: Sequence[SSAValue], halved: Sequence[int]
    ) -> tuple[tuple[int, ...], list[SSAValue]]:
        """Sizes or strides, some of which are half of what they were."""
        rest, known, values = iter(dynamic), list(static), list[SSAValue]()
        rule = f"sizes and strides of {shown(self.source.result.type)} are even"
        for i, extent in enumerate(static):
            if extent == DYNAMIC:
                value = next(rest)
                values.append(_half(value, rule, self.before) if i in halved else value)
            elif i in halved:
                if extent % _PAIR:
                    raise _shared(self.op, f"sizes and strides that are even, got {extent}")
                known[i] = extent // _PAIR
        return tuple(known), values


def _half(value: SSAValue, rule: str, before: Before) -> SSAValue:
    """Half of a size, stride or index, which is even: a kernel that is given another one ends."""
    if divisor(value) % _PAIR:
        bit = TileType.get((), i1)
        odd = before.add(TruncIOp, [value], bit, overflow=IntegerOverflow.NONE)
        even = before.add(integer.XOrIOp, [odd, before.constant(1, i1)])
        before.insert(AssertOp.build(operands=[even], properties={"message": StringAttr(rule)}))
    one = before.constant(1, element_of(value))
    return before.add(integer.ShRIOp, [value, one], signedness=Signedness.UNSIGNED)
