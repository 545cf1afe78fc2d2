"""Which tiles are split along which dimension where one is: parts of a tile block.

    mmaf : tile<256x64>, tile<64x128>, tile<256x128>       in two parts, each
    mmaf : tile<128x64>, tile<64x128>, tile<128x128>       B is what both need

What a dimension of one tile says of the others follows from the ops between them: `relations` lists
what the dimensions of an op's tiles run along. Nothing is split along what is summed up or put in
order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp, ScanOp
from tilewright.dialects.cuda_tile.ops.control_flow import (
    AssertOp,
    ForOp,
    IfOp,
    LoopOp,
)
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaFScaledOp, MmaIOp
from tilewright.dialects.cuda_tile.ops.memory import MemoryOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.dialects.cuda_tile.ops.views import (
    AtomicRedViewTkoOp,
    LoadViewTkoOp,
    StoreViewTkoOp,
)
from tilewright.dialects.cuda_tile.types import GatherScatterViewType, TileType
from tilewright.dialects.frozen import factory
from tilewright.dialects.insertion import insert_before
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of, tile_type
from tilewright.passes.cuda_tile.layouts.layouts import dim_bits
from tilewright.passes.cuda_tile.layouts.passed_values import passed_on, region_of

Labels = Sequence[object]
"""The groups that the dimensions of a tile run along; None of one that is not split."""
Relation = list[tuple[SSAValue, Labels]]


class UnsplitError(Exception):
    """Why a kernel is not split."""


@dataclass
class SplitTiles:
    """The tiles of an entry that are split into so many parts, and along which dimension."""

    entry: EntryOp
    parts: int
    folds: bool = False
    """Tiles are split along what is folded, too."""
    axes: dict[SSAValue, int] = factory(dict)
    whole: set[SSAValue] = factory(set)

    def type_of(self, value: SSAValue) -> TileType:
        """The type of a part of a tile."""
        axis = self.axes[value]
        shape = [x // self.parts if i == axis else x for i, x in enumerate(shape_of(value))]
        return TileType.get(tuple(shape), element_of(value))

    def copy_cheap(self) -> None:
        """Let what is cheap to make have one reader each, which may have all of it or a part."""
        for op in reversed([op for op in self.entry.walk() if _is_cheap(op)]):
            for use in list(op.results[0].uses)[1:]:
                copy = op.clone()
                insert_before(copy, op)
                use.operation.operands[use.index] = copy.results[0]

    def spread(self, value: SSAValue, axis: int) -> None:
        """Split a tile along a dimension, and all that follows from that."""
        waiting = [value]
        self._set(value, axis)
        while waiting:
            value = waiting.pop()
            for op in around(value):
                for relation in relations(op, folds=self.folds):
                    if any(tile is value for tile, _ in relation):
                        waiting += self._follow(op, relation)

    def spread_along(self, value: SSAValue, axes: Sequence[int]) -> None:
        """Split a tile along the first of some dimensions along which it can be."""
        why = UnsplitError("a scalar has no parts")
        for axis in axes:
            before = dict(self.axes), set(self.whole)
            try:
                return self.spread(value, axis)
            except UnsplitError as error:
                (self.axes, self.whole), why = before, error
        raise why

    def _follow(self, op: Operation, relation: Relation) -> list[SSAValue]:
        """The tiles that are split because others of an op are."""
        labels = {along[self.axes[tile]] for tile, along in relation if tile in self.axes}
        (label, *others) = labels
        if label is None or others:
            raise UnsplitError(f"'{op.name}' needs all of a tile")
        new: list[SSAValue] = []
        for tile, along in relation:
            if label not in along:
                if tile in self.axes:
                    raise UnsplitError(f"'{op.name}' needs all of a tile")
                self.whole.add(tile)
            elif tile not in self.axes:
                self._set(tile, list(along).index(label))
                new.append(tile)
        return new

    def _set(self, value: SSAValue, axis: int) -> None:
        if value in self.whole or shape_of(value)[axis] < self.parts:
            raise UnsplitError("a tile is needed whole and in parts")
        self.axes[value] = axis


# --- what dimensions run along ---


def relations(op: Operation, *, folds: bool = False) -> Iterator[Relation]:
    """The dimensions that tiles of an op run along: of those that are the same, either all
    are split or none. What is folded may be split where `folds` are of parts."""
    match op:
        case MmaFOp() | MmaIOp() | MmaFScaledOp():
            tiles = [op.lhs, op.rhs, op.acc, *op.operands[3:], op.results[0]]
            modes = ["bmk", "bkn", "bmn", *("bmk", "bkn")[: len(tiles) - 4], "bmn"]
            yield [
                (value, [None if mode == "k" else mode for mode in own[-len(shape_of(value)) :]])
                for value, own in zip(tiles, modes, strict=True)
            ]
        case ReduceOp() | ScanOp() | core.CatOp():
            along: list[object] = [*range(tile_type(op.operands[0]).rank)]
            dim = op.dim.value.data  # pyright: ignore
            left = [i for i in along if i != dim]
            along[dim] = "folded" if folds and not isinstance(op, core.CatOp) else None
            results = left if isinstance(op, ReduceOp) else along
            yield [*((x, along) for x in op.operands), *((x, results) for x in op.results)]
        case core.PackOp() | core.UnpackOp():
            yield [(op.source, [0]), (op.result, [0])]
        case core.PermuteOp():
            order: Any = op.permutation
            yield [(op.source, range(tile_type(op.source).rank)), (op.result, order.get_values())]
        case core.BroadcastOp() | core.ExtractOp():
            shapes = zip(shape_of(op.source), shape_of(op.result), strict=True)
            own = [i if extent == other else None for i, (extent, other) in enumerate(shapes)]
            extracts = isinstance(op, core.ExtractOp)
            yield [(op.source, own), (op.result, own if extracts else range(len(own)))]
        case core.ReshapeOp():
            # A dimension is that of the other tile where both begin with the same bit.
            ends = [[bits.stop if bits else None for bits in dim_bits(shape_of(value))]
                    for value in (op.source, op.result)]  # fmt: skip
            shared = [[end if end in other else None for end in own]
                      for own, other in (ends, reversed(ends))]  # fmt: skip
            yield [(op.source, shared[0]), (op.result, shared[1])]
        case ForOp() | LoopOp() | IfOp():
            for column in passed_on(op):
                if isinstance(column[0].type, TileType):
                    yield [(value, range(tile_type(value).rank)) for value in column]
        case LoadViewTkoOp() | StoreViewTkoOp() | AtomicRedViewTkoOp():
            rows: Relation = []
            if isinstance(view := op.view_type, GatherScatterViewType):
                rows = [(op.index[view.sparse_dim], [view.sparse_dim])]
            yield [(op.accessed, range(tile_type(op.accessed).rank)), *rows]
        case core.ConstantOp():
            yield [(op.result, [0, 1, 2, 3, 4, 5, 6, 7] if op.elements.is_splat else [None] * 8)]
        case _:
            yield from _alike(op)


def _alike(op: Operation) -> Iterator[Relation]:
    """The relation of an op on elements; tiles of other ops are not split."""
    tiles = [x for x in (*op.operands, *op.results) if isinstance(x.type, TileType)]
    pointwise = isinstance(op, PureOp | AssumeOp | MemoryOp | AssertOp)
    same = len({shape_of(tile) for tile in tiles}) == 1
    for tile in tiles:
        if not (pointwise and same):
            yield [(tile, [None] * tile_type(tile).rank)]
    if pointwise and same:
        yield [(tile, range(tile_type(tile).rank)) for tile in tiles]


def around(value: SSAValue) -> Iterator[Operation]:
    """The ops that have to do with a tile."""
    if isinstance(value, BlockArgument):
        holder = value.block.parent_op()
        assert holder is not None
        yield holder
    else:
        yield value.owner  # type: ignore[misc]
    for use in value.uses:
        holder = region_of(use.operation)
        yield use.operation if holder is None else holder


def _is_cheap(op: Operation) -> bool:
    """True of an op that is as well computed twice."""
    if isinstance(op, core.BroadcastOp | core.ReshapeOp):
        owner = op.source.owner
        return not shape_of(op.source) or (isinstance(owner, Operation) and _is_cheap(owner))
    return isinstance(op, core.ConstantOp | core.IotaOp)
