"""The elements of a copy that lie within bounds: coordinates below limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import starmap
from math import gcd
from typing import Any

from xdsl.ir import SSAValue

from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.scalar import Condition, Scalar, divisor_of
from tilewright.dialects.cute.symbolic.tuples import tuple_sum
from tilewright.dialects.cute.tensor import CoordTensor
from tilewright.dialects.frozen import frozen
from tilewright.lowering.emit.emitter import Emitter
from tilewright.lowering.emit.leaves import whole
from tilewright.lowering.tile.places import flat_tuple, steps_of, zeros_like


@frozen
class Inside:
    """Those of some neighbouring elements that are within bounds: none unless `condition`, and then
    the first `count`; a count of None is all of them. Where they are not the first ones, `apart`
    has a condition for each."""

    condition: Condition
    count: Scalar | None
    apart: tuple[Condition, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Either they all are or none is."""
        return self.count is None and not self.apart

    @property
    def is_all(self) -> bool:
        """They all are, whatever the kernel's arguments."""
        return self.condition is True and self.is_whole

    def present(self, number: int, emitter: Emitter) -> SSAValue:
        """An i1: that element is."""
        conditions = [self.condition]
        if self.count is not None:
            conditions.append(scalar.less(number, self.count))
        if self.apart:
            conditions.append(self.apart[number])
        return _all(conditions, emitter)

    def every(self, count: int, emitter: Emitter) -> SSAValue:
        """An i1: all of so many elements are."""
        last = self.present(count - 1, emitter)
        return _all(self.apart[:-1], emitter, last)


@frozen
class BoundedRun:
    """Neighbouring elements that one instruction moves, from the `first` on. They are within bounds
    where one of `insides` says so: where several runs of a copy are in one place, this is all of
    them."""

    first: int
    count: int
    insides: tuple[Inside, ...]

    def joined(self, inside: Inside) -> BoundedRun:
        """The run with another one in its place; these of it are within bounds."""
        return BoundedRun(self.first, self.count, (*self.insides, inside))

    @property
    def is_all(self) -> bool:
        """All elements are within bounds, whatever the kernel's arguments."""
        return any(inside.is_all for inside in self.insides)

    @property
    def is_whole(self) -> bool:
        """Either all elements are within bounds or none is."""
        return all(inside.is_whole for inside in self.insides)

    @property
    def begins_within(self) -> bool:
        """Those within bounds are the first ones."""
        return not any(inside.apart for inside in self.insides)

    def condition(self, emitter: Emitter) -> SSAValue:
        """An i1: some elements may be within bounds; the first one is, where they begin so."""
        return self._any([condition_value(x.condition, emitter) for x in self.insides], emitter)

    def present(self, number: int, emitter: Emitter) -> SSAValue:
        """An i1: that element of the run is within bounds."""
        return self._any([inside.present(number, emitter) for inside in self.insides], emitter)

    def every(self, emitter: Emitter) -> SSAValue:
        """An i1: all elements are within bounds."""
        return self._any([inside.every(self.count, emitter) for inside in self.insides], emitter)

    @staticmethod
    def _any(conditions: Sequence[SSAValue], emitter: Emitter) -> SSAValue:
        return reduce(lambda a, b: emitter.binary("or", a, b), conditions)


@frozen
class Bounds:
    """Coordinates of elements, and what they must be below."""

    coords: CoordTensor
    limits: Any

    def of(self, first: int, count: int) -> Inside:
        """The elements from the `first` on."""
        places = steps_of(self.coords.layout, self.zeros)
        origin = places[first]
        corner = list(starmap(scalar.add, zip(self._start, origin, strict=True)))
        steps = [
            [b - a for a, b in zip(origin, place, strict=True)]
            for place in places[first + 1 : first + count]
        ]
        condition: Condition = True
        inside: Scalar | None = None
        apart = [condition] * count
        scattered = False
        for dimension, limit in enumerate(flat_tuple(self.limits)):
            at = corner[dimension]
            along = [step[dimension] for step in steps]
            if not any(along) or _whole_runs(at, limit, along):
                condition = scalar.both(condition, scalar.less(at, limit))
            elif along == list(range(1, count)) and inside is None:
                inside = scalar.sub(limit, at)
            else:
                scattered = True
                apart = [
                    scalar.both(before, scalar.less(scalar.add(at, step), limit))
                    for before, step in zip(apart, (0, *along), strict=True)
                ]
        return Inside(condition, inside, tuple(apart) if scattered else ())

    @property
    def zeros(self) -> Any:
        """The coordinate of nothing."""
        return zeros_like(self.limits)

    @property
    def _start(self) -> list[Any]:
        return flat_tuple(tuple_sum(self.coords.start, self.zeros))


def _whole_runs(at: Scalar, limit: Scalar, along: list[int]) -> bool:
    """Elements along a dimension are within bounds all together: a number divides both where they
    begin and the limit, and none of them reaches the next multiple of it."""
    divisor = gcd(divisor_of(at), divisor_of(limit))
    return min(along) >= 0 and (divisor > max(along) or divisor == 0)


def _all(conditions: Iterable[Condition], emitter: Emitter, *others: SSAValue) -> SSAValue:
    """The conjunction as an i1."""
    values = [*others, *(condition_value(condition, emitter) for condition in conditions)]
    return reduce(lambda a, b: emitter.binary("and", a, b), values)


def condition_value(condition: Condition, emitter: Emitter) -> SSAValue:
    """A condition as an i1."""
    if isinstance(condition, bool):
        return emitter.constant(int(condition), 1)
    return whole(condition)
