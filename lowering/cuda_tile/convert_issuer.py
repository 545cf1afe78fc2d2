"""A warp of its own that issues the MMAs of a kernel whose accumulators are in tensor memory.

It goes through the loops in which those who compute said that something is issued
(`kernel/issued_products`): it waits for stages itself, and for threads where they have touched what
MMAs overwrite or read. So they convert and store one tile while the next one is multiplied. All of
its threads wait, one of them issues.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.ancestors import enclosing
from tilewright.dialects.cuda_tile.ops import core, views
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.conversions import FToFOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.ops import mbarrier, tcgen05_sync
from tilewright.dialects.cute_nvgpu.ops.warp_specialization import ElectSyncOp
from tilewright.dialects.integers import constant_integer
from tilewright.lowering.cuda_tile.convert_producer import SpecializedWarp
from tilewright.lowering.cuda_tile.kernel.issued_products import (
    Event,
    IssuedLoop,
    IssuedProduct,
)
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.loop_part import Range
from tilewright.lowering.cuda_tile.kernel.shared_tiles import SharedTile
from tilewright.lowering.cuda_tile.products.convert_tensor_core_matrix import TensorCoreProduct
from tilewright.lowering.cuda_tile.products.fresh_accumulators import FreshAccumulators
from tilewright.passes.cuda_tile.analysis.find_pipelines import Pipelines
from tilewright.passes.cuda_tile.analysis.loaded_operands import loaded_by
from tilewright.passes.cuda_tile.analysis.specialized_warps import needed_for
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    Accumulators,
    products_in,
)


def needed_for_issues(entry: EntryOp, plan: Pipelines) -> set[Operation] | None:
    """The ops that say how often something is issued; None where that depends on more than
    parameters, the block's number and loops' variables, or where threads read tokens of loads."""
    products = products_in(entry)
    tokens = [load.op.result_token for load in plan.loads()]
    if not products or any(token.first_use is not None for token in tokens):
        return None
    return needed_for([], {loop for op in products for loop in enclosing(op, ForOp)}, entry)


class Issuer(SpecializedWarp):
    """The walk of that warp."""

    def __init__(self, kernel: EntryLowering, needed: set[Operation]):
        super().__init__(kernel, needed)
        # The stage before the first one has been given.
        self._parity = kernel.emitter.constant(kernel.tensor.stages - 1, 32)
        kernel.tensor.begin()
        kernel.tensor.elected = kernel.emitter.emit(ElectSyncOp())

    def walk(self, block: Block, events: Sequence[Event]) -> None:
        """Issue what a block does."""
        kernel = self.kernel
        for op in block.ops:
            if op in self.needed:
                self.lower(op)
        for event in events:
            match event:
                case IssuedLoop():
                    kernel.at(event.op)
                    self._loop(event)
                case IssuedProduct():
                    kernel.at(event.op)
                    self._issue(event)
                case "done":
                    kernel.tensor.commit()
                case "given":
                    self.wait()

    def wait(self) -> None:
        """Wait for threads that have read the sums, or laid down operands."""
        emitter, tensor = self.kernel.emitter, self.kernel.tensor
        at = tensor.at(other=True)
        emitter.add(mbarrier.WaitOp(tensor.given, [at], self._parity))
        emitter.add(tcgen05_sync.FenceAfterThreadSyncOp())
        flips = emitter.constant(1, 32)
        if tensor.stages > 1:
            tensor.next_stage()
            flips = tensor.parities[-1]
        self._parity = emitter.binary("xor", self._parity, flips)

    def _loop(self, event: IssuedLoop) -> None:
        op, tensor = event.op, self.kernel.tensor

        def body(bounds: Range, carried: Sequence[SSAValue]) -> list[SSAValue]:
            self._parity, *tensor.parities[2:] = carried
            FreshAccumulators(op, self.kernel).begin(bounds)
            self.walk(op.region.block, event.events)
            return [self._parity, *tensor.parities[2:]]

        for inner in event.events:
            if isinstance(inner, IssuedProduct):
                self._await_before(op, inner)
        begun = [self._parity, *tensor.parities[2:]]
        self._parity, *tensor.parities[2:] = self.loop(op, begun, body)

    def _await_before(self, loop: ForOp, event: IssuedProduct) -> None:
        """Wait for what a product in a loop reads and is loaded outside of it."""
        for i, name in enumerate("AB"):
            value = event.op.operands[i]
            source = None if name in event.laid else loaded_by(value)
            if source is not None and not loop.is_ancestor(source.load):
                self._there(value)
                tile = self.kernel[value]
                assert isinstance(tile, SharedTile)
                tile.ready()

    def _issue(self, event: IssuedProduct) -> None:
        kernel, op = self.kernel, event.op
        accumulators = kernel.table.products[op.results[0]]
        assert isinstance(accumulators, Accumulators)
        product = TensorCoreProduct(op, accumulators, kernel)  # type: ignore[arg-type]
        operands = dict(event.laid)
        for name, matrices in operands.items():
            start = constant_integer(matrices.start)
            assert start is not None
            operands[name] = replace(matrices, start=kernel.emitter.constant(start, None))
        wanted = {name: op.operands[i] for i, name in enumerate("AB") if name not in operands}
        if product.packed is not None:
            del wanted["A"]
        for value in (*wanted.values(), *product.copied):
            self._there(value)
        there, _ = product.shared.laid_down(wanted, lambda: None)
        product.issue({**operands, **there})

    def _there(self, value: SSAValue) -> None:
        """Have the tile of a load, as permuted, at its place of the ring."""
        owner = value.owner
        match owner:
            case views.LoadViewTkoOp() | LoadPtrTkoOp():
                self.kernel[value] = self.rings.load(owner)
            case core.PermuteOp() | core.ReshapeOp() | FToFOp():
                self._there(owner.operands[0])
                self.kernel.lower(owner)
            case _:
                raise AssertionError("other operands are laid down by threads")
