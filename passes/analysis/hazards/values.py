"""Values of all threads: numbers, memrefs and registers on their way from tensor memory."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute.types.memref import Space, is_memref, space_of
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RANK_SHIFT
from tilewright.dialects.cute_nvgpu.ops import address, cluster, shuffle, tmem, tmem_access
from tilewright.dialects.cute_nvgpu.ops.warp_specialization import ElectSyncOp
from tilewright.dialects.ptx import cluster as ptx_cluster
from tilewright.dialects.ptx import (
    data_movement,
    mbarrier,
    registers,
    tcgen05_access,
    warp_specialization,
    wgmma,
)
from tilewright.dialects.ptx import shuffle as ptx_shuffle
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.ptx.types import KINDS
from tilewright.passes.analysis.hazards.aligned import BARRIERS, MEMBERS, check_whole
from tilewright.passes.analysis.hazards.launches import ClusterLaunch, register_of
from tilewright.passes.analysis.hazards.placement import Placement, tensor_offset
from tilewright.passes.analysis.hazards.registers import computed, mapped
from tilewright.passes.analysis.hazards.scalars import (
    UNKNOWN,
    Array,
    Unknown,
    select,
    truncated,
)
from tilewright.passes.analysis.hazards.slices import Slice, is_number
from tilewright.passes.analysis.hazards.trace import (
    WARP,
    EventTrace,
    Flags,
    Mask,
    PendingRegisters,
    PlacedView,
    TooLong,
    view_of,
)

Step = Callable[[Mask], None]

APART = 1 << 18
"""How far the addresses of two memrefs in shared memory are apart: more than a CTA has of it, and
63 of them are addresses of one CTA (`RANK_SHIFT`)."""

MOST_EVENTS = 40_000
"""Where a launch has more than so many events, nothing is said of it."""
MOST_IN_ALL = 10 * MOST_EVENTS
"""All launches of a function together have no more."""
NO_CONDITION = "its condition is not known before it runs"

MOST_PAIRS = 1 << 21
"""Nor are more accesses looked at beside others."""


class Values(Slice):
    """The values that the ops of a function compute in a launch."""

    _given = _steps_left = 0
    steps_in_all, pairs_left = MOST_IN_ALL, MOST_PAIRS
    covers = True

    def begin(self, launch: ClusterLaunch) -> None:
        """Forget the last launch."""
        self.launch = launch
        self.trace = EventTrace(arrays=self.arrays, pair=self.pair, covers=self.covers)
        self.rounds: tuple[tuple[Operation, int], ...] = ()
        self._masks: dict[bytes, Mask] = {}
        self._elected: dict[int, Flags] = {}
        self._whole: set[tuple[int, bool]] = set()
        # The threads that have left the others, to end.
        self.gone: Flags = np.zeros(launch.slots, dtype=np.bool_)
        self._loading: list[PendingRegisters] = []
        self._addresses: dict[int, int] = {}
        self._columns = 0
        self._roots: list[PlacedView] = []
        self._fenced: Flags = np.zeros(launch.slots, dtype=np.bool_)
        self.env: list[Any] = [UNKNOWN] * len(self._slots)
        for place, value in self._constants:
            self.env[place] = value
        self.steps_in_all -= self._given - self._steps_left
        self._given = self._steps_left = min(MOST_EVENTS, self.steps_in_all)

    def mask(self, flags: Flags) -> Mask:
        """The set of these threads."""
        key = flags.tobytes()
        if (mask := self._masks.get(key)) is None:
            mask = self._masks[key] = Mask(flags, len(self._masks))
        return mask

    def check_whole(self, op: Operation, mask: Mask) -> None:
        """Raise Hazard where not all threads of a warp execute what whole ones do."""
        full_warps = self.launch.threads % WARP == 0
        self.trace.whole.add(op)
        waits = not isinstance(op, MEMBERS)
        if (mask.number, waits) in self._whole or not self.launch.is_kernel:
            return
        if isinstance(op, BARRIERS) and not full_warps:
            return
        present = self.launch.present
        check_whole(op, mask.flags, present if waits else present & ~self.gone)
        self._whole.add((mask.number, waits))

    def say_unproven(self, op: Operation, why: str) -> None:
        """Note what cannot be decided."""
        self.trace.unproven.setdefault(op, why)

    def _argument(self, value: SSAValue) -> Any:
        if is_memref(value.type):
            return view_of(value, value.type)
        if is_number(value):
            return self.launch.leaf(value)
        return UNKNOWN

    def _tick(self) -> None:
        self._steps_left -= 1
        if self._steps_left < 0:
            self._steps_left = 0
            raise TooLong

    def pair(self, accesses: int) -> None:
        """An access is looked at beside so many. Raises TooLong."""
        self.pairs_left -= accesses
        if self.pairs_left < 0:
            raise TooLong

    def parted(self, op: Operation, condition: Any, mask: Mask) -> tuple[Mask | None, Mask | None]:
        """The threads for which a condition holds, and the others."""
        if condition is UNKNOWN:
            self.say_unproven(op, NO_CONDITION)
            self.trace.guessed = True
            condition = self.launch.guessed
        if isinstance(condition, np.ndarray):
            holds = condition.astype(np.bool_) & mask.flags
            count = int(np.count_nonzero(holds))
            if 0 < count < mask.count:
                self.trace.taken |= {(op, True), (op, False)}
                return self.mask(holds), self.mask(mask.flags & ~holds)
            condition = count > 0
        self.trace.taken.add((op, bool(condition)))
        return (mask, None) if condition else (None, mask)

    @property
    def constants(self) -> set[int]:
        """The numbers that anything depends on."""
        return {value for _, value in self._constants if isinstance(value, int)}

    @property
    def _constants(self) -> list[tuple[int, Any]]:
        """Values that are the same in every run."""
        if not self._initial:
            for value, place in self._slots.items():
                if isinstance(value, Space):
                    run = min(
                        (place.run for effect in self.effects for place in effect.places),
                        default=1,
                    )
                    size = self._memory_bytes // run
                    whole = Placement((((size, 1),),), (0, 0), 8 * run, size)
                    self._initial.append((place, PlacedView(value, None, whole)))
                    continue
                owner = value.owner
                if isinstance(owner, registers.ConstOp):
                    width = KINDS[owner.result.type.kind.data]
                    self._initial.append((place, truncated(owner.bits.value.data, width)))
                elif isinstance(owner, registers.SharedAddressOp):
                    self._initial.append((place, owner.offset.value.data))
                elif isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
                    number = owner.value.value.data
                    self._initial.append((place, number & 1 if value.type == i1 else number))
                elif isinstance(owner, memref.AllocOp | memref.AllocaOp | memref.GetGlobalOp):
                    self._initial.append((place, view_of(value, value.type)))  # type: ignore[arg-type]
        return self._initial

    def _value(self, op: Operation) -> Step | None:
        """The function that computes the results of an op."""
        if isinstance(op, arith.ConstantOp | memref.AllocOp | memref.AllocaOp | memref.GetGlobalOp):
            return None
        places = [self.slot(result) for result in op.results]
        if (function := computed(op)) is not None:
            sources = [self.slot(operand) for operand in op.operands]
            several = isinstance(op, arith.MulUIExtendedOp)

            def executed(mask: Mask) -> None:
                env = self.env
                result = function(*[env[source] for source in sources])
                for place, value in zip(places, result if several else (result,), strict=False):
                    env[place] = value

            return executed
        compute = self._special(op)
        if compute is None:
            return None

        def special(mask: Mask) -> None:
            self.env[places[-1]] = compute(mask)

        return special

    def _special(self, op: Operation) -> Callable[[Mask], Any] | None:
        """Values of the launch, of threads and of memory."""
        if (register := register_of(op)) is not None:
            return lambda mask: self.launch.special(*register)
        match op:
            case registers.ListMakeOp():
                parts = [self._slots[part] for part in op.operands if part in self._slots]
                return lambda mask: next(
                    (
                        value
                        for place in parts
                        if isinstance(value := self.env[place], PendingRegisters)
                    ),
                    UNKNOWN,
                )
            case data_movement.LdOp():
                place = self.slot(op.address)
                return lambda mask: self._read(op, self.env[place])
            case ElectSyncOp() | warp_specialization.ElectOp():
                return self._elect
            case mbarrier.AskOp():
                return lambda mask: 1  # The event is that of the last try.
            case shuffle.ShflSyncOp() | ptx_shuffle.ShflSyncOp():
                return lambda mask: self._shuffled(op, self.env[self._slots[op.value]])
            case memref.DimOp():
                return lambda mask: self.launch.leaf(op.results[0])
            case memref.CastOp() | memref.ReinterpretCastOp() | memref.MemorySpaceCastOp():
                return lambda mask: self._cast_view(op, self.env[self._slots[op.operands[0]]])
            case cluster.MapOp():
                return lambda mask: self._map(op)
            case ptx_cluster.MapaLeaderOp():
                place = self.slot(op.address)
                kept = op.mask.value.data
                return lambda mask: self._leader(self.env[place], kept)
            case address.AddressOp():
                return lambda mask: self._address(self.env[self._slots[op.memref]])
            case tmem.RetrieveOp():
                indices = [self._slots[index] for index in op.indices]
                type_ = op.result.type
                return lambda mask: view_of(
                    ("tmem", op.slot, tuple(str(self.env[i]) for i in indices)), type_
                )
            case tmem.SliceOp():
                return lambda mask: self._sliced(op)
            case tmem_access.TmemAccessOp() | tcgen05_access.AccessOp() | wgmma.WgmmaOp():
                return lambda mask: self._load(op, mask)
            case _:
                return None

    @property
    def _memory_bytes(self) -> int:
        """How large the shared memory of an entry is."""
        return self.function.shared.value.data if isinstance(self.function, EntryOp) else 0

    def _read(self, op: data_movement.LdOp, address: Any) -> Any:
        """The value that a load gives: an address of tensor memory, or one that nobody knows."""
        if op.space.data != "shared" or not isinstance(address, int):
            return UNKNOWN
        return self._addresses.get(address + op.offset.value.data, UNKNOWN)

    def _address(self, view: Any) -> Any:
        """The address of a memref in shared memory, as if each that was allocated lay alone."""
        if not isinstance(view, PlacedView):
            return UNKNOWN
        if self.has_narrow_scopes and view.root in self._body.blocks[0].args and view.first == 0:
            return self.launch.leaf(cast(SSAValue, view.root))  # As that of an instruction is.
        if view.placement is None:
            return UNKNOWN
        memory: Any = getattr(view.root, "type", None)
        if not is_memref(memory) or space_of(memory.memory_space) is not Space.SMEM:
            return UNKNOWN
        roots = [other.root for other in self._roots]
        if view.root not in roots:
            self._roots.append(view_of(view.root, memory))
            roots.append(view.root)
        return APART * (roots.index(view.root) + 1) + view.first * view.placement.bits // 8

    def _elect(self, mask: Mask) -> Flags:
        if (flags := self._elected.get(mask.number)) is None:
            lanes = np.flatnonzero(mask.flags)
            _, first = np.unique(lanes // WARP, return_index=True)
            flags = np.zeros(len(mask.flags), dtype=np.bool_)
            flags[lanes[first]] = True
            self._elected[mask.number] = flags
        return flags

    def _shuffled(self, op: shuffle.ShflSyncOp | ptx_shuffle.ShflSyncOp, value: Any) -> Any:
        if isinstance(value, int | Unknown):
            return value
        numbers: Array = value
        lanes, other = np.arange(len(numbers)), op.lane.value.data
        source = lanes ^ other if op.mode.data == "bfly" else lanes // WARP * WARP + other
        return numbers[np.minimum(source, len(numbers) - 1)]

    def _cast_view(self, op: Operation, view: Any) -> Any:
        if not isinstance(view, PlacedView):
            return UNKNOWN
        type_ = op.results[0].type
        assert is_memref(type_)
        if not isinstance(op, memref.ReinterpretCastOp):
            return view_of(view.root, type_, view.first, view.rank)
        static: Any = op.static_offsets.get_values()
        begin: Any = static[0] if static else 0
        if op.offsets:
            begin = self.env[self.slot(op.offsets[0])]
        known = isinstance(begin, int)
        return view_of(view.root, type_, begin, view.rank) if known else UNKNOWN

    def of_cluster(self, address: Any) -> tuple[Any, tuple[Any]]:
        """An address of the cluster's shared memory: that of the CTA, and its rank."""
        above = address >> RANK_SHIFT
        own = self.launch.special("cute_nvgpu.cluster.rank", 0)
        return address & ((1 << RANK_SHIFT) - 1), (select(above > 0, above - 1, own),)

    def _leader(self, address: Any, mask: int) -> Any:
        """The same place in the CTA of a pair whose rank is even."""
        if not isinstance(address, int | np.ndarray):
            return UNKNOWN
        place, (rank,) = self.of_cluster(address)
        return mapped(place & mask, rank & ~1)

    def _map(self, op: cluster.MapOp) -> Any:
        """The same memref in another CTA of the cluster."""
        view, rank = (self.env[self._slots[operand]] for operand in op.operands)
        if not isinstance(view, PlacedView):
            return UNKNOWN
        return view_of(view.root, view.type, view.first, rank)  # type: ignore[arg-type]

    def _sliced(self, op: tmem.SliceOp) -> Any:
        view = self.env[self._slots[op.source]]
        indices = [self.env[self._slots[index]] for index in op.indices]
        if not isinstance(view, PlacedView) or any(index is UNKNOWN for index in indices):
            return UNKNOWN
        assert view.type is not None
        return view_of(view.root, op.result.type, view.first + tensor_offset(view.type, indices))

    def _load(self, op: Operation, mask: Mask) -> PendingRegisters:
        loading = PendingRegisters(op, mask.flags.copy())
        self._loading.append(loading)
        return loading
