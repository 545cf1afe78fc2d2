"""Loops and branches: `scf` over the registers of the tiles that they carry.

An `if` of which a branch leaves a loop or the kernel takes what follows it into its branches, so
that every region ends in one place: of a kernel in nothing, of a `for` in what it carries, of a
`loop` in whether it goes on, what it carries and what it results in.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Protocol

from xdsl.dialects import scf
from xdsl.dialects.builtin import UnitAttr, i1
from xdsl.dialects.ub import PoisonOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from tilewright.dialects.cuda_tile.ops.control_flow import (
    BreakOp,
    ContinueOp,
    ForOp,
    IfOp,
    LoopOp,
    YieldOp,
)
from tilewright.dialects.ptx.control_flow import COMPUTES_AGAIN
from tilewright.lowering.cuda_tile.control_flow.carried_tiles import CarriedTiles, accesses_of
from tilewright.lowering.cuda_tile.control_flow.late_stores import (
    StoreUnderProducts,
    late_store_part,
)
from tilewright.lowering.cuda_tile.control_flow.loop_bounds import loop_bounds, loop_variable
from tilewright.lowering.cuda_tile.control_flow.loop_parts import LoopRings, LoopTiles
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.lowering.cuda_tile.kernel.loop_part import LoopPart, Range
from tilewright.lowering.cuda_tile.kernel.tensor_tiles import TensorAccumulators
from tilewright.lowering.cuda_tile.memory.convert_copied_loads import CopyRing, CopyRings
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings, place_rings, places_of
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


def lower_body(block: Block, kernel: EntryLowering) -> None:
    """Lower the body of a kernel."""
    _lower_from(block.first_op, kernel, _Kernel())


class _Kernel:
    types: Sequence[Attribute] = ()

    def values(self, terminator: Operation) -> list[SSAValue]:
        return []


def _lower_from(op: Operation | None, kernel: EntryLowering, leaf: RegionEnd) -> list[SSAValue]:
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

    def __init__(self, op: IfOp, kernel: EntryLowering, leaf: RegionEnd):
        self._op, self._kernel, self.leaf, self.around = op, kernel, leaf, op.parent_op()
        self.types = leaf.types

    def values(self, terminator: Operation) -> list[SSAValue]:
        if not isinstance(terminator, YieldOp):
            return self.leaf.values(terminator)
        carried = CarriedTiles(self._op.results, self._kernel)
        carried.bind(carried.registers(terminator.operands))
        carried.bind_tokens([terminator.operands])
        return _lower_from(self._op.next_op, self._kernel, self.leaf)


def _branch(op: IfOp, leaf: RegionEnd, kernel: EntryLowering) -> list[SSAValue]:
    """An `scf.if` whose branches end in a leaf; its results. Rings go on from where the branch that
    runs has left them."""
    emitter, order, scratch = kernel.emitter, kernel.order, kernel.scratch
    rings = Rings.in_kernel(kernel).carried_by(_until(op, leaf))
    begun, hoisted = places_of(rings), [*kernel.hoisted]
    condition = kernel.scalar(op.condition)
    kernel.groups.wait()
    tensor = kernel.tensor.before_branches()
    flushed, regions = order.flushed, list[Region]()
    read, reserved, left = scratch.state, scratch.reserved, list[int]()
    for region in (op.then_region, op.else_region):
        order.flushed, scratch.state, scratch.reserved = flushed, read, reserved
        kernel.tensor.resume(tensor)
        place_rings(rings, begun)
        outer = emitter.enter(Block())
        first = region.block.first_op if region.blocks else None
        values = _lower_from(first, kernel, leaf)
        while kernel.hoisted and kernel.hoisted[-1] not in hoisted:
            kernel.hoisted.pop().release()
        kernel.groups.wait()
        kernel.tensor.wait()
        emitter.add(scf.YieldOp(*values, *places_of(rings)))
        regions.append(Region(emitter.block))
        emitter.leave(outer)
        left.append(scratch.reserved)
    order.forget(flushed)
    # Loops that follow the `if` may have been the last to read what is reserved.
    scratch.state, scratch.reserved = True, min(left)
    kernel.tensor.resume(tensor, behind=True)
    kernel.at(op)
    types = [*leaf.types, *(value.type for value in begun)]
    results = emitter.add(scf.IfOp(condition, types, regions[0], regions[1])).results
    place_rings(rings, results[len(leaf.types) :])
    return list(results[: len(leaf.types)])


def _until(op: Operation | None, leaf: RegionEnd) -> Operation | None:
    """The op whose regions the branches of an `if` go on in, to their end."""
    while isinstance(leaf, _Rest):
        op, leaf = leaf.around, leaf.leaf
    return op


class _Yields:
    """The end of the branches of an `if` that go on behind it."""

    def __init__(self, op: IfOp, kernel: EntryLowering):
        self._op, self.carried = op, CarriedTiles(op.results, kernel)
        self.types = self.carried.types(op)
        self.sources: list[Sequence[SSAValue]] = []

    def values(self, terminator: Operation) -> list[SSAValue]:
        if self._op.results:
            self.sources.append(terminator.operands)
        return self.carried.registers(terminator.operands)


@lowers
def _if(op: IfOp, kernel: EntryLowering) -> None:
    leaf = _Yields(op, kernel)
    leaf.carried.bind(_branch(op, leaf, kernel))
    leaf.carried.bind_tokens(leaf.sources)


# --- loops ---


def _enter_body(block: Block, kernel: EntryLowering) -> tuple[Block, int]:
    """Go into the body of a loop; where to come back to."""
    kernel.groups.wait()
    kernel.scratch.state = True
    return kernel.emitter.enter(block), kernel.order.flushed


def _leave_body(op: ForOp | LoopOp, outer: Block, flushed: int, kernel: EntryLowering) -> None:
    kernel.emitter.leave(outer)
    kernel.order.forget(flushed)
    kernel.scratch.state = True
    kernel.at(op)


@lowers
def _for(op: ForOp, kernel: EntryLowering) -> None:
    if op not in kernel.late_products.following.values():
        _Loop(op, kernel).lower()


class _Loop:
    """A `for` by its parts."""

    def __init__(self, op: ForOp, kernel: EntryLowering, late: LateProduct | None = None):
        self._op, self._kernel, self._bounds = op, kernel, loop_bounds(op, kernel)
        fresh, copies = FreshAccumulators(op, kernel), CopyRings.in_kernel(kernel).of(op)
        self._tiles = LoopTiles(op, fresh.products, kernel)
        self._late = late or LateProduct.of(op, kernel)
        self._hoisted = HoistedOperands(op, kernel, copies is None)
        stores = late_store_part(op, kernel)
        self._turns = stores.turns if isinstance(stores, StoreUnderProducts) else 0
        parts: tuple[LoopPart | None, ...] = (
            self._tiles, fresh, stores, LoopRings(op, copies, kernel),
            self._hoisted, TensorAccumulators(op, kernel), copies, self._late,
        )  # fmt: skip
        self._parts = [part for part in parts if part is not None]

    def lower(self) -> None:
        """Emit the loop, and what goes with it around."""
        op, kernel, bounds = self._op, self._kernel, self._bounds
        lower = bounds.lower
        # Memory is free of MMAs that a part takes; then those of iterations may be in flight.
        for part in sorted(self._parts, key=lambda part: isinstance(part, TensorAccumulators)):
            part.before(bounds)
        self._hoisted.wait()
        following = kernel.late_products.following.get(op)
        if (late := self._late) is not None:
            if following is not None:
                more = loop_bounds(following, kernel)
                late.goes_on = kernel.emitter.compare("lt", more.lower, more.upper)
            lower = self._first_iteration(late)
        self._first(bounds.at(lower), self._turns)
        for part in self._parts:
            part.after(bounds)
        if late is not None and following is not None:
            late.be(kernel.late_products.by_loop[following])
            kernel.at(following)
            _Loop(following, kernel, late).lower()
        elif late is not None:
            self._last_product(late)

    def _first_iteration(self, late: LateProduct) -> SSAValue:
        """Emit the first iteration by itself, if there is one, and none was in a loop in front that
        this one goes on with; the number of the one behind it."""
        op, kernel, bounds, given = self._op, self._kernel, self._bounds, self._carried
        emitter, ring, before = kernel.emitter, late.ring, late.ran
        rings, begun = Rings.in_kernel(kernel).carried_by(op), ring.place
        outer, flushed = _enter_body(Block(), kernel)
        self._tiles.begin(bounds)
        kernel.count(op, loop_variable(op, bounds.lower, kernel))
        ring.begin(bounds)
        late.start(bounds)
        self._lower_body()
        late.wait()
        ring.end()
        kernel.groups.settle([])
        late.end()
        emitter.add(scf.YieldOp(*self._tiles.carried, *places_of(rings), *late.carried))
        first = Region(emitter.block)
        _leave_body(op, outer, flushed, kernel)
        ring.place = begun
        nothing = [PoisonOp(type_) for type_ in late.types] if before is None else []
        none = Region(Block([*nothing, end := scf.YieldOp(*given, *nothing)]))
        late.ran = runs = emitter.compare("lt", bounds.lower, bounds.upper)
        if before is not None:
            late.ran = emitter.binary("or", runs, before)
            runs = emitter.binary("xor", late.ran, before)
        types = [value.type for value in end.operands]
        passed = emitter.add(scf.IfOp(runs, types, first, none)).results
        self._pass(passed)
        late.carried = passed[-len(late.types) :]
        second = emitter.binary("add", bounds.lower, bounds.step)
        return second if before is None else emitter.select(before, bounds.lower, second)

    def _last_product(self, late: LateProduct) -> None:
        """Multiply what the last iteration has put off, if there was one."""
        kernel, result = self._kernel, self._op.results[late.sums.index - 1]
        kernel[late.sums], passed = kernel[result], CarriedTiles([result], kernel)

        def last() -> Sequence[SSAValue]:
            late.multiply()
            kernel.groups.wait()
            return passed.registers([late.sums])

        assert late.ran is not None
        passed.bind(kernel.emitter.either(late.ran, last, lambda: passed.registers([result])))

    def _first(self, bounds: Range, turns: int) -> None:
        """Emit iterations from one on, so many of them by themselves, each where there is one: they
        store late what is large beside them. Where there is none accumulators are zeros, so that
        ptxas does not keep those of the block before."""
        kernel, emitter, begun = self._kernel, self._kernel.emitter, self._carried
        if not turns:
            self._rest(bounds)
            return
        outer, flushed = _enter_body(Block(), kernel)
        self._iterate(bounds)
        following = emitter.binary("add", bounds.number, bounds.step)
        self._first(bounds.at(following), turns - 1)
        emitter.add(scf.YieldOp(*self._carried))
        some, types = emitter.block, [value.type for value in begun]
        _leave_body(self._op, outer, flushed, kernel)
        outer = emitter.enter(Block())
        if bounds.number is bounds.lower:
            coming = iter(begun)
            begun = [
                value for part in self._parts
                for value in part.instead(list(islice(coming, len(part.carried))))
            ]  # fmt: skip
        emitter.add(scf.YieldOp(*begun))
        none = emitter.block
        emitter.leave(outer)
        runs = emitter.compare("lt", bounds.number, bounds.upper)
        either = scf.IfOp(runs, types, Region(some), Region(none))
        self._pass(emitter.add(either).results)

    def _rest(self, bounds: Range) -> None:
        """Emit the loop from an iteration on."""
        kernel, begun = self._kernel, self._carried
        block = Block(arg_types=[bounds.number.type, *(value.type for value in begun)])
        number, *values = block.args
        outer, flushed = _enter_body(block, kernel)
        self._pass(values)
        self._iterate(bounds.at(number))
        kernel.emitter.add(scf.YieldOp(*self._carried))
        _leave_body(self._op, outer, flushed, kernel)
        if kernel.tensor.record is not None and _does_nothing(block):
            block.erase(safe_erase=False)
            self._pass(begun)
        else:
            loop = scf.ForOp(bounds.number, bounds.upper, bounds.step, begun, Region(block))
            if (following := kernel.late_products.following) and self._op not in following:
                loop.attributes[COMPUTES_AGAIN] = UnitAttr()
            self._pass(kernel.emitter.add(loop).results)

    def _iterate(self, bounds: Range) -> None:
        """Emit an iteration."""
        op, kernel = self._op, self._kernel
        # Copies of a later iteration count that one first; rings begin where this one is counted.
        for part in sorted(self._parts, key=lambda part: not isinstance(part, CopyRing)):
            if part is self._tiles:
                kernel.count(op, loop_variable(op, bounds.number, kernel))
            part.begin(bounds)
        self._lower_body()
        for part in self._parts:
            part.end()

    def _lower_body(self) -> None:
        """Lower the body of the loop with a product that is late."""
        kernel, tiles = self._kernel, self._tiles
        kernel.late = self._late
        tiles.carried = _lower_from(self._op.region.block.first_op, kernel, tiles)
        kernel.late = None

    @property
    def _carried(self) -> list[SSAValue]:
        return [value for part in self._parts for value in part.carried]

    def _pass(self, values: Sequence[SSAValue]) -> None:
        """Have the parts carry other values."""
        coming = iter(values)
        for part in self._parts:
            part.carried = list(islice(coming, len(part.carried)))


def _does_nothing(block: Block) -> bool:
    """True of the body of a loop that passes on what it is given."""
    *ops, last = block.walk()
    return all(is_pure(op) for op in ops) and list(last.operands) == list(block.args[1:])


class _Turn:
    """The end of a turn of a `loop`: whether there is another, what it carries, and the results."""

    def __init__(
        self, op: LoopOp, carried: CarriedTiles, results: CarriedTiles, kernel: EntryLowering
    ):
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


@lowers
def _loop(op: LoopOp, kernel: EntryLowering) -> None:
    source = op.region.block
    carried, results = CarriedTiles(source.args, kernel), CarriedTiles(op.results, kernel)
    initial, leaf = carried.registers(op.init_values), _Turn(op, carried, results, kernel)
    kernel.tensor.wait()
    rings = Rings.in_kernel(kernel).carried_by(op)
    begun = places_of(rings)
    places = [value.type for value in begun]
    before, end = Block(arg_types=[*places, *leaf.again]), len(places) + len(leaf.again)
    outer, flushed = _enter_body(before, kernel)
    carried.bind(before.args[len(places) :])
    carried.bind_again(op.init_values, op)
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
