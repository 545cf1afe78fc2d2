"""Loads by TMA, ahead of their use: rings of stages in shared memory, and their mbarriers.

One thread copies. A stage is full when its bytes have landed, and empty when every warp that read
it has said so, which is when the multiplication that reads it is complete. The loop carries the
stage of its iteration and the parity of the stage's use, and so do the loops around it:

    for k:   wait full[stage]; wgmma; wait for the wgmmas of k - 1; release their stage;
             thread 0: wait until that stage is empty, copy what k + stages - 1 reads

One stage is copied to once a product of warps has read it, behind what comes before the other one:

    for k:   wait full K; Q K; release; softmax; thread 0: copy K of k + 1; wait full V; P V; ..
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cute_nvgpu.lattice.data_movement import EVICT_FIRST
from tilewright.dialects.cute_nvgpu.ops import mbarrier, tma
from tilewright.dialects.cute_nvgpu.ops.sync import FenceProxyAcquireOp
from tilewright.dialects.frozen import frozen
from tilewright.lowering.cuda_tile.kernel.coordinates import boxes
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.loop_part import Range
from tilewright.lowering.cuda_tile.kernel.shared_tiles import SharedTile
from tilewright.lowering.cuda_tile.kernel.threads import scaled
from tilewright.lowering.cuda_tile.kernel.warpgroup_groups import MmaGroup
from tilewright.lowering.emit.mbarriers import (
    commit_mmas,
    everyone,
    initialise,
    release_stage,
    shared_words,
)
from tilewright.passes.cuda_tile.analysis.find_pipelines import LoadPipeline
from tilewright.passes.cuda_tile.analysis.load_groups import LoadGroup, StagedLoad
from tilewright.passes.cuda_tile.analysis.tensor_maps import BoxedAccess
from tilewright.passes.cuda_tile.layouts.shared_matrices import ALIGNMENT
from tilewright.passes.cuda_tile.scheduling.cut_rows import READ_ONCE


@frozen
class StagePlace:
    """A stage, and the parity of its use."""

    stage: SSAValue
    parity: SSAValue


class Ring:
    """The stages of pipelines that run one after the other: a line of memory for each load,
    mbarriers for each group. `pipeline` is the one that runs, `fillers` those who say of a stage
    that it is full."""

    fillers = 1

    def __init__(self, pipelines: Sequence[LoadPipeline], kernel: EntryLowering):
        first = pipelines[0]
        self.pipelines, self.pipeline, self.kernel = pipelines, first, kernel
        self.stages = first.stages
        made = partial(shared_words, kernel.emitter, i64, self.stages)
        self._made_barriers = [(made(), made()) for _ in first.groups]
        lines = [[self._line(load) for load in group.all] for group in first.groups]
        self._barriers: dict[LoadGroup, tuple[SSAValue, SSAValue]] = {}
        self._lines: dict[StagedLoad, SSAValue] = {}
        for pipeline in pipelines:
            self._barriers.update(zip(pipeline.groups, self._made_barriers, strict=True))
            for group, own in zip(pipeline.groups, lines, strict=True):
                self._lines.update(zip(group.all, own, strict=True))
        zero = kernel.emitter.constant(0, 32)
        self.first = self.place = StagePlace(zero, zero)
        self.produces = True
        """True where those who read stages copy as well."""
        self.range: Range | None = None
        self.is_fresh = True
        """True where no loop has used it yet."""
        self.left: list[Callable[[], None]] = []
        """The stages that are released at the end of the iteration."""
        self.flying: list[MmaGroup] = []
        """The MMAs that are in flight at its end."""
        self._read: list[LoadGroup] = []
        """The groups whose only stage is read, and not copied to since."""

    @property
    def is_read_by_mmas(self) -> bool:
        """True where no thread but the one that issues MMAs has to do with its stages."""
        return all(group.released_by_mma for one in self.pipelines for group in one.groups)

    # --- memory ---

    def _line(self, load: StagedLoad) -> SSAValue:
        type_ = load.order.line(load.element, self.stages * self._room(load))
        return self.kernel.emitter.emit(memref.AllocOp([], [], type_, IntegerAttr(ALIGNMENT, i64)))

    def _room(self, load: StagedLoad) -> int:
        return load.order.bytes // load.order.order.size

    def prefetch(self) -> None:
        """Bring the tensor maps near, by one thread."""
        loads = [load for pipeline in self.pipelines for load in pipeline.loads]
        for map_ in dict.fromkeys(self.kernel.tensor_map(load.source) for load in loads):
            self.kernel.emitter.add(tma.PrefetchTensormapOp(map_))

    def initialise(self, readers: int) -> None:
        """Make the mbarriers, by one thread; so many warps, or MMAs of one thread, read."""
        for (full, empty), group in zip(self._made_barriers, self.pipelines[0].groups, strict=True):
            count = (1 if group.released_by_mma else readers) * group.ctas
            initialise(self.kernel.emitter, self.stages, (full, self.fillers), (empty, count))

    # --- places ---

    def _moved(self, place: StagePlace, by: int) -> StagePlace:
        """The place some uses on, fewer than there are stages, or one."""
        if by == 0:
            return place
        if self.stages == 1:
            return self._refilled(place)
        emitter = self.kernel.emitter
        if self.stages == 2 and self.is_read_by_mmas:
            # Who issues them has both in uniform registers, where a choice is dearer.
            parity = emitter.binary("xor", place.parity, place.stage)
            return StagePlace(self._other(place.stage), parity)
        stage = emitter.binary("add", place.stage, by)
        wraps = emitter.compare("lt", emitter.constant(self.stages - 1, 32), stage)
        less = emitter.binary("sub", stage, self.stages)
        return StagePlace(
            emitter.select(wraps, less, stage),
            emitter.select(wraps, self._other(place.parity), place.parity),
        )

    def behind(self, place: StagePlace, follows: SSAValue) -> StagePlace:
        """The place of the next use, where there is one that follows, else of this one."""
        moved, select = self._moved(place, 1), self.kernel.emitter.select
        return StagePlace(
            select(follows, moved.stage, place.stage), select(follows, moved.parity, place.parity)
        )

    def before(self, place: StagePlace) -> StagePlace:
        """The place of the use before."""
        emitter = self.kernel.emitter
        first = emitter.compare("eq", place.stage, 0)
        less = emitter.binary("sub", place.stage, 1)
        return StagePlace(
            emitter.select(first, emitter.constant(self.stages - 1, 32), less),
            emitter.select(first, self._other(place.parity), place.parity),
        )

    def _other(self, parity: SSAValue) -> SSAValue:
        return self.kernel.emitter.binary("xor", parity, 1)

    def _index(self, value: SSAValue) -> SSAValue:
        return self.kernel.emitter.resized(value, 32, None)

    # --- the producer ---

    def copy(self, group: LoadGroup, place: StagePlace, *, fresh: bool = False) -> None:
        """Copy what the group loads, to a stage that is empty, as it is where it is `fresh`; one
        thread does it."""
        emitter, (_, empty) = self.kernel.emitter, self._barriers[group]
        at = self._index(place.stage)
        if not fresh:
            emitter.add(mbarrier.WaitOp(empty, [at], self._other(place.parity)))
        self._fill(group, place)

    def _fill(self, group: LoadGroup, place: StagePlace) -> None:
        """Copy what a group loads to a stage that is empty."""
        emitter, at = self.kernel.emitter, self._index(place.stage)
        full, _ = self._barriers[group]
        if group.paired:
            both = mbarrier.ArriveExpectTxOp(full, [at], 2 * group.bytes)
            emitter.when(self.kernel.leads, lambda: emitter.add(both))
        else:
            emitter.add(mbarrier.ArriveExpectTxOp(full, [at], group.bytes))
        for load in group.loads:
            self._copy(load, group, at, self._start(load, place))

    @property
    def is_drained(self) -> bool:
        """True where a CTA is done when its own threads know that its stages are free."""
        return all(group.released_by_mma for group in self._shared_groups)

    @property
    def _shared_groups(self) -> list[LoadGroup]:
        """The groups that other CTAs have a part in."""
        return [group for group in self.pipelines[0].groups if group.ctas > 1 or group.paired]

    def drain(self) -> None:
        """Wait until all that MMAs of other CTAs say of stages has arrived, by the thread that
        copies: before that nobody leaves."""
        for group in self._shared_groups:
            if not group.released_by_mma:
                continue
            _, empty = self._barriers[group]
            for place in [self._moved(self.place, i) for i in range(self.stages)]:
                at, parity = self._index(place.stage), self._other(place.parity)
                self.kernel.emitter.add(mbarrier.WaitOp(empty, [at], parity))

    def _start(self, load: StagedLoad, place: StagePlace) -> SSAValue:
        return self._index(scaled(self.kernel.emitter, place.stage, self._room(load)))

    def _copy(self, load: BoxedAccess, group: LoadGroup, stage: SSAValue, start: SSAValue) -> None:
        kernel, emitter, (full, _) = self.kernel, self.kernel.emitter, self._barriers[group]
        map_, line = kernel.tensor_map(load.source), self._lines[load]
        rank = kernel.rank if load.ctas > 1 or load.half is not None else None
        mask, leader = everyone(emitter, load.ctas), None
        if group.paired:
            leader = emitter.constant(0, 32)
        hint = emitter.constant(EVICT_FIRST, 64) if READ_ONCE in load.op.attributes else None
        for coordinates, place in boxes(load, kernel, rank):
            at = start if place is None else emitter.binary("add", start, place)
            copy = tma.TmaLoadOp(
                map_, coordinates, line, [at], full, [stage], mask=mask, rank=leader,
                cache_hint=hint,
            )  # fmt: skip
            emitter.add(copy)

    def _ahead(
        self, groups: Sequence[LoadGroup], place: StagePlace, by: int, *, fresh: bool = False
    ) -> None:
        """Where there is an iteration so many on, copy what groups load for it, to a place."""
        kernel, emitter, bounds = self.kernel, self.kernel.emitter, self.range
        assert bounds is not None
        if not self.produces:
            return
        number = bounds.number
        if by:
            number = emitter.binary("add", number, emitter.binary("mul", bounds.step, by))
        copies = kernel.both(self.copies(), emitter.compare("lt", number, bounds.upper))
        assert copies is not None
        emitter.when(copies, partial(self._copy_of, groups, place, number, fresh))

    def copies(self) -> SSAValue:
        """True in the thread that copies."""
        return self.kernel.threads.is_first

    def _copy_of(
        self, groups: Sequence[LoadGroup], place: StagePlace, number: SSAValue, fresh: bool
    ) -> None:
        """Copy for the iteration of a number."""
        loop = self.pipeline.loop
        assert loop is not None

        def build() -> None:
            for group in groups:
                self.copy(group, place, fresh=fresh)

        at_iteration(self.kernel, loop, self.pipeline.slice, number, build)

    # --- the consumers ---

    def tile(self, group: LoadGroup, load: StagedLoad) -> SharedTile:
        """The tile that a load is at this place."""
        start, line = self._start(load, self.place), self._lines[load]
        ready = partial(self.wait, group, self.place)
        rounded = isinstance(load, BoxedAccess) and load.is_rounded
        return SharedTile(line, start, load.order, load.element, ready, rounded)

    def wait(self, group: LoadGroup, place: StagePlace) -> None:
        """Wait until a stage is full, once."""
        emitter, (full, _) = self.kernel.emitter, self._barriers[group]

        def build() -> Sequence[SSAValue]:
            self._refill()
            emitter.add(mbarrier.WaitOp(full, [self._index(place.stage)], place.parity))
            if group.gathered:
                emitter.add(FenceProxyAcquireOp())
            return ()

        emitter.remembered(("full", full, place), build)

    def is_full(self, group: LoadGroup, place: StagePlace) -> None:
        """Know that a stage is full: an iteration before waited for it."""
        full, _ = self._barriers[group]
        self.kernel.emitter.remembered(("full", full, place), lambda: ())

    def release(
        self, group: LoadGroup, place: StagePlace, condition: SSAValue | None = None
    ) -> None:
        """Say that the warp has read a stage. A condition is a branch around all of it: ptxas
        keeps no MMA in flight where a thread is elected in front of it."""
        if condition is not None:
            self.kernel.emitter.when(condition, partial(self.release, group, place))
            return
        emitter, (_, empty) = self.kernel.emitter, self._barriers[group]
        at = self._index(place.stage)
        release_stage(empty, at, group.ctas, emitter, generic=not group.alone)

    # --- the loop ---

    def before_loop(self, bounds: Range) -> None:
        """Fill all stages but one, or the only one."""
        self.range, emitter = bounds, self.kernel.emitter
        fresh = self.is_fresh and emitter.block is emitter.entry
        self.is_fresh = False
        for i in range(max(self.stages - 1, 1)):
            self._ahead(self.pipeline.groups, self._moved(self.place, i), i, fresh=fresh)

    def begin(self, bounds: Range) -> dict[Operation, MmaGroup]:
        """Begin an iteration; the groups in flight from the one before, by product."""
        self.range, self.left, self.flying = bounds, [], []
        before = self.before(self.place)
        follows = self.kernel.emitter.compare("ne", bounds.number, bounds.lower)
        complete = [
            group
            for group in self.pipeline.groups
            if not group.trailing and not group.released_by_mma
        ]
        if complete and self.stages > 1:
            self._ahead(complete, self._refilled(before), self.stages - 1)
        return self._flights(lambda group: partial(self._follow, group, before, follows))

    def _flights(
        self, follow: Callable[[LoadGroup], Callable[[], None]]
    ) -> dict[Operation, MmaGroup]:
        """The MMAs that are in flight from the iteration before, and what follows for the stages
        that they read."""
        flights: dict[Operation, MmaGroup] = {}
        for product in self.pipeline.trailing:
            own = [group for group in self.pipeline.groups if group.product is product]
            direct = [load for group in own if group.trailing for load in group.all]
            flight = MmaGroup(reads_scratch=len(direct) < len({*product.operands[:2]}))
            flight.completed += [follow(group) for group in own if group.trailing]
            flights[product] = flight
        return flights

    def _refilled(self, before: StagePlace) -> StagePlace:
        """The next use of the stage before."""
        return StagePlace(before.stage, self._other(before.parity))

    def _follow(self, group: LoadGroup, before: StagePlace, follows: SSAValue) -> None:
        self.release(group, before, follows)
        self._ahead([group], self._refilled(before), self.stages - 1)

    def read(self, product: Operation, flight: MmaGroup) -> None:
        """Say which MMAs read the stages of a product: they are released with them, or else at the
        end of the iteration."""
        if product in self.pipeline.trailing:
            self.flying.append(flight)
        for group in self._groups_of(product):
            if self.stages == 1:
                self.release(group, self.place)
                self._read.append(group)
            elif not group.trailing:
                release = partial(self.release, group, self.place)
                if not group.alone and not group.by_threads:
                    release = partial(self._release_after, flight, release)
                (flight.completed if group.alone else self.left).append(release)

    def _refill(self) -> None:
        """Copy what the next iteration reads to the only stage of groups that are read."""
        if self._read:
            self._ahead(self._read, self._refilled(self.place), 1)
            self._read = []

    def _release_after(self, flight: MmaGroup, release: Callable[[], None]) -> None:
        self.kernel.groups.complete(flight)
        release()

    def commit(self, product: Operation) -> None:
        """Let stages be empty once the MMAs of a product in tensor memory are complete; by the
        thread that issued them."""
        for group in self._groups_of(product):
            if group.released_by_mma:
                _, empty = self._barriers[group]
                stage = self._index(self.place.stage)
                ctas = 1 + group.paired
                commit_mmas(self.kernel.emitter, empty, stage, max(group.ctas, ctas), ctas)

    def issued(self, product: Operation) -> None:
        """Go on behind those MMAs: copy to the stage before, whose MMAs were issued earlier, and
        release at the end of the iteration what others read too."""
        for group in self._groups_of(product):
            if group.released_by_mma:
                self._ahead([group], self._refilled(self.before(self.place)), self.stages - 1)
                continue
            if not group.by_threads:
                self.left.append(self.kernel.tensor.wait)
            self.left.append(partial(self.release, group, self.place))

    def wait_for_before(self, product: Operation) -> None:
        """Wait until the MMAs of a product are complete that read the stage before."""
        before = self.before(self.place)
        for group in self._groups_of(product):
            if group.released_by_mma:
                _, empty = self._barriers[group]
                wait = mbarrier.WaitOp(empty, [self._index(before.stage)], before.parity)
                self.kernel.emitter.add(wait)

    def _groups_of(self, product: Operation) -> list[LoadGroup]:
        own = (group for group in self.pipeline.groups if not group.around)
        return [group for group in own if group.product is product]

    def release_behind(self, loop: ForOp) -> None:
        """Behind a loop within its own: what no other one multiplies is read."""
        for group in self.pipeline.groups:
            if group.around and group.product.parent_op() is loop:
                self.release(group, self.place)

    def end(self) -> None:
        """End an iteration."""
        for release in self.left:
            release()
        self._refill()
        self.advance()

    def advance(self) -> None:
        """Go on to the next stage."""
        self.place = self._moved(self.place, 1)

    def after_loop(self, bounds: Range) -> dict[Operation, MmaGroup]:
        """The MMAs in flight behind the loop, by product."""
        if self.produces and any(x.ctas > 1 and x.released_by_mma for x in self.pipeline.groups):
            self.kernel.emitter.when(self.copies(), self.drain)
        emitter, place = self.kernel.emitter, self.place
        ran = emitter.compare("lt", bounds.lower, bounds.upper)

        def release(group: LoadGroup) -> None:
            """Number and all, behind the wait: ptxas waits for MMAs where the loop surely ran and
            anything is computed in front of it."""
            emitter.when(ran, lambda: self.release(group, self.before(place)))

        return self._flights(lambda group: partial(release, group))


def at_iteration(
    kernel: EntryLowering, loop: ForOp, slice_: Sequence[Operation], number: SSAValue,
    build: Callable[[], None],
) -> None:  # fmt: skip
    """Emit something for the iteration of a number: the ops of a slice of the loop's body are
    computed for it."""
    changed: list[SSAValue] = [loop.region.block.args[0]]
    changed += [result for op in slice_ for result in op.results]
    before = {value: kernel.values[value] for value in changed if value in kernel.values}
    kernel.count(loop, number)
    for op in slice_:
        kernel.lower(op)
    build()
    for value in changed:
        del kernel.values[value]
    kernel.values.update(before)
    kernel.at(loop)
