"""The tensor memory of a kernel: its columns, the tiles that are in them, and who may touch them.

One thread issues MMAs; threads load and store accumulators, each warp its own lanes:

    MMAs to loads and stores    commit to an mbarrier, wait for its phase, fence
    loads and stores to MMAs    wait for them, fence, a barrier of the CTA, fence

A commit is made where somebody needs what was issued before, so that there is one mbarrier, whose
phases are counted in the order of the text; loops in which MMAs are issued carry the parity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.dialects import gpu, memref
from xdsl.dialects.builtin import MemRefType, NoneAttr, UnitAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute import Layout
from tilewright.dialects.cute.types.algebra import LayoutType
from tilewright.dialects.cute.types.memref import Space, SpaceAttr
from tilewright.dialects.cute_nvgpu.atoms.tmem_layouts import column_stride, lane_stride
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.lattice.tmem import ALLOCATIONS, LANES
from tilewright.dialects.cute_nvgpu.ops import mbarrier, sync, tcgen05_sync, tmem, tmem_access
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.dialects.cute_nvgpu.ops.tmem_access import TmemShapeAttr
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.lowering.cuda_tile.kernel.scratch import Scratch
from tilewright.lowering.cuda_tile.layouts.layouts import WARP_BITS, TileLayout, log2
from tilewright.lowering.cuda_tile.layouts.tensor_memory_layouts import (
    Accumulators,
    in_tensor_memory,
)
from tilewright.lowering.cuda_tile.layouts.threads import ThreadNumber
from tilewright.lowering.tile.emitter import Emitter
from tilewright.lowering.tile.registers import extracted, from_elements

if TYPE_CHECKING:
    from tilewright.lowering.cuda_tile.kernel.kernel import Kernel

_MOST = 32
"""The elements that a thread loads or stores by one instruction."""


@dataclass(frozen=True, eq=False, slots=True)
class TensorTile:
    """A tile in tensor memory, as the last MMA that wrote it, or threads, left it."""

    accumulators: Accumulators

    def elements_in(self, layout: TileLayout, kernel: Kernel) -> Sequence[SSAValue]:
        """The elements in a layout."""
        own = self.accumulators.layout()
        loaded = kernel.emitter.remembered(("loaded", self), lambda: kernel.tensor.load(self))
        return kernel.scratch.converted(own, loaded, layout)


@dataclass(frozen=True, slots=True)
class BranchState:
    """What is known before branches."""

    parity: SSAValue | None
    touched: bool
    tiles: Mapping[int, TensorTile]


def products_in(op: Operation) -> Iterator[Operation]:
    """The multiplications in tensor memory within an op."""
    return (inner for inner in op.walk() if in_tensor_memory(inner))


class TensorMemory:
    """What a kernel has in tensor memory. `flying`: MMAs may be in flight; `touched`: threads have
    loaded or stored since MMAs were last ordered behind them."""

    def __init__(self, emitter: Emitter, threads: ThreadNumber, scratch: Scratch) -> None:
        self._emitter, self._threads, self._scratch = emitter, threads, scratch
        self.flying = self.touched = self.reads_scratch = False
        self.parity: SSAValue | None = None
        self._columns = 0
        self._tiles: dict[int, TensorTile] = {}
        self._base: SSAValue
        self._done: SSAValue
        scratch.before_reuse.append(self._leave_scratch)

    @property
    def is_used(self) -> bool:
        """True of a kernel that has allocated some."""
        return self.parity is not None

    # --- allocation ---

    def allocate(self, columns: int) -> None:
        """Allocate so many columns at least, for all threads of the CTA."""
        emitter = self._emitter
        self._columns = next(count for count in ALLOCATIONS if count >= columns)
        shared = SpaceAttr(Space.SMEM)
        slot = emitter.emit(memref.AllocOp([], [], MemRefType(i32, [1], NoneAttr(), shared)))
        self._done = emitter.emit(memref.AllocOp([], [], MemRefType(i64, [1], NoneAttr(), shared)))
        at = emitter.constant(0, None)

        def by_one_warp() -> None:
            emitter.add(tmem.AllocOp(slot, [at], self._columns))
            emitter.add(tmem.RelinquishAllocPermitOp())
            emitter.when(self.issues, by_one_thread)

        def by_one_thread() -> None:
            emitter.add(mbarrier.InitOp(self._done, [at], 1))
            emitter.add(mbarrier.FenceMbarrierInitOp())

        emitter.when(self._allocates, by_one_warp)
        emitter.add(tcgen05_sync.FenceBeforeThreadSyncOp())
        emitter.add(gpu.BarrierOp())
        emitter.add(tcgen05_sync.FenceAfterThreadSyncOp())
        self._base = emitter.emit(tmem.RetrieveOp(slot, [at], tmem.allocation_type(self._columns)))
        self.parity = emitter.constant(0, 32)

    def end(self) -> None:
        """Give the columns back, once nobody uses them."""
        if not self.is_used:
            return
        self.wait()
        self.order()
        give_back = tmem.DeallocOp(self._base)
        self._emitter.when(self._allocates, lambda: self._emitter.add(give_back))

    @property
    def issues(self) -> SSAValue:
        """True in the thread that issues MMAs."""
        emitter = self._emitter
        return emitter.compare("eq", self._threads.number, emitter.constant(0, 32))

    @property
    def _allocates(self) -> SSAValue:
        emitter = self._emitter
        return emitter.compare("lt", self._threads.number, emitter.constant(1 << WARP_BITS, 32))

    # --- order ---

    def wait(self) -> None:
        """Wait for all MMAs that may be in flight."""
        if not self.flying or self.parity is None:
            return
        # Whoever waited for the phase before has seen it.
        self.order()
        emitter, at = self._emitter, self._emitter.constant(0, None)
        emitter.when(self.issues, lambda: emitter.add(tcgen05_sync.CommitOp(self._done, [at])))
        emitter.add(mbarrier.WaitOp(self._done, [at], self.parity))
        emitter.add(sync.WarpSyncOp())
        emitter.add(tcgen05_sync.FenceAfterThreadSyncOp())
        self.parity = emitter.binary("xor", self.parity, emitter.constant(1, 32))
        self.flying = self.reads_scratch = False
        self.touched = True

    def order(self, barrier: Callable[[], None] | None = None) -> None:
        """Let MMAs from here on come after what threads have done; a barrier that is wanted in any
        case takes its place."""
        if not self.touched:
            if barrier is not None:
                barrier()
            return
        self._emitter.add(tcgen05_sync.FenceBeforeThreadSyncOp())
        (barrier or self._scratch.barrier)()
        self._emitter.add(tcgen05_sync.FenceAfterThreadSyncOp())
        self.touched = False

    def issued(self, *, reads_scratch: bool) -> None:
        """Say that MMAs have been issued."""
        self.flying = True
        self.reads_scratch |= reads_scratch

    def _leave_scratch(self) -> None:
        if self.reads_scratch:
            self.wait()

    # --- loops ---

    def make_room_for_loop(self, op: Operation, kernel: Kernel) -> None:
        """Before what a loop carries gets to its columns: load what its MMAs overwrite."""
        for product in products_in(op):
            self.make_room(kernel.table.products[product.results[0]].column, op, kernel)

    def enter_loop(self, op: Operation, kernel: Kernel) -> None:
        """Before a loop: what its body may rely on, at whose end `end_turn` makes it so again."""
        products = list(products_in(op))
        if not products or not _flies(op):
            self.wait()
        if products:
            self.order()
            self.flying |= _flies(op)
            self.reads_scratch |= self.flying and not _reads_stages_alone(op, kernel)

    def end_turn(self, op: Operation, kernel: Kernel) -> None:
        """At the end of the body of a loop in which MMAs are issued."""
        if next(products_in(op), None) is None:
            return
        if not _flies(op):
            self.wait()
        self.order()
        self.flying |= _flies(op)
        self.reads_scratch |= self.flying and not _reads_stages_alone(op, kernel)

    def carried(self, op: Operation) -> list[SSAValue]:
        """The values that a loop carries for the sake of the order."""
        if self.parity is None or next(products_in(op), None) is None:
            return []
        return [self.parity]

    def carry(self, values: Sequence[SSAValue]) -> None:
        """Say what those values are now."""
        for value in values:
            self.parity = value

    def before_branches(self) -> BranchState:
        """Before branches: nothing is in flight. MMAs are issued in none but those that all that
        follows is in."""
        self.wait()
        return BranchState(self.parity, self.touched, dict(self._tiles))

    def resume(self, state: BranchState, *, behind: bool = False) -> None:
        """At the beginning of a branch, or `behind` all of them."""
        self.parity, self._tiles = state.parity, dict(state.tiles)
        self.flying = self.reads_scratch = False
        self.touched = behind or state.touched

    # --- tiles ---

    def make_room(self, column: int, writer: Operation, kernel: Kernel) -> None:
        """Before an op that writes columns anew: load what is there and used later."""
        tile = self._tiles.get(column)
        if tile is None:
            return
        for value in [value for value, known in kernel.values.items() if known is tile]:
            if _is_used_later(value, writer, column, kernel):
                own = tile.accumulators.layout()
                kernel.place(value, own, kernel.elements_of(tile, own))

    def place(self, accumulators: Accumulators) -> TensorTile:
        """What the columns hold from here on, as a tile."""
        tile = TensorTile(accumulators)
        self._tiles[accumulators.column] = tile
        return tile

    def holds(self, tile: Any, accumulators: Accumulators) -> bool:
        """True of the tile that is there."""
        return isinstance(tile, TensorTile) and self._tiles.get(accumulators.column) is tile

    # --- elements ---

    def load(self, tile: TensorTile) -> list[SSAValue]:
        """The elements of a tile, in its own layout."""
        emitter, accumulators = self._emitter, tile.accumulators
        assert self.holds(tile, accumulators), "a tile is loaded before its columns are written"
        self.wait()
        view = self._view(accumulators)
        shape, form = _form(accumulators, "pack")
        fragments: list[SSAValue] = []
        width = 0
        for at, count in self._runs(accumulators):
            type_ = FragmentType.get(count, accumulators.element)
            width = count
            load = tmem_access.LoadOp(view, at, type_, shape, **form)
            fragments.append(emitter.emit(load))
        emitter.add(tmem_access.WaitLoadOp())
        self.touched = True
        return [extracted(fragment, i, emitter) for fragment in fragments for i in range(width)]

    def store(self, accumulators: Accumulators, elements: Sequence[SSAValue]) -> None:
        """Write elements, which are in the accumulators' own layout."""
        emitter = self._emitter
        self.wait()
        self._tiles.pop(accumulators.column, None)
        view = self._view(accumulators)
        shape, form = _form(accumulators, "unpack")
        for number, (at, count) in enumerate(self._runs(accumulators)):
            type_ = FragmentType.get(count, accumulators.element)
            own = elements[number * count : (number + 1) * count]
            emitter.add(
                tmem_access.StoreOp(from_elements(own, type_, emitter), view, at, shape, **form)
            )
        emitter.add(tmem_access.WaitStoreOp())
        self.touched = True

    def _view(self, accumulators: Accumulators) -> SSAValue:
        """The columns as elements."""
        bits = 8 * bytes_of(accumulators.element)
        layout = Layout((LANES, self._columns), (lane_stride(bits), column_stride(bits)))
        return self._slice(0, accumulators.element, (LANES, self._columns), layout)

    def _slice(
        self, column: int, element: Attribute, shape: tuple[int, int], layout: Layout
    ) -> SSAValue:
        emitter = self._emitter
        type_ = MemRefType(element, shape, LayoutType.get(layout), SpaceAttr(Space.TMEM))
        begin = [emitter.constant(0, None), emitter.constant(column, None)]
        return emitter.once(("tmem", column, type_), lambda: tmem.SliceOp(self._base, begin, type_))

    def block(
        self, accumulators: Accumulators, atom: UmmaAtom, batch: int, row: int, column: int
    ) -> SSAValue:
        """The operand D of an MMA from an element on."""
        rows, columns = atom.cta_extents("D")
        at = accumulators.column_of(batch, row, column)
        return self._slice(at, accumulators.element, (rows, columns), atom.cta_layout("D"))

    def _runs(self, accumulators: Accumulators) -> Iterator[tuple[list[SSAValue], int]]:
        """Where the elements of a thread's registers begin, in runs."""
        emitter, threads = self._emitter, self._threads
        layout, (_, rows, columns) = accumulators.layout(), accumulators.extents
        lane = threads.total([0] * WARP_BITS + [1 << WARP_BITS, 2 << WARP_BITS] + [0])
        assert lane is not None
        lane = emitter.resized(lane, 32, None)

        def column_of(place: int) -> int:
            above, column = divmod(place, columns)
            batch, row = divmod(above, rows)
            return accumulators.column_of(batch, row, column)

        along = [bit for bit in layout.registers if bit < log2(columns)]
        count = min(_MOST, 1 << len(along))
        group = accumulators.group_bit
        for place in layout.places[::count]:
            at = emitter.constant(column_of(place), 32)
            if group is not None:
                weight = column_of(1 << group) - accumulators.column
                own = threads.total([0] * (WARP_BITS + 2) + [weight])
                assert own is not None
                at = emitter.binary("add", own, at)
            yield [lane, emitter.resized(at, 32, None)], count


def _form(accumulators: Accumulators, packs: str) -> tuple[TmemShapeAttr, dict[str, Any]]:
    """The shape of accesses to accumulators, and what goes with it."""
    half = accumulators.half_bit
    shape = "32x32b" if half is None else "16x32bx2"
    form: dict[str, Any] = {} if half is None else {"half": 1 << half}
    if bytes_of(accumulators.element) < bytes_of(i32):
        form[packs] = UnitAttr()
    return TmemShapeAttr(shape), form


def _flies(op: Operation) -> bool:
    """True of a loop whose turns may end with MMAs in flight: of what goes on to the next one."""
    assert isinstance(op, ForOp)
    return any(
        isinstance(use.operation, ContinueOp)
        for product in products_in(op)
        for use in product.results[0].uses
    )


def _reads_stages_alone(op: Operation, kernel: Kernel) -> bool:
    """True of a loop whose MMAs read nothing that threads have laid down."""
    return all(kernel.ahead.is_read_in_place(product) for product in products_in(op))


def _is_used_later(value: SSAValue, writer: Operation, column: int, kernel: Kernel) -> bool:
    """True where somebody reads a value behind an op, or in it, other than as what it adds to."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    holder = _ancestor(writer, block)
    if holder is None:
        return False
    for use in value.uses:
        user, own = use.operation, _ancestor(use.operation, block)
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


def _ancestor(op: Operation, block: Block | None) -> Operation | None:
    """The op of a block that an op is in."""
    holder: Operation | None = op
    while holder is not None and holder.parent is not block:
        holder = holder.parent_op()
    return holder
