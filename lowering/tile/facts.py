"""Facts of the integers of a kernel before it runs: constants, what divides them, and what
they are below."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import SSAValue

MAX_BLOCK = {"x": 1024, "y": 1024, "z": 64}
"""Most threads of a CTA along each axis, and with that what a thread's index is below."""

_GRID = 1 << 31
"""The bound of an index of a CTA."""


@dataclass(frozen=True, slots=True)
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

    def __setitem__(self, value: SSAValue, fact: Fact) -> None:
        self._known[value] = fact

    def __getitem__(self, value: SSAValue) -> Fact:
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = self._find(value)
        return found

    def constant(self, value: SSAValue) -> int | None:
        """The number that a value always is."""
        owner = value.owner
        if isinstance(owner, arith.IndexCastOp | arith.ExtSIOp | arith.ExtUIOp):
            return self.constant(owner.input)
        if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
            return owner.value.value.data
        return None

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
        match value.owner:
            case arith.AddiOp() | arith.MuliOp() as op:
                a, b = self[op.lhs], self[op.rhs]
                adds = isinstance(op, arith.AddiOp)
                factor = gcd(a.factor, b.factor) if adds else a.factor * b.factor
                if a.bound is None or b.bound is None:
                    return Fact(max(factor, 1))
                bound = a.bound + b.bound - 1 if adds else (a.bound - 1) * (b.bound - 1) + 1
                return Fact(max(factor, 1), bound if bound <= _GRID else None)
            case arith.DivUIOp() | arith.DivSIOp() as op:
                a, by = self[op.lhs], self.constant(op.rhs)
                if a.bound is None or by is None or by <= 0:
                    return NOTHING
                return Fact(max(a.factor // by, 1) if a.factor % by == 0 else 1,
                            (a.bound - 1) // by + 1)  # fmt: skip
            case arith.RemUIOp() | arith.RemSIOp() as op:
                a, by = self[op.lhs], self.constant(op.rhs)
                if a.bound is None or by is None or by <= 0:
                    return NOTHING
                return Fact(max(gcd(a.factor, by), 1), min(a.bound, by))
            case _:
                return NOTHING
