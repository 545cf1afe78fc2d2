"""Stores of blocks under the MMAs of the next block: see `find_late_store`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.ub import PoisonOp
from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.lowering.cuda_tile.control_flow.carried_tiles import CarriedTiles
from tilewright.lowering.cuda_tile.kernel.fragment_elements import elements_of
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.loop_part import LoopPart, Range
from tilewright.lowering.emit.registers import from_elements
from tilewright.passes.cuda_tile.analysis.find_late_store import LateStore


class BlockStores(LoopPart):
    """The store of a loop over blocks, which carries the tile of the block before, packed, and what
    says where it lies: the parts behind its first half are late."""

    def __init__(self, plan: LateStore, kernel: EntryLowering) -> None:
        self.plan, self.kernel = plan, kernel
        self._known = CarriedTiles(plan.known, kernel)
        self._layout = kernel.table.of(plan.tile)
        self._type = FragmentType.get(self._layout.count, kernel.scalar_type(plan.op, plan.tile))
        self.runs: SSAValue
        """True where blocks multiply at all."""
        self._bounds: Range
        self._last: Sequence[SSAValue]

    def before(self, bounds: Range) -> None:
        emitter = self.kernel.emitter
        types = [self._type, *self._known.types(self.plan.op)]
        self.carried = [emitter.emit(PoisonOp(type_)) for type_ in types]

    def begin(self, bounds: Range) -> None:
        self._bounds, self._last = bounds, self.carried

    def defer(self) -> None:
        """Store the first half, and the other one where nothing is multiplied behind it."""
        kernel, plan, bounds = self.kernel, self.plan, self._bounds
        elements = kernel.elements(plan.tile, self._layout)
        self._store(lambda parts: parts[: len(parts) - len(parts) // 2])
        packed = from_elements(elements, self._type, kernel.emitter)
        self.carried = [packed, *self._known.registers(plan.known)]
        after = kernel.emitter.binary("add", bounds.number, bounds.step)
        more = kernel.emitter.compare("lt", after, bounds.upper)
        more = kernel.emitter.binary("and", more, self.runs)
        self._when(more, lambda: None, lambda: self._store_late(self.carried))

    def store_last(self) -> None:
        """Store the other half of the tile of the block before, if there is one."""
        emitter, bounds = self.kernel.emitter, self._bounds
        follows = emitter.compare("ne", bounds.number, bounds.lower)

        def store() -> None:
            kernel = self.kernel
            number = kernel.emitter.binary("sub", bounds.number, bounds.step)
            kernel.count(self.plan.blocks, number)
            self._known.bind(self._last[1:])
            for op in self.plan.places:
                kernel.lower(op)
            self._store_late(self._last)

        self._when(follows, store)

    def _when(self, condition: SSAValue, *branches: Callable[[], None]) -> None:
        """A branch, behind which all is as in front of it."""
        kernel = self.kernel
        values, flushed = dict(kernel.values), kernel.order.flushed
        kernel.emitter.when(condition, *branches)
        kernel.values = values
        kernel.order.forget(flushed)
        kernel.scratch.state = True
        kernel.at(self.plan.op)

    def _store_late(self, carried: Sequence[SSAValue]) -> None:
        kernel = self.kernel
        kernel.place(self.plan.tile, self._layout, elements_of(carried[:1], kernel.emitter))
        self._store(lambda parts: parts[len(parts) - len(parts) // 2 :])

    def _store(self, due: Callable[[list[Any]], list[Any]]) -> None:
        kernel = self.kernel
        kernel.late_store, kernel.due = None, lambda parts: due([*parts])
        kernel.lower(self.plan.op)
        kernel.late_store, kernel.due = self, iter


class StoreUnderProducts(LoopPart):
    """The same in the loop of a block's product: the first iteration, which is emitted by itself,
    stores under its MMAs."""

    def __init__(self, stores: BlockStores) -> None:
        self._stores = stores
        self._bounds: Range

    def before(self, bounds: Range) -> None:
        emitter = self._stores.kernel.emitter
        self._stores.runs = emitter.compare("lt", bounds.lower, bounds.upper)

    def begin(self, bounds: Range) -> None:
        self._bounds = bounds

    def end(self) -> None:
        if self._bounds.number is self._bounds.lower:
            self._stores.store_last()


def late_store_part(op: ForOp, kernel: EntryLowering) -> LoopPart | None:
    """The part of a loop that its kernel's late store is, if it has to do with it."""
    stores = kernel.late_store
    if not isinstance(stores, BlockStores):
        return None
    if op is stores.plan.blocks:
        return stores
    return StoreUnderProducts(stores) if op is stores.plan.loop else None
