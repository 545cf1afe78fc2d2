"""Accumulators with which a loop begins at zero: nobody writes zeros, the first MMA of the first
iteration does not add. Where there is no iteration, they are zeros after all: stored to tensor
memory in front of the loop, in registers behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.dialects.builtin import i1
from xdsl.ir import BlockArgument, Operation

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.loop_part import LoopPart, Range
from tilewright.passes.cuda_tile.analysis.facts import is_zero
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import Accumulators
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import is_added


class FreshAccumulators(LoopPart):
    """Those of a loop, by what it carries, and the products that alone add to them."""

    def __init__(self, op: ForOp, kernel: EntryLowering):
        self.op, self.kernel = op, kernel
        self.products = dict(_found(op, kernel))
        layouts = {argument: kernel.table.products[argument] for argument in self.products}
        self._begun = False
        self._stored = [x for x in layouts.values() if isinstance(x, Accumulators)]

    def before(self, bounds: Range) -> None:
        """Store zeros where there is no iteration."""
        if not self._stored:
            return
        kernel, emitter, tensor = self.kernel, self.kernel.emitter, self.kernel.tensor
        tensor.wait()
        touched = tensor.touched
        runs = emitter.compare("lt", bounds.lower, bounds.upper)
        emitter.when(runs, lambda: None, self._store)
        # Behind the stores there are no MMAs before the loop's end.
        kernel.tensor.touched = touched

    def _store(self) -> None:
        for accumulators in self._stored:
            zero = self.kernel.constant(0, accumulators.element)
            self.kernel.tensor.store(accumulators, [zero] * accumulators.layout().count)

    def begin(self, bounds: Range) -> None:
        """In the loop's body: the products add but in the first iteration."""
        kernel, first = self.kernel, bounds.number is bounds.lower
        for product in self.products.values():
            if self._begun:
                kernel.adds.pop(product, None)
            elif first:
                kernel.adds[product] = kernel.constant(0, i1)
            else:
                kernel.adds[product] = kernel.emitter.compare("ne", bounds.number, bounds.lower)
        self._begun |= first

    def after(self, bounds: Range) -> None:
        """Threads may have stored; in registers accumulators are undefined without an iteration,
        unless the first one is by itself."""
        kernel = self.kernel
        kernel.tensor.touched |= bool(self._stored)
        for argument in self.products:
            result = self.op.results[argument.index - 1]
            if not self._begun and not isinstance(kernel.table.products[argument], Accumulators):
                runs = kernel.emitter.compare("lt", bounds.lower, bounds.upper)
                kernel[result] = replace(kernel[result], condition=runs)


def _found(op: ForOp, kernel: EntryLowering) -> Iterator[tuple[BlockArgument, Operation]]:
    block = op.region.block
    late = kernel.late_products.by_loop.get(op)
    for argument, initial in zip(block.args[1:], op.init_values, strict=True):
        uses = list(argument.uses)
        if (
            isinstance(argument.type, TileType)
            and argument in kernel.table.products
            and is_zero(initial)
            and len(uses) == 1
            and uses[0].index == 2
            and isinstance(product := uses[0].operation, Multiplication)
            and product.parent is block
            and product.result in kernel.table.products
            and not is_added(product)
            and (late is None or late.op is not product)
        ):
            yield argument, product
