"""Accumulators with which a loop begins at zero: nobody stores zeros, the first MMA of the first
iteration does not add. Where there is no iteration, zeros are stored after all."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel
from tilewright.lowering.cuda_tile.kernel.loop_part import LoopPart, Range
from tilewright.passes.cuda_tile.analysis.facts import is_zero
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    Accumulators,
    in_tensor_memory,
)


class FreshAccumulators(LoopPart):
    """Those of a loop, by what it carries, and the products that alone add to them."""

    def __init__(self, op: ForOp, kernel: Kernel) -> None:
        self.kernel = kernel
        self.products = dict(_found(op, kernel))

    def before(self, bounds: Range) -> None:
        """Store zeros where there is no iteration."""
        if not self.products:
            return
        kernel, emitter, tensor = self.kernel, self.kernel.emitter, self.kernel.tensor
        tensor.wait()
        touched = tensor.touched
        runs = emitter.compare("lt", bounds.lower, bounds.upper)
        emitter.when(runs, lambda: None, self._store)
        # Behind the stores there are no MMAs before the loop's end.
        kernel.tensor.touched = touched

    def _store(self) -> None:
        for argument in self.products:
            accumulators = self.kernel.table.products[argument]
            assert isinstance(accumulators, Accumulators)
            zero = self.kernel.constant(0, accumulators.element)
            self.kernel.tensor.store(accumulators, [zero] * accumulators.layout().count)

    def begin(self, bounds: Range) -> None:
        """In the loop's body: the products add but in the first iteration."""
        for product in self.products.values():
            follows = self.kernel.emitter.compare("ne", bounds.number, bounds.lower)
            self.kernel.tensor.adds[product] = follows

    def after(self, bounds: Range) -> None:
        """Threads may have stored."""
        self.kernel.tensor.touched |= bool(self.products)


def _found(op: ForOp, kernel: Kernel) -> Iterator[tuple[SSAValue, Operation]]:
    block = op.region.block
    for argument, initial in zip(block.args[1:], op.init_values, strict=True):
        uses = list(argument.uses)
        if (
            isinstance(argument.type, TileType)
            and isinstance(kernel.table.products.get(argument), Accumulators)
            and is_zero(initial)
            and len(uses) == 1
            and uses[0].index == 2
            and uses[0].operation.parent is block
            and in_tensor_memory(uses[0].operation)
        ):
            yield argument, uses[0].operation
