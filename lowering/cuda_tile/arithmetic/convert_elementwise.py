"""Computation element by element: integers, floats, conversions, selection, addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.arith import FastMathFlagsAttr, IntegerOverflowAttr
from xdsl.dialects.builtin import IntegerAttr, i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.elementwise import BinaryInteger, UnaryInteger
from tilewright.dialects.cuda_tile.ops.operation import is_signed, word
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.frozen import frozen
from tilewright.dialects.integers import constant_integer
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.lowering.cuda_tile.kernel.threads import scaled
from tilewright.passes.cuda_tile.analysis.facts import (
    is_natural,
    is_packed,
    is_zero,
    pointee_bytes,
)
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.analysis.runs import quotient_bits, run_of
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout

Compute: TypeAlias = (
    Callable[[SSAValue], SSAValue]
    | Callable[[SSAValue, SSAValue], SSAValue]
    | Callable[[SSAValue, SSAValue, SSAValue], SSAValue]
)
"""The element of a result, of the elements of the operands."""

EXACT = FastMathFlagsAttr("none")
_WRAPS = IntegerOverflowAttr("none")


def elementwise(op: Operation, kernel: EntryLowering, compute: Compute, equal: int = 0) -> None:
    """Say that an op's result is computed element by element; of 2^equal neighbours, which are the
    same, once."""
    operands = [operand for operand in op.operands if isinstance(operand.type, TileType)]

    def whole(layout: TileLayout) -> list[Sequence[SSAValue]]:
        columns = [kernel.elements(operand, layout) for operand in operands]
        if equal:
            first = [layout.register_at[place >> equal << equal] for place in layout.places]
            columns = [[column[register] for register in first] for column in columns]
        return [list(map(compute, *columns))]

    kernel.give(op, whole)


# --- integers ---

_INTEGER: dict[type[Operation], type[Operation]] = {
    integer.AddIOp: arith.AddiOp,
    integer.SubIOp: arith.SubiOp,
    integer.MulIOp: arith.MuliOp,
    integer.AndIOp: arith.AndIOp,
    integer.OrIOp: arith.OrIOp,
    integer.XOrIOp: arith.XOrIOp,
    integer.ShLIOp: arith.ShLIOp,
}
_OVERFLOWING = (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp)
_BY_SIGN: dict[type[Operation], tuple[type[Operation], type[Operation]]] = {
    integer.MaxIOp: (arith.MaxUIOp, arith.MaxSIOp),
    integer.MinIOp: (arith.MinUIOp, arith.MinSIOp),
    integer.ShRIOp: (arith.ShRUIOp, arith.ShRSIOp),
}
_DIVISIONS: dict[tuple[str, bool], type[Operation]] = {
    ("zero", True): arith.DivSIOp,
    ("zero", False): arith.DivUIOp,
    ("negative_inf", True): arith.FloorDivSIOp,
    ("negative_inf", False): arith.DivUIOp,
    ("positive_inf", True): arith.CeilDivSIOp,
    ("positive_inf", False): arith.CeilDivUIOp,
}

_UNSIGNED: dict[type[Operation], type[Operation]] = {
    arith.DivSIOp: arith.DivUIOp,
    arith.FloorDivSIOp: arith.DivUIOp,
    arith.CeilDivSIOp: arith.CeilDivUIOp,
    arith.RemSIOp: arith.RemUIOp,
}
"""Divisions of numbers that are not negative."""


def on_integers(kernel: EntryLowering, kind: type[Operation], *operands: SSAValue) -> SSAValue:
    """The result of an op of `arith` on integers of one type."""
    if kind in _OVERFLOWING:
        return kernel.emit(kind, operands, operands[0].type, overflowFlags=_WRAPS)
    return kernel.emit(kind, operands, operands[0].type)


def bitcast(kernel: EntryLowering, value: SSAValue, type_: Attribute) -> SSAValue:
    """The same bits as another type."""
    return value if value.type == type_ else kernel.emit(arith.BitcastOp, [value], type_)


def _operator(kind: type[Operation]) -> Callable[[ThreadWord, ThreadWord | int], ThreadWord]:
    def operate(self: ThreadWord, other: ThreadWord | int) -> ThreadWord:
        return ThreadWord(
            self.kernel, on_integers(self.kernel, kind, self.value, self.like(other).value)
        )

    return operate


@frozen
class ThreadWord:
    """An integer of a thread, and its arithmetic, with numbers too, which wraps; shifted right by
    zeros, divided without signs."""

    kernel: EntryLowering
    value: SSAValue

    __add__ = _operator(arith.AddiOp)
    __sub__ = _operator(arith.SubiOp)
    __and__ = _operator(arith.AndIOp)
    __or__ = _operator(arith.OrIOp)
    __lshift__ = _operator(arith.ShLIOp)
    __rshift__ = _operator(arith.ShRUIOp)
    __mod__ = _operator(arith.RemUIOp)
    at_most = _operator(arith.MinSIOp)
    at_least = _operator(arith.MaxSIOp)

    @classmethod
    def of(cls, kernel: EntryLowering, value: SSAValue, type_: Attribute) -> ThreadWord:
        """The bits of a value."""
        return cls(kernel, bitcast(kernel, value, type_))

    def like(self, other: ThreadWord | int) -> ThreadWord:
        """Another one of the same type, or a number."""
        if isinstance(other, ThreadWord):
            return other
        return ThreadWord(self.kernel, self.kernel.constant(other, self.value.type))

    def above(self, number: int) -> SSAValue:
        """True where it is greater than a number, both below the sign bit."""
        return self.kernel.emitter.compare("gt", self.value, number)

    def where(self, condition: SSAValue, other: ThreadWord | int) -> ThreadWord:
        """Another one where a condition holds."""
        chosen = self.like(other).value
        return ThreadWord(self.kernel, self.kernel.emitter.select(condition, chosen, self.value))

    def to(self, type_: Attribute) -> SSAValue:
        """The value of these bits."""
        return bitcast(self.kernel, self.value, type_)


@lowers(*_INTEGER, *_BY_SIGN)
def _integers(op: Operation, kernel: EntryLowering) -> None:
    """Of tiles, a product whose upper half is wanted too is one with that."""
    halves = isinstance(op, integer.MulIOp) and shape_of(op.result)
    uses = op.operands[0].uses if halves else ()
    for other in (use.operation for use in uses):
        if isinstance(other, integer.MulhiIOp) and {*other.operands} == {*op.operands}:
            _half(op, kernel, 0, swapped=other.operands[0] is not op.operands[0])
            return
    elementwise(op, kernel, integer_function(op, kernel))


def integer_function(op: Operation, kernel: EntryLowering) -> Callable[..., SSAValue]:
    """The element of a result that is one op of `arith`."""
    type_, kind = kernel.scalar_type(op, op.results[0]), _INTEGER.get(type(op))
    if kind is None:
        kind = _BY_SIGN[type(op)][is_signed(op)]
    if kind in _OVERFLOWING:
        return kernel.emits(kind, type_, overflowFlags=_WRAPS)
    return kernel.emits(kind, type_)


@lowers(integer.DivIOp, integer.RemIOp)
def _divide(op: BinaryInteger, kernel: EntryLowering) -> None:
    """By zero, which is undefined, the quotient is all ones and the remainder the dividend."""
    signed = is_signed(op)
    type_, divides = kernel.scalar_type(op, op.result), isinstance(op, integer.DivIOp)
    kind: type[Operation] = arith.RemSIOp if signed else arith.RemUIOp
    if divides:
        rounding = word(op, "rounding", "zero")
        kind = _DIVISIONS[rounding, signed]
        if rounding == "negative_inf" and not signed:
            remark(op, "hint", f"'{op.name}' of unsigned numbers rounds down; tileiras refuses it")
    if is_natural(op.result):
        kind = _UNSIGNED.get(kind, kind)

    def compute(x: SSAValue, y: SSAValue) -> SSAValue:
        if type_ == i1:
            # The one divisor that is not zero is one.
            nothing = on_integers(kernel, arith.XOrIOp, y, kernel.constant(1, i1))
            return on_integers(kernel, arith.OrIOp if divides else arith.AndIOp, x, nothing)
        # The quotient of the lowest number by -1 alone has no room there.
        fits = signed and (
            kind in (arith.RemSIOp, *_UNSIGNED.values())
            or constant_integer(y)
            or is_natural(op.lhs)
        )
        if fits and (short := _before_extension(kernel, x, y)) is not None:
            return kernel.emit(arith.ExtSIOp, [compute(*short)], type_)
        if constant_integer(y):
            return on_integers(kernel, kind, x, y)
        zero, one = kernel.constant(0, y.type), kernel.constant(1, y.type)
        is_zero = kernel.emit(arith.CmpiOp, [y, zero], i1, predicate=IntegerAttr(0, i64))
        result = on_integers(kernel, kind, x, kernel.emitter.select(is_zero, one, y))
        return kernel.emitter.select(is_zero, kernel.constant(-1, y.type) if divides else x, result)

    if divides or not (bits := quotient_bits(op)):
        elementwise(op, kernel, compute, run_of(op.result).equal)
        return

    def counting(layout: TileLayout) -> list[Sequence[SSAValue]]:
        dividends, divisors = (kernel.elements(operand, layout) for operand in op.operands)
        first = [layout.register_at[place >> bits << bits] for place in layout.places]
        rests = [compute(dividends[i], divisors[i]) for i in first]
        return [[
            rest if x is dividends[i] else on_integers(
                kernel, arith.AddiOp, rest, on_integers(kernel, arith.SubiOp, x, dividends[i])
            )
            for x, rest, i in zip(dividends, rests, first, strict=True)
        ]]  # fmt: skip

    kernel.give(op, counting)


def _before_extension(kernel: EntryLowering, x: SSAValue, y: SSAValue) -> list[SSAValue] | None:
    """A number that has been extended from 32 bits, and another one or a positive constant, as they
    were: in 64 bits ptxas divides by a program, by constants too."""
    if not isinstance(x.owner, arith.ExtSIOp) or x.owner.input.type != i32:
        return None
    if 0 < (constant_integer(y) or 0) < 1 << 31:
        return [x.owner.input, kernel.constant(constant_integer(y), i32)]
    if isinstance(y.owner, arith.ExtSIOp) and y.owner.input.type == i32:
        return [x.owner.input, y.owner.input]
    return None


def _negated(kernel: EntryLowering, x: SSAValue) -> SSAValue:
    return on_integers(kernel, arith.SubiOp, kernel.constant(0, x.type), x)


@lowers(integer.NegIOp)
def _negate(op: UnaryInteger, kernel: EntryLowering) -> None:
    kernel.scalar_type(op, op.result)
    elementwise(op, kernel, partial(_negated, kernel))


@lowers(integer.AbsIOp)
def _magnitude(op: UnaryInteger, kernel: EntryLowering) -> None:
    if kernel.scalar_type(op, op.result) == i1:
        elementwise(op, kernel, lambda x: x)
        return
    elementwise(op, kernel, lambda x: on_integers(kernel, arith.MaxSIOp, x, _negated(kernel, x)))


@lowers
def _upper_half(op: integer.MulhiIOp, kernel: EntryLowering) -> None:
    _half(op, kernel, 1)


def _half(op: Operation, kernel: EntryLowering, number: int, *, swapped: bool = False) -> None:
    """A half of products, the lower first."""
    type_ = kernel.scalar_type(op, op.results[0])

    def compute(*factors: SSAValue) -> SSAValue:
        key = factors[::-1] if swapped else factors
        return kernel.emitter.every(
            (arith.MulUIExtendedOp, *key),
            lambda: arith.MulUIExtendedOp.create(operands=key, result_types=[type_, type_]),
        )[number]

    elementwise(op, kernel, compute)


RELATIONS = {
    "equal": (0, 0, 1),
    "not_equal": (1, 1, 6),
    "less_than": (2, 6, 4),
    "less_than_or_equal": (3, 7, 5),
    "greater_than": (4, 8, 2),
    "greater_than_or_equal": (5, 9, 3),
}
"""arith's numbers of a relation for signed integers, unsigned integers, and ordered floats."""


@lowers
def _compare(op: integer.CmpIOp, kernel: EntryLowering) -> None:
    relation, signed = word(op, "comparison_predicate"), is_signed(op)
    number = IntegerAttr(RELATIONS[relation][not signed], i64)
    whole = kernel.emits(arith.CmpiOp, i1, predicate=number)

    def compare(x: SSAValue, y: SSAValue) -> SSAValue:
        # Numbers that are extended are in the order that they were in.
        parts = [z.owner.input for z in (x, y) if isinstance(z.owner, arith.ExtSIOp)]
        if [part.type for part in parts] == [i32, i32]:
            return whole(*parts)
        return whole(x, y)

    def never(*_: SSAValue) -> SSAValue:
        return kernel.constant(0, i1)

    below = relation == "less_than" and signed and is_zero(op.rhs)
    natural = below and is_natural(op.lhs)
    elementwise(op, kernel, never if natural else compare, run_of(op.result).equal)


def compared_floats(kernel: EntryLowering, relation: str, x: SSAValue, y: SSAValue) -> SSAValue:
    """True where an ordered relation of two floats holds."""
    number = IntegerAttr(RELATIONS[relation][2], i64)
    return kernel.emit(arith.CmpfOp, [x, y], i1, predicate=number, fastmath=EXACT)


def on_floats(kernel: EntryLowering, kind: type[Operation], *operands: SSAValue) -> SSAValue:
    """The result of an op of `arith` or `math` on floats of one type."""
    return kernel.emit(kind, operands, operands[0].type, fastmath=EXACT)


# --- selection and addresses ---


def resized(
    kernel: EntryLowering, kind: type[Operation], value: SSAValue, type_: Attribute
) -> SSAValue:
    """An integer in another width."""
    if value.type == type_:
        return value
    return kernel.emit(kind, [value], type_)


@lowers
def _select(op: core.SelectOp, kernel: EntryLowering) -> None:
    nested = op.cond.has_one_use() and _is_shared(op.cond)

    def compute(condition: SSAValue, x: SSAValue, y: SSAValue) -> SSAValue:
        if x is y:
            return x
        both = condition.owner
        if nested and isinstance(both, arith.AndIOp) and isinstance(y.owner, arith.ConstantOp):
            return compute(both.lhs, compute(both.rhs, x, y), y)
        return kernel.emitter.select(condition, x, y)

    elementwise(op, kernel, compute)


def _is_shared(condition: SSAValue) -> bool:
    """True of conditions that rows, columns or other tiles have too: they are few predicates, and
    what they say together is one an element."""
    if isinstance(both := condition.owner, integer.AndIOp):
        return all(map(_is_shared, both.operands))
    return isinstance(both, core.BroadcastOp) or condition.has_more_than_one_use()


@lowers
def _offset(op: core.OffsetOp, kernel: EntryLowering) -> None:
    size = pointee_bytes(op.ptr)

    def compute(pointer: SSAValue, offset: SSAValue) -> SSAValue:
        offset = resized(kernel, arith.ExtSIOp, offset, i64)
        if is_packed(op.ptr):
            offset = kernel.emit(arith.DivSIOp, [offset, kernel.constant(2, i64)], i64)
        return kernel.emitter.binary("add", pointer, scaled(kernel.emitter, offset, size))

    elementwise(op, kernel, compute)
