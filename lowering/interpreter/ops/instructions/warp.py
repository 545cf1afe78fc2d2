"""Threads of a warp that look at each other's values: shuffles, votes, matches, reductions."""

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from tilewright.dialects.cute_nvgpu.lattice.mbarrier import ELECT_SYNC, ELECT_SYNC_MEMBERS
from tilewright.dialects.cute_nvgpu.lattice.sync import SHFL_SYNC
from tilewright.dialects.cute_nvgpu.ops.shuffle import ShflIdxOp
from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx import warp
from tilewright.lowering.interpreter.arithmetic.scalar import scalar
from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray, Int64Array
from tilewright.lowering.interpreter.builder import Effect, Run, effects, executes
from tilewright.lowering.interpreter.errors import Fault, first_place
from tilewright.lowering.interpreter.machine.barriers import ALL_MEMBERS
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.values import Bits, PartlyUndefined, Undefined, spread

_BITS = np.arange(WARP)
_ALL = np.array([ALL_MEMBERS], np.uint32)


@frozen
class _Members:
    """The threads of a gang in the warps that they are of: `warps` and `lanes` are their places,
    [threads]; `named` says whose bits a membermask has, [threads, 32]."""

    warps: Int64Array
    lanes: Int64Array
    named: BoolArray

    @classmethod
    def of(cls, machine: Machine, gang: Gang, mask: Bits, op: str) -> "_Members":
        """Raises Fault where a thread of a mask executes something else."""
        numbers, warps = np.unique(gang.lanes // WARP, return_inverse=True)
        members = cls(warps, gang.lanes % WARP, np.zeros((gang.count, WARP), bool))
        words = spread(mask, gang.count).astype(np.int64)
        there = machine.there[numbers[:, None] * WARP + _BITS]
        named = (words[:, None] >> _BITS & 1 != 0) & there[warps]
        if not (own := words >> members.lanes & 1).all():
            thread = int(np.argmin(own))
            raise Fault(
                f"{op} expected a membermask with its own thread, got {int(words[thread]):#010x} "
                f"in lane {int(members.lanes[thread])}",
                thread,
            )
        missing = named & ~members.table(np.ones(gang.count, bool))[warps]
        if missing.any():
            thread, lane = first_place(missing)
            raise Fault(
                f"{op} expected all threads of its membermask {int(words[thread]):#010x}, and lane "
                f"{lane} executes something else",
                thread,
            )
        return cls(warps, gang.lanes % WARP, named)

    def table(self, values: AnyArray) -> AnyArray:
        """A value of each lane, of the threads that have one: [warps, 32]."""
        table = np.zeros((int(self.warps.max()) + 1, WARP), values.dtype)
        table[self.warps, self.lanes] = values
        return table

    def read(self, machine: Machine, values: AnyArray, lanes: Int64Array) -> Bits:
        """The values of some lanes of their warps; of one that is no member anything."""
        known = self.named[np.arange(len(lanes)), lanes]
        given = self.table(values)[self.warps, lanes]
        return np.where(known, given, machine.schedule.undefined(len(lanes)))


def _collective(
    op: Any, compute: Callable[[_Members, AnyArray], Bits | list[Bits]]
) -> tuple[Run, SSAValue, SSAValue]:
    """The effect of what the threads of a membermask make of their values, [threads, 32]."""

    def run(machine: Machine, gang: Gang, a: Bits, mask: Bits) -> Bits | list[Bits]:
        members = _Members.of(machine, gang, mask, op.mnemonic)
        return compute(members, members.table(spread(a, gang.count))[members.warps])

    return run, op.a, op.members


def _as_mask(bits: BoolArray) -> Bits:
    return (bits << _BITS).sum(axis=1).astype(np.uint32)


_VOTES: dict[str, Callable[[BoolArray, BoolArray], Any]] = {
    "any.pred": lambda named, a: (named & a).any(axis=1),
    "all.pred": lambda named, a: (a | ~named).all(axis=1),
    "uni.pred": lambda named, a: (a | ~named).all(axis=1) | (~a | ~named).all(axis=1),
    "ballot.b32": lambda named, a: _as_mask(named & a),
}


@effects
def _vote(op: warp.VoteOp) -> Effect:
    vote = _VOTES[op.form.data]
    return _collective(op, lambda members, a: vote(members.named, a))


@effects
def _match(op: warp.MatchOp) -> Effect:
    def compute(members: _Members, a: AnyArray) -> Bits:
        own = a[np.arange(len(a)), members.lanes]
        return _as_mask(members.named & (a == own[:, None]))

    match, *operands = _collective(op, compute)

    def run(machine: Machine, gang: Gang, *given: Bits) -> Bits:
        alike = match(machine, gang, *given)
        machine.mbarriers.meet(gang.lanes, alike)
        return alike

    return run, *operands


@effects
def _match_all(op: warp.MatchAllOp) -> Effect:
    def compute(members: _Members, a: AnyArray) -> list[Bits]:
        own = a[np.arange(len(a)), members.lanes]
        alike = ((a == own[:, None]) | ~members.named).all(axis=1)
        return [_as_mask(members.named & alike[:, None]), alike]

    return _collective(op, compute)


@executes(ELECT_SYNC)
def _elect(machine: Machine, gang: Gang) -> Bits:
    """The first thread of each warp that has not ended."""
    if gang.is_whole:
        return gang.lanes % WARP == 0
    members = _Members.of(machine, gang, _ALL, "elect.sync")
    return members.named.argmax(axis=1) == members.lanes


@effects(ELECT_SYNC_MEMBERS)
def _elect_of(op: Any) -> Effect:
    """The first member."""

    def run(machine: Machine, gang: Gang, mask: Bits = _ALL) -> list[Bits]:
        members = _Members.of(machine, gang, mask, op.mnemonic)
        first = members.named.argmax(axis=1)
        return [first.astype(np.uint32), first == members.lanes]

    return run, *op.operands


_REDUCTIONS: dict[str, tuple[Any, int]] = {
    "add": (np.add, 0),
    "and": (np.bitwise_and, -1),
    "or": (np.bitwise_or, 0),
    "xor": (np.bitwise_xor, 0),
    "min": (np.minimum, 0),
    "max": (np.maximum, 0),
}


@effects
def _redux(op: warp.ReduxOp) -> Effect:
    operation, *words, type_ = op.form.data.split(".")
    if type_ == "f32":
        return _collective(op, partial(_least, operation, words))
    combine, neutral = _REDUCTIONS[operation]
    dtype = np.dtype("int32" if type_[0] == "s" else "uint32")
    if operation in ("min", "max"):
        neutral = getattr(np.iinfo(dtype), "max" if operation == "min" else "min")

    def compute(members: _Members, a: AnyArray) -> Bits:
        values = np.where(members.named, a.view(dtype), np.array(neutral).astype(dtype))
        return combine.reduce(values, axis=1, dtype=dtype).view(np.uint32)

    return _collective(op, compute)


def _least(operation: str, words: Sequence[str], members: _Members, a: AnyArray) -> Bits:
    """NaN loses, unless the form says `NaN`; who is no member has what changes nothing."""
    infinity = 0x7F800000 if operation == "min" else 0xFF800000
    extreme = scalar(operation, "NaN.f32" if "NaN" in words else "f32")
    bits = a & np.uint32(0x7FFFFFFF) if "abs" in words else a
    other = np.uint32(infinity if "NaN" in words else 0x7FFFFFFF)
    return reduce(extreme, np.where(members.named, bits, other).T)


@executes(warp.ActivemaskOp)
def _activemask(machine: Machine, gang: Gang) -> Bits:
    members = _Members.of(machine, gang, 1 << gang.lanes % WARP, "activemask")
    return _as_mask(members.table(np.ones(gang.count, bool)))[members.warps]


@effects(SHFL_SYNC)
def _shfl_sync(op: Any) -> Effect:
    """Of all threads of each warp that have not ended; from others anything comes."""
    lane, mode = op.lane.value.data, op.mode.data
    other = _BITS ^ lane if mode == "bfly" else np.full(WARP, lane)

    def run(machine: Machine, gang: Gang, value: Bits) -> Bits:
        values = spread(value, gang.count)
        if gang.is_whole:
            return values.reshape(-1, WARP)[:, other].reshape(gang.count)
        members = _Members.of(machine, gang, _ALL, f"shfl.sync.{mode}.b32")
        return members.read(machine, values, other[members.lanes])

    return run


@executes(ShflIdxOp)
def _shfl_idx(machine: Machine, gang: Gang, value: Bits, lane: Bits) -> Bits:
    """As a shuffle by a constant."""
    members = _Members.of(machine, gang, _ALL, "shfl.sync.idx.b32")
    other = spread(lane, gang.count).astype(np.int64) & WARP - 1
    return members.read(machine, spread(value, gang.count), other)


@effects
def _shuffle(op: warp.ShuffleOp) -> Effect:
    """A value that is undefined may be given, and read."""
    mode = op.mode.data

    def run(machine: Machine, gang: Gang, a: Any, *given: Bits) -> list[Any]:
        b, c, mask = (spread(value, gang.count).astype(np.int64) for value in given)
        members = _Members.of(machine, gang, mask.astype(np.uint32), op.mnemonic)
        lane, own, step = members.lanes, c >> 8 & 31, b & 31
        first, last = lane & own, lane & own | c & 31 & ~own
        other = {
            "up": lane - step, "down": lane + step, "bfly": lane ^ step, "idx": first | step & ~own,
        }[mode]  # fmt: skip
        inside = other >= last if mode == "up" else other <= last
        other = np.where(inside, other, lane)
        if type(a) is Undefined:
            return [a, inside]
        whole = a.value if type(a) is PartlyUndefined else a
        values = members.read(machine, spread(whole, gang.count).astype(np.uint32), other)
        if type(a) is PartlyUndefined:
            missing = members.read(machine, a.missing.astype(np.uint32), other) != 0
            values = PartlyUndefined(a.origin, values, missing) if missing.any() else values
        return [values, inside]

    return run
