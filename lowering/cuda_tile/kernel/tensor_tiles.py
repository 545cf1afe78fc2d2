"""Tiles in tensor memory: MMAs write their columns anew, which values outlive."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.frozen import frozen_entity
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.loop_part import LoopPart, Range
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    Accumulators,
    products_in,
)


@frozen_entity
class TensorTile:
    """A tile in tensor memory, as the last MMA that wrote it, or threads, left it."""

    accumulators: Accumulators

    def elements_in(self, layout: TileLayout, kernel: EntryLowering) -> Sequence[SSAValue]:
        """The elements in a layout."""
        assert is_there(self, self.accumulators, kernel), "loaded behind what wrote its columns"
        own = self.accumulators.layout()
        load = partial(kernel.tensor.load, self.accumulators)
        loaded = kernel.emitter.remembered(("loaded", self), load)
        return kernel.scratch.converted(own, loaded, layout)


def placed(accumulators: Accumulators, kernel: EntryLowering) -> TensorTile:
    """The tile that columns hold from here on."""
    tile = kernel.tensor.tiles[accumulators.address] = TensorTile(accumulators)
    return tile


def is_there(tile: object, accumulators: Accumulators, kernel: EntryLowering) -> bool:
    """True of the tile that some columns hold."""
    return isinstance(tile, TensorTile) and kernel.tensor.tiles.get(accumulators.address) is tile


def make_room(address: int, writer: Operation, kernel: EntryLowering) -> None:
    """Before an op that writes columns anew: load what is there and used later."""
    tile = kernel.tensor.tiles.get(address)
    if not isinstance(tile, TensorTile):
        return
    for value in [value for value, known in kernel.values.items() if known is tile]:
        if _is_used_later(value, writer, address, kernel):
            own = tile.accumulators.layout()
            kernel.place(value, own, kernel.elements_of(tile, own))


def make_room_for_loop(op: Operation, kernel: EntryLowering) -> None:
    """Before what a loop carries gets to its columns: load what its MMAs overwrite."""
    for product in products_in(op):
        accumulators = kernel.table.products[product.results[0]]
        assert isinstance(accumulators, Accumulators)
        make_room(accumulators.address, op, kernel)


class TensorAccumulators(LoopPart):
    """The sums of a loop in tensor memory: who has them at the begin of its body has them at its
    end; the loop carries the parities of their mbarriers. The thread that issues MMAs has a loop
    of its own, of what is recorded here."""

    def __init__(self, op: ForOp, kernel: EntryLowering):
        self._op, self._kernel, self._products = op, kernel, products_in(op)
        self._in_flight = any(_goes_on(product.results[0], op) for product in self._products)

    def before(self, bounds: Range) -> None:
        """Establish what the body may rely on."""
        if not self._products:
            self._kernel.tensor.wait()
        self._establish()
        if (record := self._kernel.tensor.record) is not None:
            record.enter(self._op)

    def begin(self, bounds: Range) -> None:
        """Go on with the parities of the iteration."""
        self._kernel.tensor.carry(self.carried)

    def end(self) -> None:
        """Establish it again."""
        self._establish()
        if (record := self._kernel.tensor.record) is not None:
            record.leave()

    def _establish(self) -> None:
        if self._products:
            self._kernel.tensor.begin_iteration(in_flight=self._in_flight)
            self.carried = [*self._kernel.tensor.parities]

    def after(self, bounds: Range) -> None:
        """Go on with those that are left."""
        self._kernel.tensor.carry(self.carried)


def _goes_on(value: SSAValue, loop: Operation) -> bool:
    """True of a value that the next iteration of a loop has, as it is."""
    ends = [use for use in value.uses if isinstance(use.operation, ContinueOp)]
    holders = [(use.operation.parent_op(), use.index) for use in ends]
    return any(
        holder is loop or (isinstance(holder, ForOp) and _goes_on(holder.results[index], loop))
        for holder, index in holders
    )


def _is_used_later(value: SSAValue, writer: Operation, address: int, kernel: EntryLowering) -> bool:
    """True where somebody reads a value behind an op, or in it, other than as what it adds to."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    if block is None or (holder := block.find_ancestor_op_in_block(writer)) is None:
        return False
    for use in value.uses:
        user, own = use.operation, block.find_ancestor_op_in_block(use.operation)
        if own is not None and own.is_before_in_block(holder):
            if _is_lazily_used_later(user, writer, address, kernel):
                return True
        elif user is not writer or not _is_addend(writer, use.index, address, kernel):
            return True
    return False


def _is_lazily_used_later(
    op: Operation, writer: Operation, address: int, kernel: EntryLowering
) -> bool:
    """True where what is computed of a value wherever it is needed is needed later."""
    return any(
        kernel.table.layouts.get(result) is None and _is_used_later(result, writer, address, kernel)
        for result in op.results
        if isinstance(result.type, TileType)
    )


def _is_addend(writer: Operation, index: int, address: int, kernel: EntryLowering) -> bool:
    """True of the operand that an op leaves in its columns: C of a product, what a loop begins
    with."""
    if not isinstance(writer, ForOp):
        return index == 2
    product = kernel.table.products.get(writer.region.block.args[index - 2])
    return isinstance(product, Accumulators) and product.address == address
