"""Large tiles that are strip-mined along the dimension in which they are folded: a loop carries
what was folded.

    x = load p; m = reduce x; store (x / m)        for i: m = reduce of (m, reduce of load p part i)
                                                   for i: store (load p part i / m)

What folds come after is computed anew in the loop behind them. A scan of a part comes after the
last element of the part before.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeGuard

from xdsl.dialects.builtin import IntegerAttr, i1, i32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.ancestors import makers
from tilewright.dialects.cuda_tile.ops import integer
from tilewright.dialects.cuda_tile.ops.aggregate import Aggregate, ReduceOp, ScanOp
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp
from tilewright.dialects.cuda_tile.ops.memory import MemoryOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.passes.cuda_tile.analysis.split_dimensions import SplitTiles, UnsplitError
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_weak
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.legalization.shaped_builder import (
    EQUAL,
    INDEX,
    SIGNED,
    ShapedBuilder,
)
from tilewright.passes.cuda_tile.scheduling.split_entries import (
    rewrite_parts,
    split_entry,
    spread_longest,
)


def strip_mine_folds(entry: EntryOp, parts: int, tiles: Sequence[SSAValue]) -> None:
    """Compute some tiles in so many parts, in loops one behind the other, if that can be."""
    try:
        spread = partial(spread_longest, tiles=tiles)
        split = split_entry(entry, parts, spread, in_loops=True, folds=True)
        loops = _FoldLoops(split, _is_backwards(split))
    except UnsplitError:
        return
    rewrite_parts(split, loops.number)
    loops.rewrite(entry.body.block)


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
    """True of a fold along the dimension of the parts."""
    return isinstance(op, Aggregate) and split.axes.get(op.operands[0]) == _dim(op)


def _dim(op: Aggregate) -> int:
    return op.dim.value.data  # type: ignore[attr-defined]


class _FoldLoops:
    """The loops that an entry becomes: each has what its folds and stores are computed of."""

    def __init__(self, split: SplitTiles, backwards: bool):
        self.split, self.backwards = split, backwards
        self.made = {value.owner for value in split.axes}
        self.folds = [op for op in split.entry.body.block.ops if _is_folded(op, split)]
        self.ends = {op for op in self.folds if isinstance(op, ReduceOp)}
        """The folds whose results are those of all iterations."""
        self.number: SSAValue = Block(arg_types=[INDEX]).args[0]

    def rewrite(self, block: Block) -> None:
        """Rewrite a block whose tiles are parts of the number's."""
        inner, levels = {self.number}, dict[Operation, int]()
        inside: list[Operation] = []
        *ops, last = block.ops
        for op in ops:
            made = makers(op)
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
        """True of a fold that ends a loop, and of an op that has an effect."""
        return op in self.ends or len(op.results) == isinstance(op, MemoryOp)

    def _loop(self, ops: Sequence[Operation], last: Operation) -> None:
        """A loop over parts in front of an op."""
        at = ShapedBuilder(last)
        folds = [op for op in self.folds if op in ops]
        initial = [value for op in folds for value in self._initial(op, at)]
        body = Block(arg_types=[INDEX, *(value.type for value in initial)])
        count, *carried = body.args
        body.add_op(end := ContinueOp.create(operands=[]))
        inner = ShapedBuilder(last, InsertPoint.before(end))
        number: SSAValue = count
        if self.backwards:
            top = inner.constant(self.split.parts - 1, i32)
            number = inner.add(integer.SubIOp, [top, count])
        values, passed = {self.number: number}, list[SSAValue]()
        for op in ops:
            new = inner.insert(op.clone(values))
            if op in folds:
                before = carried[len(passed) : len(passed) + len(op.results)]
                passed += self._folded(op, new, before, count, values, inner)  # type: ignore[arg-type]
        end.operands = passed
        results = iter(at.loop(self.split.parts, body, initial).results)
        for op in folds:
            for old, new in zip(op.results, results, strict=False):
                if isinstance(op, ReduceOp):
                    old.replace_all_uses_with(new)

    def _initial(self, op: Aggregate, at: ShapedBuilder) -> list[SSAValue]:
        """The values that a fold carries first; a scan carries the identities."""
        if isinstance(op, ReduceOp):
            return [at.constant(0, result.type) for result in op.results]
        identities: Any = op.properties["identities"]
        initial: list[SSAValue] = []
        for identity, result in zip(identities, op.results, strict=True):
            shape = [1 if i == _dim(op) else x for i, x in enumerate(shape_of(result))]
            number, row = identity.value.data, TileType.get(tuple(shape), element_of(result))
            # True is -1.
            initial.append(at.constant(abs(number) if row.element_type == i1 else number, row))
        return initial

    def _folded(
        self, op: Aggregate, new: Operation, before: Sequence[SSAValue], count: SSAValue,
        values: dict[SSAValue, SSAValue], at: ShapedBuilder,
    ) -> list[SSAValue]:  # fmt: skip
        """The values that a fold of a part hands on; results of a scan follow the parts before."""
        if isinstance(op, ReduceOp):
            pair = (new.results, before) if self.backwards else (before, new.results)
            first = at.compare(EQUAL, count, 0, SIGNED)
            results = zip(new.results, _combined(op, *pair, at), strict=True)
            return [at.select(at.spread(first, shape_of(own)), own, both) for own, both in results]
        wide = [at.broadcast(x, shape_of(y)) for x, y in zip(before, new.results, strict=True)]
        results = _combined(op, wide, new.results, at)
        values.update(zip(op.results, results, strict=True))
        far = 0 if self.backwards else shape_of(results[0])[_dim(op)] - 1
        return [at.part(x, _dim(op), far, 1) for x in results]


def _combined(
    op: Aggregate, earlier: Sequence[SSAValue], later: Sequence[SSAValue], at: ShapedBuilder
) -> Sequence[SSAValue]:
    """The values of a fold's region for the elements of tiles, and of tiles that come later."""
    pairs = [
        at.joined([at.reshape(half, (1, *shape_of(half))) for half in halves], 0)
        for halves in zip(earlier, later, strict=True)
    ]
    properties = {"dim": IntegerAttr(0, 32), "identities": op.properties["identities"]}
    return at.insert(ReduceOp.create(
        operands=pairs, result_types=[value.type for value in later], properties=properties,
        regions=[op.regions[0].clone()],
    )).results  # fmt: skip
