"""Barriers. PTX ISA 9.7.13."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.lattice import NAMED_BARRIER
from tilewright.dialects.cute_nvgpu.lattice.sync import BAR_ARRIVE, BAR_SYNC, BAR_WARP_SYNC
from tilewright.dialects.fields import NUMBER
from tilewright.dialects.ptx.instruction import Given, RowOp

WHOLE_WARP = 0xFFFFFFFF
"""The membermask of all threads of a warp."""


class _BarrierOp(RowOp):
    """A numbered barrier of the CTA; without `threads`, all of the CTA's threads take part."""

    barrier = prop_def(NUMBER)
    threads = opt_prop_def(NUMBER)

    assembly_format = "$barrier (`,` $threads^)? attr-dict"

    def operand_values(self) -> Mapping[str, Given]:
        threads = None if self.threads is None else self.threads.value.data
        return {"a": self.barrier.value.data, "b": threads}

    def verify_(self) -> None:
        threads = None if self.threads is None else self.threads.value.data
        why = NAMED_BARRIER.why_illegal(self.barrier.value.data, threads)
        if why is not None:
            raise VerifyException(f"'{self.name}' {why}")


@irdl_op_definition
class BarSyncOp(_BarrierOp):
    """`bar.sync a{, b}`: arrive and wait. PTX ISA 9.7.13.1."""

    name = "ptx.bar.sync"
    ROW: ClassVar = BAR_SYNC


@irdl_op_definition
class BarArriveOp(_BarrierOp):
    """`bar.arrive a, b`: arrive without waiting. PTX ISA 9.7.13.1."""

    name = "ptx.bar.arrive"
    ROW: ClassVar = BAR_ARRIVE

    def verify_(self) -> None:
        super().verify_()
        if self.threads is None:
            raise VerifyException(f"'{self.name}' expected a count of threads (bar.arrive a, b)")


@irdl_op_definition
class WarpSyncOp(RowOp):
    """`bar.warp.sync 0xffffffff`. PTX ISA 9.7.13.2."""

    name = "ptx.bar.warp.sync"
    ROW: ClassVar = BAR_WARP_SYNC

    assembly_format = "attr-dict"

    def operand_values(self) -> Mapping[str, Given]:
        return {"membermask": WHOLE_WARP}
