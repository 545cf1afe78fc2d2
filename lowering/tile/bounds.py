"""Which elements of a copy lie within bounds: coordinates below limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from tilewright.dialects.cute.int_tuple import is_tuple
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.evaluate import image
from tilewright.dialects.cute.symbolic.scalar import Condition, Scalar, divisor_of
from tilewright.dialects.cute.symbolic.tuples import tuple_sum
from tilewright.dialects.cute.tensor import CoordTensor
from tilewright.lowering.tile.emitter import Emitter
from tilewright.lowering.tile.leaves import whole


@dataclass(frozen=True, slots=True)
class Inside:
    """Which of some neighbouring elements are within bounds: none unless `condition`, and then the
    first `count`; a count of None is all of them."""

    condition: Condition
    count: Scalar | None

    @property
    def is_all(self) -> bool:
        """Whether they all are, whatever the kernel's arguments."""
        return self.condition is True and self.count is None


@dataclass(frozen=True, slots=True)
class Bounds:
    """Coordinates of elements, and what they must be below."""

    coords: CoordTensor
    limits: Any

    def of(self, first: int, count: int) -> Inside:
        """The elements from the `first` on."""
        corner = _flat(tuple_sum(self.coords.start, image(self.coords.layout, first)))
        steps = [self._steps(first, i) for i in range(1, count)]
        condition: Condition = True
        inside: Scalar | None = None
        for dimension, limit in enumerate(_flat(self.limits)):
            at = corner[dimension]
            along = [step[dimension] for step in steps]
            if not any(along) or _whole_runs(at, limit, count, along):
                condition = scalar.both(condition, scalar.less(at, limit))
            elif along == list(range(1, count)) and inside is None:
                inside = scalar.sub(limit, at)
            else:
                condition = scalar.both(condition, scalar.less(scalar.add(at, max(along)), limit))
        return Inside(condition, inside)

    def _steps(self, first: int, by: int) -> list[int]:
        """How far each coordinate of an element is from that of the first one."""
        zeros = _zeros(self.limits)
        a, b = (
            _flat(tuple_sum(zeros, image(self.coords.layout, place)))
            for place in (first, first + by)
        )
        return [y - x for x, y in zip(a, b, strict=True)]


def _whole_runs(at: Scalar, limit: Scalar, count: int, along: list[int]) -> bool:
    """Whether elements along a dimension are within bounds all together: runs of `count` begin at
    multiples of it, as does the limit."""
    return (
        divisor_of(at) % count == 0
        and divisor_of(limit) % count == 0
        and all(0 <= step < count for step in along)
    )


def _zeros(t: Any) -> Any:
    return tuple(map(_zeros, t)) if is_tuple(t) else 0


def _flat(t: Any) -> list[Any]:
    return [leaf for each in t for leaf in _flat(each)] if is_tuple(t) else [t]


def condition_value(condition: Condition, emitter: Emitter) -> SSAValue:
    """A condition as an i1."""
    if isinstance(condition, bool):
        return emitter.constant(int(condition), 1)
    return whole(condition)
