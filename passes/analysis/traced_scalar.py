"""Leaves of the symbolic algebra that are SSA values: computing with them emits arithmetic.

An op for each operation, `scf.if` for a choice, as CuTe IR is expanded: the leaves of
`lowering.tile.leaves` fold, bound and share instead, which that IR is not to show.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, LocationAttr, UnknownLoc
from xdsl.dialects.math import AbsIOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from tilewright.dialects.cute.symbolic.scalar import Dynamic, Scalar, width_of
from tilewright.dialects.cute.value import slot_setter

_NSW = arith.IntegerOverflowAttr([arith.IntegerOverflowFlag.NSW])


class Traced(Dynamic):
    """A leaf whose number is an SSA value."""

    __slots__ = ("trace", "value")
    __match_args__ = ("width", "value")
    value: SSAValue
    trace: ScalarTrace

    def __init__(self, value: SSAValue, trace: ScalarTrace) -> None:
        assert isa(value.type, IntegerType)
        super().__init__(value.type.bitwidth)
        _set_value(self, value)
        _set_trace(self, trace)

    def result(self, operation: str, operands: tuple[Scalar, ...], width: int) -> Dynamic:
        return Traced(self.trace.emit(operation, operands), self.trace)

    def choice(self, then: Callable[[], Scalar], other: Callable[[], Scalar]) -> Scalar:
        return Traced(self.trace.choose(self.value, then, other), self.trace)


_set_value = slot_setter(Traced, "value")
_set_trace = slot_setter(Traced, "trace")


_BINARY: dict[str, Callable[[SSAValue, SSAValue], Operation]] = {
    "add": lambda a, b: arith.AddiOp(a, b, overflow=_NSW),
    "sub": lambda a, b: arith.SubiOp(a, b, overflow=_NSW),
    "mul": lambda a, b: arith.MuliOp(a, b, overflow=_NSW),
    "div": arith.DivSIOp,
    "mod": arith.RemSIOp,
    "ceil_div": arith.CeilDivSIOp,
    "min": arith.MinSIOp,
    "and": arith.AndIOp,
    "or": arith.OrIOp,
    "xor": arith.XOrIOp,
    "shl": lambda a, b: arith.ShLIOp(a, b),
    "shr": arith.ShRUIOp,
    "eq": lambda a, b: arith.CmpiOp(a, b, "eq"),
    "ne": lambda a, b: arith.CmpiOp(a, b, "ne"),
    "lt": lambda a, b: arith.CmpiOp(a, b, "slt"),
    "gt": lambda a, b: arith.CmpiOp(a, b, "sgt"),
}
"""The op of each operation on two numbers."""


class ScalarTrace:
    """Where the arithmetic goes, and where in the source what it stands for is."""

    def __init__(self, at: InsertPoint, location: LocationAttr | None = None) -> None:
        self._at = at
        self._location = location or UnknownLoc()

    def insert(self, op: Operation) -> SSAValue:
        """Insert an op that has a result; the first one."""
        self.insert_last(op)
        return op.results[0]

    def sized(self, x: Scalar, width: int) -> SSAValue:
        """A number as a value of some width."""
        if isinstance(x, int):
            return self.insert(arith.ConstantOp(IntegerAttr(x, width)))
        assert isinstance(x, Traced)
        if x.width == width:
            return x.value
        cast = arith.ExtSIOp if x.width < width else arith.TruncIOp
        return self.insert(cast(x.value, IntegerType(width)))

    def emit(self, operation: str, operands: tuple[Scalar, ...]) -> SSAValue:
        """The value of an operation, on operands of the larger width."""
        width = max(map(width_of, operands))
        values = [self.sized(operand, width) for operand in operands]
        if operation == "abs":
            return self.insert(AbsIOp(values[0]))
        return self.insert(_BINARY[operation](*values))

    def choose(
        self, condition: SSAValue, then: Callable[[], Scalar], other: Callable[[], Scalar]
    ) -> SSAValue:
        """The value of `then` where the condition holds, else that of `other`."""
        branches = [self._branch(branch) for branch in (then, other)]
        width = max(width_of(value) for value, _ in branches)
        for value, block in branches:
            inside = ScalarTrace(InsertPoint.at_end(block), self._location)
            inside.insert_last(scf.YieldOp(inside.sized(value, width)))
        (_, yes), (_, no) = branches
        return self.insert(scf.IfOp(condition, [IntegerType(width)], Region(yes), Region(no)))

    def insert_last(self, op: Operation) -> None:
        """Insert an op, whatever its results."""
        op.location = self._location
        Rewriter.insert_op(op, self._at)

    def _branch(self, compute: Callable[[], Scalar]) -> tuple[Scalar, Block]:
        """The number that a branch computes, emitted into a block of its own."""
        block, outside = Block(), self._at
        self._at = InsertPoint.at_end(block)
        try:
            return compute(), block
        finally:
            self._at = outside
