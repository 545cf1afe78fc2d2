"""Runs of tiles: which neighbours along the last dimension hold the same, or count up by one.

Of a group of 2^n neighbours, the first a multiple of 2^n in the tile, the elements are all `equal`,
or each is one more than the one before it, of a pointer one element (`counting`); `divisor` divides
the first one of each group.

    iota                   counting, all of it      64 k + iota < N   equal, as far as 2^n divides
    64 k + iota            counting                               N, and at most 64
    (64 k + iota) / N      equal                   (64 k + iota) % N   counting, as far
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import enclosing
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp, TruncIOp
from tilewright.dialects.cuda_tile.ops.elementwise import BinaryInteger
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import NEGATIVE, EntryOp
from tilewright.dialects.cuda_tile.ops.operation import is_signed, word
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.frozen import factory, frozen
from tilewright.passes.cuda_tile.analysis.facts import (
    ANYTHING,
    divisor,
    is_natural,
    known_integer,
    pointee_bytes,
)
from tilewright.passes.cuda_tile.analysis.polynomials import Polynomials
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.layouts import log2

_DEPTH = 24
"""The ops that are followed back."""


@frozen
class ElementRuns:
    """The bits n of groups of equal neighbours and of counting ones, at most those of the last
    dimension, what divides the first of each, and what is counted by, in bytes of pointers."""

    equal: int
    counting: int
    divisor: int
    unit: int = 1

    def starts(self, bits: int) -> int:
        """A divisor of the first of each group of so many bits, of either kind."""
        whole = self.equal >= bits or self.counting == bits
        return self.divisor if whole else gcd(self.divisor, self.unit << bits)


@dataclass(slots=True)
class _WayBack:
    """The way back through ops: what is known already, and how deep it is."""

    known: dict[SSAValue, ElementRuns] = factory(dict)
    depth: int = 0


def run_of(value: SSAValue, way: _WayBack | None = None) -> ElementRuns:
    """The run of a tile of integers, booleans or pointers."""
    way = way or _WayBack()
    if (known := way.known.get(value)) is not None:
        return known
    width, owner = _width(value), value.owner
    assert isinstance(value.type, TileType)
    if value.type.elements == 1 or not isinstance(owner, Operation) or way.depth == _DEPTH:
        return ElementRuns(0, 0, divisor(value))
    way.depth += 1
    way.known[value] = own = _run(owner, value, width, way)
    way.depth -= 1
    return own


def _width(value: SSAValue) -> int:
    shape = shape_of(value)
    return log2(shape[-1]) if shape else 0


def _run(op: Operation, value: SSAValue, width: int, way: _WayBack) -> ElementRuns:
    match op:
        case core.ConstantOp(value=known) if known.is_splat:  # type: ignore[attr-defined]
            return ElementRuns(width, 0, divisor(value))
        case core.IotaOp():
            return ElementRuns(0, width, ANYTHING)
        case AssumeOp():
            own = run_of(op.value, way)
            return replace(own, divisor=max(own.divisor, divisor(value)))
        case core.ReshapeOp():
            own = run_of(op.source, way)
            if _width(op.source) == width:
                return own
            return ElementRuns(min(own.equal, width), min(own.counting, width), 1)
        case core.BroadcastOp():
            if width and _width(op.source) == 0:
                return ElementRuns(width, 0, divisor(op.source))
            return run_of(op.source, way)
        case ExtIOp() | TruncIOp():
            own = run_of(op.operands[0], way)
            # A group that begins at a multiple of its length does not go around.
            return ElementRuns(own.equal, min(own.counting, log2_of(own.divisor)), own.divisor)
        case integer.AddIOp() | integer.SubIOp() | core.OffsetOp():
            return _sum(op, value, way)
        case integer.MulIOp():
            return _product(op, value, way)
        case integer.CmpIOp():
            return _compared(op, way)
        case integer.DivIOp() | integer.RemIOp() if bits := quotient_bits(op, way):
            first = gcd(*(run_of(operand, way).starts(bits) for operand in op.operands))
            of_quotient = ElementRuns(bits, 0, divisor(value))
            return of_quotient if isinstance(op, integer.DivIOp) else ElementRuns(0, bits, first)
        case _:
            return _elementwise(op, value, width, way)


def quotient_bits(op: BinaryInteger, way: _WayBack | None = None) -> int:
    """The bits of groups of numbers that count up and have one quotient, as they begin at multiples
    of their length, which divides the divisor, and none is negative."""
    a, b = run_of(op.lhs, way), run_of(op.rhs, way)
    bits = min(a.counting, b.equal)
    while bits and (a.starts(bits) | b.starts(bits)) % (1 << bits):
        bits -= 1
    rounds_up = word(op, "rounding", "zero") == "positive_inf"
    return 0 if rounds_up or not bits or (is_signed(op) and not _is_natural(op)) else bits


def _is_natural(op: BinaryInteger) -> bool:
    """True where what is divided is not negative; of a kernel of Triton's as is taken for granted
    of addresses."""
    if is_natural(op.lhs):
        return True
    known, entries = Polynomials(), enclosing(op, EntryOp)
    if not any(NEGATIVE in entry.attributes for entry in entries):
        return False
    number = known.of(op.lhs)
    return number is not None and known.is_natural(number)


def log2_of(number: int) -> int:
    """The bits of a divisor's power of two."""
    return log2(number & -number)


def _elementwise(op: Operation, value: SSAValue, width: int, way: _WayBack) -> ElementRuns:
    """Equal elements, where a result is computed of such."""
    if (
        op.regions
        or not op.operands
        or not all(
            isinstance(x.type, TileType) and shape_of(x) == shape_of(value) for x in op.operands
        )
    ):
        return ElementRuns(0, 0, divisor(value))
    if not isinstance(op, _ELEMENTWISE):
        return ElementRuns(0, 0, divisor(value))
    return ElementRuns(min(run_of(x, way).equal for x in op.operands), 0, divisor(value))


_ELEMENTWISE = (
    integer.DivIOp, integer.RemIOp, integer.MinIOp, integer.MaxIOp, integer.XOrIOp, integer.AndIOp,
    integer.OrIOp, integer.ShLIOp, integer.ShRIOp, core.SelectOp,
)  # fmt: skip


def _sum(op: Operation, value: SSAValue, way: _WayBack) -> ElementRuns:
    """Counting where one of the two counts and the other is equal."""
    a, b = (run_of(operand, way) for operand in op.operands)
    first = min(a.counting, b.equal)
    if not isinstance(op, integer.SubIOp):
        first = max(first, min(a.equal, b.counting))
    if first == 0:
        return ElementRuns(min(a.equal, b.equal), 0, divisor(value))
    size = pointee_bytes(op.operands[0]) if isinstance(op, core.OffsetOp) else 1
    return ElementRuns(0, first, gcd(a.starts(first), size * b.starts(first)), size)


def _product(op: Operation, value: SSAValue, way: _WayBack) -> ElementRuns:
    for one, other in (op.operands, reversed(op.operands)):
        if known_integer(other) == 1:
            return run_of(one, way)
    a, b = (run_of(operand, way) for operand in op.operands)
    return ElementRuns(min(a.equal, b.equal), 0, divisor(value))


def _compared(op: integer.CmpIOp, way: _WayBack) -> ElementRuns:
    """Equal where both are; and where one counts from a multiple of its length, and the bound is
    one."""
    a, b = run_of(op.lhs, way), run_of(op.rhs, way)
    predicate = op.comparison_predicate.data
    if predicate in (ComparisonPredicate.GREATER_THAN, ComparisonPredicate.LESS_THAN_OR_EQUAL):
        a, b = b, a
    bits = 0
    if predicate not in (ComparisonPredicate.EQUAL, ComparisonPredicate.NOT_EQUAL):
        bits = min(a.counting, b.equal)
        while bits and a.starts(bits) % (1 << bits) | b.starts(bits) % (1 << bits):
            bits -= 1
    return ElementRuns(max(min(a.equal, b.equal), bits), 0, 1)


def pointer_run(pointers: SSAValue, mask: SSAValue | None, widest: int) -> int:
    """The neighbours of a tile of pointers that one access of at most so many bytes moves, as bits
    of their number."""
    own, size = run_of(pointers), pointee_bytes(pointers)
    bits = own.counting if mask is None else min(own.counting, run_of(mask).equal)
    while bits and (size << bits > widest or own.starts(bits) % (size << bits)):
        bits -= 1
    return bits
