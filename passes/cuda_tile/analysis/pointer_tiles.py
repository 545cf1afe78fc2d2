"""Tiles of pointers as tiles of a tensor: where a tile begins, in steps of which strides its
dimensions run, and which places of it a mask leaves.

    %p + (128 %b + i) %s + j,  128 %b + i < %m, j < %k - %c      i, j: the place in the tile
    ->  the tile at (128 %b, 0) of the tensor [%m, %k - %c] at %p, of strides (%s, 1)

Where no mask says that a dimension ends, it is as long as may be: the kernel says that what it
loads is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd

from xdsl.ir import BlockArgument, SSAValue

from tilewright.dialects.cuda_tile.enums import ComparisonPredicate
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice.tma import MAX_RANK
from tilewright.dialects.frozen import factory, frozen
from tilewright.passes.cuda_tile.analysis.facts import divisor, known_integer
from tilewright.passes.cuda_tile.analysis.polynomials import (
    ONE,
    SIGNED,
    ZERO,
    Factor,
    Monomial,
    Polynomial,
    Polynomials,
    unit_dimensions,
)
from tilewright.passes.cuda_tile.layouts.elements import shape_of

UNBOUNDED: Polynomial = {ONE: (1 << 32) - (1 << 16)}
"""The size of a dimension of which no mask says where it ends: a multiple of every tile's, and so
large that where a tile begins is computed in 64 bits."""


_OR_EQUAL = (ComparisonPredicate.LESS_THAN_OR_EQUAL, ComparisonPredicate.GREATER_THAN_OR_EQUAL)


@frozen
class MaskBounds:
    """The places i along a dimension that a mask leaves: i < each of `above`; `origins` are what
    the mask adds to i."""

    above: tuple[Polynomial, ...] = ()
    origins: tuple[Polynomial, ...] = ()


@frozen
class TensorDimension:
    """A dimension of the tensor that a tile is of, `axis` of the tile, if any: how many elements
    of the tensor the tile has along it, the first of them, the tensor's sizes, of which the least
    counts, and its stride."""

    extent: int
    start: Polynomial
    sizes: tuple[Polynomial, ...]
    stride: Polynomial
    axis: int | None = None

    @property
    def is_whole(self) -> bool:
        """True where no mask says that the tensor ends."""
        return self.sizes == (UNBOUNDED,)


@frozen
class PointedTile:
    """A tile of the tensor that begins at a pointer, `moved` by so many elements. Of what `wraps`,
    an axis and where along it the tensor ends, the tile has other elements behind the end."""

    base: SSAValue
    moved: Polynomial
    dimensions: Sequence[TensorDimension]
    wraps: Sequence[tuple[int, Polynomial]]
    times: dict[int, int]
    """The neighbours along an axis of the tile that are one element, where they are several."""


@dataclass
class PointerTiles:
    """The tiles of tensors that a kernel's tiles of pointers are."""

    known: Polynomials = factory(Polynomials)

    # --- masks ---

    def bounds(self, mask: SSAValue | None, *, least: bool = False) -> dict[int, MaskBounds] | str:
        """The places along each dimension that a mask leaves, at `least` those that it says so of;
        else why it says no such thing."""
        bounds: dict[int, MaskBounds] = {}
        for value, axes in () if mask is None else self._conjuncts(mask, {}):
            if known_integer(value):
                continue
            own = self._bound(value)
            if own is None and least:
                continue
            if own is None:
                return "its mask is not that a row or a column is below a number"
            axis = axes.get(own[0], own[0])
            old = bounds.get(axis, MaskBounds())
            above = old.above + tuple(x for x in own[1].above if x not in old.above)
            bounds[axis] = MaskBounds(above, old.origins + own[1].origins)
        return bounds

    def _conjuncts(
        self, mask: SSAValue, axes: dict[int, int]
    ) -> Iterator[tuple[SSAValue, dict[int, int]]]:
        """The parts that a mask is the conjunction of, each with where its dimensions are."""
        match mask.owner:
            case integer.AndIOp() as op:
                yield from self._conjuncts(op.lhs, axes)
                yield from self._conjuncts(op.rhs, axes)
            case core.BroadcastOp() as op:
                yield from self._conjuncts(op.source, axes)
            case core.ReshapeOp() as op if (moved := unit_dimensions(op)) is not None:
                own = {i: axes.get(j, j) for i, j in moved.items()}
                yield from self._conjuncts(op.source, own)
            case _:
                yield mask, axes

    def _bound(self, compared: SSAValue) -> tuple[int, MaskBounds] | None:
        """The dimension that a comparison is about, and what it says of it."""
        op, known = compared.owner, self.known
        if not isinstance(op, integer.CmpIOp):
            return None
        lhs, rhs, predicate = known.of(op.lhs), known.of(op.rhs), op.comparison_predicate.data
        if predicate in (ComparisonPredicate.EQUAL, ComparisonPredicate.NOT_EQUAL):
            return None
        if predicate not in (ComparisonPredicate.LESS_THAN, ComparisonPredicate.LESS_THAN_OR_EQUAL):
            lhs, rhs = rhs, lhs
        if lhs is None or rhs is None:
            return None
        if op.properties["signedness"] != SIGNED and not all(map(known.is_natural, (lhs, rhs))):
            return None
        if predicate in _OR_EQUAL:
            rhs = known.sum(rhs, {ONE: 1})
        difference = known.sum(rhs, lhs, -1)
        placed = [monomial for monomial in difference if known.placed(monomial)]
        if len(placed) != 1 or len(placed[0]) != 1:
            return None
        factor, coefficient = known.factors[placed[0][0]], difference[placed[0]]
        axis = factor.axis
        if axis is None or factor.times > 1 or abs(coefficient) != 1:
            return None
        rest = known.sum(difference, {placed[0]: -coefficient})
        if coefficient == -1:
            origin = known.sum(lhs, {placed[0]: -1}) if placed[0] in lhs else ZERO
            return axis, MaskBounds((rest,), (origin,))
        # place + rest > 0: of rows that are none of the tensor in front of its first there is none.
        return (axis, MaskBounds()) if known.is_natural(known.sum(rest, {ONE: -1})) else None

    # --- tiles ---

    def tile(self, pointers: SSAValue, mask: SSAValue | None) -> PointedTile | str:
        """The tile of a tensor that a tile of pointers is; else why it is none."""
        first, shape, known = self.known.pointers(pointers), shape_of(pointers), self.known
        if first is None:
            return "its pointers are no sums of a pointer and multiples of a row and a column"
        bounds, axes = self.bounds(mask), [i for i, x in enumerate(shape) if x > 1]
        if isinstance(bounds, str):
            return bounds
        rest: Polynomial = {}
        strides: dict[int, Polynomial] = {}
        times: dict[int, int] = {}
        wraps: list[tuple[int, Polynomial]] = []
        for monomial, coefficient in first[1].items():
            placed = known.placed(monomial)
            if not placed:
                rest = known.sum(rest, {monomial: coefficient})
                continue
            own = self._stride(monomial, coefficient, placed)
            if own is None or own[0] in strides:
                return "a dimension has no one stride"
            axis, stride, inner, limit = own
            strides[axis] = stride
            times[axis] = placed[0].times
            if limit is not None:
                end = known.sum(limit, inner, -1)
                wraps.append((axis, end))
                old = bounds.get(axis, MaskBounds())
                bounds[axis] = replace(old, above=(*old.above, end), origins=(*old.origins, inner))
                rest = known.sum(rest, known.product(stride, inner))
        times = {i: times.get(i, shape[i]) for i in axes if times.get(i) != 1}
        if times.keys() & bounds.keys() or not strides:
            return "a dimension has no stride"
        axes = [i for i in axes if i in strides]
        dimensions: dict[int, TensorDimension] = {}
        for axis in sorted(axes, key=lambda i: _size(strides[i]), reverse=True):
            dimensions[axis] = self._dimension(
                axis,
                shape[axis] // times.get(axis, 1),
                strides[axis],
                rest,
                bounds.get(axis, MaskBounds()),
            )
            rest = known.sum(rest, known.product(strides[axis], dimensions[axis].start), -1)
        outer: list[TensorDimension] = []
        if len(axes) > 1:
            rest, outer = self._outer(rest, MAX_RANK - len(axes))
        return PointedTile(first[0], rest, [*outer, *(dimensions[i] for i in axes)], wraps, times)

    def _stride(
        self, monomial: Monomial, coefficient: int, placed: Sequence[Factor]
    ) -> tuple[int, Polynomial, Polynomial, Polynomial | None] | None:
        """The dimension along which a monomial grows, by how much, from where on, and, where
        places wrap around, at which one."""
        known, (factor, *others) = self.known, placed
        stride = tuple(x for x in monomial if known.factors[x] is not factor)
        if others or coefficient < 0 or not self._is_stride({stride: coefficient}):
            return None
        if factor.axis is not None:
            return factor.axis, {stride: coefficient}, {}, None
        places = [x for x in factor.inner if known.placed(x)]
        axis = known.factors[places[0][0]].axis if len(places) == 1 == len(places[0]) else None
        if axis is None or factor.inner[places[0]] != 1:
            return None
        inner = known.sum(factor.inner, {places[0]: -1})
        return axis, {stride: coefficient}, inner, factor.limit

    def _dimension(
        self, axis: int, extent: int, stride: Polynomial, rest: Polynomial, bounds: MaskBounds
    ) -> TensorDimension:
        """A dimension of the tensor, of whose elements `rest` says where the tile begins."""
        known = self.known
        starts = [self._divided(rest, stride), *bounds.origins, ZERO]
        starts = [x for x in starts if known.is_natural(x) and all(
            rest.get(monomial) == coefficient
            for monomial, coefficient in known.product(stride, x).items()
        )]  # fmt: skip
        made = [TensorDimension(
            extent, start, tuple(known.sum(x, start) for x in bounds.above) or (UNBOUNDED,),
            stride, axis,
        ) for start in starts]  # fmt: skip
        return next((x for x in made if all(map(is_known, x.sizes))), made[0])

    def _divided(self, rest: Polynomial, stride: Polynomial, factors: int = 1) -> Polynomial:
        """The part of a sum that is a multiple of a stride, divided by it. Of a stride of a number
        it is what so many factors say."""
        ((monomial, coefficient),) = stride.items()
        start: Polynomial = {}
        for other, times in rest.items():
            left = list(other)
            for number in monomial:
                if number in left:
                    left.remove(number)
            whole = len(left) == len(other) - len(monomial) and times % coefficient == 0
            if whole and (monomial or len(left) <= factors):
                start = self.known.sum(start, {tuple(left): times // coefficient})
        return start

    def _outer(self, rest: Polynomial, most: int) -> tuple[Polynomial, list[TensorDimension]]:
        """Dimensions of which a tile has one element: those of parameters, and of numbers, that are
        multiplied by where it begins."""
        known, outer = self.known, list[TensorDimension]()
        products = dict.fromkeys(x for monomial in rest for x in monomial if len(monomial) > 1)
        given = [x for x in products if any(map(_is_parameter, known.factors[x].values))]
        given.sort(key=lambda x: divisor(known.factors[x].values[0]), reverse=True)
        strides: list[Polynomial] = [
            {(x,): gcd(*(times for monomial, times in rest.items() if x in monomial))}
            for x in given
        ]
        strides += [{ONE: times} for x, times in rest.items() if x and times > 1]
        for stride in strides:
            start = self._divided(rest, stride, MAX_RANK)
            natural = known.is_natural(start) or self._is_number(start)
            if start and natural and self._is_stride(stride) and len(outer) < most:
                rest = known.sum(rest, known.product(stride, start), -1)
                outer.append(TensorDimension(1, start, (UNBOUNDED,), stride))
        return rest, outer

    def _is_number(self, start: Polynomial) -> bool:
        """True of a number in memory, as that of an expert: in front of a pointer is no memory."""
        factors = [self.known.factors[x] for monomial in start for x in monomial]
        return list(start.values()) == [1] and len(factors) == 1 and _is_loaded(factors[0])

    def _is_stride(self, polynomial: Polynomial) -> bool:
        """True of products of what is not negative, or in memory, as what a table of matrices
        says."""
        factors = (self.known.factors[x] for monomial in polynomial for x in monomial)
        return all(factor.natural or _is_loaded(factor) for factor in factors)


def _is_loaded(factor: Factor) -> bool:
    return any(isinstance(value.owner, LoadPtrTkoOp) for value in factor.values)


def is_known(polynomial: Polynomial) -> bool:
    """True of a number and of a value as it is."""
    own = [x == ONE or (len(x) == 1 == coefficient) for x, coefficient in polynomial.items()]
    return own in ([], [True])


def _is_parameter(value: SSAValue) -> bool:
    return isinstance(value, BlockArgument) and isinstance(value.block.parent_op(), EntryOp)


def _size(stride: Polynomial) -> tuple[int, int]:
    ((monomial, coefficient),) = stride.items()
    return len(monomial), coefficient
