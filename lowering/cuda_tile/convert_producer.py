"""A warp of its own for the copies by TMA: what is left of a kernel is where tiles lie.

It goes through the kernel's loops and computes their bounds and the indices of what is loaded;
whatever else the kernel does, the warps that read the stages do in the other branch:

    if the thread is in the last warp:  if it is its first thread:  for ...: wait until the stage is
                                                                    empty, copy
    else:                               the kernel, without copies
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

from xdsl.dialects import scf
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cuda_tile.ops import core, views
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp, IfOp, ReturnOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.cuda_tile.analysis.computed_again import SCALAR
from tilewright.lowering.cuda_tile.analysis.find_pipelines import Pipelines
from tilewright.lowering.cuda_tile.analysis.split_dimensions import region_of
from tilewright.lowering.cuda_tile.control_flow.loop_bounds import loop_bounds, loop_variable
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings, place_rings, places_of
from tilewright.lowering.cuda_tile.pipelines.ring import Range

_PLACES = (
    *SCALAR, core.GetTileBlockIdOp, core.GetNumTileBlocksOp, views.GetIndexSpaceShapeOp,
    views.GetTensorShapeOp, views.MakeTensorViewOp, views.MakePartitionViewOp,
    views.MakeStridedViewOp,
)  # fmt: skip
"""The ops that say where tiles lie."""


def needed_for_copies(entry: EntryOp, plan: Pipelines) -> set[Operation] | None:
    """The ops that say where what is loaded lies, and how often; None where it depends on more than
    parameters, the block's number and loops' variables, or where a branch leaves the kernel or one
    of those loops."""
    loads = [load.op for load in plan.loads()]
    loops = {loop for load in loads for loop in around(load)}
    indices = [index for load in loads for index in load.index]
    return needed_for(indices, loops, entry) if loops else None


def needed_for(
    values: Sequence[SSAValue], loops: set[ForOp], entry: EntryOp
) -> set[Operation] | None:
    """The ops that say what some values are, and how often loops run; None where another warp
    cannot know."""
    needed: set[Operation] = set()
    bounds = (bound for loop in loops for bound in (loop.lower_bound, loop.upper_bound, loop.step))
    if any(_leaves(op, loops) for op in entry.walk()):
        return None
    return needed if all(_add(value, loops, needed) for value in chain(values, bounds)) else None


def _leaves(op: Operation, loops: set[ForOp]) -> bool:
    """True of what ends the kernel, or an iteration of a loop, under a condition."""
    if not isinstance(op.parent_op(), IfOp):
        return False
    return isinstance(op, ReturnOp) or (isinstance(op, ContinueOp) and region_of(op) in loops)


def around(op: Operation) -> Iterator[ForOp]:
    """The loops over ranges that an op is in."""
    return (parent for parent in ancestors(op) if isinstance(parent, ForOp))


def _add(value: SSAValue, loops: set[ForOp], needed: set[Operation]) -> bool:
    if isinstance(value, BlockArgument):
        holder = value.block.parent_op()
        return isinstance(holder, EntryOp) or (holder in loops and value.index == 0)
    owner = value.owner
    if owner in needed:
        return True
    if not isinstance(owner, _PLACES) or any(
        isinstance(result.type, TileType) and result.type.rank for result in owner.results
    ):
        return False
    needed.add(owner)
    return all(_add(operand, loops, needed) for operand in owner.operands)


class LoneWarp:
    """A warp of its own, and the part of a kernel that it does."""

    def __init__(self, kernel: Kernel, needed: set[Operation]) -> None:
        self.kernel, self.needed, self.rings = kernel, needed, Rings.in_kernel(kernel)

    def loop(
        self,
        op: ForOp,
        values: Sequence[SSAValue],
        body: Callable[[SSAValue, Range, Sequence[SSAValue]], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        """A loop that carries values, and the places of rings, which move on behind the body."""
        kernel, emitter = self.kernel, self.kernel.emitter
        rings, own = self.rings.carried_by(op), self.rings.of(op)
        bounds = Range(*loop_bounds(op, kernel))
        begun = [*places_of(rings), *values]
        block = Block(arg_types=[bounds.lower.type, *(value.type for value in begun)])
        outer, end = emitter.enter(block), len(begun) - len(values)
        place_rings(rings, block.args[1:])
        kernel.count(op, loop_variable(op, block.args[0], kernel))
        again = body(block.args[0], bounds, block.args[1 + end :])
        if own is not None:
            own.advance()
        emitter.add(scf.YieldOp(*places_of(rings), *again))
        emitter.leave(outer)
        loop = scf.ForOp(bounds.lower, bounds.upper, bounds.step, begun, Region(block))
        results = emitter.add(loop).results
        place_rings(rings, results)
        return results[end:]


class Producer(LoneWarp):
    """The walk of the warp that copies."""

    def walk(self, block: Block) -> None:
        """Copy what a block loads."""
        for op in block.ops:
            self.kernel.at(op)
            if op in self.needed:
                self.kernel.lower(op)
            elif isinstance(op, ForOp) and self.rings.carried_by(op):
                self.loop(op, [], partial(self._walk_body, op))
            elif isinstance(op, views.LoadViewTkoOp):
                self.rings.produce(op)

    def _walk_body(self, op: ForOp, *_: object) -> Sequence[SSAValue]:
        self.walk(op.region.block)
        return []
