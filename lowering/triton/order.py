"""The order of memory: within a program Triton means the order of the program.

A write comes behind every access before it, a read behind every write: two arguments may be the
same memory, so pointers prove nothing. Reads commute. Tokens say this; what a region accesses goes
through it as one token more, that loops carry and branches give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.traits import SymbolTable

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.ops.memory import JoinTokensOp, MakeTokenOp
from tilewright.dialects.cuda_tile.types import TOKEN
from tilewright.dialects.frozen import factory
from tilewright.passes.cuda_tile.legalization.shaped_builder import ShapedBuilder

READS = (triton.LoadOp, triton.DescriptorLoadOp, triton.DescriptorGatherOp)
WRITES = (
    triton.StoreOp, triton.AtomicRMWOp, triton.AtomicCASOp, triton.AtomicLoadOp,
    triton.AtomicPollOp,    triton.AtomicStoreOp, triton.DescriptorStoreOp,
    triton.DescriptorReduceOp, triton.DescriptorScatterOp, triton.ElementwiseInlineAsmOp,
)  # fmt: skip


@dataclass
class ProgramOrder:
    """The accesses so far: the token of the last write, those of the reads behind it."""

    written: SSAValue | None = None
    read: list[SSAValue] = factory(list)

    def before_write(self, at: ShapedBuilder) -> SSAValue | None:
        """The token of all accesses so far."""
        tokens = ([] if self.written is None else [self.written]) + self.read
        if len(tokens) < 2:
            return tokens[0] if tokens else None
        return at.add(JoinTokensOp, tokens, TOKEN)

    def after_write(self, token: SSAValue) -> None:
        """Take the token of a write."""
        self.written, self.read = token, []

    def enter(self, at: ShapedBuilder, op: Operation) -> list[SSAValue]:
        """The token that a region op begins with, none where it accesses no memory."""
        if not accesses(op):
            return []
        token = self.before_write(at)
        return [at.insert(MakeTokenOp.create(result_types=[TOKEN])).result
                if token is None else token]  # fmt: skip

    def within(self, op: Operation, tokens: Sequence[SSAValue]) -> ProgramOrder:
        """The order in a region of such an op, and behind it, with the token that it has there."""
        if not tokens:
            return self
        if writes(op):
            return ProgramOrder(tokens[0])
        return ProgramOrder(self.written, list(tokens))

    def leave(self, at: ShapedBuilder, tokens: Sequence[SSAValue]) -> list[SSAValue]:
        """The token that a region passes on, where it was entered with one."""
        left = self.before_write(at) if tokens else None
        return [] if left is None else [left]


def accesses(op: Operation) -> bool:
    """True where an op, or what it calls, accesses memory."""
    return _does(op, READS + WRITES)


def writes(op: Operation) -> bool:
    """True where an op, or what it calls, writes memory."""
    return _does(op, WRITES)


def _does(op: Operation, kinds: tuple[type[Operation], ...]) -> bool:
    for inner in op.walk():
        if isinstance(inner, kinds):
            return True
        if isinstance(inner, triton.CallOp):
            callee = SymbolTable.lookup_symbol(inner, inner.callee)
            if callee is not None and _does(callee, kinds):
                return True
    return False
