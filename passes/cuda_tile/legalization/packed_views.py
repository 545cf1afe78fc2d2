"""Elements of 4 bits, which lie two in a byte of memory: views of bytes in place of views of those.

Along one dimension, whose stride is 1, a tile of bytes has half the extent; everything else is
halved with it. A tile is the halves of its bytes, brought to where they were along the last
dimension of a tile of bytes that is turned for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i8, i32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.dialects.cuda_tile.ops import core, integer, views
from tilewright.dialects.cuda_tile.ops.conversions import PtrToPtrOp
from tilewright.dialects.cuda_tile.types import (
    DYNAMIC,
    GatherScatterViewType,
    PointerType,
    TileType,
)
from tilewright.dialects.cuda_tile.value_types import TOKEN, TensorViewType
from tilewright.passes.cuda_tile.analysis.facts import divisor
from tilewright.passes.cuda_tile.analysis.view_access import (
    MAKES,
    PADDING_WORD,
    contiguous,
    tensor_of,
    tile_dimensions,
    view_like,
)
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.legalization.packed_elements import (
    load_elements,
    store_elements,
)
from tilewright.passes.cuda_tile.legalization.shaped_builder import UNSIGNED, ShapedBuilder

_PAIR = 2
_PADDING_BYTES = {PaddingValue.ZERO: 0, PaddingValue.NEG_ZERO: 0x88 - 0x100}
"""Two elements outside of the tensor."""


def is_packed(op: views.ViewAccess) -> bool:
    """True of an access to elements of 4 bits."""
    tensor: Any = op.view_type.tensor_view
    return ELEMENT_OF[tensor.element_type].bits == 4


def replace_load(op: views.LoadViewTkoOp, before: ShapedBuilder) -> None:
    """Load bytes, and take their halves."""
    padding = _PADDING_BYTES[op.view_type.padding_value or PaddingValue.ZERO]
    if _shares_bytes(op):
        tile, token = load_elements(op, padding, before)
    else:
        octets = _Octets(op, before)
        loaded = before.insert(
            views.LoadViewTkoOp.build(
                operands=[octets.view, octets.index, [op.token] if op.token else []],
                result_types=[octets.tile, TOKEN],
                properties=_kept(op),
                attributes={PADDING_WORD: IntegerAttr(padding, i8)} if padding else {},
            )
        )
        tile = octets.unpacked(loaded.results[0], op.tile.type)  # type: ignore[arg-type]
        token = loaded.results[1]
    tile.name_hint = op.tile.name_hint
    op.tile.replace_all_uses_with(tile)
    op.result_token.replace_all_uses_with(token)
    Rewriter.erase_op(op)


def replace_store(op: views.StoreViewTkoOp, before: ShapedBuilder) -> None:
    """Store the bytes of pairs."""
    if _shares_bytes(op):
        token = store_elements(op, before)
    else:
        octets = _Octets(op, before)
        stored = views.StoreViewTkoOp.build(
            operands=[octets.packed(op.tile), octets.view, octets.index,
                      [op.token] if op.token else []],
            result_types=[TOKEN],
            properties=_kept(op),
        )  # fmt: skip
        token = before.insert(stored).results[0]
    op.result_token.replace_all_uses_with(token)
    Rewriter.erase_op(op)


def _shares_bytes(op: views.ViewAccess) -> bool:
    """True where elements of another tile, or of none, may lie in a byte with those of the tile, or
    those of two of its rows."""
    dimensions, along = tile_dimensions(op), _along(op)
    pairs = dimensions[along]
    index: list[SSAValue] = list(op.index)  # type: ignore[attr-defined]
    gathers = isinstance(op.view_type, GatherScatterViewType)
    first = divisor(index[along]) if gathers else pairs.step
    counts = [first, pairs.extent, pairs.size_divisor]
    counts += [one.stride_divisor for one in dimensions if one is not pairs]
    return any(count % _PAIR for count in counts)


def _along(op: views.ViewAccess) -> int:
    """The dimension of tiles along which elements lie two in a byte, as the verifier has seen."""
    along = contiguous(tile_dimensions(op))
    assert along is not None
    return along


def _kept(op: Operation) -> dict[str, Any]:
    return {key: value for key, value in op.properties.items() if key != "operandSegmentSizes"}


class _Octets:
    """A view of the bytes that another one's elements lie in, where a tile is, and the dimension of
    its tiles along which they lie two in a byte."""

    def __init__(self, op: views.ViewAccess, before: ShapedBuilder):
        type_, along = op.view_type, _along(op)
        self.before, self.along = before, along
        axis = getattr(type_, "dim_map", range(type_.index_rank))[along]
        tensor = _halved_tensor(op, axis, before)
        extent, step = (
            number // _PAIR for number in (type_.tile_shape[along], tile_dimensions(op)[along].step)
        )
        view = view_like(type_, tensor.type, along, extent, step)  # type: ignore[arg-type]
        self.view = before.add(MAKES[type(view)], [tensor], view)
        self.index: list[SSAValue] = list(op.index)  # type: ignore[attr-defined]
        if isinstance(type_, GatherScatterViewType):
            self.index[along] = _half(self.index[along], before)
        self.tile = view.tile_type

    def unpacked(self, octets: SSAValue, type_: TileType) -> SSAValue:
        """The halves of the bytes of a tile."""
        last = self._permuted(octets)
        flat = self.before.reshape(last, (self.tile.elements,))
        halves = TileType.get((_PAIR * self.tile.elements,), type_.element_type)
        tile = self.before.add(core.UnpackOp, [flat], halves)
        *outer, extent = shape_of(last)
        return self._permuted(self.before.reshape(tile, (*outer, _PAIR * extent)), back=True)

    def packed(self, tile: SSAValue) -> SSAValue:
        """The bytes of the halves of a tile."""
        last = self._permuted(tile)
        flat = self.before.reshape(last, (_PAIR * self.tile.elements,))
        octets = self.before.add(core.PackOp, [flat], TileType.get((self.tile.elements,), i8))
        *outer, extent = shape_of(last)
        return self._permuted(self.before.reshape(octets, (*outer, extent // _PAIR)), back=True)

    def _permuted(self, tile: SSAValue, *, back: bool = False) -> SSAValue:
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


def _halved_tensor(op: views.ViewAccess, axis: int, before: ShapedBuilder) -> SSAValue:
    """The tensor of bytes in place of one of elements, which lie two in a byte along an axis."""
    source = tensor_of(op.view)  # type: ignore[attr-defined]
    type_: Any = source.result.type
    sizes, rest = _extents(type_.shape, source.dynamic_shape, [axis], before)
    others = [i for i in range(len(type_.shape)) if i != axis]
    steps, more = _extents(type_.strides, source.dynamic_strides, others, before)
    base = before.add(PtrToPtrOp, [source.base], TileType.get((), PointerType.get(i8)))
    lies = TensorViewType.get(i8, sizes, steps, type_.ptr_attr)
    made = views.MakeTensorViewOp.build(operands=[base, rest, more], result_types=[lies])
    return before.insert(made).results[0]


def _extents(
    static: Sequence[int], dynamic: Sequence[SSAValue], halved: Sequence[int], before: ShapedBuilder
) -> tuple[tuple[int, ...], list[SSAValue]]:
    """Sizes or strides; some are half of what they were."""
    rest, known, values = iter(dynamic), list(static), list[SSAValue]()
    for i, extent in enumerate(static):
        if extent == DYNAMIC:
            value = next(rest)
            values.append(_half(value, before) if i in halved else value)
        elif i in halved:
            known[i] = extent // _PAIR
    return tuple(known), values


def _half(value: SSAValue, before: ShapedBuilder) -> SSAValue:
    """Half of a size, stride or index, which is even."""
    return before.add(integer.ShRIOp, [value, 1], **UNSIGNED)
