"""Facts that may hold at a place of a program, about the wgmmas before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias, TypeVar

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute_nvgpu.ops.sm90 import WarpgroupMmaOp
from tilewright.dialects.frozen import factory

Key = TypeVar("Key")
Item = TypeVar("Item")
_Sets: TypeAlias = Mapping[SSAValue, frozenset[Item]]


class Issue(NamedTuple):
    """A wgmma that may be in flight, `age` commits ago; `current` as long as the values that it
    took its descriptors from are those that their names still mean."""

    op: WarpgroupMmaOp
    age: int
    current: bool


CURRENT, STALE = 1, 2
"""The values that an op names are those that their names still mean, or others: bits, as either
may hold."""


@dataclass
class State:
    """May-facts: joining two states takes what holds in either.

    `unfenced`: no `wgmma.fence` came yet. `touched`: fragments that something other than a wgmma
    wrote since the last fence, with the op that did. `pending`: wgmmas in flight. `in_flight`:
    values whose registers one of these accumulates in, and its age; `names`: others of the same
    registers. `gone`: values whose registers have become those of a later wgmma's result. `writes`:
    writes of threads that no `fence.proxy.async` has followed, each CURRENT, STALE, or either.
    """

    unfenced: bool = True
    touched: dict[SSAValue, Operation | None] = factory(dict)
    pending: frozenset[Issue] = frozenset()
    in_flight: dict[SSAValue, frozenset[tuple[WarpgroupMmaOp, int]]] = factory(dict)
    names: dict[SSAValue, frozenset[SSAValue]] = factory(dict)
    gone: dict[SSAValue, WarpgroupMmaOp] = factory(dict)
    writes: dict[Operation, int] = factory(dict)

    def copy(self) -> State:
        """A state to go on from another way."""
        return replace(
            self,
            touched=dict(self.touched),
            in_flight=dict(self.in_flight),
            names=dict(self.names),
            gone=dict(self.gone),
            writes=dict(self.writes),
        )

    def join(self, other: State) -> State:
        """The state after one of two ways."""
        return State(
            self.unfenced or other.unfenced,
            {**other.touched, **self.touched},
            self.pending | other.pending,
            _either(self.in_flight, other.in_flight),
            _either(self.names, other.names),
            {**other.gone, **self.gone},
            {
                op: self.writes.get(op, 0) | other.writes.get(op, 0)
                for op in {**self.writes, **other.writes}
            },
        )

    def covers(self, other: State) -> bool:
        """Joining the other adds nothing."""
        return (
            self.unfenced >= other.unfenced
            and self.pending >= other.pending
            and all(self.writes.get(op, 0) & bits == bits for op, bits in other.writes.items())
            and _has(self.touched, other.touched)
            and _has(self.gone, other.gone)
            and _within(other.in_flight, self.in_flight)
            and _within(other.names, self.names)
        )

    # What ops do

    def fence(self) -> None:
        """A `wgmma.fence`."""
        self.unfenced = False
        self.touched.clear()

    def commit(self, limit: int) -> None:
        """A `wgmma.commit_group`; ages are counted up to `limit`."""
        self.pending = frozenset(
            issue._replace(age=min(issue.age + 1, limit)) for issue in self.pending
        )
        self.in_flight = {
            value: frozenset((op, min(age + 1, limit)) for op, age in issued)
            for value, issued in self.in_flight.items()
        }

    def wait(self, pending: int) -> None:
        """A `wgmma.wait_group`."""
        self.pending = frozenset(issue for issue in self.pending if issue.age <= pending)
        left = {
            value: frozenset((op, age) for op, age in issued if age <= pending)
            for value, issued in self.in_flight.items()
        }
        self.in_flight = {value: issued for value, issued in left.items() if issued}

    def issue(self, op: WarpgroupMmaOp) -> None:
        """A wgmma: the registers of its C become its result's."""
        c = op.multiplicands_and_c[2]
        if c in self.in_flight:
            for value in (c, *self.names.get(c, ())):
                self.in_flight.pop(value, None)
                self.gone[value] = op
        self.pending |= {Issue(op, 0, True)}
        self.in_flight[op.d] = frozenset({(op, 0)})

    def forget(self, value: SSAValue) -> None:
        """A value is about to be given anew: nothing holds of it."""
        self.touched.pop(value, None)
        self.in_flight.pop(value, None)
        self.gone.pop(value, None)
        for other in self.names.pop(value, ()):
            self.names[other] -= {value}

    def rename(self, values: Mapping[SSAValue, SSAValue], before: State) -> None:
        """Values got the registers of others: those that name the same ones after it."""
        for value, source in values.items():
            if source in before.in_flight:
                same = before.names.get(source, frozenset()) | {source}
                others = {name for name in same if name not in values}
                others |= {name for name, old in values.items() if old in same} - {value}
                self.names[value] = frozenset(others)
                for name in others - values.keys():
                    self.names[name] = self.names.get(name, frozenset()) | {value}


def _either(a: _Sets[Item], b: _Sets[Item]) -> dict[SSAValue, frozenset[Item]]:
    return {value: a.get(value, frozenset()) | b.get(value, frozenset()) for value in {**a, **b}}


def _within(a: _Sets[Item], b: _Sets[Item]) -> bool:
    return all(items <= b.get(value, frozenset()) for value, items in a.items())


def _has(mine: Mapping[Key, object], other: Mapping[Key, object]) -> bool:
    return mine.keys() >= other.keys()
