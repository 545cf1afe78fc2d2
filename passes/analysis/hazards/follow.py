"""A kernel followed once for all its threads, without its data: the events that each has.

Only what decides control flow, barriers and addresses is computed. Where threads take different
branches both are followed, in the order of the text, each for its threads: the list is no schedule,
but what one thread has of it is what that thread does, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, cf, gpu, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, MemRefType, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from tilewright.dialects.cute_nvgpu.ops import cluster, shuffle, tmem, tmem_access
from tilewright.dialects.cute_nvgpu.ops.warp_specialization import ElectSyncOp
from tilewright.passes.analysis.hazards.events import Effect, Place, effect_of
from tilewright.passes.analysis.hazards.launches import Launch, Leaf
from tilewright.passes.analysis.hazards.placement import Placement, placement_of, tensor_offset
from tilewright.passes.analysis.hazards.report import Hazard
from tilewright.passes.analysis.hazards.scalars import (
    BINARY,
    CASTS,
    COMPARISONS,
    UNKNOWN,
    select,
    truncated,
)

WARP = 32

MOST_EVENTS = 40_000
"""Where a function has more than so many events, nothing is said of it."""

Flags = NDArray[np.bool_]
Step = Callable[["Mask"], None]


class OutOfBounds(Exception):
    """An index that no memref has: the arguments are none that the kernel is launched with."""


class TooLong(Exception):
    """There are more events than may be followed."""


class Mask:
    """Threads: `flags` over all thread slots, how many, and the set's number."""

    __slots__ = ("count", "flags", "number")

    def __init__(self, flags: Flags, number: int):
        self.flags = flags
        self.number = number
        self.count = int(flags.sum())


@dataclass(frozen=True, slots=True)
class View:
    """A memref as it runs: what it is a part of, its type and, in tensor memory, the cell where it
    begins; in shared memory the element."""

    root: object
    type: MemRefType[Any]
    placement: Placement | None
    first: Any = 0


def view_of(root: object, type_: MemRefType[Any], first: Any = 0) -> View:
    """A memref of that type."""
    return View(root, type_, placement_of(type_), first)


@dataclass(eq=False, slots=True)
class Loading:
    """Registers that a load from tensor memory gives, and the threads that have not waited."""

    op: Operation
    flags: Flags


@dataclass(eq=False, slots=True)
class Event:
    """Something that some threads do: the place of its barrier (root, element), what it accesses,
    and the rounds of the loops around it."""

    kind: str
    op: Operation
    mask: Mask
    barrier: tuple[object, int] | None
    scalars: tuple[int, ...]
    accesses: tuple[tuple[Place, View, tuple[Any, ...]], ...]
    constant: Any
    rounds: tuple[tuple[Operation, int], ...]


@dataclass(frozen=True, slots=True)
class Operands:
    """Where the operands of an event are kept: its places, its barrier, its numbers."""

    places: list[tuple[Place, int, list[int]]]
    barrier: int | None
    indices: list[int]
    scalars: list[int]
    predicate: int | None


@dataclass(slots=True)
class Trace:
    """The events of all threads, and what could not be decided."""

    events: list[Event] = field(default_factory=list[Event])
    unproven: dict[Operation, str] = field(default_factory=dict[Operation, str])
    undecided: bool = False
    beside: dict[Operation, tuple[int, int]] = field(
        default_factory=dict[Operation, tuple[int, int]]
    )
    """Elements of rings of mbarriers that are none of theirs: the last, and how many there are."""


class Program:
    """A function, cut down to what its events depend on; `run` follows it."""

    def __init__(self, function: Operation):
        self.function = function
        self.memory: dict[tuple[Any, ...], Any] = {}
        self._slots: dict[SSAValue, int] = {}
        self._initial: list[Any] = []
        self._body: Region = function.regions[0]
        self._loaded: set[SSAValue] = set()
        self._effects: dict[Operation, Effect | None] = {}
        self._find(self._body)
        self._forward_loaded()
        self._needed: set[SSAValue] = set()
        self._find_needed()
        self._blocks: dict[Block, list[Step]] = {}
        for block in self._body.blocks:
            self._blocks[block] = self._compile(block)

    @property
    def has_events(self) -> bool:
        """There is anything to check."""
        return bool(self._effects)

    @property
    def loops(self) -> list[scf.ForOp]:
        """The loops that hold events, outer ones first."""
        return [op for op in self._effects if isinstance(op, scf.ForOp)]

    @property
    def effects(self) -> list[Effect]:
        """What the ops do."""
        return [effect for effect in self._effects.values() if effect is not None]

    @property
    def has_conditions(self) -> bool:
        """Some branch depends on a condition that an argument or memory gives."""
        return any(
            value.type == i1 and isinstance(value.owner, Block | memref.LoadOp)
            for value in self._needed
        )

    @property
    def arguments(self) -> set[Leaf]:
        """The numbers among the function's arguments that anything depends on."""
        return {
            argument
            for argument in self._body.blocks[0].args
            if argument in self._needed
            and isinstance(argument.type, IndexType | IntegerType)
            and argument.type != i1
        }

    # What matters

    def _find(self, region: Region) -> bool:
        """Collect the ops that are events, or hold some."""
        found = False
        for block in region.blocks:
            for op in block.ops:
                if op.regions:
                    self._effects[op] = None
                    if not any([self._find(inner) for inner in op.regions]):
                        del self._effects[op]
                elif (effect := effect_of(op)) is not None:
                    self._effects[op] = effect
                    if isinstance(op, tmem_access.TmemAccessOp):
                        self._loaded.update(op.results)
                found = found or op in self._effects
        return found

    def _forward_loaded(self) -> None:
        """Add what loops and branches hand on of loaded registers, and the ops that use any."""
        work = list(self._loaded)
        while work:
            value = work.pop()
            for use in value.uses:
                op = use.operation
                for handed in _handed_on(op, use.index):
                    if handed not in self._loaded:
                        self._loaded.add(handed)
                        work.append(handed)
                if not op.regions and not op.has_trait(IsTerminator) and op not in self._effects:
                    self._effects[op] = Effect("use")
                parent = op.parent_op()
                while parent is not None and parent is not self.function:
                    self._effects.setdefault(parent, None)
                    parent = parent.parent_op()

    def _find_needed(self) -> None:
        work: list[SSAValue] = []
        for op, effect in self._effects.items():
            if effect is None:
                work += _decides(op)
            else:
                for place in (effect.barrier, *effect.places):
                    if place is not None:
                        work += (place.memref, *place.indices)
                work += effect.scalars
                if effect.predicate is not None:
                    work.append(effect.predicate)
        if len(self._body.blocks) > 1:
            for block in self._body.blocks:
                if isinstance(last := block.last_op, cf.ConditionalBranchOp):
                    work.append(last.cond)
        work += self._loaded
        while work:
            value = work.pop()
            if value in self._needed:
                continue
            self._needed.add(value)
            self._slots[value] = len(self._slots)
            work += _sources(value)

    def slot(self, value: SSAValue) -> int:
        """Where a value is kept; of what is not needed, a place of its own."""
        return self._slots.setdefault(value, len(self._slots))

    # Running

    def run(self, launch: Launch) -> Trace:
        """The events of a launch. Raises Hazard, OutOfBounds and TooLong."""
        self.launch = launch
        self.trace = Trace()
        self.rounds: tuple[tuple[Operation, int], ...] = ()
        self._masks: dict[bytes, Mask] = {}
        self._elected: dict[int, Flags] = {}
        self._loading: list[Loading] = []
        self.env: list[Any] = [UNKNOWN] * len(self._slots)
        for place, value in self._constants:
            self.env[place] = value
        self._steps_left = MOST_EVENTS
        for argument in self._body.blocks[0].args:
            if argument in self._needed:
                self.env[self._slots[argument]] = self._argument(argument)
        self._run_blocks(self._body.blocks[0], self.mask(launch.present))
        return self.trace

    def mask(self, flags: Flags) -> Mask:
        """The set of these threads."""
        key = flags.tobytes()
        if (mask := self._masks.get(key)) is None:
            mask = self._masks[key] = Mask(flags, len(self._masks))
        return mask

    def say_unproven(self, op: Operation, why: str) -> None:
        """Note what cannot be decided."""
        self.trace.unproven.setdefault(op, why)

    def _argument(self, value: SSAValue) -> Any:
        if isinstance(value.type, MemRefType):
            return view_of(value, value.type)
        if isinstance(value.type, IndexType | IntegerType):
            return self.launch.leaf(value)
        return UNKNOWN

    def _run_blocks(self, block: Block, mask: Mask) -> None:
        """Follow blocks to the end of the function; threads that part there stay apart."""
        while True:
            for step in self._blocks[block]:
                step(mask)
            last = block.last_op
            match last:
                case cf.BranchOp():
                    self._assign(last.successor.args, last.arguments)
                    block = last.successor
                case cf.ConditionalBranchOp():
                    then, other = self.parted(last, self.env[self.slot(last.cond)], mask)
                    self._tick()
                    if then is not None and other is not None:
                        kept = list(self.env)
                        self._assign(last.then_block.args, last.then_arguments)
                        self._run_blocks(last.then_block, then)
                        self.env = kept
                    if other is not None:
                        self._assign(last.else_block.args, last.else_arguments)
                        block, mask = last.else_block, other
                    else:
                        self._assign(last.then_block.args, last.then_arguments)
                        block = last.then_block
                case _:
                    return

    def _assign(self, dests: Sequence[SSAValue], sources: Sequence[SSAValue]) -> None:
        values = [self.env[self._slots[s]] if s in self._slots else UNKNOWN for s in sources]
        for dest, value in zip(dests, values, strict=True):
            if dest in self._slots:
                self.env[self._slots[dest]] = value

    def _tick(self) -> None:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise TooLong

    def parted(self, op: Operation, condition: Any, mask: Mask) -> tuple[Mask | None, Mask | None]:
        """The threads for which a condition holds, and the others."""
        if condition is UNKNOWN:
            self.say_unproven(op, "its condition is not known before it runs")
            condition = self.launch.guess(op)
        if isinstance(condition, np.ndarray):
            holds = condition.astype(np.bool_) & mask.flags
            count = int(np.count_nonzero(holds))
            if 0 < count < mask.count:
                return self.mask(holds), self.mask(mask.flags & ~holds)
            condition = count > 0
        return (mask, None) if condition else (None, mask)

    # Compiling

    def _compile(self, block: Block) -> list[Step]:
        steps: list[Step] = []
        for op in block.ops:
            if (step := self._step(op)) is not None:
                steps.append(step)
        return steps

    def _step(self, op: Operation) -> Step | None:
        effect = self._effects.get(op)
        if effect is not None:
            event = self._event(op, effect)
            value = self._value(op) if any(r in self._needed for r in op.results) else None
            if value is None:
                return event
            return lambda mask: (event(mask), value(mask))[0]
        relevant = op in self._effects or any(r in self._needed for r in op.results)
        if not relevant:
            return None
        match op:
            case scf.ForOp():
                return self._for(op)
            case scf.IfOp():
                return self._if(op)
            case scf.WhileOp():
                return self._while(op)
            case _:
                if op.regions:
                    return lambda mask: self._give_up(op)
                return self._value(op)

    def _give_up(self, op: Operation) -> None:
        self.say_unproven(op, "it is no control flow that is followed")
        self.trace.undecided = True

    @property
    def _constants(self) -> list[tuple[int, Any]]:
        """Values that are the same in every run."""
        if not self._initial:
            for value, place in self._slots.items():
                owner = value.owner
                if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
                    number = owner.value.value.data
                    wide = not (isinstance(value.type, IntegerType) and value.type.width.data == 1)
                    self._initial.append((place, number if wide else number & 1))
                elif isinstance(owner, memref.AllocOp | memref.AllocaOp | memref.GetGlobalOp):
                    self._initial.append((place, view_of(value, value.type)))  # type: ignore[arg-type]
        return self._initial

    def _value(self, op: Operation) -> Step | None:
        """What computes the results of an op."""
        if isinstance(op, arith.ConstantOp | memref.AllocOp | memref.AllocaOp | memref.GetGlobalOp):
            return None
        places = [self.slot(result) for result in op.results]
        sources = [self._slots.get(operand) for operand in op.operands]
        kind = type(op)
        if (function := BINARY.get(kind)) is not None:
            a, b = sources
            bit = op.results[0].type == IntegerType(1)

            def binary(mask: Mask) -> None:
                value = function(self.env[a], self.env[b])  # type: ignore[index]
                self.env[places[0]] = value & 1 if bit and value is not UNKNOWN else value

            return binary
        if kind in CASTS:
            return self._cast(places[0], sources[0])
        if isinstance(op, arith.CmpiOp):
            compare = COMPARISONS[op.predicate.value.data]

            def compared(mask: Mask) -> None:
                self.env[places[0]] = compare(self.env[sources[0]], self.env[sources[1]])  # type: ignore[index]

            return compared
        if isinstance(op, arith.SelectOp):

            def selected(mask: Mask) -> None:
                env = self.env
                env[places[0]] = select(env[sources[0]], env[sources[1]], env[sources[2]])  # type: ignore[index]

            return selected
        if isinstance(op, arith.TruncIOp):
            width = op.result.type.width.data  # type: ignore[union-attr]

            def cut(mask: Mask) -> None:
                self.env[places[0]] = truncated(self.env[sources[0]], width)  # type: ignore[index]

            return cut
        compute = self._special(op, sources)
        if compute is None:
            return None

        def special(mask: Mask) -> None:
            self.env[places[0]] = compute(mask)

        return special

    def _cast(self, place: int, source: int | None) -> Step:
        assert source is not None

        def cast(mask: Mask) -> None:
            value = self.env[source]
            self.env[place] = value.astype(np.int64) if isinstance(value, np.ndarray) else (
                int(value) if isinstance(value, bool) else value)  # fmt: skip

        return cast

    def _special(self, op: Operation, sources: list[int | None]) -> Callable[[Mask], Any] | None:
        """Values of the launch, of threads and of memory."""
        match op:
            case gpu.ThreadIdOp() | gpu.BlockIdOp() | gpu.BlockDimOp() | gpu.GridDimOp():
                axis = "xyz".index(op.dimension.data.value)
                return lambda mask: self.launch.special(op.name, axis)
            case gpu.LaneIdOp() | gpu.SubgroupIdOp() | cluster.RankOp():
                return lambda mask: self.launch.special(op.name, 0)
            case ElectSyncOp():
                return self._elect
            case shuffle.ShflSyncOp():
                return lambda mask: self._shuffled(op, self.env[self._slots[op.value]])
            case memref.DimOp() | arith.IndexCastOp():
                return lambda mask: self.launch.leaf(op.results[0])
            case memref.CastOp() | memref.ReinterpretCastOp() | memref.MemorySpaceCastOp():
                return lambda mask: self._cast_view(op, self.env[self._slots[op.operands[0]]])
            case tmem.RetrieveOp():
                indices = [self._slots[index] for index in op.indices]
                type_ = op.result.type
                return lambda mask: view_of(
                    ("tmem", op.slot, tuple(str(self.env[i]) for i in indices)), type_
                )
            case tmem.SliceOp():
                return lambda mask: self._sliced(op)
            case tmem_access.TmemAccessOp():
                return lambda mask: self._load(op, mask)
            case _:
                return None

    def _elect(self, mask: Mask) -> Flags:
        if (flags := self._elected.get(mask.number)) is None:
            lanes = np.flatnonzero(mask.flags)
            _, first = np.unique(lanes // WARP, return_index=True)
            flags = np.zeros(len(mask.flags), dtype=np.bool_)
            flags[lanes[first]] = True
            self._elected[mask.number] = flags
        return flags

    def _shuffled(self, op: shuffle.ShflSyncOp, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            lanes = np.arange(len(value))
            other = op.lane.value.data
            from_ = lanes ^ other if op.mode.data == "bfly" else lanes // WARP * WARP + other
            return value[np.minimum(from_, len(value) - 1)]
        return value

    def _cast_view(self, op: Operation, view: Any) -> Any:
        if not isinstance(view, View):
            return UNKNOWN
        type_ = op.results[0].type
        assert isinstance(type_, MemRefType)
        first = view.first
        if isinstance(op, memref.ReinterpretCastOp):
            offsets = op.static_offsets.get_values()
            begin = offsets[0] if offsets else 0
            if op.offsets:
                begin = (
                    self.env[self._slots[op.offsets[0]]]
                    if op.offsets[0] in self._slots
                    else UNKNOWN
                )
            if not isinstance(begin, int):
                return UNKNOWN
            first = begin
        return view_of(view.root, type_, first)

    def _sliced(self, op: tmem.SliceOp) -> Any:
        view = self.env[self._slots[op.source]]
        indices = [self.env[self._slots[index]] for index in op.indices]
        if not isinstance(view, View) or any(index is UNKNOWN for index in indices):
            return UNKNOWN
        return view_of(view.root, op.result.type, view.first + tensor_offset(view.type, indices))

    def _load(self, op: Operation, mask: Mask) -> Loading:
        loading = Loading(op, mask.flags.copy())
        self._loading.append(loading)
        return loading

    # Events

    def _event(self, op: Operation, effect: Effect) -> Step:
        if effect.kind == "use":
            operands = [self._slots[value] for value in op.operands if value in self._loaded]
            return lambda mask: self._use(op, operands, mask)
        slots, barrier = self._slots, effect.barrier
        operands = Operands(
            [(place, slots[place.memref], [slots[index] for index in place.indices])
             for place in effect.places],
            None if barrier is None else slots[barrier.memref],
            [] if barrier is None else [slots[index] for index in barrier.indices],
            [slots[value] for value in effect.scalars],
            None if effect.predicate is None else slots[effect.predicate],
        )  # fmt: skip
        if effect.kind == "tmem.wait_load":
            return lambda mask: (self._wait_load(mask), self._record(op, effect, operands, mask))[0]
        return lambda mask: self._record(op, effect, operands, mask)

    def _use(self, op: Operation, operands: list[int], mask: Mask) -> None:
        for place in operands:
            loading = self.env[place]
            if isinstance(loading, Loading) and (loading.flags & mask.flags).any():
                raise Hazard("registers", op, loading.op)

    def _wait_load(self, mask: Mask) -> None:
        for loading in self._loading:
            loading.flags &= ~mask.flags
        self._loading = [loading for loading in self._loading if loading.flags.any()]

    def _record(self, op: Operation, effect: Effect, slots: Operands, mask: Mask) -> None:
        self._tick()
        env = self.env
        if slots.predicate is not None:
            then, _ = self.parted(op, env[slots.predicate], mask)
            if then is None:
                return
            mask = then
        accesses = tuple(
            (place, env[memref_], tuple([env[index] for index in indices]))
            for place, memref_, indices in slots.places
        )
        if slots.barrier is None:
            self._emit(op, effect, mask, None, (), accesses)
            return
        scalars = tuple([env[value] for value in slots.scalars])
        view = env[slots.barrier]
        indices = [env[index] for index in slots.indices]
        cell: Any = UNKNOWN
        if isinstance(view, View) and not any(index is UNKNOWN for index in indices):
            cell = self._element(view, indices)
        if cell is UNKNOWN or any(value is UNKNOWN for value in scalars):
            self.say_unproven(op, "its mbarrier or parity is not known before it runs")
            self.trace.undecided = True
            return
        size = view.placement
        for part, (number, *others) in self._split(mask, (cell, *scalars)):
            if size is not None and not 0 <= number - view.first < size.size:
                last, _ = self.trace.beside.get(op, (number, 0))
                self.trace.beside[op] = (max(last, number) if number >= 0 else -1, size.size)
                self.trace.undecided = True
                continue
            self._emit(op, effect, part, (view.root, number), tuple(others), accesses)

    def _element(self, view: View, indices: list[Any]) -> Any:
        placement = view.placement
        if placement is None:
            return UNKNOWN
        if len(indices) == 1 and isinstance(indices[0], int) and placement.plain:
            return indices[0] + view.first
        if all(isinstance(index, int) for index in indices):
            return int(placement.cells(indices, ())[0, 0]) + view.first
        wide = [np.broadcast_to(index, self.launch.slots) for index in indices]
        return placement.cells(wide, ())[:, 0] + view.first

    def _split(self, mask: Mask, values: tuple[Any, ...]) -> list[tuple[Mask, tuple[int, ...]]]:
        """The threads by what they have."""
        if not any(isinstance(value, np.ndarray) for value in values):
            return [(mask, tuple(int(value) for value in values))]
        rows = np.stack([np.broadcast_to(value, len(mask.flags)) for value in values], axis=1)
        lanes = np.flatnonzero(mask.flags)
        kinds, which = np.unique(rows[lanes], axis=0, return_inverse=True)
        parts: list[tuple[Mask, tuple[int, ...]]] = []
        for number, kind in enumerate(kinds.tolist()):
            flags = np.zeros(len(mask.flags), dtype=np.bool_)
            flags[lanes[which.reshape(-1) == number]] = True
            parts.append((self.mask(flags), tuple(kind)))
        return parts

    def _emit(
        self, op: Operation, effect: Effect, mask: Mask, barrier: tuple[object, int] | None,
        scalars: tuple[int, ...], accesses: tuple[Any, ...],
    ) -> None:  # fmt: skip
        event = Event(
            effect.kind, op, mask, barrier, scalars, accesses, effect.constant, self.rounds
        )
        self.trace.events.append(event)

    # Control flow

    def _for(self, op: scf.ForOp) -> Step:
        block = op.body.block
        body, last = self._compile(block), block.last_op
        assert last is not None
        bounds = [self.slot(value) for value in (op.lb, op.ub, op.step)]
        variable = self.slot(block.args[0])
        carried = self._carried(block.args[1:], op.iter_args, last.operands, op.results)

        def loop(mask: Mask) -> None:
            lower, upper, step = (self.env[place] for place in bounds)
            if lower is UNKNOWN or upper is UNKNOWN or step is UNKNOWN:
                self.say_unproven(op, "its length is not known before it runs")
                lower, upper, step = 0, 3, 1
            before, values = self.rounds, [self.env[first] for _, first, _, _ in carried]
            number = 0
            while True:
                parts = self.parted(op, lower < upper, mask)
                if parts[0] is None:
                    break
                self._tick()
                inside = parts[0]
                self.rounds = (*before, (op, number))
                self.env[variable] = lower
                for (place, _, _, _), value in zip(carried, values, strict=True):
                    self.env[place] = value
                for each in body:
                    each(inside)
                after = [self.env[place] for _, _, place, _ in carried]
                values = after if inside is mask else [
                    select(inside.flags, new, old)
                    for new, old in zip(after, values, strict=True)
                ]  # fmt: skip
                lower, number = lower + step, number + 1
            self.rounds = before
            for (_, _, _, place), value in zip(carried, values, strict=True):
                self.env[place] = value

        return loop

    def _carried(
        self, args: Sequence[SSAValue], inits: Sequence[SSAValue], yields: Sequence[SSAValue],
        results: Sequence[SSAValue],
    ) -> list[tuple[int, int, int, int]]:  # fmt: skip
        """Slots of the values that a loop carries, as far as anybody asks for them."""
        return [
            (self.slot(arg), self.slot(init), self.slot(given), self.slot(result))
            for arg, init, given, result in zip(args, inits, yields, results, strict=True)
            if arg in self._needed or result in self._needed
        ]

    def _if(self, op: scf.IfOp) -> Step:
        condition = self.slot(op.cond)
        branches: list[tuple[list[Step], list[int]]] = []
        wanted = [place for place, result in enumerate(op.results) if result in self._needed]
        for region in (op.true_region, op.false_region):
            if not region.blocks:
                branches.append(([], []))
                continue
            last = region.block.last_op
            given = [self.slot(last.operands[place]) for place in wanted] if last else []
            branches.append((self._compile(region.block), given))
        results = [self.slot(op.results[place]) for place in wanted]

        def branch(mask: Mask) -> None:
            parts = self.parted(op, self.env[condition], mask)
            given: list[list[Any]] = []
            for part, (steps, values) in zip(parts, branches, strict=True):
                if part is not None:
                    for step in steps:
                        step(part)
                    given.append([self.env[place] for place in values])
            for number, place in enumerate(results):
                if len(given) == 1:
                    self.env[place] = given[0][number]
                else:
                    assert parts[0] is not None
                    self.env[place] = select(parts[0].flags, given[0][number], given[1][number])

        return branch

    def _while(self, op: scf.WhileOp) -> Step:
        before, after = op.before_region.block, op.after_region.block
        test, body = self._compile(before), self._compile(after)
        last, condition = after.last_op, before.last_op
        assert isinstance(condition, scf.ConditionOp) and last is not None
        asked = self.slot(condition.condition)
        back = [(self.slot(a), self.slot(i), self.slot(y)) for a, i, y in
                zip(before.args, op.arguments, last.operands, strict=True)]  # fmt: skip
        handed = [(self.slot(a), self.slot(c), self.slot(r)) for a, c, r in
                  zip(after.args, condition.args, op.results, strict=True)]  # fmt: skip

        def loop(mask: Mask) -> None:
            values, rounds, number, active = [self.env[i] for _, i, _ in back], self.rounds, 0, mask
            while True:
                self._tick()
                self.rounds = (*rounds, (op, number))
                for (place, _, _), value in zip(back, values, strict=True):
                    self.env[place] = value
                for step in test:
                    step(active)
                goes = self.env[asked]
                if goes is UNKNOWN:
                    self.say_unproven(op, "its length is not known before it runs")
                    goes = number < 2
                inside, _ = self.parted(op, goes, active)
                for place, source, result in handed:
                    self.env[result] = self.env[place] = self.env[source]
                if inside is None:
                    break
                for step in body:
                    step(inside)
                values, active, number = [self.env[y] for _, _, y in back], inside, number + 1
            self.rounds = rounds

        return loop


def _handed_on(op: Operation, index: int) -> Sequence[SSAValue]:
    """The values that a loop, a branch or a terminator gives an operand to."""
    parent = op.parent_op()
    match op, parent:
        case scf.ForOp(), _ if index >= 3:
            return (op.body.block.args[index - 2], op.results[index - 3])
        case scf.YieldOp(), scf.ForOp():
            return (parent.body.block.args[index + 1], parent.results[index])
        case scf.YieldOp(), scf.IfOp():
            return (parent.results[index],)
        case _:
            return ()


def _decides(op: Operation) -> list[SSAValue]:
    """The values that say where control goes at an op with regions."""
    match op:
        case scf.ForOp():
            return [op.lb, op.ub, op.step]
        case scf.IfOp():
            return [op.cond]
        case scf.WhileOp():
            last = op.before_region.block.last_op
            return [last.operands[0]] if last is not None else []
        case _:
            return []


def _sources(value: SSAValue) -> list[SSAValue]:
    """The values that one is computed from."""
    owner = value.owner
    if isinstance(owner, Block):
        return _given(value, owner)
    match owner:
        case scf.IfOp():
            place = owner.results.index(value)  # type: ignore[arg-type]
            lasts = [region.block.last_op for region in owner.regions if region.blocks]
            return [owner.cond, *(last.operands[place] for last in lasts if last is not None)]
        case scf.ForOp():
            place = owner.results.index(value)  # type: ignore[arg-type]
            return [owner.body.block.args[place + 1], *_decides(owner)]
        case scf.WhileOp():
            return [*_decides(owner), *owner.operands, *_yielded(owner)]
        case memref.LoadOp():
            return []
        case tmem_access.TmemAccessOp():
            return []
        case _:
            return [
                operand for operand in owner.operands
                if isinstance(operand.type, IndexType | IntegerType | MemRefType)
            ]  # fmt: skip


def _yielded(op: Operation) -> list[SSAValue]:
    lasts = [region.blocks[0].last_op for region in op.regions]
    return [operand for last in lasts if last is not None for operand in last.operands]


def _given(value: SSAValue, block: Block) -> list[SSAValue]:
    """The values that a block's argument may have."""
    parent, place = block.parent_op(), list(block.args).index(value)  # type: ignore[arg-type]
    if isinstance(parent, scf.ForOp):
        if place == 0:
            return _decides(parent)
        assert block.last_op is not None
        return [parent.iter_args[place - 1], block.last_op.operands[place - 1], *_decides(parent)]
    if isinstance(parent, scf.WhileOp):
        return [*_decides(parent), *parent.operands, *_yielded(parent)]
    region, found = block.parent, list[SSAValue]()
    if region is not None and block is not region.blocks[0]:
        for other in region.blocks:
            if other.last_op is not None and block in other.last_op.successors:
                found += other.last_op.operands
    return found
