"""Barriers in shared memory. PTX ISA, mbarrier."""

from collections.abc import Mapping
from typing import ClassVar

from xdsl.irdl import operand_def, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.mbarrier import (
    FENCE_MBARRIER_INIT,
    MBARRIER_ARRIVE,
    MBARRIER_ARRIVE_COUNT,
    MBARRIER_ARRIVE_EXPECT_TX,
    MBARRIER_INIT,
    MBARRIER_INVAL,
    MBARRIER_TRY_WAIT,
    why_illegal_count,
)
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import Given, RowOp
from tilewright.dialects.ptx.types import reg


class MbarrierOp(RowOp):
    """An instruction on the mbarrier at an address of shared memory plus a constant offset."""

    address = operand_def(reg("b32"))
    offset = prop_def(NUMBER)

    assembly_format = "$address `,` $offset attr-dict"

    def operand_values(self) -> Mapping[str, Given]:
        return {"state": "_", "addr": (self.address, self.offset.value.data)}


class _CountedOp(MbarrierOp):
    """With a constant: arrivals or bytes."""

    COUNT: ClassVar[str] = "count"
    WHAT: ClassVar[str]
    LOWEST: ClassVar[int] = 1

    count = prop_def(NUMBER)

    assembly_format = "$address `,` $offset `,` $count attr-dict"

    def operand_values(self) -> Mapping[str, Given]:
        return {**super().operand_values(), self.COUNT: self.count.value.data}

    def verify_(self) -> None:
        why = why_illegal_count(self.WHAT, self.LOWEST, self.count.value.data)
        if why is not None:
            raise VerifyException(f"'{self.name}' {why}")


@fields_op("ptx.mbarrier.init", MBARRIER_INIT)
class InitOp(_CountedOp):
    """`mbarrier.init.shared.b64 [a], count`."""

    WHAT: ClassVar = "arrivals"


@fields_op("ptx.mbarrier.inval", MBARRIER_INVAL)
class InvalOp(MbarrierOp):
    """`mbarrier.inval.shared.b64 [a]`."""


@fields_op("ptx.mbarrier.arrive")
class ArriveOp(MbarrierOp):
    """`mbarrier.arrive.shared.b64 _, [a]{, count}`."""

    count = opt_prop_def(NUMBER)

    assembly_format = "$address `,` $offset (`,` $count^)? attr-dict"

    @property
    def row(self) -> InstructionRow:
        return MBARRIER_ARRIVE if self.count is None else MBARRIER_ARRIVE_COUNT

    def operand_values(self) -> Mapping[str, Given]:
        count = None if self.count is None else self.count.value.data
        return {**super().operand_values(), "count": count}

    def verify_(self) -> None:
        if self.count is not None:
            why = why_illegal_count("arrivals", 1, self.count.value.data)
            if why is not None:
                raise VerifyException(f"'{self.name}' {why}")


@fields_op("ptx.mbarrier.arrive.expect_tx", MBARRIER_ARRIVE_EXPECT_TX)
class ArriveExpectTxOp(_CountedOp):
    """`mbarrier.arrive.expect_tx.shared.b64 _, [a], bytes`."""

    COUNT: ClassVar = "txCount"
    WHAT: ClassVar = "bytes"
    LOWEST: ClassVar = 0


@fields_op("ptx.mbarrier.try_wait.parity", MBARRIER_TRY_WAIT)
class TryWaitParityOp(MbarrierOp):
    """`mbarrier.try_wait.parity.shared.b64 p, [a], parity`, in a loop until p is true."""

    # xDSL puts a subclass's operands before those of its base.
    address = operand_def(reg("b32"))
    parity = operand_def(reg("b32"))

    assembly_format = "$address `,` $offset `,` $parity attr-dict"

    def operand_values(self) -> Mapping[str, Given]:
        # The printer asks again until this predicate of its own is true.
        return {**super().operand_values(), "waitComplete": "done", "phaseParity": self.parity}


@fields_op("ptx.fence.mbarrier_init", FENCE_MBARRIER_INIT)
class FenceMbarrierInitOp(RowOp):
    """`fence.mbarrier_init.release.cluster`."""
