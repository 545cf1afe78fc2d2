"""Tiles in tensor memory: MMAs write their columns anew, which values outlive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    Accumulators,
    products_in,
)


@dataclass(frozen=True, eq=False, slots=True)
class TensorTile:
    """A tile in tensor memory, as the last MMA that wrote it, or threads, left it."""

    accumulators: Accumulators

    def elements_in(self, layout: TileLayout, kernel: Kernel) -> Sequence[SSAValue]:
        """The elements in a layout."""
        assert is_there(self, self.accumulators, kernel), "loaded behind what wrote its columns"
        own = self.accumulators.layout()
        load = partial(kernel.tensor.load, self.accumulators)
        loaded = kernel.emitter.remembered(("loaded", self), load)
        return kernel.scratch.converted(own, loaded, layout)


def placed(accumulators: Accumulators, kernel: Kernel) -> TensorTile:
    """The tile that columns hold from here on."""
    tile = kernel.tensor.tiles[accumulators.column] = TensorTile(accumulators)
    return tile


def is_there(tile: object, accumulators: Accumulators, kernel: Kernel) -> bool:
    """True of the tile that some columns hold."""
    return isinstance(tile, TensorTile) and kernel.tensor.tiles.get(accumulators.column) is tile


def make_room(column: int, writer: Operation, kernel: Kernel) -> None:
    """Before an op that writes columns anew: load what is there and used later."""
    tile = kernel.tensor.tiles.get(column)
    if not isinstance(tile, TensorTile):
        return
    for value in [value for value, known in kernel.values.items() if known is tile]:
        if _is_used_later(value, writer, column, kernel):
            own = tile.accumulators.layout()
            kernel.place(value, own, kernel.elements_of(tile, own))


def make_room_for_loop(op: Operation, kernel: Kernel) -> None:
    """Before what a loop carries gets to its columns: load what its MMAs overwrite."""
    for product in products_in(op):
        accumulators = kernel.table.products[product.results[0]]
        assert isinstance(accumulators, Accumulators)
        make_room(accumulators.column, op, kernel)


def begin_iteration(op: Operation, kernel: Kernel) -> None:
    """Before a loop: what its body may rely on, which holds again at its end."""
    if products := products_in(op):
        in_flight = any(_goes_on(product.results[0], op) for product in products)
        kernel.tensor.begin_iteration(in_flight=in_flight)
    else:
        kernel.tensor.wait()


def end_iteration(op: Operation, kernel: Kernel) -> None:
    """At the end of the body of a loop."""
    if products_in(op):
        begin_iteration(op, kernel)


def parity_carried(op: Operation, kernel: Kernel) -> list[SSAValue]:
    """The parities that a loop carries in which MMAs are issued."""
    return [*kernel.tensor.parities] if products_in(op) else []


def _goes_on(value: SSAValue, loop: Operation) -> bool:
    """True of a value that the next iteration of a loop has, as it is."""
    ends = [use for use in value.uses if isinstance(use.operation, ContinueOp)]
    holders = [(use.operation.parent_op(), use.index) for use in ends]
    return any(
        holder is loop or (isinstance(holder, ForOp) and _goes_on(holder.results[index], loop))
        for holder, index in holders
    )


def _is_used_later(value: SSAValue, writer: Operation, column: int, kernel: Kernel) -> bool:
    """True where somebody reads a value behind an op, or in it, other than as what it adds to."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    if block is None or (holder := block.find_ancestor_op_in_block(writer)) is None:
        return False
    for use in value.uses:
        user, own = use.operation, block.find_ancestor_op_in_block(use.operation)
        if own is not None and own.is_before_in_block(holder):
            if _is_lazily_used_later(user, writer, column, kernel):
                return True
        elif user is not writer or not _is_addend(writer, use.index, column, kernel):
            return True
    return False


def _is_lazily_used_later(op: Operation, writer: Operation, column: int, kernel: Kernel) -> bool:
    """True where what is computed of a value wherever it is needed is needed later."""
    return any(
        kernel.table.layouts.get(result) is None and _is_used_later(result, writer, column, kernel)
        for result in op.results
        if isinstance(result.type, TileType)
    )


def _is_addend(writer: Operation, index: int, column: int, kernel: Kernel) -> bool:
    """True of the operand that an op leaves in its columns: C of a product, what a loop begins
    with."""
    if not isinstance(writer, ForOp):
        return index == 2
    product = kernel.table.products.get(writer.region.block.args[index - 2])
    return isinstance(product, Accumulators) and product.column == column
