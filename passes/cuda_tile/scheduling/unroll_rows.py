"""Tiles that threads have no registers for, computed one part after the other.

Attention by 256 rows a block has the sums of 256 rows, which the loop carries, and their scores,
which it does not: computed for half of the rows at a time, scores take half of the registers.

    for:  s = q k'; ...; o += p v        for:  s0 = q0 k'; ...; o0 += p0 v
                                               s1 = q1 k'; ...; o1 += p1 v
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, IfOp, LoopOp
from tilewright.dialects.cuda_tile.ops.memory import JoinTokensOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import ViewAccess
from tilewright.dialects.cuda_tile.types import TokenType
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.frozen import entity, factory
from tilewright.dialects.insertion import insert_before
from tilewright.passes.cuda_tile.analysis.cost_model import are_tall, is_crowded, tiled_products
from tilewright.passes.cuda_tile.analysis.place_accumulators import is_short_of_columns
from tilewright.passes.cuda_tile.analysis.split_dimensions import SplitTiles, UnsplitError
from tilewright.passes.cuda_tile.layouts.elements import tile_type
from tilewright.passes.cuda_tile.layouts.mma_layouts import multiplications
from tilewright.passes.cuda_tile.layouts.passed_values import region_of
from tilewright.passes.cuda_tile.legalization.shaped_builder import ShapedBuilder, rebuilt
from tilewright.passes.cuda_tile.scheduling.part_accesses import access_part, as_part
from tilewright.passes.cuda_tile.scheduling.split_entries import check_parts

_PARTS = 2


def unroll_rows(entry: EntryOp, arch: Target | None) -> None:
    """Split the tiles of an entry by rows, where that makes registers suffice."""
    if arch is None:
        return
    products = tiled_products(entry, arch)
    if is_short_of_columns(entry, arch):
        products = multiplications(entry)
    elif not is_crowded(entry, arch):
        return
    if not are_tall(products):
        return
    split = SplitTiles(entry, _PARTS)
    try:
        split.copy_cheap()
        for op in products:
            result = op.results[0]
            if result not in split.axes:
                split.spread(result, tile_type(result).rank - 2)
        check_parts(split)
    except UnsplitError:
        return
    parts = _UnrolledParts(split)
    parts.rewrite(entry.body.block)
    parts.clean()


@entity
class _UnrolledParts:
    """The parts of the tiles that are split."""

    split: SplitTiles
    _parts: dict[SSAValue, list[SSAValue]] = factory(dict)
    _waiting: list[Operation] = factory(list)
    _old: list[Operation] = factory(list)
    _arguments: list[tuple[Block, BlockArgument]] = factory(list)

    def rewrite(self, block: Block) -> None:
        """Rewrite a block: what is split is computed as late as may be, one part after the other,
        behind what the parts share."""
        outer, self._waiting = self._waiting, []
        for op in list(block.ops):
            regions = isinstance(op, ForOp | LoopOp | IfOp)
            ends = op.has_trait(IsTerminator)
            if regions or ends or any(x.owner in self._waiting for x in self._shared(op)):
                self._flush(op)
            if regions:
                self._pass_on(op)
            elif ends:
                if region_of(op) is not None:
                    op.operands = self._expanded(op.operands)
            elif any(value in self.split.axes for value in (*op.operands, *op.results)):
                self._waiting.append(op)
        self._waiting = outer

    def clean(self) -> None:
        """Erase what there are parts of now."""
        for op in reversed(self._old):
            Rewriter.erase_op(op, safe_erase=False)
        for block, argument in self._arguments:
            block.erase_arg(argument, safe_erase=False)

    def _shared(self, op: Operation) -> list[SSAValue]:
        """The operands that are not split."""
        return [value for value in op.operands if value not in self.split.axes]

    def _expanded(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        return [part for value in values for part in self._parts.get(value, [value])]

    def _flush(self, before: Operation) -> None:
        """Compute what waits, before an op."""
        tokens: dict[SSAValue, list[SSAValue]] = {}
        for number in range(self.split.parts):
            for op in self._waiting:
                self._compute(op, number, before, tokens)
        for token, parts in tokens.items():
            if token.first_use is not None:
                token.replace_all_uses_with(ShapedBuilder(before).add(JoinTokensOp, parts))
        self._old += self._waiting
        self._waiting = []

    def _compute(
        self, op: Operation, number: int, before: Operation, tokens: dict[SSAValue, list[SSAValue]]
    ) -> None:
        """Compute a part of an op's results."""
        if isinstance(op, AssumeOp) and op.result in self.split.axes:
            self._parts.setdefault(op.result, []).append(self._parts[op.value][number])
            return
        given = {value: self._parts[value][number] for value in op.operands if value in self._parts}
        new = op.clone(given)
        insert_before(new, before)
        number_of_part = ShapedBuilder(new).constant(number, i32)
        if isinstance(op, ViewAccess) and op.accessed in self.split.axes:
            assert isinstance(new, ViewAccess)
            access_part(new, self.split.axes[op.accessed], self.split.parts, number_of_part)
        for old, value in zip(op.results, list(new.results), strict=True):
            if isinstance(old.type, TokenType):
                tokens.setdefault(old, []).append(value)
                continue
            part = as_part(value, self.split.type_of(old), number_of_part)
            self._parts.setdefault(old, []).append(part)

    def _pass_on(self, op: ForOp | LoopOp | IfOp) -> None:
        """Let regions pass on parts."""
        operands = self._expanded(op.operands)
        for region in op.regions:
            for block in region.blocks:
                if not isinstance(op, IfOp):
                    for argument in list(block.args):
                        if argument in self.split.axes:
                            self._divide_argument(block, argument)
                self.rewrite(block)
        types: list[Attribute] = []
        for result in op.results:
            parted = result in self.split.axes
            types += [self.split.type_of(result)] * self.split.parts if parted else [result.type]
        results = iter(rebuilt(op, operands, types).results)
        for result in op.results:
            if result in self.split.axes:
                self._parts[result] = [*islice(results, self.split.parts)]
            else:
                result.replace_all_uses_with(next(results))
        self._old.append(op)

    def _divide_argument(self, block: Block, argument: BlockArgument) -> None:
        type_, first = self.split.type_of(argument), argument.index + 1
        self._parts[argument] = [
            block.insert_arg(type_, first + i) for i in range(self.split.parts)
        ]
        self._arguments.append((block, argument))
