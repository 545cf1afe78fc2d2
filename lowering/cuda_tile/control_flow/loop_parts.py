"""The parts of a `for` that every loop has: the tiles that it carries, and rings of stages."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from math import prod

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import descendants, terminator
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp, MemoryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cute_nvgpu.ops import wgmma_sync
from tilewright.lowering.cuda_tile.control_flow.carried_tiles import CarriedTiles
from tilewright.lowering.cuda_tile.control_flow.early_divisions import divide_before
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.loop_part import LoopPart, Range
from tilewright.lowering.cuda_tile.kernel.tensor_tiles import make_room_for_loop
from tilewright.lowering.cuda_tile.kernel.warpgroup_groups import MmaGroup
from tilewright.lowering.cuda_tile.memory.convert_copied_loads import CopyRing
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings, place_rings, places_of
from tilewright.lowering.cuda_tile.pipelines.ring import Ring, StagePlace
from tilewright.lowering.cuda_tile.products.convert_warpgroup_matrix import AccumulatorTile
from tilewright.passes.cuda_tile.layouts.elements import shape_of


class LoopTiles(LoopPart):
    """The tiles that a `for` carries, but accumulators that are `fresh`; where its body ends, of
    which the values are carried on."""

    def __init__(self, op: ForOp, fresh: Container[SSAValue], kernel: EntryLowering):
        self._op, self._fresh, self._kernel = op, fresh, kernel
        self._tiles = CarriedTiles(op.region.block.args[1:], kernel)
        self.types = self._tiles.types(op)

    def before(self, bounds: Range) -> None:
        make_room_for_loop(self._op, self._kernel)
        self.carried = self._tiles.registers(self._op.init_values, self._fresh)
        self._kernel.groups.wait()

    def instead(self, given: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return self._tiles.registers(self._op.init_values)

    def begin(self, bounds: Range) -> None:
        self._bind(self._tiles)

    def values(self, terminator: Operation) -> list[SSAValue]:
        """The values that an iteration ends with."""
        return self._tiles.registers(terminator.operands)

    def after(self, bounds: Range) -> None:
        self._bind(CarriedTiles(self._op.results, self._kernel))

    def _bind(self, tiles: CarriedTiles) -> None:
        tiles.bind(self.carried)
        tiles.bind_again(self._op.init_values, self._op)


class LoopRings(LoopPart):
    """The rings that move on in a loop, and its own, whose loads are ahead of its products; those
    that MMAs alone read have a thread of their own where MMAs have one."""

    def __init__(self, op: ForOp, copies: CopyRing | None, kernel: EntryLowering):
        self._op, self._copies, self._kernel = op, copies, kernel
        self._ahead = Rings.in_kernel(kernel)
        self._own, self._rings = self._ahead.of(op), self._ahead.carried_by(op)
        self._others: list[tuple[Ring, StagePlace]] = []
        loads = [] if copies is None else copies.plan.loads
        self._copied = {load.op for load in loads}

    def before(self, bounds: Range) -> None:
        divide_before(self._op, self._copied, self._kernel)
        if self._own is not None:
            self._own.before_loop(bounds)
        if self._kernel.tensor.record is not None:
            rings = self._rings
            self._others = [(ring, ring.place) for ring in rings if ring.is_read_by_mmas]
            self._rings = [ring for ring in rings if not ring.is_read_by_mmas]
        self.carried = places_of(self._rings)

    def begin(self, bounds: Range) -> None:
        place_rings(self._rings, self.carried)
        flights = {} if self._copies is None else self._copies.flights()
        if self._own is not None:
            flights |= self._own.begin(bounds)
        _fly(flights, self._op, self._op.region.block.args[1:], self._kernel)

    def end(self) -> None:
        own, copies = self._own, self._copies
        if own is not None:
            own.end()
        flying = [*(own.flying if own else ()), *(copies.flying if copies else ())]
        self._kernel.groups.settle(flying)
        if own is not None and own.flying and self._is_accessed_by_threads():
            self._kernel.emitter.add(wgmma_sync.WgmmaWaitGroupOp(0))
        self.carried = places_of(self._rings)

    def after(self, bounds: Range) -> None:
        for ring, place in self._others:
            ring.place = place
        place_rings(self._rings, self.carried)
        flights = {} if self._copies is None else self._copies.flights()
        if self._own is not None:
            flights |= self._own.after_loop(bounds)
        for ring in self._ahead.all:
            ring.release_behind(self._op)
        _fly(flights, self._op, self._op.results, self._kernel)
        first = _accesses_memory_first(self._op)
        if self._copies is None and first and all(map(self._is_of_few, first)):
            self._kernel.awaits_behind = first[-1]
        elif self._copies is not None or first:
            # ptxas keeps no MMAs in flight where other waits come first.
            self._kernel.groups.wait()

    def _is_of_few(self, op: Operation) -> bool:
        """True of a load of an element for each thread at most."""
        most = 1 << self._kernel.table.thread_bits
        return (
            isinstance(op, LoadPtrTkoOp | LoadViewTkoOp) and prod(shape_of(op.results[0])) <= most
        )

    def _is_accessed_by_threads(self) -> bool:
        """True where threads access memory in the loop but by copies: ptxas keeps no MMAs in flight
        then."""
        accesses = descendants(self._op, MemoryOp)
        return any(
            access not in self._copied and self._ahead.plan.of(access) is None
            for access in accesses
        )


def _accesses_memory_first(op: ForOp) -> list[Operation]:
    """The ops that access memory, or have a region, before anybody reads the results."""
    first, following = list[Operation](), op.next_op
    while following is not None and not set(op.results) & set(following.operands):
        if isinstance(following, MemoryOp) or following.regions:
            first.append(following)
        following = following.next_op
    return first


def _fly(
    flights: Mapping[Operation, MmaGroup],
    op: ForOp,
    values: Sequence[SSAValue],
    kernel: EntryLowering,
) -> None:
    """Say which MMAs of the iteration before are in flight, and that what a loop carries is their
    results."""
    last = terminator(op.region.block)
    for product, flight in flights.items():
        value = values[list(last.operands).index(product.results[0])]
        tile = kernel[value]
        if isinstance(tile, AccumulatorTile):
            kernel[value] = replace(tile, group=flight)
        kernel.groups.pending.append(flight)
