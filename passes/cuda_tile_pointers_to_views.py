"""`cuda-tile-pointers-to-views`: tiles of pointers that are tiles of a tensor are accessed as such.

    %i = 128 %b + iota;  %p = offset %a, (%i[:, None] * %s + iota[None, :])
    %m = %i[:, None] < %rows;  %x = load_ptr_tko weak %p, %m, 0.0
    ->
    %v = make_tensor_view %a, shape = [%rows, 64], strides = [%s, 1]
    %x = load_view_tko weak make_partition_view(%v)[%b, 0]

Then TMA moves them, or `cp.async` ahead of a loop's iterations, as it does of views. Rows that wrap
around (`% %rows`) are no rows of the tensor; they become its padding where they reach stores alone
that leave them out. A pointer or an index that a loop advances is its first one and a multiple of
the iteration's number. What stays as it is has a remark that says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import Pure

from tilewright.dialects.ancestors import ancestors, descendants
from tilewright.dialects.cuda_tile.attributes import DivByAttr
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.dialects.cuda_tile.ops import core, integer, views
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp, StorePtrTkoOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import (
    DYNAMIC,
    TOKEN,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileView,
)
from tilewright.dialects.frozen import frozen
from tilewright.dialects.insertion import insert_before
from tilewright.passes.cuda_tile.analysis.facts import repeated
from tilewright.passes.cuda_tile.analysis.pointer_tiles import (
    PointedTile,
    PointerTiles,
    TensorDimension,
    is_known,
)
from tilewright.passes.cuda_tile.analysis.polynomials import ONE, Factor, Polynomial
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_weak
from tilewright.passes.cuda_tile.analysis.unread_elements import why_read
from tilewright.passes.cuda_tile.analysis.view_access import MAKES
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.legalization.advanced_pointers import rewrite_advanced
from tilewright.passes.cuda_tile.legalization.shaped_builder import SIGNED, ShapedBuilder
from tilewright.passes.cuda_tile.legalization.transposed_loads import transpose_load
from tilewright.passes.cuda_tile.scheduling.unordered_loads import DISJOINT, forget_order

_PointerAccess = LoadPtrTkoOp | StorePtrTkoOp
_TRUE = BoolAttr.from_bool(True)


@frozen
class CudaTilePointersToViewsPass(ModulePass):
    """Access tiles of pointers through views where they are tiles of a tensor."""

    name = "cuda-tile-pointers-to-views"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for entry in descendants(op, EntryOp):
            pointers_to_views(entry)
            if op.attributes.get(DISJOINT) == _TRUE:
                forget_order(entry)


def pointers_to_views(entry: EntryOp) -> None:
    """Access an entry's tiles of pointers through views where they are tiles of a tensor."""
    _hoist(entry)
    rewrite_advanced(entry, integers=True)
    tiles = PointerTiles()
    accesses = descendants(entry, _PointerAccess)
    made = [
        (op, _tensor_tile(op, tiles))
        for op in accesses
        if max(shape_of(_pointers(op)), default=1) > 1
    ]
    for op, tile in made:
        why = tile if isinstance(tile, str) else _View(op, tile, tiles).replace()
        if why is not None:
            remark(op, "view", f"'{op.name}' has a pointer for each element: {why}")
        if why is not None and isinstance(op, LoadPtrTkoOp) and transpose_load(op):
            Rewriter.erase_op(op)
    _erase_unused(entry)


def _hoist(entry: EntryOp) -> None:
    """Compute sums and products of scalars, and shape tiles, in front of the loops that do not
    change them."""
    for op in list(entry.walk()):
        while isinstance(op, _SHAPING) or (
            isinstance(op, _HOISTED) and not shape_of(op.results[0])
        ):
            loop = op.parent_op()
            if not isinstance(loop, ForOp) or any(
                loop.is_ancestor(value.owner) for value in op.operands
            ):
                break
            op.detach()
            insert_before(op, loop)


_HOISTED = (integer.AddIOp, integer.SubIOp, integer.MulIOp, ExtIOp)
_SHAPING = (core.ReshapeOp, core.BroadcastOp)


def _pointers(op: _PointerAccess) -> SSAValue:
    return op.source if isinstance(op, LoadPtrTkoOp) else op.destination


def _tensor_tile(op: _PointerAccess, tiles: PointerTiles) -> PointedTile | str:
    """The tile of a tensor that an access is to; else why there is none."""
    if not is_weak(op):
        return "others may access it at the same time"
    element = element_of(pointers := _pointers(op)).pointee_type  # type: ignore[attr-defined]
    if isinstance(element, PointerType) or element == i1 or ELEMENT_OF[element].bits < 8:
        return "views have no such elements"
    if isinstance(op, LoadPtrTkoOp) and op.padding_value is not None and _padding(op) is None:
        return "views pad with zeros, NaN and infinities alone"
    tile = tiles.tile(pointers, op.mask)
    if isinstance(op, StorePtrTkoOp) and not isinstance(tile, str) and tile.times:
        return "a dimension has no stride"
    for axis, end in () if isinstance(tile, str) else tile.wraps:
        reader = op if isinstance(op, StorePtrTkoOp) else why_read(op.result, axis, end, tiles)
        if reader is not None:
            return f"its dimension {axis} wraps around, and '{reader.name}' uses what lies there"
    return tile


def _padding(op: LoadPtrTkoOp) -> PaddingValue | None:
    """The element that a load gives where its mask is false."""
    number = 0.0 if _nan_flag(op) is not None else _number(op.padding_value)
    if number == 0:
        return PaddingValue.NEG_ZERO if np.signbit(number) else PaddingValue.ZERO
    return _PADDINGS.get(str(number))


_PADDINGS = {
    "inf": PaddingValue.POS_INF, "-inf": PaddingValue.NEG_INF, "nan": PaddingValue.NAN,
}  # fmt: skip


def _number(value: SSAValue | None) -> float | None:
    """The number that every element of a constant tile is."""
    constant = None if value is None else repeated(value).owner
    if not isinstance(constant, core.ConstantOp) or not constant.elements.is_splat:
        return None
    return float(constant.elements.array().reshape(-1)[0])


def _nan_flag(op: LoadPtrTkoOp) -> int | None:
    """The number of the parameter that chooses between NaN and zero for such elements, if one does:
    that of a descriptor of the host."""
    select = None if op.padding_value is None else repeated(op.padding_value).owner
    if not isinstance(select, core.SelectOp) or not isinstance(select.cond, BlockArgument):
        return None
    numbers = [str(_number(value)) for value in (select.val_if_true, select.val_if_false)]
    chosen = isinstance(select.cond.block.parent_op(), EntryOp) and numbers == ["nan", "0.0"]
    return select.cond.index if chosen else None


def _step(dimension: TensorDimension) -> int:
    """How many elements further the tile of the next index begins: all of its own, where the tile
    begins at a multiple of those."""
    return 1 if any(x % dimension.extent for x in dimension.start.values()) else dimension.extent


class _View:
    """The view whose tile an access is to, made as far outside of loops as may be."""

    def __init__(self, op: _PointerAccess, tile: PointedTile, tiles: PointerTiles):
        self.op, self.tile, self.known = op, tile, tiles.known
        self.around: list[Operation] = [op, *ancestors(op)]
        self._values: dict[Factor, SSAValue | None] = {}

    # --- scalars ---

    def _before(self, values: Iterable[SSAValue]) -> ShapedBuilder:
        """A builder where values are known, outside of as many loops as may be."""
        owners = [value.owner for value in values]
        place: Operation = self.op
        for op in self.around:
            if isinstance(op, EntryOp) or any(map(op.is_ancestor, owners)):
                break
            place = op
        return ShapedBuilder(place)

    def _add(
        self, kind: type[Operation], operands: Sequence[SSAValue], *type_: Any, **given: Any
    ) -> SSAValue:
        """The result of an op of scalars."""
        return self._before(operands).add(kind, operands, *type_, **given)

    def _value(self, polynomial: Polynomial, type_: IntegerType) -> SSAValue:
        """A sum as a scalar."""
        total: SSAValue | None = None
        order = sorted(polynomial.items(), key=lambda x: (x[0] == ONE, x[1] < 0))
        for monomial, coefficient in order:
            term: SSAValue | None = None
            for number in monomial:
                own = self._known_value(self.known.factors[number])
                assert own is not None
                own = self._before([own]).resized(own, type_, SIGNED)
                term = own if term is None else self._add(integer.MulIOp, [term, own])
            if term is None or abs(coefficient) != 1:
                by = self._before([]).constant(abs(coefficient), type_)
                term = by if term is None else self._add(integer.MulIOp, [term, by])
            if total is None and coefficient < 0:
                total = self._before([]).constant(0, type_)
            kind = integer.SubIOp if coefficient < 0 else integer.AddIOp
            total = term if total is None else self._add(kind, [total, term])
        return self._before([]).constant(0, type_) if total is None else total

    def _known_value(self, factor: Factor) -> SSAValue | None:
        """A scalar that a factor is, and that the access may use."""
        if factor not in self._values:
            self._values[factor] = self._found_value(factor)
        return self._values[factor]

    def _found_value(self, factor: Factor) -> SSAValue | None:
        for value in factor.values:
            owner = value.owner
            block = owner if isinstance(owner, Block) else owner.parent
            here = next((op for op in self.around if op.parent is block), None)
            if here is not None and (
                isinstance(owner, Block) or owner.is_before_in_block(here)
            ):  # fmt: skip
                return self._divided(value, factor.divisor)
        parts = self._factors(factor.parts)
        if not factor.is_quotient or any(self._known_value(part) is None for part in parts):
            return None
        type_ = self._type(factor.parts)
        operands = [self._value(part, type_) for part in factor.parts]
        return self._add(integer.DivIOp, operands, **SIGNED)

    def _divided(self, value: SSAValue, divisor: int) -> SSAValue:
        """A value that is known to be a multiple."""
        if divisor == 1:
            return value
        return self._add(AssumeOp, [value], predicate=DivByAttr.get(divisor))

    def _factors(self, polynomials: Iterable[Polynomial]) -> list[Factor]:
        return [
            self.known.factors[x] for sum_ in polynomials for monomial in sum_ for x in monomial
        ]

    def _type(self, polynomials: Iterable[Polynomial]) -> IntegerType:
        """The type of integers that sums are computed in, the widest of what they are of."""
        values = [value for factor in self._factors(polynomials) for value in factor.values[:1]]
        return i64 if any(element_of(value) == i64 for value in values) else i32

    # --- the access ---

    def replace(self) -> str | None:
        """Access the tile through a view; else why not."""
        dimensions = self.tile.dimensions
        sums = [self.tile.moved, *(x for d in dimensions for x in (d.start, d.stride, *d.sizes))]
        if any(self._known_value(factor) is None for factor in self._factors(sums)):
            return "where it lies is not known in front of it"
        steps = tuple(_step(dimension) for dimension in dimensions)
        starts = [
            {x: coefficient // step for x, coefficient in dimension.start.items()}
            for dimension, step in zip(dimensions, steps, strict=True)
        ]
        type_ = self._type(starts)
        index = [self._value(start, type_) for start in starts]
        view, shape = self._tensor(dimensions), tuple(dimension.extent for dimension in dimensions)
        padding = _padding(self.op) if isinstance(self.op, LoadPtrTkoOp) else None
        tensor: Any = view.type
        kind = PartitionViewType.get(shape, tensor, None, padding)
        if shape != steps:
            kind = StridedViewType.get(shape, steps, tensor, None, padding)
        self._access(self._add(MAKES[type(kind)], [view], kind), kind, index)
        return None

    def _tensor(self, dimensions: Sequence[TensorDimension]) -> SSAValue:
        """The tensor."""
        extents = [x for d in dimensions for x in (*d.sizes, d.stride)]
        type_ = self._type(extents) if all(map(is_known, extents)) else i64
        sizes = [self._size(dimension.sizes, type_) for dimension in dimensions]
        strides = [self._extent(dimension.stride, type_) for dimension in dimensions]
        moved = self.tile.moved
        base = self._divided(self.tile.base, self.known.divisors.get(self.tile.base, 1))
        if moved:
            base = self._add(core.OffsetOp, [base, self._value(moved, i64)])
        static = [
            tuple(x if isinstance(x, int) else DYNAMIC for x in own) for own in (sizes, strides)
        ]
        dynamic = [[x for x in own if isinstance(x, SSAValue)] for own in (sizes, strides)]
        pointer: Any = element_of(base)
        made = TensorViewType.get(pointer.pointee_type, *static)
        op = views.MakeTensorViewOp.build(operands=[base, *dynamic], result_types=[made])
        return self._before([base, *dynamic[0], *dynamic[1]]).insert(op).results[0]

    def _extent(self, polynomial: Polynomial, type_: IntegerType) -> int | SSAValue:
        number = polynomial.get(ONE, 0)
        return number if number and len(polynomial) == 1 else self._value(polynomial, type_)

    def _size(self, sizes: Sequence[Polynomial], type_: IntegerType) -> int | SSAValue:
        """The least of some sizes, zero at least."""
        if len(sizes) == 1 and self.known.is_natural(sizes[0]):
            return self._extent(sizes[0], type_)
        least, *others = (self._value(size, type_) for size in sizes)
        for other in others:
            least = self._add(integer.MinIOp, [least, other], **SIGNED)
        zero = self._before([]).constant(0, type_)
        return self._add(integer.MaxIOp, [least, zero], **SIGNED)

    def _access(self, view: SSAValue, type_: TileView, index: Sequence[SSAValue]) -> None:
        op, at = self.op, ShapedBuilder(self.op)
        properties: dict[str, Any] = {
            name: op.properties[name]
            for name in ("memory_ordering_semantics", "memory_scope", "optimization_hints")
            if name in op.properties
        }
        whole = tuple(dimension.is_whole for dimension in self.tile.dimensions)
        properties["inbounds"] = _flags(whole)
        attributes: dict[str, Attribute] = {} if all(whole) else {views.ANYWHERE: UnitAttr()}
        token = [] if op.token is None else [op.token]
        results: list[SSAValue]
        if isinstance(op, LoadPtrTkoOp):
            if (flag := _nan_flag(op)) is not None:
                attributes[views.NAN_FLAG] = IntegerAttr(flag, i32)
            new = at.insert(views.LoadViewTkoOp.build(
                operands=[view, index, token], result_types=[type_.tile_type, TOKEN],
                properties=properties, attributes=attributes,
            ))  # fmt: skip
            loaded, times = new.results[0], self.tile.times
            shape = [x // times.get(i, 1) for i, x in enumerate(shape_of(op.result))]
            if list(shape_of(loaded)) != shape:
                loaded = at.reshape(loaded, shape)
            for axis, number in times.items():
                loaded = at.repeated(loaded, axis, number)
            loaded.name_hint = op.result.name_hint
            results = [loaded, new.results[1]]
        else:
            tile = op.value
            if shape_of(tile) != type_.tile_shape:
                tile = at.reshape(tile, type_.tile_shape)
            new = at.insert(views.StoreViewTkoOp.build(
                operands=[tile, view, index, token], result_types=[TOKEN],
                properties=properties, attributes=attributes,
            ))  # fmt: skip
            results = list(new.results)
        Rewriter.replace_op(op, (), results)


@cache
def _flags(flags: tuple[bool, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i1, [int(flag) for flag in flags])


def _erase_unused(entry: EntryOp) -> None:
    """Erase ops without effects whose results nobody reads, last first."""
    for op in reversed(list(entry.body.walk())):
        unused = op.results and not any(result.first_use for result in op.results)
        if unused and (isinstance(op, AssumeOp) or op.has_trait(Pure)):
            Rewriter.erase_op(op)
