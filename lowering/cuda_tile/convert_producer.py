"""A warp of its own for the copies by TMA: what is left of a kernel is where tiles lie.

It goes through the kernel's loops and computes their bounds and the indices of what is loaded;
whatever else the kernel does, the warps that read the stages do in the other branch:

    if the thread is in the last warp:  if it is its first thread:  for ...: wait until the stage is
                                                                    empty, copy
    else:                               the kernel, without copies
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.types import TokenType
from tilewright.lowering.cuda_tile.control_flow.loop_bounds import loop_bounds, loop_variable
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.loop_part import Range
from tilewright.lowering.cuda_tile.kernel.memory_order import Token
from tilewright.lowering.cuda_tile.memory.gathering_ring import GatheringRing
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings, place_rings, places_of


class SpecializedWarp:
    """A warp of its own, and the part of a kernel that it does."""

    def __init__(self, kernel: EntryLowering, needed: set[Operation]):
        self.kernel, self.needed, self.rings = kernel, needed, Rings.in_kernel(kernel)

    def lower(self, op: Operation) -> None:
        """Lower an op of that part. A load of it comes behind nothing that writes, of which others
        keep the token."""
        for operand in op.operands:
            if isinstance(operand.type, TokenType):
                self.kernel.values.setdefault(operand, Token())
        self.kernel.lower(op)

    def loop(
        self,
        op: ForOp,
        values: Sequence[SSAValue],
        body: Callable[[Range, Sequence[SSAValue]], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        """A loop that carries values, and the places of rings, which move on behind the body."""
        kernel, bounds = self.kernel, loop_bounds(op, self.kernel)
        rings, own = self.rings.carried_by(op), self.rings.of(op)
        end = 2 * len(rings)

        def iterate(number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            place_rings(rings, carried)
            kernel.count(op, loop_variable(op, number, kernel))
            again = body(bounds.at(number), carried[end:])
            if own is not None:
                own.advance()
            return [*places_of(rings), *again]

        over = bounds.lower, bounds.upper, bounds.step
        results = kernel.emitter.loop(over, [*places_of(rings), *values], iterate)
        place_rings(rings, results)
        return results[end:]


class Producer(SpecializedWarp):
    """The walk of the warp that copies."""

    def walk(self, block: Block) -> None:
        """Copy what a block loads."""
        for op in block.ops:
            self.kernel.at(op)
            if op in self.needed:
                self.lower(op)
            elif isinstance(op, ForOp) and self.rings.carried_by(op):
                self._walk_loop(op)
            elif isinstance(op, LoadViewTkoOp | LoadPtrTkoOp):
                self.rings.produce(op)

    def _walk_loop(self, op: ForOp) -> None:
        if isinstance(ring := self.rings.of(op), GatheringRing):
            ring.find_places(loop_bounds(op, self.kernel))

        def body(*_: object) -> Sequence[SSAValue]:
            self.walk(op.region.block)
            return ()

        self.loop(op, (), body)
