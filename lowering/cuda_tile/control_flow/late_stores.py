"""Stores of blocks under the MMAs of the next block: see `find_late_store`."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from itertools import takewhile
from typing import Any

from xdsl.dialects.ub import PoisonOp
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.core import ConstantOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp, MemoryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.lowering.cuda_tile.control_flow.carried_tiles import CarriedTiles
from tilewright.lowering.cuda_tile.kernel.fragment_elements import elements_of
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.loop_part import LoopPart, Range
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings
from tilewright.lowering.emit.registers import from_elements
from tilewright.passes.cuda_tile.analysis.computed_again import SCALAR
from tilewright.passes.cuda_tile.analysis.find_late_store import LateStore, shares_of


class BlockStores(LoopPart):
    """The store of a loop over blocks, which carries the tile of the block before, packed, and what
    says where it lies: all shares of what threads write where pointers say are late, of what TMA
    stores the other half."""

    def __init__(self, plan: LateStore, kernel: EntryLowering) -> None:
        self.plan, self.kernel = plan, kernel
        self._known = CarriedTiles(plan.known, kernel)
        self._layout = kernel.table.of(plan.tile)
        self._type = FragmentType.get(self._layout.count, kernel.scalar_type(plan.op, plan.tile))
        shares = shares_of(self._layout)
        self.shares, self.turns = (2, 1) if plan.op in kernel.stored else (shares, shares)
        """The shares of the tile, and the iterations that store one each of the last of them."""
        self.runs: SSAValue
        """True where blocks multiply so often."""
        self.postponed = _postponed(plan, kernel)
        """The ops in front of a block's product by which that is not computed."""
        self._bounds: Range
        self._last: Sequence[SSAValue]

    def before(self, bounds: Range) -> None:
        emitter = self.kernel.emitter
        types = [self._type, *self._known.types(self.plan.op)]
        self.carried = [emitter.emit(PoisonOp(type_)) for type_ in types]

    def begin(self, bounds: Range) -> None:
        self._bounds, self._last = bounds, self.carried
        self.kernel.postponed = frozenset(self.postponed)

    def defer(self) -> None:
        """Store the first shares, and the others where nothing is multiplied behind them."""
        kernel, plan, bounds = self.kernel, self.plan, self._bounds
        elements = kernel.elements(plan.tile, self._layout)
        for share in range(self.shares - self.turns):
            self._store(share)
        packed = from_elements(elements, self._type, kernel.emitter)
        self.carried = [packed, *self._known.registers(plan.known)]
        after = kernel.emitter.binary("add", bounds.number, bounds.step)
        more = kernel.emitter.compare("lt", after, bounds.upper)
        more = kernel.emitter.binary("and", more, self.runs)
        late = range(self.shares - self.turns, self.shares)
        self._when(more, lambda: None, lambda: self._store_late(self.carried, late))

    def store_last(self, turn: int) -> None:
        """Store a share of the tile of the block before, if there is one."""
        emitter, bounds = self.kernel.emitter, self._bounds
        follows = emitter.compare("ne", bounds.number, bounds.lower)
        follows = emitter.binary("and", follows, self.runs)
        share = self.shares - self.turns + turn

        def store() -> None:
            kernel = self.kernel
            number = kernel.emitter.binary("sub", bounds.number, bounds.step)
            kernel.count(self.plan.blocks, number)
            self._known.bind(self._last[1:])
            for op in self.plan.places:
                kernel.lower(op)
            self._store_late(self._last, [share])

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

    def _store_late(self, carried: Sequence[SSAValue], shares: Iterable[int]) -> None:
        kernel = self.kernel
        kernel.place(self.plan.tile, self._layout, elements_of(carried[:1], kernel.emitter))
        for share in shares:
            self._store(share)

    def _store(self, share: int) -> None:
        kernel = self.kernel

        def due(parts: Iterable[Any]) -> Sequence[Any]:
            every = [*parts]
            size = -(-len(every) // self.shares)
            return every[share * size : (share + 1) * size]

        kernel.late_store, kernel.due = None, due
        kernel.lower(self.plan.op)
        kernel.late_store, kernel.due = self, iter


_MOVED = (*(op for op in SCALAR if op is not ConstantOp), LoadPtrTkoOp, LoadViewTkoOp)


class StoreUnderProducts(LoopPart):
    """The same in the loop of a block's product: its first iterations, each of which is emitted by
    itself, store under their MMAs, and the first one computes what is postponed."""

    def __init__(self, stores: BlockStores) -> None:
        self._stores, self.turns, self._turn = stores, stores.turns, 0
        kept = [op for op in stores.postponed if isinstance(op, MemoryOp) or _is_number(op)]
        self._values = CarriedTiles([x for op in kept for x in op.results], stores.kernel)
        self._again = [op for op in stores.postponed if op not in kept]

    def before(self, bounds: Range) -> None:
        types = self._values.types(self._stores.plan.loop)
        self.carried = [self._stores.kernel.emitter.emit(PoisonOp(type_)) for type_ in types]
        emitter = self._stores.kernel.emitter
        behind = emitter.binary("mul", bounds.step, self.turns - 1)
        last = emitter.binary("add", bounds.lower, behind)
        self._stores.runs = emitter.compare("lt", last, bounds.upper)

    def end(self) -> None:
        if self._turn == 0:
            self.carried = self.instead(())
        if self._turn < self.turns:
            self._stores.store_last(self._turn)
        self._turn += 1

    def instead(self, given: Sequence[SSAValue]) -> Sequence[SSAValue]:
        kernel = self._stores.kernel
        values, kernel.postponed = dict(kernel.values), frozenset()
        for op in self._stores.postponed:
            kernel.lower(op)
        registers = self._values.registers(self._values.all)
        kernel.values = values | {token: kernel.values[token] for token in self._values.tokens}
        kernel.at(self._stores.plan.loop)
        return registers

    def after(self, bounds: Range) -> None:
        self._values.bind(self.carried)
        for op in self._again:
            self._stores.kernel.lower(op)


def _postponed(plan: LateStore, kernel: EntryLowering) -> list[Operation]:
    """The ops of a block in front of its product by which neither that nor its loop is computed."""
    before = list(takewhile(lambda op: op is not plan.loop, plan.blocks.region.block.ops))
    groups = Rings.in_kernel(kernel).plan.groups
    copied = {load.op for _, group in groups for load in group.all}
    needed = {op for op in before if not isinstance(op, _MOVED) or op in copied}
    todo = [*needed, *(op for op in plan.loop.walk() if not _is_lazy(op, copied))]
    while todo:
        owners = {x.owner for x in todo.pop().operands if isinstance(x.owner, Operation)}
        todo += owners - needed - copied
        needed |= owners
    return [op for op in before if op not in needed]


def _is_lazy(op: Operation, copied: Container[Operation]) -> bool:
    """True of what is computed where it is used alone, or by those who copy."""
    return op in copied or (isinstance(op, SCALAR) and not _is_number(op))


def _is_number(op: Operation) -> bool:
    return isinstance(op.results[0].type, TileType) and not op.results[0].type.shape


def late_store_part(op: ForOp, kernel: EntryLowering) -> LoopPart | None:
    """The part of a loop that its kernel's late store is, if it has to do with it."""
    stores = kernel.late_store
    if not isinstance(stores, BlockStores):
        return None
    if op is stores.plan.blocks:
        return stores
    return StoreUnderProducts(stores) if op is stores.plan.loop else None
