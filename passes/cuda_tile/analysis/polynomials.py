"""Integers and addresses of a kernel as polynomials, of an element of a tile also of its place.

    64 * %block + iota                          64 b + i       i: the place along the dimension
    offset(%p, row * %stride + column + 8)      %p, i s + j + 8
    (64 * %block + iota) % %n                   (64 b + i) mod n, a factor of its own
    (64 * %block + iota) / 2                    32 b + i / 2, the place of every two elements
    if %tile >= %first { (%tile - %first) / %n }    not negative

Equal polynomials are equal numbers, whatever ops compute them. Taken for granted is what Triton's
own axis analysis takes, that integers of which addresses are computed do not overflow; and of what
a kernel computes of block numbers and parameters that it is not negative unless it subtracts: sizes
and strides are not, nor is what numbers are divided by. Launches say which parameters are
(`NEGATIVE`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import product
from math import gcd, prod
from typing import Any

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilewright.dialects.cuda_tile.attributes import BoundedAttr, DivByAttr, choice_attr
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate, RoundingMode, Signedness
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp
from tilewright.dialects.cuda_tile.ops.elementwise import BinaryInteger
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import NEGATIVE, EntryOp
from tilewright.dialects.frozen import entity, factory
from tilewright.passes.cuda_tile.analysis.facts import known_integer, pointee_bytes
from tilewright.passes.cuda_tile.analysis.guards import guards
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of

Monomial = tuple[int, ...]
"""The numbers of its factors, in order."""
Polynomial = Mapping[Monomial, int]
"""Monomials with their coefficients, which are other than zero."""
LESS = (ComparisonPredicate.LESS_THAN, ComparisonPredicate.LESS_THAN_OR_EQUAL)
ONE: Monomial = ()
ZERO: Polynomial = {}


@entity
class Factor:
    """A variable of polynomials: `values`, scalars that are the same number; the place of an
    element along a dimension `axis`; or, of a tile, `inner` while that is below `limit`."""

    natural: bool = False
    """True where it is not negative."""
    values: list[SSAValue] = factory(list)
    axis: int | None = None
    times: int = 1
    """The neighbours along the dimension that have one place."""
    inner: Polynomial = factory(dict)
    limit: Polynomial = factory(dict)
    divided: tuple[Polynomial, int] | None = None
    """The polynomial that it is a quotient of without a remainder, and the divisor."""
    parts: tuple[Polynomial, ...] = ()
    """The operands that it is computed of."""
    is_quotient: bool = False
    """True where it is the quotient of them, not rounded up, and not negative."""
    divisor: int = 1
    """A power of two that divides it."""

    @property
    def is_placed(self) -> bool:
        """True where it depends on the place of an element."""
        return self.axis is not None or bool(self.inner)


def frozen(polynomial: Polynomial) -> Hashable:
    """A polynomial as the key of a table."""
    return frozenset(polynomial.items())


def negative_places(entry: EntryOp) -> Sequence[int]:
    """The places of the parameters of an entry that a launch says are negative."""
    places: Any = entry.attributes.get(NEGATIVE)
    return () if places is None else places.get_values()


def _is_beside(op: Operation, value: SSAValue) -> bool:
    """True of a value that is there where an op is, and only there: it holds what the op says."""
    owner = value.owner
    return op.parent is (owner if isinstance(owner, Block) else owner.parent)


def unit_dimensions(op: core.ReshapeOp) -> dict[int, int] | None:
    """Where the other dimensions of a tile are after dimensions of 1 have come or gone; None where
    the elements are in another order."""
    source, result = ([(i, x) for i, x in enumerate(shape_of(value)) if x > 1]
                      for value in (op.source, op.result))  # fmt: skip
    if [x for _, x in source] != [x for _, x in result]:
        return None
    return {i: j for (i, _), (j, _) in zip(source, result, strict=True)}


def _rounds_up(op: integer.DivIOp) -> bool:
    return op.rounding.data is RoundingMode.POSITIVE_INF


@entity
class Polynomials:
    """The polynomials of a kernel's values, each computed once."""

    factors: list[Factor] = factory(list)
    _numbers: dict[Hashable, int] = factory(dict)
    _known: dict[SSAValue, Polynomial | None] = factory(dict)
    divisors: dict[SSAValue, int] = factory(dict)
    """The divisors of scalar pointers that are known beside, in bytes."""

    # --- arithmetic ---

    def sum(self, a: Polynomial, b: Polynomial, times: int = 1) -> Polynomial:
        """a + times * b."""
        total = dict(a)
        for monomial, coefficient in b.items():
            self._put(total, monomial, times * coefficient)
        return total

    def product(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """a * b."""
        total: dict[Monomial, int] = {}
        for (one, x), (other, y) in product(a.items(), b.items()):
            self._put(total, tuple(sorted(one + other)), x * y)
        return total

    def _put(self, total: dict[Monomial, int], monomial: Monomial, coefficient: int) -> None:
        """Add a monomial, in which a quotient times its divisor is what was divided."""
        for i, number in enumerate(monomial):
            divided = self.factors[number].divided
            if divided is not None and coefficient % divided[1] == 0:
                rest = monomial[:i] + monomial[i + 1 :]
                for other, times in divided[0].items():
                    whole = coefficient // divided[1] * times
                    self._put(total, tuple(sorted(rest + other)), whole)
                return
        coefficient += total.pop(monomial, 0)
        if coefficient:
            total[monomial] = coefficient

    def is_natural(self, polynomial: Polynomial) -> bool:
        """True of a sum of products of what is not negative."""
        return all(
            coefficient > 0 and all(self.factors[number].natural for number in monomial)
            for monomial, coefficient in polynomial.items()
        )

    def _is_natural_at(self, polynomial: Polynomial, op: Operation) -> bool:
        """True of what `is_natural`, and of a difference that the branches around an op say is."""
        if self.is_natural(polynomial) or not self.is_scalar(polynomial):
            return self.is_natural(polynomial)
        for guard in guards(op):
            less, more = guard.rhs, guard.lhs
            if guard.comparison_predicate.data in LESS:
                less, more = more, less
            low, high = self.of(less), self.of(more)
            if low is None or high is None:
                continue
            if self.sum(high, low, -1) == polynomial:
                return True
        return False

    def placed(self, monomial: Monomial) -> list[Factor]:
        """The factors of a monomial that depend on the place of an element."""
        own = (self.factors[number] for number in monomial)
        return [factor for factor in own if factor.is_placed]

    def is_scalar(self, polynomial: Polynomial) -> bool:
        """True where all elements are the same."""
        return not any(map(self.placed, polynomial))

    # --- values ---

    def of(self, value: SSAValue) -> Polynomial | None:
        """The polynomial of a tile of integers; None where it is not one."""
        if value not in self._known:
            self._known[value] = self._of(value)
        return self._known[value]

    def pointers(self, value: SSAValue) -> tuple[SSAValue, Polynomial] | None:
        """The scalar pointer that a tile of pointers begins at, and how many elements further each
        of them points; None where that is no polynomial."""
        match value.owner:
            case core.OffsetOp() as op:
                first, offset = self.pointers(op.ptr), self.of(op.offset)
                if first is None or offset is None:
                    return None
                return first[0], self.sum(first[1], offset)
            case AssumeOp() as op if shape_of(value) or isinstance(op.value.owner, core.OffsetOp):
                first = self.pointers(op.value)
                if first is not None and isinstance(op.predicate, DivByAttr):
                    self._divide(*first, op)
                return first
            case core.BroadcastOp() as op:
                return self.pointers(op.source)
            case core.ReshapeOp() as op:
                first = self.pointers(op.source)
                moved = None if first is None else self._moved(first[1], op)
                return None if first is None or moved is None else (first[0], moved)
            case _:
                return None if shape_of(value) else (value, {})

    def _divide(self, base: SSAValue, offset: Polynomial, op: AssumeOp) -> None:
        """Take from a tile of pointers, of which each row begins at a multiple, that its strides
        are such, and the pointer, where what it is moved by is one."""
        assert isinstance(op.predicate, DivByAttr)
        divisor = op.predicate.divisor
        by, moved = divisor // pointee_bytes(op.value), list[int]()
        for monomial, coefficient in offset.items():
            factors = [self.factors[number] for number in monomial]
            strides = [factor for factor in factors if not factor.is_placed]
            if len(strides) < len(factors) and len(strides) == 1 == coefficient:
                if _is_beside(op, strides[0].values[0]):
                    strides[0].divisor = max(strides[0].divisor, by)
            elif len(strides) == len(factors):
                moved.append(coefficient * prod(factor.divisor for factor in factors))
        if all(x % by == 0 for x in moved) and _is_beside(op, base):
            self.divisors[base] = divisor

    def _of(self, value: SSAValue) -> Polynomial | None:
        number = known_integer(value)
        if number is not None:
            return {ONE: number} if number else {}
        op = value.owner
        if isinstance(op, Block):
            return self._of_argument(value)
        polynomial = self._of_op(op, value)
        if polynomial is None and not shape_of(value):
            natural = isinstance(op, core.GetTileBlockIdOp | core.GetNumTileBlocksOp)
            return self._factor(value, value, natural=natural)
        return polynomial

    def _of_argument(self, value: SSAValue) -> Polynomial | None:
        assert isinstance(value, BlockArgument)
        if shape_of(value):
            return None
        loop = value.block.parent_op()
        natural = isinstance(loop, EntryOp) and value.index not in negative_places(loop)
        if isinstance(loop, ForOp) and value.index == 0:
            first = self.of(loop.lower_bound)
            natural = first is not None and self.is_natural(first)
        return self._factor(value, value, natural=natural)

    def _of_op(self, op: Operation, value: SSAValue) -> Polynomial | None:
        match op:
            case core.IotaOp():
                return {(self._place(0),): 1} if shape_of(value)[0] > 1 else {}
            case AssumeOp():
                return self._assumed(op)
            case core.BroadcastOp():
                return self.of(op.source)
            case core.ReshapeOp():
                source = self.of(op.source)
                return None if source is None else self._moved(source, op)
            case ExtIOp():
                source = self.of(op.operands[0])
                signed = op.properties["signedness"] == SIGNED
                fits = source is not None and (signed or self.is_natural(source))
                return source if fits else None
            case core.SelectOp():
                return self._selected(op)
            case BinaryInteger():
                a, b = (self.of(operand) for operand in op.operands)
                return None if a is None or b is None else self._binary(op, a, b)
            case _:
                return None

    def _factor(self, key: Hashable, value: SSAValue | None = None, **given: Any) -> Polynomial:
        """The factor of a key, which a scalar value is, too."""
        if key not in self._numbers:
            self._numbers[key] = len(self.factors)
            self.factors.append(Factor(**given))
        factor = self.factors[self._numbers[key]]
        if value is not None and not shape_of(value) and value not in factor.values:
            factor.values.append(value)
        return {(self._numbers[key],): 1}

    def _place(self, axis: int, times: int = 1) -> int:
        key = ("place", axis, times)
        ((number,),) = self._factor(key, axis=axis, times=times, natural=True)
        return number

    def _assumed(self, op: AssumeOp) -> Polynomial | None:
        source, known = self.of(op.value), op.predicate
        bounded = isinstance(known, BoundedAttr) and known.lb is not None and known.lb >= 0
        if source is not None and _is_beside(op, op.value) and len(source) == 1:
            for monomial, coefficient in source.items():
                if len(monomial) == 1 == coefficient:
                    factor = self.factors[monomial[0]]
                    factor.natural |= bounded
                    if factor.values and not shape_of(op.result):
                        factor.values.insert(0, op.result)
        return source

    def _computed(
        self, a: Polynomial, b: Polynomial, op: Operation, *, natural: bool
    ) -> Polynomial | None:
        """A factor that an op computes of scalars."""
        if not (self.is_scalar(a) and self.is_scalar(b)):
            return None
        key = (type(op), *op.properties.values(), frozen(a), frozen(b), natural)
        quotient = natural and isinstance(op, integer.DivIOp) and not _rounds_up(op)
        given: dict[str, Any] = {"natural": natural, "parts": (a, b), "is_quotient": quotient}
        return self._factor(key, op.results[0], **given)

    def _wrapped(self, inner: Polynomial, limit: Polynomial, rest: Hashable) -> Polynomial | None:
        """A tile that is `inner` below a limit, and something else, which is in `rest`, above."""
        if not self.is_scalar(limit) or self.is_scalar(inner) or not self.is_natural(inner):
            return None
        key = ("wrapped", frozen(inner), frozen(limit), rest)
        return self._factor(key, inner=inner, limit=limit, natural=True)

    def _selected(self, op: core.SelectOp) -> Polynomial | None:
        """`select (x < n), x, 0`, as a tile."""
        compared = op.cond.owner
        if not isinstance(compared, integer.CmpIOp) or not shape_of(op.result):
            return None
        if not isinstance(element_of(op.result), IntegerType):
            return None
        inner = self.of(op.val_if_true)
        lhs, rhs, other = map(self.of, (compared.lhs, compared.rhs, op.val_if_false))
        below = compared.comparison_predicate.data is ComparisonPredicate.LESS_THAN
        if inner is None or lhs != inner or rhs is None or other is None or not below:
            return None
        return self._wrapped(inner, rhs, frozen(other)) if self.is_scalar(other) else None

    def _moved(self, polynomial: Polynomial, op: core.ReshapeOp) -> Polynomial | None:
        """A polynomial of places of a tile where dimensions of 1 come or go."""
        if self.is_scalar(polynomial):
            return polynomial
        axes = unit_dimensions(op)
        return None if axes is None else self._renumbered(polynomial, axes)

    def _renumbered(self, polynomial: Polynomial, axes: Mapping[int, int]) -> Polynomial:
        total: Polynomial = {}
        for monomial, coefficient in polynomial.items():
            term: Polynomial = {ONE: coefficient}
            for number in monomial:
                factor, same = self.factors[number], {(number,): 1}
                if factor.axis is not None:
                    same = {(self._place(axes[factor.axis], factor.times),): 1}
                elif factor.inner:
                    inner = self._renumbered(factor.inner, axes)
                    key = ("moved", number, *axes.items())
                    same = self._factor(key, inner=inner, limit=factor.limit, natural=True)
                term = self.product(term, same)
            total = self.sum(total, term)
        return total

    def _binary(self, op: Operation, a: Polynomial, b: Polynomial) -> Polynomial | None:
        match op:
            case integer.AddIOp():
                return self.sum(a, b)
            case integer.SubIOp():
                return self.sum(a, b, -1)
            case integer.MulIOp():
                return self.product(a, b)
            case integer.ShLIOp() if set(b) <= {ONE}:
                return self.product(a, {ONE: 1 << b.get(ONE, 0)})
            case integer.DivIOp() as division:
                return self._quotient(a, b, division)
            case integer.RemIOp():
                own = self._computed(a, b, op, natural=self._is_natural_at(a, op))
                return self._wrapped(a, b, "remainder") if own is None else own
            case integer.MinIOp():
                natural = self.is_natural(a) and self.is_natural(b)
                return self._computed(a, b, op, natural=natural)
            case integer.MaxIOp():
                natural = self.is_natural(a) or self.is_natural(b)
                return self._computed(a, b, op, natural=natural)
            case _:
                return None

    def _quotient(self, a: Polynomial, b: Polynomial, op: integer.DivIOp) -> Polynomial | None:
        by = b.get(ONE, 0) if set(b) == {ONE} else 0
        if by > 0 and all(coefficient % by == 0 for coefficient in a.values()):
            return {monomial: coefficient // by for monomial, coefficient in a.items()}
        if by > 0 and by & by - 1 == 0 and not self.is_scalar(a):
            return None if _rounds_up(op) else self._quotient_of_places(a, by, op)
        quotient = self._computed(a, b, op, natural=self._is_natural_at(a, op))
        if quotient is not None and by > 0 and self._counts_by(a, by):
            ((number,),) = quotient
            self.factors[number].divided = a, by
        return quotient

    def _quotient_of_places(
        self, a: Polynomial, by: int, op: integer.DivIOp
    ) -> Polynomial | None:  # fmt: skip
        """The quotient of a tile that counts along a dimension from a multiple, by a power of two:
        the same for so many neighbours, or for all."""
        placed = [monomial for monomial in a if self.placed(monomial)]
        factor = self.factors[placed[0][0]]
        if len(placed) > 1 or len(placed[0]) > 1 or a[placed[0]] != 1 or factor.axis is None:
            return None
        rest = self.sum(a, {placed[0]: -1})
        whole = gcd(by, *(
            times * prod(self.factors[x].divisor for x in own) for own, times in rest.items()
        ))  # fmt: skip
        if not self.is_natural(rest):
            return None
        if shape_of(op.results[0])[factor.axis] // factor.times <= whole:
            return self._quotient(rest, {ONE: by}, op)
        first = self._quotient(rest, {ONE: by}, op) if whole == by else None
        place = (self._place(factor.axis, factor.times * by),)
        return None if first is None else self.sum(first, {place: 1})

    def _counts_by(self, polynomial: Polynomial, by: int) -> bool:
        """True of a loop's variable, less where it begins, where its step is a multiple."""
        for monomial in polynomial:
            for value in self.factors[monomial[0]].values if len(monomial) == 1 else ():
                loop = value.owner.parent_op() if isinstance(value, BlockArgument) else None
                if isinstance(loop, ForOp) and value is loop.region.block.args[0]:
                    first, step = self.of(loop.lower_bound), known_integer(loop.step)
                    counted = first is not None and self.sum(polynomial, first) == {monomial: 1}
                    return counted and step is not None and step % by == 0
        return False


SIGNED = choice_attr(Signedness.SIGNED)
