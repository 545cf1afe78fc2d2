"""A warp of its own for the copies by TMA: what is left of a kernel is where tiles lie.

It goes through the kernel's loops and computes their bounds and the indices of what is loaded;
whatever else the kernel does, the warps that read the stages do in the other branch:

    if the thread is in the last warp:  if it is its first thread:  for ...: wait until the stage is
                                                                    empty, copy
    else:                               the kernel, without copies
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects.cuda_tile.ops import views
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.lowering.cuda_tile.control_flow.loop_bounds import loop_bounds, loop_variable
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings, place_rings, places_of
from tilewright.lowering.cuda_tile.pipelines.ring import Range


class SpecializedWarp:
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


class Producer(SpecializedWarp):
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
