"""Large tiles that are folded along the dimension of their turns: a loop carries what was folded.

    x = load p; m = reduce x; store (x / m)        for i: m = reduce of (m, reduce of load p part i)
                                                   for i: store (load p part i / m)

What folds come after is computed anew in the loop behind them. A scan of a part comes after the
last element of the part before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from xdsl.dialects.builtin import IntegerAttr, i1, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cuda_tile.builder import TileBuilder
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate, Signedness
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.aggregate import Aggregate, ReduceOp, ScanOp
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp
from tilewright.dialects.cuda_tile.ops.memory import MemoryOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.passes.cuda_tile.analysis.split_dimensions import SplitTiles, UnsplitError
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_weak
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.scheduling.split_blocks import (
    check_ops,
    check_parts,
    rewrite_parts,
)


def turn_folds(entry: EntryOp, parts: int, tiles: Sequence[SSAValue]) -> bool:
    """Compute some tiles in so many parts, in loops one behind the other, if that can be."""
    split, block = SplitTiles(entry, parts, folds=True), entry.body.block
    try:
        check_ops(entry, by_turns=True)
        split.copy_cheap()
        for tile in tiles:
            if tile not in split.axes:
                shape = shape_of(tile)
                split.spread_along(tile, sorted(range(len(shape)), key=lambda i: -shape[i]))
        check_parts(split)
        backwards = _is_backwards(split)
    except UnsplitError:
        return False
    turns = _FoldTurns(split, backwards)
    rewrite_parts(split, turns.number)
    turns.rewrite(block)
    return True


def _is_backwards(split: SplitTiles) -> bool:
    """True where the last part comes first. Raises where what is computed in every loop is not the
    same each time, or scans come from both ends."""
    directions: set[bool] = set()
    for op in split.entry.body.block.ops:
        if op.regions and not isinstance(op, Aggregate):
            raise UnsplitError("a fold is beside a loop or a branch")
        if isinstance(op, MemoryOp) and op.results[1:] and not is_weak(op):
            raise UnsplitError("a load is not weak")
        if isinstance(op, ScanOp) and _is_folded(op, split):
            directions.add(bool(op.reverse.value.data))  # type: ignore[attr-defined]
    if len(directions) > 1:
        raise UnsplitError("scans come from both ends")
    return True in directions


def _is_folded(op: Operation, split: SplitTiles) -> TypeGuard[Aggregate]:
    """True of a fold along the dimension of the turns."""
    return isinstance(op, Aggregate) and split.axes.get(op.operands[0]) == _dim(op)


def _dim(op: Aggregate) -> int:
    return op.dim.value.data  # type: ignore[attr-defined]


class _FoldTurns:
    """The loops that an entry becomes: each has what its folds and stores are computed of."""

    def __init__(self, split: SplitTiles, backwards: bool) -> None:
        self.split, self.backwards = split, backwards
        self.made = {value.owner for value in split.axes}
        self.folds = [op for op in split.entry.body.block.ops if _is_folded(op, split)]
        self.ends = {op for op in self.folds if isinstance(op, ReduceOp)}
        """The folds whose results are those of all turns."""
        self.number: SSAValue = Block(arg_types=[TileType.get((), i32)]).args[0]

    def rewrite(self, block: Block) -> None:
        """Rewrite a block whose tiles are parts of the number's."""
        inner, levels = {self.number}, dict[Operation, int]()
        inside: list[Operation] = []
        *ops, last = block.ops
        for op in ops:
            made = [value.owner for value in op.operands if isinstance(value.owner, Operation)]
            levels[op] = max((levels[x] + (x in self.ends) for x in made), default=0)
            if not inner.isdisjoint(op.operands) or op in self.made:
                inside.append(op)
                if op not in self.ends:
                    inner.update(op.results)
        for level in range(max(levels.values()) + 1):
            for op in ops:
                if levels[op] == level and op not in inside:
                    op.detach()
                    block.insert_op_before(op, last)
            needed = {op for op in inside if levels[op] == level and self._is_root(op)}
            for op in reversed(inside):
                if op in needed:
                    needed.update(x.owner for x in op.operands if x.owner in inside)  # type: ignore[misc]
            if needed:
                self._loop([op for op in inside if op in needed], last)
        for op in reversed(inside):
            Rewriter.erase_op(op, safe_erase=False)

    def _is_root(self, op: Operation) -> bool:
        """True of a fold that ends a loop, and of what is done for its effect."""
        return op in self.ends or len(op.results) == isinstance(op, MemoryOp)

    def _loop(self, ops: Sequence[Operation], last: Operation) -> None:
        """A loop over parts in front of an op."""
        at, backwards = TileBuilder(last), self.backwards
        folds = [op for op in self.folds if op in ops]
        initial = [value for op in folds for value in self._initial(op, at)]
        scalar = TileType.get((), i32)
        body = Block(arg_types=[scalar, *(value.type for value in initial)])
        count, *carried = body.args
        body.add_op(end := ContinueOp.create(operands=[]))
        inner = TileBuilder(last, InsertPoint.before(end))
        number: SSAValue = count
        if backwards:
            top = inner.constant(self.split.parts - 1, i32)
            number = inner.add(integer.SubIOp, [top, count])
        values, passed = {self.number: number}, list[SSAValue]()
        for op in ops:
            new = inner.insert(op.clone(values))
            if op in folds:
                before = carried[len(passed) : len(passed) + len(op.results)]
                passed += self._folded(op, new, before, count, values, inner)  # type: ignore[arg-type]
        end.operands = passed
        bounds = [at.constant(x, i32) for x in (0, self.split.parts, 1)]
        types = [value.type for value in initial]
        loop = at.insert(ForOp.create(
            operands=[*bounds, *initial], result_types=types, regions=[Region(body)]
        ))  # fmt: skip
        results = iter(loop.results)
        for op in folds:
            for old, new in zip(op.results, results, strict=False):
                if isinstance(op, ReduceOp):
                    old.replace_all_uses_with(new)

    def _initial(self, op: Aggregate, at: TileBuilder) -> list[SSAValue]:
        """The values that a fold carries first: of a scan the identities."""
        if isinstance(op, ReduceOp):
            return [at.constant(0, result.type) for result in op.results]
        identities: Any = op.properties["identities"]
        initial: list[SSAValue] = []
        for identity, result in zip(identities, op.results, strict=True):
            number, row = identity.value.data, _row(result, op, 1)
            # True is -1.
            initial.append(at.constant(abs(number) if row.element_type == i1 else number, row))
        return initial

    def _folded(
        self, op: Aggregate, new: Operation, before: Sequence[SSAValue], count: SSAValue,
        values: dict[SSAValue, SSAValue], at: TileBuilder,
    ) -> list[SSAValue]:  # fmt: skip
        """The values that a fold of a part hands on; results of a scan follow the parts before."""
        if isinstance(op, ReduceOp):
            pair = (new.results, before) if self.backwards else (before, new.results)
            first = at.add(
                integer.CmpIOp, [count, at.constant(0, i32)], TileType.get((), i1),
                comparison_predicate=ComparisonPredicate.EQUAL, signedness=Signedness.SIGNED,
            )  # fmt: skip
            results = zip(new.results, _combined(op, *pair, at), strict=True)
            return [_chosen(first, own, both, at) for own, both in results]
        wide = [
            at.add(core.BroadcastOp, [x], y.type) for x, y in zip(before, new.results, strict=True)
        ]
        results = _combined(op, wide, new.results, at)
        values.update(zip(op.results, results, strict=True))
        dim, zero = _dim(op), at.constant(0, i32)
        far = 0 if self.backwards else shape_of(results[0])[dim] - 1
        place = at.constant(far, i32)
        index = [place if i == dim else zero for i in range(len(shape_of(results[0])))]
        return [at.add(core.ExtractOp, [x, *index], _row(x, op, 1)) for x in results]


def _row(value: SSAValue, op: Aggregate, extent: int) -> TileType:
    """The type of a tile of another extent along the dimension of a fold."""
    shape = tuple(extent if i == _dim(op) else x for i, x in enumerate(shape_of(value)))
    return TileType.get(shape, element_of(value))


def _combined(
    op: Aggregate, earlier: Sequence[SSAValue], later: Sequence[SSAValue], at: TileBuilder
) -> Sequence[SSAValue]:
    """The values of a fold's region for the elements of tiles, and of tiles that come later."""
    pairs: list[SSAValue] = []
    for halves in zip(earlier, later, strict=True):
        shape, element = shape_of(halves[0]), element_of(halves[0])
        one, two = (TileType.get((count, *shape), element) for count in (1, 2))
        parts = [at.add(core.ReshapeOp, [half], one) for half in halves]
        pairs.append(at.add(core.CatOp, parts, two, dim=IntegerAttr(0, 64)))
    properties = {"dim": IntegerAttr(0, 32), "identities": op.properties["identities"]}
    return at.insert(ReduceOp.create(
        operands=pairs, result_types=[value.type for value in later], properties=properties,
        regions=[op.regions[0].clone()],
    )).results  # fmt: skip


def _chosen(first: SSAValue, own: SSAValue, both: SSAValue, at: TileBuilder) -> SSAValue:
    """A tile of the first turn, or of the others."""
    shape = shape_of(own)
    if shape:
        ones = TileType.get((1,) * len(shape), i1)
        first = at.add(core.ReshapeOp, [first], ones)
        first = at.add(core.BroadcastOp, [first], TileType.get(shape, i1))
    return at.add(core.SelectOp, [first, own, both], own.type)
