"""Loops and branches: `scf` over the registers of the tiles that they carry; `assert`.

An `if` of which a branch leaves a loop or the kernel takes what follows it into its branches, so
that every region ends in one place: of a kernel in nothing, of a `for` in what it carries, of a
`loop` in whether it goes on, what it carries and what it results in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from xdsl.dialects import cf, scf
from xdsl.dialects.builtin import i1
from xdsl.dialects.ub import PoisonOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from tilewright.dialects.cuda_tile.ops.control_flow import (
    AssertOp,
    BreakOp,
    ContinueOp,
    ForOp,
    IfOp,
    LoopOp,
    YieldOp,
)
from tilewright.dialects.cuda_tile.ops.memory import MemoryOp
from tilewright.dialects.cute_nvgpu.ops import wgmma_sync
from tilewright.lowering.cuda_tile.control_flow.carried_tiles import CarriedTiles, accesses_of
from tilewright.lowering.cuda_tile.control_flow.loop_bounds import loop_bounds, loop_variable
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel, lowers
from tilewright.lowering.cuda_tile.kernel.tensor_tiles import (
    begin_iteration,
    end_iteration,
    make_room_for_loop,
    parity_carried,
)
from tilewright.lowering.cuda_tile.kernel.warpgroup_groups import MmaGroup
from tilewright.lowering.cuda_tile.memory.convert_copied_loads import CopyRing, CopyRings
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings, place_rings, places_of
from tilewright.lowering.cuda_tile.pipelines.ring import Range, Ring, StagePlace
from tilewright.lowering.cuda_tile.products.convert_warpgroup_matrix import AccumulatorTile
from tilewright.lowering.cuda_tile.products.fresh_accumulators import FreshAccumulators
from tilewright.lowering.cuda_tile.products.hoisted_operands import HoistedOperands
from tilewright.lowering.cuda_tile.products.late_product import LateProduct
from tilewright.lowering.tile.kernel import is_pure


class RegionEnd(Protocol):
    """Where a region ends: the types of what it ends with, and the values at a terminator."""

    @property
    def types(self) -> Sequence[Attribute]: ...

    def values(self, terminator: Operation) -> list[SSAValue]: ...


# --- blocks ---


def lower_body(block: Block, kernel: Kernel) -> None:
    """Lower the body of a kernel."""
    _lower_from(block.first_op, kernel, _Kernel())


class _Kernel:
    types: Sequence[Attribute] = ()

    def values(self, terminator: Operation) -> list[SSAValue]:
        return []


def _lower_from(op: Operation | None, kernel: Kernel, leaf: RegionEnd) -> list[SSAValue]:
    """Lower an op and those behind it; the values that the block ends with."""
    while op is not None:
        kernel.at(op)
        if op.has_trait(IsTerminator):
            return leaf.values(op)
        if isinstance(op, IfOp) and op.leaves:
            return _branch(op, _Rest(op, kernel, leaf), kernel)
        kernel.lower(op)
        op = op.next_op
    return leaf.values(YieldOp.create())


class _Rest:
    """The end of a branch of an `if` that takes along what follows."""

    def __init__(self, op: IfOp, kernel: Kernel, leaf: RegionEnd) -> None:
        self._op, self._kernel, self._leaf = op, kernel, leaf
        self.types = leaf.types

    def values(self, terminator: Operation) -> list[SSAValue]:
        if not isinstance(terminator, YieldOp):
            return self._leaf.values(terminator)
        carried = CarriedTiles(self._op.results, self._kernel)
        carried.bind(carried.registers(terminator.operands))
        carried.bind_tokens([terminator.operands])
        return _lower_from(self._op.next_op, self._kernel, self._leaf)


def _branch(op: IfOp, leaf: RegionEnd, kernel: Kernel) -> list[SSAValue]:
    """An `scf.if` whose branches end in a leaf; its results. Rings go on from where the branch that
    runs has left them."""
    emitter, order, scratch = kernel.emitter, kernel.order, kernel.scratch
    rings = Rings.in_kernel(kernel).carried_by(op.parent_op() if isinstance(leaf, _Rest) else op)
    begun = places_of(rings)
    condition = kernel.scalar(op.condition)
    kernel.groups.wait()
    tensor = kernel.tensor.before_branches()
    flushed, regions = order.flushed, list[Region]()
    read = scratch.state
    for region in (op.then_region, op.else_region):
        order.flushed, scratch.state = flushed, read
        kernel.tensor.resume(tensor)
        place_rings(rings, begun)
        outer = emitter.enter(Block())
        first = region.block.first_op if region.blocks else None
        values = _lower_from(first, kernel, leaf)
        kernel.groups.wait()
        kernel.tensor.wait()
        emitter.add(scf.YieldOp(*values, *places_of(rings)))
        regions.append(Region(emitter.block))
        emitter.leave(outer)
    order.forget(flushed)
    scratch.state = True
    kernel.tensor.resume(tensor, behind=True)
    kernel.at(op)
    types = [*leaf.types, *(value.type for value in begun)]
    results = emitter.add(scf.IfOp(condition, types, regions[0], regions[1])).results
    place_rings(rings, results[len(leaf.types) :])
    return list(results[: len(leaf.types)])


class _Yields:
    """The end of the branches of an `if` that go on behind it."""

    def __init__(self, op: IfOp, kernel: Kernel) -> None:
        self._op, self.carried = op, CarriedTiles(op.results, kernel)
        self.types = self.carried.types(op)
        self.sources: list[Sequence[SSAValue]] = []

    def values(self, terminator: Operation) -> list[SSAValue]:
        if self._op.results:
            self.sources.append(terminator.operands)
        return self.carried.registers(terminator.operands)


@lowers(IfOp)
def _if(op: IfOp, kernel: Kernel) -> None:
    leaf = _Yields(op, kernel)
    leaf.carried.bind(_branch(op, leaf, kernel))
    leaf.carried.bind_tokens(leaf.sources)


# --- loops ---


def _enter_body(
    op: ForOp | LoopOp,
    block: Block,
    registers: Sequence[SSAValue],
    carried: CarriedTiles,
    kernel: Kernel,
) -> tuple[Block, int]:
    """Go into the body of a loop, which carries registers; where to come back to."""
    kernel.groups.wait()
    kernel.scratch.state = True
    flushed = kernel.order.flushed
    outer = kernel.emitter.enter(block)
    carried.bind(registers)
    carried.bind_again(op.init_values, op)
    return outer, flushed


def _leave_body(op: ForOp | LoopOp, outer: Block, flushed: int, kernel: Kernel) -> None:
    kernel.emitter.leave(outer)
    kernel.order.forget(flushed)
    kernel.scratch.state = True
    kernel.at(op)


class _Again:
    """The end of the body of a `for`."""

    def __init__(self, op: ForOp, carried: CarriedTiles) -> None:
        self._carried, self.types = carried, carried.types(op)

    def values(self, terminator: Operation) -> list[SSAValue]:
        return self._carried.registers(terminator.operands)


@lowers(ForOp)
def _for(op: ForOp, kernel: Kernel) -> None:
    source, ahead = op.region.block, Rings.in_kernel(kernel)
    others: list[tuple[Ring, StagePlace]] = []
    own, rings, copies = ahead.of(op), ahead.carried_by(op), CopyRings.in_kernel(kernel).of(op)
    bounds = Range(*loop_bounds(op, kernel))
    carried = CarriedTiles(source.args[1:], kernel)
    make_room_for_loop(op, kernel)
    fresh = FreshAccumulators(op, bounds, kernel)
    initial, leaf = carried.registers(op.init_values, fresh.products), _Again(op, carried)
    kernel.groups.wait()
    fresh.before_loop()
    if own is not None:
        own.before_loop(bounds)
    kept = HoistedOperands(op, kernel)
    if copies is not None:
        copies.before_loop(bounds)
    elif kept:
        kernel.scratch.barrier()
    # Memory that was taken above is free of MMAs: the turns' own may be in flight behind this.
    begin_iteration(op, kernel)
    record = kernel.tensor.record
    if record is not None:
        record.enter(op)
        others = [(ring, ring.place) for ring in rings if ring.is_read_by_mmas]
        rings = [ring for ring in rings if not ring.is_read_by_mmas]
    order, stages = parity_carried(op, kernel), [] if copies is None else [copies.stage]
    begun = [*places_of(rings), *order, *stages]
    late, lower = LateProduct.of(op, kernel), bounds.lower
    if late is not None:
        passed = _first_iteration(op, late, bounds, [*initial, *begun], carried, kernel)
        initial, begun = passed[: len(initial)], passed[len(initial) :]
        lower = kernel.emitter.binary("add", lower, bounds.step)
    types = [bounds.lower.type, *leaf.types, *(value.type for value in begun)]
    block, end = Block(arg_types=types), 1 + len(leaf.types)
    outer, flushed = _enter_body(op, block, block.args[1:end], carried, kernel)
    place_rings(rings, block.args[end:])
    ordered = end + 2 * len(rings)
    kernel.tensor.carry(block.args[ordered : ordered + len(order)])
    if copies is not None:
        copies.begin(block.args[-1], block.args[0])
    kernel.count(op, loop_variable(op, block.args[0], kernel))
    fresh.begin(block.args[0])
    if own is not None:
        _fly(own.begin(block.args[0]), op, source.args[1:], kernel)
    if late is not None:
        late.weights = list(block.args[-len(late.types) :])
    kernel.late = late
    values = _lower_from(source.first_op, kernel, leaf)
    kernel.late = None
    if own is not None:
        own.end()
    kernel.groups.settle([] if own is None else own.flying)
    if own is not None and own.flying and _is_accessed_by_threads(op, ahead, copies):
        kernel.emitter.add(wgmma_sync.WgmmaWaitGroupOp(0))
    end_iteration(op, kernel)
    if record is not None:
        record.leave()
    stages = [] if copies is None else [copies.next()]
    weights = [] if late is None else late.weights
    order_now = parity_carried(op, kernel)
    kernel.emitter.add(scf.YieldOp(*values, *places_of(rings), *order_now, *stages, *weights))
    _leave_body(op, outer, flushed, kernel)
    passed = [*initial, *begun]
    if record is not None and _does_nothing(block):
        block.erase(safe_erase=False)
    else:
        loop = scf.ForOp(lower, bounds.upper, bounds.step, passed, Region(block))
        passed = kernel.emitter.add(loop).results
    for ring, place in others:
        ring.place = place
    results = CarriedTiles(op.results, kernel)
    results.bind(passed[: end - 1])
    results.bind_again(op.init_values, op)
    place_rings(rings, passed[end - 1 :])
    kernel.tensor.carry(passed[ordered - 1 : ordered - 1 + len(order)])
    kept.release()
    fresh.after_loop()
    if own is not None:
        _fly(own.after_loop(bounds), op, op.results, kernel)
    if copies is not None or _reads_memory_first(op):
        kernel.groups.wait()  # ptxas keeps no MMAs in flight where other waits come first.
    if copies is not None:
        copies.after_loop()
    if late is not None:
        late.weights = list(passed[-len(late.types) :])
        _last_product(op, late, bounds, kernel)


def _first_iteration(
    op: ForOp, late: LateProduct, bounds: Range, given: Sequence[SSAValue],
    carried: CarriedTiles, kernel: Kernel,
) -> Sequence[SSAValue]:  # fmt: skip
    """The values that a loop carries behind its first iteration, if there is one, else those
    given."""
    emitter, leaf, ring = kernel.emitter, _Again(op, carried), late.ring
    rings, begun = Rings.in_kernel(kernel).carried_by(op), ring.place
    outer, flushed = _enter_body(op, Block(), given[: len(leaf.types)], carried, kernel)
    kernel.count(op, loop_variable(op, bounds.lower, kernel))
    ring.begin(bounds.lower)
    kernel.late = late
    values = _lower_from(op.region.block.first_op, kernel, leaf)
    kernel.late = None
    ring.end()
    kernel.groups.settle([])
    emitter.add(scf.YieldOp(*values, *places_of(rings), *late.weights))
    first = Region(emitter.block)
    _leave_body(op, outer, flushed, kernel)
    ring.place = begun
    nothing = [PoisonOp(type_) for type_ in late.types]
    none = Region(Block([*nothing, scf.YieldOp(*given, *nothing)]))
    runs = emitter.compare("lt", bounds.lower, bounds.upper)
    types = [*(value.type for value in given), *late.types]
    passed = emitter.add(scf.IfOp(runs, types, first, none)).results
    place_rings(rings, passed[len(leaf.types) :])
    return passed


def _last_product(op: ForOp, late: LateProduct, bounds: Range, kernel: Kernel) -> None:
    """Multiply what the last iteration has put off, if there was one."""
    emitter, result = kernel.emitter, op.results[late.sums.index - 1]
    before = kernel[late.sums] = kernel[result]
    outer = emitter.enter(Block())
    late.issue_deferred()
    kernel.groups.wait()
    emitter.add(scf.YieldOp(*kernel[late.sums].fragments))
    last = Region(emitter.block)
    emitter.leave(outer)
    none = Region(Block([scf.YieldOp(*before.fragments)]))
    runs = emitter.compare("lt", bounds.lower, bounds.upper)
    types = [fragment.type for fragment in before.fragments]
    sums = emitter.add(scf.IfOp(runs, types, last, none)).results
    kernel[result] = replace(before, fragments=tuple(sums))


def _reads_memory_first(op: ForOp) -> bool:
    """True where memory is accessed, or a region comes, before anybody reads the results."""
    following = op.next_op
    while following is not None and not set(op.results) & set(following.operands):
        if isinstance(following, MemoryOp) or following.regions:
            return True
        following = following.next_op
    return False


def _is_accessed_by_threads(op: ForOp, ahead: Rings, copies: CopyRing | None) -> bool:
    """True where threads access memory in a loop but by copies: ptxas keeps no MMAs in flight
    then."""
    copied = set[Operation]() if copies is None else {load.op for load in copies.plan.loads}
    accesses = (inner for inner in op.walk() if isinstance(inner, MemoryOp))
    return any(access not in copied and ahead.plan.of(access) is None for access in accesses)


def _does_nothing(block: Block) -> bool:
    """True of the body of a loop that passes on what it is given."""
    *ops, last = block.walk()
    return all(is_pure(op) for op in ops) and list(last.operands) == list(block.args[1:])


def _fly(
    flights: Mapping[Operation, MmaGroup], op: ForOp, values: Sequence[SSAValue], kernel: Kernel
) -> None:
    """Say which MMAs of the iteration before are in flight, and that what a loop carries is their
    results."""
    last = op.region.block.last_op
    assert last is not None
    for product, flight in flights.items():
        value = values[list(last.operands).index(product.results[0])]
        tile = kernel[value]
        if isinstance(tile, AccumulatorTile):
            kernel[value] = replace(tile, group=flight)
        kernel.groups.pending.append(flight)


class _Turn:
    """The end of a turn of a `loop`: whether there is another, what it carries, and the results."""

    def __init__(
        self, op: LoopOp, carried: CarriedTiles, results: CarriedTiles, kernel: Kernel
    ) -> None:
        self._carried, self._results, self._kernel = carried, results, kernel
        self.again, self.left = carried.types(op), results.types(op)
        self.types = [i1, *self.again, *self.left]

    def values(self, terminator: Operation) -> list[SSAValue]:
        kernel = self._kernel
        if isinstance(terminator, ContinueOp):
            carried = self._carried.registers(terminator.operands)
            return [kernel.constant(1, i1), *carried, *self._nothing(self.left)]
        assert isinstance(terminator, BreakOp)
        results = self._results.registers(terminator.operands)
        return [kernel.constant(0, i1), *self._nothing(self.again), *results]

    def _nothing(self, types: Sequence[Attribute]) -> list[SSAValue]:
        """Values that nobody reads."""
        emitter = self._kernel.emitter
        return [
            emitter.once(("poison", type_), lambda type_=type_: PoisonOp(type_)) for type_ in types
        ]


@lowers(LoopOp)
def _loop(op: LoopOp, kernel: Kernel) -> None:
    source = op.region.block
    carried, results = CarriedTiles(source.args, kernel), CarriedTiles(op.results, kernel)
    initial, leaf = carried.registers(op.init_values), _Turn(op, carried, results, kernel)
    kernel.tensor.wait()
    rings = Rings.in_kernel(kernel).carried_by(op)
    begun = places_of(rings)
    places = [value.type for value in begun]
    before, end = Block(arg_types=[*places, *leaf.again]), len(places) + len(leaf.again)
    outer, flushed = _enter_body(op, before, before.args[len(places) :], carried, kernel)
    place_rings(rings, before.args)
    goes_on, *values = _lower_from(source.first_op, kernel, leaf)
    kernel.groups.wait()
    kernel.emitter.add(scf.ConditionOp(goes_on, *places_of(rings), *values))
    _leave_body(op, outer, flushed, kernel)
    after = Block(arg_types=[*places, *leaf.types[1:]])
    after.add_op(scf.YieldOp(*after.args[:end]))
    loop = scf.WhileOp([*begun, *initial], after.arg_types, Region(before), Region(after))
    left = kernel.emitter.add(loop).results
    place_rings(rings, left)
    results.bind(left[end:])
    for token in results.tokens:
        reads, writes = accesses_of(op)
        kernel[token] = kernel.order.after(None, reads=reads, writes=writes)


@lowers(AssertOp)
def _assert(op: AssertOp, kernel: Kernel) -> None:
    layout = kernel.table.of(op.condition)
    conditions = dict.fromkeys(kernel.elements(op.condition, layout))
    for condition in conditions:
        kernel.emitter.add(cf.AssertOp(condition, op.message))
