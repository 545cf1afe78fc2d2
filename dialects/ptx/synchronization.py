"""Barriers. PTX ISA 9.7.13."""

from typing import ClassVar

from xdsl.irdl import opt_prop_def, prop_def

from tilewright.dialects.cute_nvgpu.lattice import NAMED_BARRIER
from tilewright.dialects.cute_nvgpu.lattice import sync as rows
from tilewright.dialects.cute_nvgpu.ops import sync
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import RowOp, content, twin


class _BarrierOp(RowOp):
    """A numbered barrier of the CTA; without `threads`, all of the CTA's threads take part."""

    OPERANDS: ClassVar = {"a": "barrier", "b": "threads"}

    barrier = prop_def(NUMBER)
    threads = opt_prop_def(NUMBER)

    assembly_format = "$barrier (`,` $threads^)? attr-dict"

    def verify_(self) -> None:
        self.refuse(NAMED_BARRIER.why_illegal(content(self.barrier), content(self.threads)))


@fields_op("ptx.bar.sync", rows.BAR_SYNC)
class BarSyncOp(_BarrierOp):
    """`bar.sync a{, b}`: arrive and wait. PTX ISA 9.7.13.1."""


@fields_op("ptx.bar.arrive", rows.BAR_ARRIVE)
class BarArriveOp(_BarrierOp):
    """`bar.arrive a, b`: arrive without waiting. PTX ISA 9.7.13.1."""

    def verify_(self) -> None:
        super().verify_()
        if self.threads is None:
            raise self.fail("a count of threads (bar.arrive a, b)")


WarpSyncOp = twin(sync.WarpSyncOp)
GridDependencyWaitOp = twin(sync.GridDependencyWaitOp)
LaunchDependentsOp = twin(sync.LaunchDependentsOp)
FenceProxyAliasOp = twin(sync.FenceProxyAliasOp)
FenceOp = twin(sync.FenceOp)
