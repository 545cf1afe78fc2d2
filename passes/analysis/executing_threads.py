"""Which threads of a CTA execute an op, and what each of them has in a value.

Integers that are computed from numbers of threads and constants are known for every thread; what
does not come from the number of a thread is the same in all of them, whatever it is; anything else
is not known.
"""

from enum import Enum
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, gpu, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Operation, Region, SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects.cute.ops.elements import LoadOp, LoadVecOp
from tilewright.dialects.cute.types.tensors import MemRefType
from tilewright.dialects.cute_nvgpu.ops.warp_specialization import ElectSyncOp
from tilewright.dialects.gpu import FunctionOp
from tilewright.passes.analysis.hazards.scalars import BINARY, COMPARISONS
from tilewright.passes.analysis.thread_dependence import reached

WARP = 32
Numbers = NDArray[np.int64]


class Known(Enum):
    """The knowledge of a value whose number in each thread is not."""

    SAME = "the same in all threads"
    NOTHING = "nothing"


Held = Numbers | Known

_OF_INTEGERS = (
    arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp,
    arith.MinSIOp, arith.MaxSIOp,
)  # fmt: skip
"""Ops on numbers that are small: a number of a thread and constants."""

_OF_NATURALS = (
    arith.DivUIOp, arith.DivSIOp, arith.RemUIOp, arith.RemSIOp, arith.ShRUIOp, arith.ShRSIOp,
    arith.ShLIOp,
)  # fmt: skip
"""Ops on numbers that are not negative, by a constant."""

_CASTS = (arith.IndexCastOp, arith.ExtUIOp, arith.TruncIOp)
_LEAST, _MOST = -(1 << 31), 1 << 31


class Threads:
    """The threads of a block of these extents, in one function."""

    def __init__(self, extents: tuple[int, ...]):
        sizes = (*extents, 1, 1)[:3]
        self.count = prod(sizes)
        number = np.arange(self.count)
        x, y, z = number % sizes[0], number // sizes[0] % sizes[1], number // (sizes[0] * sizes[1])
        self._indices: dict[str, Numbers] = {"x": x, "y": y, "z": z}
        self._sizes = dict(zip("xyz", sizes, strict=True))
        self._number = number
        self._content: dict[SSAValue, Held] = {}

    # --- values ---

    def __getitem__(self, value: SSAValue) -> Held:
        """The number that each thread has in a value."""
        content = self._content.get(value)
        if content is None:
            content = self._computed(value)
            if content is Known.NOTHING and not _varies(value):
                content = Known.SAME
            self._content[value] = content
        return content

    def _computed(self, value: SSAValue) -> Held:
        match value.owner:
            case gpu.ThreadIdOp() as op:
                return self._indices[str(op.dimension.data.value)]
            case gpu.BlockDimOp() as op:
                return self._all(self._sizes[str(op.dimension.data.value)])
            case gpu.LaneIdOp():
                return self._number % WARP
            case gpu.SubgroupIdOp():
                return self._number // WARP
            case ElectSyncOp() as op:
                return self._elected(op)
            case arith.ConstantOp(value=IntegerAttr() as number):
                wide = number.value.data
                return self._all(abs(wide) if number.type == IntegerType(1) else wide)
            case Operation() as op if isinstance(op, _CASTS):
                return self._within(self[op.operands[0]], value)
            case Operation() as op:
                return self._arithmetic(op, value)
            case _:
                return Known.NOTHING

    def _all(self, number: int) -> Numbers:
        return np.full(self.count, number, np.int64)

    def _elected(self, op: ElectSyncOp) -> Held:
        """One thread of each warp, here the first that is there."""
        there = self.executing(op)
        if there is None:
            return Known.NOTHING
        chosen = np.zeros(self.count, np.int64)
        for first in range(0, self.count, WARP):
            lanes = np.flatnonzero(there[first : first + WARP])
            chosen[first + lanes[:1]] = 1
        return chosen

    def _arithmetic(self, op: Operation, value: SSAValue) -> Held:
        content = [self[operand] for operand in op.operands]
        numbers = [part for part in content if isinstance(part, np.ndarray)]
        same = any(part is Known.SAME for part in content)
        if isinstance(op, arith.AndIOp) and value.type == IntegerType(1) and same:
            # Where all have it, and it does not hold, nobody goes on: what counts is the other.
            return numbers[0] if numbers else Known.SAME
        if len(numbers) != len(content) or not content:
            return Known.NOTHING
        if isinstance(op, arith.CmpiOp):
            predicate = op.predicate.value.data
            if predicate >= 6 and min(part.min() for part in numbers) < 0:
                return Known.NOTHING
            return COMPARISONS[predicate](*numbers).astype(np.int64)  # type: ignore[union-attr]
        if isinstance(op, arith.SelectOp):
            return np.where(numbers[0], numbers[1], numbers[2])
        natural = isinstance(op, _OF_NATURALS) and (
            numbers[0].min() >= 0 and 0 < numbers[1].min() <= numbers[1].max() < WARP * WARP
        )
        if not natural and not isinstance(op, _OF_INTEGERS):
            return Known.NOTHING
        law: Any = BINARY[type(op)]
        return self._within(law(*numbers), value)

    def _within(self, content: Held, value: SSAValue) -> Held:
        """Numbers that fit the type whatever it is, or nothing."""
        if not isinstance(content, np.ndarray):
            return content
        bits = type_.bitwidth if isa(type_ := value.type, IntegerType) else 64
        most = 2 if bits == 1 else min(1 << (bits - 1), _MOST)
        inside = max(-most, _LEAST) <= content.min() and content.max() < most
        return content if inside else Known.NOTHING

    # --- ops ---

    def executing(self, op: Operation) -> NDArray[np.bool_] | None:
        """True where each thread executes an op where it is reached; None where that is not
        known."""
        there = np.ones(self.count, bool)
        block = op.parent
        while block is not None:
            region, around = block.parent, block.parent_op()
            if region is None or around is None:
                return None
            if len(region.blocks) > 1 and not self._branches_together(region):
                return None
            if isinstance(around, FunctionOp):
                return there
            if not self._entered(around, region, there):
                return None
            block = around.parent
        return None

    def _branches_together(self, region: Region) -> bool:
        """All threads take the same branches between the blocks of a region."""
        return not any(
            len(last.successors) > 1 and self[last.operands[0]] is not Known.SAME
            for block in region.blocks
            if (last := block.last_op) is not None
        )

    def _entered(self, around: Operation, region: Region, there: NDArray[np.bool_]) -> bool:
        """Narrow `there` to the threads that enter a region; False where they are not known."""
        if isinstance(around, scf.IfOp):
            condition = self[around.cond]
            if isinstance(condition, np.ndarray):
                there &= (condition != 0) == (region is around.true_region)
            return condition is not Known.NOTHING
        if isinstance(around, scf.ForOp):
            return not any(_varies(bound) for bound in (around.lb, around.ub, around.step))
        if isinstance(around, scf.WhileOp):
            last = around.before_region.block.last_op
            return last is not None and not _varies(last.operands[0])
        return False


# --- what differs between threads -----------------------------------------------------------------

_SAME_OF_SAME = ("arith", "math", "cute", "scf", "memref", "vector", "llvm", "ub", "builtin")
"""Dialects whose ops give all threads the same of the same operands."""
_SAME = (gpu.BlockIdOp, gpu.GridDimOp, gpu.BlockDimOp)


def _varies(value: SSAValue) -> bool:
    """A value may differ between the threads of a CTA."""
    owners = (source.owner for source in reached(value, lambda _: True))
    return any(isinstance(owner, Operation) and _by_thread(owner) for owner in owners)


def _by_thread(op: Operation) -> bool:
    """An op whose results may differ though its operands do not: numbers of threads, fragments, and
    what registers hold."""
    if isinstance(op, _SAME):
        return False
    if isinstance(op, LoadOp | LoadVecOp):
        return isinstance(op.source.type, MemRefType) and op.source.type.tensor.space == "rmem"
    return op.name.split(".")[0] not in _SAME_OF_SAME or op.name == "memref.atomic_rmw"
