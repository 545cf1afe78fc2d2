"""Tile blocks that a cluster of CTAs computes, as `num_cta_in_cga` hints: each CTA has its part of
every tile that has to do with a product, along one dimension.

    mmaf : tile<256x64>, tile<64x128>, tile<256x128>       of two CTAs, each
    mmaf : tile<128x64>, tile<64x128>, tile<128x128>       B is what both need

What a dimension of one tile says of the others follows from the ops between them: `relations` lists
what the dimensions of an op's tiles run along. A kernel stays whole where a tile would be split
along what is summed up or put in order, where both CTAs would store the same, or one would read
what the other one writes. The rewritten entry is Tile IR: with a grid of so many times the blocks
along x, one for each CTA, it computes the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cuda_tile.attributes import SignednessAttr
from tilewright.dialects.cuda_tile.elements import ElementsAttr, dtype_of
from tilewright.dialects.cuda_tile.enums import Signedness
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp, ScanOp
from tilewright.dialects.cuda_tile.ops.control_flow import (
    AssertOp,
    BreakOp,
    ContinueOp,
    ForOp,
    IfOp,
    LoopOp,
    ReturnOp,
    YieldOp,
)
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp, TruncIOp
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaIOp
from tilewright.dialects.cuda_tile.ops.memory import (
    JoinTokensOp,
    LoadPtrTkoOp,
    MakeTokenOp,
    StorePtrTkoOp,
)
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.dialects.cuda_tile.ops.views import (
    GetIndexSpaceShapeOp,
    GetTensorShapeOp,
    LoadViewTkoOp,
    MakePartitionViewOp,
    StoreViewTkoOp,
)
from tilewright.dialects.cuda_tile.types import PartitionViewType, TileType
from tilewright.dialects.cute_nvgpu.lattice.targets import Target, target
from tilewright.lowering.cuda_tile.analysis.find_pipelines import SharedBlocks
from tilewright.lowering.cuda_tile.analysis.hints import hint
from tilewright.lowering.cuda_tile.analysis.remarks import remark
from tilewright.lowering.cuda_tile.analysis.tensor_maps import is_weak, reads_only
from tilewright.lowering.cuda_tile.analysis.view_access import tensor_of
from tilewright.lowering.cuda_tile.layouts.elements import element_of, shape_of, tile_type
from tilewright.lowering.cuda_tile.layouts.layouts import dim_bits, log2

_CLUSTERS = target("sm_90")
_MOST = 8
"""The CTAs of a cluster that every GPU runs."""
_ROWS, _TALL = 64, 128
"""The rows of a CTA's part at least, and from which on rows are split rather than columns."""

Labels = Sequence[object]
"""What each dimension of a tile runs along; None of one that is not split."""
Relation = list[tuple[SSAValue, Labels]]


class _RefusedError(Exception):
    """Why a kernel is not split."""


def split_blocks(entry: EntryOp, arch: Target | None) -> SharedBlocks:
    """Split the tile block of an entry as it hints; what there is to know of it."""
    ctas = hint(entry, "num_cta_in_cga", arch) or 1
    if ctas == 1:
        return SharedBlocks()
    try:
        if arch is None or not arch.supports(_CLUSTERS) or ctas > _MOST:
            raise _RefusedError(f"the target has no clusters of {ctas}")
        split = _Split(entry, ctas)
    except _RefusedError as why:
        remark(entry, "hint", f"num_cta_in_cga = {ctas} is not honoured: {why}")
        return SharedBlocks()
    return split.rewritten()


# --- what dimensions run along ---


def relations(op: Operation) -> Iterator[Relation]:
    """What the dimensions of the tiles of an op run along: of those that are the same, either all
    are split or none."""
    match op:
        case MmaFOp() | MmaIOp():
            yield [
                (value, [None if mode == "k" else mode for mode in modes[-len(shape_of(value)) :]])
                for value, modes in (
                    (op.lhs, "bmk"), (op.rhs, "bkn"), (op.acc, "bmn"), (op.results[0], "bmn")
                )
            ]  # fmt: skip
        case ReduceOp() | ScanOp():
            along: list[object] = [*range(tile_type(op.operands[0]).rank)]
            dim = op.dim.value.data  # pyright: ignore
            left = [i for i in along if i != dim]
            along[dim] = None
            results = left if isinstance(op, ReduceOp) else along
            yield [*((x, along) for x in op.operands), *((x, results) for x in op.results)]
        case core.PermuteOp():
            order: Any = op.permutation
            yield [(op.source, range(tile_type(op.source).rank)), (op.result, order.get_values())]
        case core.BroadcastOp():
            shapes = zip(shape_of(op.source), shape_of(op.result), strict=True)
            own = [i if extent == wide else None for i, (extent, wide) in enumerate(shapes)]
            yield [(op.source, own), (op.result, range(len(own)))]
        case core.ReshapeOp():
            yield [
                (value, [bits.stop if bits else None for bits in dim_bits(shape_of(value))])
                for value in (op.source, op.result)
            ]
        case ForOp() | LoopOp() | IfOp():
            yield from _carried(op)
        case LoadViewTkoOp() | StoreViewTkoOp():
            cut = isinstance(op.view_type, PartitionViewType)
            yield [(op.tile, range(tile_type(op.tile).rank) if cut else [None] * 9)]
        case core.ConstantOp():
            yield [(op.result, [0, 1, 2, 3, 4, 5, 6, 7] if op.elements.is_splat else [None] * 8)]
        case _:
            yield from _alike(op)


def _alike(op: Operation) -> Iterator[Relation]:
    """The relation of an op on elements; of what is none nothing is split."""
    tiles = [x for x in (*op.operands, *op.results) if isinstance(x.type, TileType)]
    pointwise = isinstance(op, PureOp | AssumeOp | LoadPtrTkoOp | StorePtrTkoOp | AssertOp)
    same = len({shape_of(tile) for tile in tiles}) == 1 and not isinstance(op, core.PackOp)
    for tile in tiles:
        if not (pointwise and same):
            yield [(tile, [None] * tile_type(tile).rank)]
    if pointwise and same:
        yield [(tile, range(tile_type(tile).rank)) for tile in tiles]


def _carried(op: ForOp | LoopOp | IfOp) -> Iterator[Relation]:
    """What regions pass on."""
    ends = [inner for inner in op.walk() if _leaves(inner) is op]
    again = [end for end in ends if isinstance(end, ContinueOp)]
    left = [end for end in ends if not isinstance(end, ContinueOp)]
    columns: list[list[SSAValue]] = []
    if not isinstance(op, IfOp):
        first = len(op.region.block.args) - len(op.init_values)
        for i, initial in enumerate(op.init_values):
            columns.append([initial, op.region.block.args[first + i]])
            columns[-1] += [end.operands[i] for end in again]
            if isinstance(op, ForOp):
                columns[-1].append(op.results[i])
    if not isinstance(op, ForOp):
        columns += [[x, *(end.operands[i] for end in left)] for i, x in enumerate(op.results)]
    for column in columns:
        if isinstance(column[0].type, TileType):
            yield [(value, range(tile_type(value).rank)) for value in column]


def _leaves(op: Operation) -> Operation | None:
    """The loop or the branch that a terminator passes values to."""
    holder = op.parent_op()
    if isinstance(op, ContinueOp | BreakOp):
        while not isinstance(holder, ForOp | LoopOp):
            assert holder is not None
            holder = holder.parent_op()
        return holder
    return holder if isinstance(op, YieldOp) and isinstance(holder, IfOp) else None


# --- the split ---

_KNOWN = (
    PureOp, AssumeOp, ReduceOp, ScanOp, ForOp, LoopOp, IfOp, LoadViewTkoOp, StoreViewTkoOp, LoadPtrTkoOp,
    StorePtrTkoOp, AssertOp, BreakOp, ContinueOp, YieldOp, ReturnOp, EntryOp, GetIndexSpaceShapeOp,
    GetTensorShapeOp,
)  # fmt: skip


@dataclass
class _Split:
    """The tiles of an entry that are split between so many CTAs, and along which dimension."""

    entry: EntryOp
    ctas: int
    axes: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    whole: set[SSAValue] = field(default_factory=set[SSAValue])

    def __post_init__(self) -> None:
        self._check_ops()
        self._copy_cheap()
        products = [op for op in self.entry.walk() if isinstance(op, MmaFOp | MmaIOp)]
        if not products:
            raise _RefusedError("the kernel multiplies no matrices")
        for op in products:
            result = op.results[0]
            if result not in self.axes:
                self._spread(result, self._axis(result))
        for op in self.entry.walk():
            if isinstance(op, StoreViewTkoOp | StorePtrTkoOp):
                stored = op.tile if isinstance(op, StoreViewTkoOp) else op.value
                if stored not in self.axes:
                    raise _RefusedError("each CTA would store the same")

    def _check_ops(self) -> None:
        """Raise where CTAs would do twice what is to be done once, or would need an order."""
        stores = False
        for op in self.entry.walk():
            if not isinstance(op, _KNOWN):
                raise _RefusedError(f"'{op.name}' is for one CTA")
            if isinstance(op, StoreViewTkoOp | StorePtrTkoOp):
                stores = True
                if not is_weak(op) or not _follows_itself(op.token, op, set()):
                    raise _RefusedError("a store comes after another access, or is not weak")
        for op in self.entry.walk():
            if isinstance(op, LoadViewTkoOp | LoadPtrTkoOp) and stores and (
                not is_weak(op) or not reads_only(op.token)
            ):  # fmt: skip
                raise _RefusedError("a load comes after a write, or is not weak")

    def _copy_cheap(self) -> None:
        """Let what is cheap to make have one reader each, which may have all of it or a part."""
        for op in reversed([op for op in self.entry.walk() if _is_cheap(op)]):
            for use in list(op.results[0].uses)[1:]:
                copy = op.clone()
                Rewriter.insert_op(copy, InsertPoint.before(op))
                use.operation.operands[use.index] = copy.results[0]

    def _axis(self, product: SSAValue) -> int:
        """Rows are split where enough are left to each CTA, else columns."""
        *_, rows, columns = shape_of(product)
        axis = tile_type(product).rank - 2
        if rows >= _TALL * self.ctas or columns < _ROWS * self.ctas <= rows:
            return axis
        if columns < _ROWS * self.ctas:
            raise _RefusedError(f"a product of {rows}x{columns} is too small")
        return axis + 1

    def _spread(self, value: SSAValue, axis: int) -> None:
        """Split a tile along a dimension, and all that follows from that."""
        waiting = [value]
        self._set(value, axis)
        while waiting:
            value = waiting.pop()
            for op in _around(value):
                for relation in relations(op):
                    if any(tile is value for tile, _ in relation):
                        waiting += self._follow(op, relation)

    def _follow(self, op: Operation, relation: Relation) -> list[SSAValue]:
        """The tiles that are split because others of an op are."""
        labels = {along[self.axes[tile]] for tile, along in relation if tile in self.axes}
        (label, *others) = labels
        if label is None or others:
            raise _RefusedError(f"'{op.name}' needs all of a tile")
        new: list[SSAValue] = []
        for tile, along in relation:
            if label not in along:
                if tile in self.axes:
                    raise _RefusedError(f"'{op.name}' needs all of a tile")
                self.whole.add(tile)
            elif tile not in self.axes:
                self._set(tile, list(along).index(label))
                new.append(tile)
        return new

    def _set(self, value: SSAValue, axis: int) -> None:
        if value in self.whole or shape_of(value)[axis] < self.ctas:
            raise _RefusedError("a tile is needed whole and in parts")
        self.axes[value] = axis

    # --- rewriting ---

    def rewritten(self) -> SharedBlocks:
        """Rewrite the entry."""
        number = self._number()
        parts: set[Operation] = set()
        for op in list(self.entry.walk()):
            if isinstance(op, LoadViewTkoOp | StoreViewTkoOp) and op.tile in self.axes:
                self._access(op, number)
                parts.add(op)
            elif isinstance(op, core.IotaOp) and op.result in self.axes:
                self._count(op, number)
        for value, axis in self.axes.items():
            made = value.owner
            type_ = TileType.get(self._part(shape_of(value), axis), element_of(value))
            if isinstance(made, core.ConstantOp):
                made.properties["value"] = ElementsAttr(type_, made.elements.data)
            if isinstance(made, AssumeOp):
                value.replace_all_uses_with(made.value)
                continue
            Rewriter.replace_value_with_new_type(value, type_)
        return SharedBlocks(self.ctas, frozenset(parts))

    def _part(self, shape: Sequence[int], axis: int) -> tuple[int, ...]:
        return tuple(x // self.ctas if i == axis else x for i, x in enumerate(shape))

    def _number(self) -> SSAValue:
        """The number of the CTA among those of its block; blocks are numbered without it."""
        block = self.entry.body.block
        for op in list(self.entry.walk()):
            if isinstance(op, core.GetTileBlockIdOp | core.GetNumTileBlocksOp):
                after = _Place(InsertPoint.after(op), op)
                uses = list(op.results[0].uses)
                by = after.constant(log2(self.ctas), i32)
                own = after.binary(integer.ShRIOp, op.results[0], by)
                for use in uses:
                    use.operation.operands[use.index] = own
        at = _Place(InsertPoint.at_start(block), self.entry)
        scalar = TileType.get((), i32)
        ids = core.GetTileBlockIdOp.create(result_types=[scalar] * 3)
        cta = at.add(ids)
        return at.binary(integer.AndIOp, cta, at.constant(self.ctas - 1, i32))

    def _access(self, op: LoadViewTkoOp | StoreViewTkoOp, number: SSAValue) -> None:
        """Access the part of a tile: the tile of a view of such parts."""
        axis, view, at = self.axes[op.tile], op.view_type, _Place(InsertPoint.before(op), op)
        assert isinstance(view, PartitionViewType)
        shape = self._part(view.tile_shape, axis)
        type_ = PartitionViewType.get(shape, view.tensor_view, view.dim_map, view.padding_value)
        tensor = tensor_of(op.view).result
        parts = at.add(MakePartitionViewOp.create(operands=[tensor], result_types=[type_]))
        index = op.index[axis]
        element = tile_type(index).element_type
        first = at.binary(integer.MulIOp, index, at.constant(self.ctas, element))
        own = at.binary(integer.AddIOp, first, at.resized(number, element))
        for old, new in ((op.view, parts), (index, own)):
            place = list(op.operands).index(old)
            if old is index:
                place = list(op.operands).index(op.index[0]) + axis
            op.operands[place] = new

    def _count(self, op: core.IotaOp, number: SSAValue) -> None:
        """Let an `iota` begin where the part does."""
        type_ = tile_type(op.result)
        shape, at = self._part(type_.shape, 0), _Place(InsertPoint.after(op), op)
        uses, element = list(op.result.uses), type_.element_type
        first = at.resized(number, element)
        first = at.binary(integer.MulIOp, first, at.constant(shape[0], element))
        for kind, wide in ((core.ReshapeOp, (1,)), (core.BroadcastOp, shape)):
            result = [TileType.get(wide, element)]
            first = at.add(kind.create(operands=[first], result_types=result))
        total = at.binary(integer.AddIOp, op.result, first, TileType.get(shape, element))
        for use in uses:
            use.operation.operands[use.index] = total


def _around(value: SSAValue) -> Iterator[Operation]:
    """The ops that have to do with a tile."""
    if isinstance(value, BlockArgument):
        holder = value.block.parent_op()
        assert holder is not None
        yield holder
    else:
        yield value.owner  # type: ignore[misc]
    for use in value.uses:
        holder = _leaves(use.operation)
        yield use.operation if holder is None else holder


def _is_cheap(op: Operation) -> bool:
    """True of what is as well computed twice."""
    if isinstance(op, core.BroadcastOp | core.ReshapeOp):
        owner = op.source.owner
        return not shape_of(op.source) or (isinstance(owner, Operation) and _is_cheap(owner))
    return isinstance(op, core.ConstantOp | core.IotaOp)


def _follows_itself(token: SSAValue | None, store: Operation, seen: set[SSAValue]) -> bool:
    """True where nothing but loads, and a store itself in an earlier turn of a loop, is before a
    token: the parts of its tiles that a CTA stores are the same each time."""
    if token is None or token in seen:
        return True
    seen.add(token)
    if isinstance(token, BlockArgument):
        return all(
            _follows_itself(value, store, seen)
            for column in _tokens(token.block.parent_op()) if token in column for value in column
        )  # fmt: skip
    owner = token.owner
    match owner:
        case MakeTokenOp():
            return True
        case JoinTokensOp():
            return all(_follows_itself(one, store, seen) for one in owner.tokens)
        case LoadViewTkoOp() | LoadPtrTkoOp():
            return _follows_itself(owner.token, store, seen)
        case StoreViewTkoOp():
            return owner is store and _follows_itself(owner.token, store, seen)
        case ForOp() | LoopOp() | IfOp():
            return all(
                _follows_itself(value, store, seen)
                for column in _tokens(owner) if token in column for value in column
            )  # fmt: skip
        case _:
            return False


def _tokens(op: Operation | None) -> Iterator[list[SSAValue]]:
    """The tokens that a loop over a range passes on."""
    if not isinstance(op, ForOp):
        yield from ()
        return
    first = len(op.region.block.args) - len(op.init_values)
    ends = [inner for inner in op.walk() if _leaves(inner) is op]
    for i, initial in enumerate(op.init_values):
        yield [initial, op.region.block.args[first + i], op.results[i],
               *(end.operands[i] for end in ends)]  # fmt: skip


class _Place:
    """Where ops of Tile IR are inserted, one after the other."""

    def __init__(self, point: InsertPoint, like: Operation) -> None:
        self._point, self._location = point, like.location

    def add(self, op: Operation) -> SSAValue:
        """The first result of an op."""
        op.location = self._location
        Rewriter.insert_op(op, self._point)
        self._point = InsertPoint.after(op)
        return op.results[0]

    def constant(self, number: int, element: Attribute) -> SSAValue:
        """A scalar."""
        type_ = TileType.get((), element)
        value = ElementsAttr.of_array(type_, np.array(number, dtype_of(element)))
        return self.add(core.ConstantOp.create(properties={"value": value}, result_types=[type_]))

    def binary(
        self, kind: type[Operation], a: SSAValue, b: SSAValue, type_: Attribute | None = None
    ) -> SSAValue:  # fmt: skip
        """The result of an op on integers."""
        given: dict[str, Attribute] = {}
        if kind is integer.ShRIOp:
            given["signedness"] = SignednessAttr(Signedness.UNSIGNED)
        types = [type_ or a.type]
        return self.add(kind.create(operands=[a, b], result_types=types, properties=given))

    def resized(self, value: SSAValue, element: Attribute) -> SSAValue:
        """An i32 that is not negative, as an integer of another type."""
        if element == i32:
            return value
        narrow = element.bitwidth < 32  # type: ignore[attr-defined]
        given = {} if narrow else {"signedness": SignednessAttr(Signedness.UNSIGNED)}
        kind = TruncIOp if narrow else ExtIOp
        type_ = TileType.get((), element)
        return self.add(kind.create(operands=[value], result_types=[type_], properties=given))
