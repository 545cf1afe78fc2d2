"""The tensor memory of a kernel: its columns, the tiles that are in them, and who may touch them.

One thread issues MMAs; threads load and store accumulators, each warp its own lanes:

    MMAs to loads and stores    commit to an mbarrier, wait for its phase, fence
    loads and stores to MMAs    wait for them, fence, a barrier of the CTA, fence

A commit is made where somebody needs what was issued before, so that there is one mbarrier, whose
phases are counted in the order of the text; loops in which MMAs are issued carry the parity. With
two stages of columns a loop over tiles alternates: the MMAs of one tile go to the stage that
threads have read, two mbarriers for each, while threads read the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import IndexType, IntegerAttr, UnitAttr, i32, i64
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atoms.tmem_layouts import lane_stride
from tilewright.dialects.cute_nvgpu.lattice.tmem import ALLOCATIONS, LANES
from tilewright.dialects.cute_nvgpu.ops import (
    cluster,
    mbarrier,
    sync,
    tcgen05_sync,
    tmem,
    tmem_access,
    warp_specialization,
)
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.dialects.cute_nvgpu.ops.tmem_access import TmemShapeAttr
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.control_flow import GUARDED
from tilewright.lowering.cuda_tile.kernel.fragment_elements import elements_of
from tilewright.lowering.cuda_tile.kernel.issued_products import (
    DONE,
    GIVEN,
    IssuedProduct,
    IssueRecord,
)
from tilewright.lowering.cuda_tile.kernel.scratch import Scratch
from tilewright.lowering.cuda_tile.kernel.tensor_columns import MOST_LOADED, TensorColumns
from tilewright.lowering.cuda_tile.kernel.threads import ThreadNumber
from tilewright.lowering.emit.emitter import Emitter
from tilewright.lowering.emit.mbarriers import commit_mmas, initialise, shared_words
from tilewright.lowering.emit.registers import from_elements
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    Accumulators,
    PackedOperand,
)

_WORD_BITS = 32


@frozen
class BranchState:
    """The facts before branches."""

    parities: Sequence[SSAValue]
    touched: bool
    tiles: Mapping[int, object]


class AccumulatorMemory(TensorColumns):
    """The accumulators of a kernel in tensor memory. `in_flight`: MMAs may be in flight; `touched`:
    threads have loaded or stored since MMAs were last ordered behind them."""

    def __init__(self, emitter: Emitter, threads: ThreadNumber, scratch: Scratch):
        super().__init__(emitter, threads)
        self._scratch = scratch
        self.in_flight = self.touched = self.reads_scratch = False
        self.tiles: dict[int, object] = {}
        """The tile that the cells from an address on hold."""
        self._done: SSAValue
        self.record: IssueRecord | None = None
        """The work of a warp of its own that issues them, where there is one."""
        self.given: SSAValue
        self.elected: SSAValue | None = None
        """True in one thread of that warp."""
        self._touch: Operation | None = None
        """Behind which op threads have done what MMAs come after."""
        self._doubts: list[Operation] = []
        """The waits for the phase before the one that threads complete."""
        self.loads: list[Operation] = []
        """The loads before which MMAs may not overwrite what they load."""
        scratch.before_reuse.append(self._leave_scratch)

    @property
    def is_used(self) -> bool:
        """True of a kernel that has allocated some."""
        return bool(self.parities)

    # --- allocation ---

    def allocate(self, columns: int, warps: int, stages: int, ctas: int) -> None:
        """Allocate so many columns at least for each stage, for all threads of the CTA, or of each
        of two `ctas`, of which so many warps compute."""
        emitter, self.stages, self.ctas = self._emitter, stages, ctas
        allocated = next(count for count in ALLOCATIONS if count >= columns * stages)
        self._columns = allocated if stages == 1 else columns
        slot, self._done, self.given = (
            shared_words(emitter, type_, count)
            for type_, count in ((i32, 1), (i64, stages), (i64, stages))
        )
        at = emitter.constant(0, None)

        def by_one_warp() -> None:
            emitter.add(tmem.AllocOp(slot, [at], allocated, cta_group=ctas))
            emitter.add(tmem.RelinquishAllocPermitOp(cta_group=ctas))
            emitter.when(self.issues, by_one_thread)

        def by_one_thread() -> None:
            given = [] if self.record is None else [(self.given, ctas * warps)]
            initialise(emitter, stages, (self._done, 1), *given)
            emitter.add(mbarrier.FenceMbarrierInitOp())

        emitter.when(self._allocates, by_one_warp)
        emitter.add(gpu.BarrierOp())  # Allocating is synchronous: no fence of tcgen05 is needed.
        self._base = emitter.emit(tmem.RetrieveOp(slot, [at], tmem.allocation_type(allocated)))
        self.begin()

    def begin(self) -> None:
        """Begin with the first phases, and the first stage."""
        first = [0] if self.record is None else [0, 1]
        self.parities = [self._emitter.constant(x, 32) for x in [*first, *[0] * (self.stages - 1)]]

    def end(self) -> None:
        """Give the columns back, once nobody uses them; a pair of CTAs does so when both are
        done."""
        if not self.is_used:
            return
        self.wait()
        if self.ctas > 1:
            self._emitter.add(tcgen05_sync.FenceBeforeThreadSyncOp())
            return
        record, self.record = self.record, None
        self.touched |= record is not None
        self.order()
        self.record = record
        self.give_back()

    def give_back(self) -> None:
        """Give the columns back."""
        give_back = tmem.DeallocOp(self._base, cta_group=self.ctas)
        self._emitter.when(self._allocates, lambda: self._emitter.add(give_back))

    @property
    def issues(self) -> SSAValue:
        """True in the thread that issues MMAs."""
        return self._threads.is_first

    @property
    def _allocates(self) -> SSAValue:
        emitter = self._emitter
        return emitter.compare("lt", self._threads.number, 1 << WARP_BITS)

    # --- stages ---

    @property
    def alternates(self) -> bool:
        """True where MMAs and threads go from stage to stage together, or need not."""
        record = self.record
        if self.stages == 1:
            return self.ctas == 1 or (record is not None and record.answers())
        return record is not None and record.alternates()

    def trust(self) -> None:
        """Wait for no phase before that is over because MMAs are done that came after it."""
        if self.record is not None and self.record.answers():
            for wait in self._doubts:
                wait.detach()
                wait.erase()

    # --- order ---

    def wait(self) -> None:
        """Wait for all MMAs that may be in flight."""
        if not self.in_flight or not self.parities:
            return
        if self.record is None:
            # Whoever waited for the phase before has seen it.
            self.order()
        emitter = self._emitter
        if self.record is not None:
            self.record.events.append(DONE)
        else:
            emitter.when(self.issues, self.commit)
        emitter.add(mbarrier.WaitOp(self._done, [self.at()], self.parities[0]))
        emitter.add(sync.WarpSyncOp())
        emitter.add(tcgen05_sync.FenceAfterThreadSyncOp())
        if self.stages == 1:
            self._flip(0)
        self.in_flight = self.reads_scratch = False
        self.touched, self._touch = True, None
        self.loads.clear()

    def _flip(self, number: int) -> None:
        emitter = self._emitter
        self.parities[number] = emitter.binary("xor", self.parities[number], 1)

    def commit(self) -> None:
        """Tell all threads once the MMAs that this one has issued are complete."""
        at = self.at()
        self.by_elected(lambda: commit_mmas(self._emitter, self._done, at, self.ctas, self.ctas))

    def by_elected(self, body: Callable[[], None]) -> None:
        """Have one thread do it, of a warp that stays together: ptxas has its descriptors and loops
        in uniform registers. All threads have seen the phases that end once MMAs are complete."""
        emitter = self._emitter
        if self.elected is None:
            body()
            return
        last = emitter.block.last_op
        if last is None or GUARDED not in last.attributes:
            emitter.add(sync.WarpSyncOp())
        emitter.when(self.elected, body).attributes[GUARDED] = UnitAttr()

    def order(self, barrier: Callable[[], None] | None = None) -> None:
        """Let MMAs from here on come after what threads have done; a barrier that is wanted in any
        case takes its place."""
        if self.record is not None and (self.touched or barrier is not None):
            self._give(self.record, None if barrier else self._touch)
            self._scratch.state |= barrier is not None
            return
        if not self.touched:
            if barrier is not None:
                barrier()
            return
        self._emitter.add(tcgen05_sync.FenceBeforeThreadSyncOp())
        (barrier or self._scratch.barrier)()
        self._emitter.add(tcgen05_sync.FenceAfterThreadSyncOp())
        self.touched = False
        self.loads.clear()

    def _give(self, record: IssueRecord, touch: Operation | None) -> None:
        """Tell the warp that issues MMAs that this one has done what they come after; right
        behind the last such op, where that is known. The phase before is over by then: of a pair
        because this one has waited for MMAs that come after it."""
        emitter = self._emitter
        block, last = emitter.block, emitter.block.last_op
        at = self.at()
        if self.stages == 1:
            at = emitter.emit(arith.ConstantOp(IntegerAttr(0, IndexType())))
        emitter.add(tcgen05_sync.FenceBeforeThreadSyncOp())
        arrive: Operation = mbarrier.ArriveOp(self.given, [at])
        if self.ctas == 1:
            self._doubts.append(emitter.add(mbarrier.WaitOp(self.given, [at], self.parities[1])))
        else:
            first = emitter.emit(arith.ConstantOp(IntegerAttr(0, i32)))
            arrive = cluster.MbarrierArriveOp(self.given, [at], first, reads=True)
        emitter.add(sync.WarpSyncOp())
        leader = emitter.emit(warp_specialization.ElectSyncOp())
        emitter.when(leader, lambda: emitter.add(arrive))
        if touch is not None and touch.parent is block and touch is not last:
            assert last is not None
            moved, op = list[Operation](), last.next_op
            while op is not None:
                moved.append(op)
                op = op.next_op
            for op in moved:
                op.detach()
            block.insert_ops_after(moved, touch)
        if self.stages == 1:
            self._flip(1)
        else:
            self.next_stage()
        record.events.append(GIVEN)
        self.touched, self._touch = False, None
        self.loads.clear()

    def issue(self, product: IssuedProduct, mmas: Callable[[], None]) -> None:
        """Issue MMAs, by one thread, which the rest of its warp waits for."""
        reads_scratch = bool(product.laid)
        if self.record is not None:
            self.record.events.append(product)
        else:
            self._emitter.when(self.issues, mmas)
            self._emitter.add(sync.WarpSyncOp())
        self.in_flight = True
        self.reads_scratch |= reads_scratch

    def _leave_scratch(self) -> None:
        if self.reads_scratch:
            self.wait()

    # --- loops ---

    def begin_iteration(self, *, in_flight: bool) -> None:
        """Before a loop in which MMAs are issued, and at the end of its body: what its body may
        rely on. MMAs that may be `in_flight` from one to the next may read what threads laid
        down."""
        if not in_flight:
            self.wait()
        self.order()
        self.in_flight |= in_flight
        self.reads_scratch |= in_flight

    def carry(self, values: Sequence[SSAValue]) -> None:
        """Say what those values are now."""
        self.parities[: len(values)] = values

    def before_branches(self) -> BranchState:
        """Before branches: nothing is in flight. MMAs are issued in none but those that all that
        follows is in."""
        self.wait()
        return BranchState([*self.parities], self.touched, dict(self.tiles))

    def resume(self, state: BranchState, *, behind: bool = False) -> None:
        """At the beginning of a branch, or `behind` all of them."""
        self.parities, self.tiles = [*state.parities], dict(state.tiles)
        self.in_flight = self.reads_scratch = False
        self.touched = behind or state.touched
        self.loads.clear()

    # --- elements ---

    def load(self, accumulators: Accumulators) -> list[SSAValue]:
        """The elements that are there, in the accumulators' own layout."""
        emitter = self._emitter
        self.wait()
        view = self.view(accumulators)
        shape, form = _form(accumulators, "pack")
        fragments: list[SSAValue] = []
        for at, count in self.runs(accumulators):
            type_ = FragmentType.get(count, accumulators.element)
            load = tmem_access.LoadOp(view, at, type_, shape, **form)
            self.loads.append(load)
            fragments.append(emitter.emit(load))
        self._touch = emitter.add(tmem_access.WaitLoadOp())
        self.touched = True
        return elements_of(fragments, emitter)

    def load_again(self, loads: Sequence[Operation]) -> None:
        """Make loads here that have been taken from where they were."""
        if loads:
            self._emitter.block.add_ops(loads)
            self._touch = self._emitter.add(tmem_access.WaitLoadOp())

    def store(self, accumulators: Accumulators, elements: Sequence[SSAValue]) -> None:
        """Write elements, which are in the accumulators' own layout."""
        emitter = self._emitter
        self.wait()
        self.loads.clear()
        last, untold = self._touch, self.record is not None and self.touched
        if untold and isinstance(last, tmem_access.WaitStoreOp) and last.parent is emitter.block:
            last.detach()  # The wait below is for those stores too.
        self.tiles.pop(accumulators.address, None)
        view = self.view(accumulators)
        shape, form = _form(accumulators, "unpack")
        for number, (at, count) in enumerate(self.runs(accumulators)):
            type_ = FragmentType.get(count, accumulators.element)
            own = elements[number * count : (number + 1) * count]
            fragment = from_elements(own, type_, emitter, shape)
            emitter.add(tmem_access.StoreOp(fragment, view, at, shape, **form))
        self._touch = emitter.add(tmem_access.WaitStoreOp())
        self.touched = True

    def store_words(self, column: int, words: Sequence[SSAValue]) -> None:
        """Write words to columns from one on, each in every lane of a warp of the first warpgroup:
        those of the others are the same."""
        emitter, threads = self._emitter, self._threads
        self.wait()
        self.loads.clear()

        def store() -> None:
            layout = Layout((LANES, self._columns), (lane_stride(_WORD_BITS), 1))
            view = self.slice(0, i32, (LANES, self._columns), layout)
            for begin, count in _powers_of_two(len(words)):
                type_ = FragmentType.get(count, i32)
                shape = TmemShapeAttr("32x32b")
                fragment = from_elements(words[begin : begin + count], type_, emitter, shape)
                at = [self.first_lane(), emitter.constant(column + begin, None)]
                emitter.add(tmem_access.StoreOp(fragment, view, at, shape))
            emitter.add(tmem_access.WaitStoreOp())

        first = emitter.compare("lt", threads.number, LANES)
        emitter.when(first, store)
        self._touch = None
        self.touched = True


def _powers_of_two(count: int) -> Iterator[tuple[int, int]]:
    """A count in parts that one store takes: where each begins, and its size."""
    begin = 0
    while begin < count:
        size = min(1 << (count - begin).bit_length() - 1, MOST_LOADED)
        yield begin, size
        begin += size


def _form(accumulators: Accumulators, packs: str) -> tuple[TmemShapeAttr, dict[str, Any]]:
    """The shape of accesses to accumulators, and what goes with it."""
    half = accumulators.half_bit
    shape = "32x32b" if half is None else "16x32bx2"
    cells = accumulators.per_cell if isinstance(accumulators, PackedOperand) else 1
    form: dict[str, Any] = {} if half is None else {"half": (1 << half) // cells}
    if cells == 1 and bytes_of(accumulators.element) < bytes_of(i32):
        form[packs] = UnitAttr()
    return TmemShapeAttr(shape), form
