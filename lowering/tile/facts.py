"""Facts of the integers of a kernel before it runs: constants, what divides them, and what
they are below."""

import operator
from collections.abc import Callable

from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.cute.symbolic.scalar import Dynamic, Scalar, divisor_of_result, fits
from tilewright.dialects.frozen import frozen
from tilewright.lowering.emit.leaves import BOUNDS

MAX_BLOCK = {"x": 1024, "y": 1024, "z": 64}
"""Most threads of a CTA along each axis, and with that what a thread's index is below."""

_GRID = 1 << 31
"""The bound of an index of a CTA."""


@frozen
class Fact:
    """`factor` divides the number; it is not negative and below `bound`, where there is one."""

    factor: int = 1
    bound: int | None = None


NOTHING = Fact()


class Facts:
    """The facts of SSA values, for a block of these extents."""

    def __init__(self, block: tuple[int, ...] | None) -> None:
        self._block: dict[str, int] = dict(MAX_BLOCK)
        if block:
            self._block.update(zip("xyz", (*block, 1, 1, 1), strict=False))
        self._known: dict[SSAValue, Fact] = {}
        self._constants: dict[SSAValue, int | None] = {}

    def __setitem__(self, value: SSAValue, fact: Fact) -> None:
        self._known[value] = fact

    def __getitem__(self, value: SSAValue) -> Fact:
        known = self._known.get(value)
        if known is None:
            known = self._known[value] = self._find(value)
        return known

    def constant(self, value: SSAValue) -> int | None:
        """The number that a value always is."""
        if value not in self._constants:
            self._constants[value] = _folded(value.owner, self.constant)
        return self._constants[value]

    def _find(self, value: SSAValue) -> Fact:
        if (known := self.constant(value)) is not None:
            return Fact(abs(known), known + 1 if known >= 0 else None)
        match value.owner:
            case gpu.ThreadIdOp() as op:
                return Fact(1, self._block[str(op.dimension.data.value)])
            case gpu.BlockDimOp() as op:
                return Fact(1, self._block[str(op.dimension.data.value)] + 1)
            case gpu.BlockIdOp() | gpu.GridDimOp():
                return Fact(1, _GRID)
            case gpu.LaneIdOp():
                return Fact(1, 32)
            case gpu.SubgroupIdOp():
                return Fact(1, 32)
            case arith.IndexCastOp() | arith.ExtUIOp() | arith.ExtSIOp() as op:
                return self._cast(op)
            case _:
                return self._arithmetic(value)

    def _cast(self, op: arith.IndexCastOp | arith.ExtUIOp | arith.ExtSIOp) -> Fact:
        fact = self[op.input]
        width = op.result.type.bitwidth if isinstance(op.result.type, IntegerType) else 64
        fits = fact.bound is not None and fact.bound <= 1 << (width - 1)
        return fact if fits else NOTHING

    def _arithmetic(self, value: SSAValue) -> Fact:
        op = value.owner
        name = _NAMES.get(type(op)) if isinstance(op, Operation) else None
        if name not in BOUNDS or not isinstance(op, Operation):
            return NOTHING
        a, b = (self._leaf(operand) for operand in op.operands)
        bounds = [bound for operand in op.operands if (bound := self[operand].bound) is not None]
        divides = name in _DIVIDING
        if divides and (len(bounds) < 2 or not isinstance(b, int) or b == 0):
            return NOTHING
        bound = BOUNDS[name](*bounds) if len(bounds) == 2 else None
        small = divides or (bound is not None and bound <= _GRID)
        return Fact(divisor_of_result(name, (a, b)), bound if small else None)

    def _leaf(self, value: SSAValue) -> Scalar:
        """A value as a leaf of the algebra."""
        known = self.constant(value)
        return Dynamic(64, self[value].factor) if known is None else known


_NAMES: dict[type[Operation], str] = {
    arith.AddiOp: "add",
    arith.SubiOp: "sub",
    arith.MuliOp: "mul",
    arith.DivUIOp: "div",
    arith.DivSIOp: "div",
    arith.RemUIOp: "mod",
    arith.RemSIOp: "mod",
}
_DIVIDING: dict[str, Callable[[int, int], int]] = {"div": lambda a, b: a // b, "mod": operator.mod}
"""Of numbers that are not negative."""

_FOLDED = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, **_DIVIDING}
"""The operations on constants."""


def _folded(op: Operation | Block, constant: Callable[[SSAValue], int | None]) -> int | None:
    """The number that an op always gives, or None."""
    if isinstance(op, arith.IndexCastOp | arith.ExtSIOp | arith.ExtUIOp):
        known = constant(op.input)
        signed = not isinstance(op, arith.ExtUIOp)
        return known if known is None or signed or known >= 0 else None
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    name = _NAMES.get(type(op)) if isinstance(op, Operation) else None
    if name is None or not isinstance(op, Operation):
        return None
    a, b = map(constant, op.operands)
    if a is None or b is None or (name in _DIVIDING and not (a >= 0 and b > 0)):
        return None
    folded = _FOLDED[name](a, b)
    type_ = op.results[0].type
    bits = type_.bitwidth if isinstance(type_, IntegerType) else 64
    return folded if fits(folded, bits) else None
