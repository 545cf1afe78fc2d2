"""Barriers in shared memory. PTX ISA, mbarrier."""

from typing import ClassVar

from xdsl.irdl import operand_def, opt_prop_def, prop_def

from tilewright.dialects.cute_nvgpu.lattice import mbarrier as rows
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import RowOp, row_op
from tilewright.dialects.ptx.types import reg


class MbarrierOp(RowOp):
    """An instruction on the mbarrier at an address of shared memory plus a constant offset."""

    OPERANDS: ClassVar = {
        "state": "_", "addr": "address + offset", "txCount": "count", "phaseParity": "parity",
        # The printer asks again until this predicate of its own is true.
        "waitComplete": "done",
    }  # fmt: skip

    address = operand_def(reg("b32"))
    offset = prop_def(NUMBER)

    assembly_format = "$address `,` $offset attr-dict"


class _CountedOp(MbarrierOp):
    """With a constant: arrivals or bytes."""

    WHAT: ClassVar[str] = "arrivals"
    LOWEST: ClassVar[int] = 1

    count = prop_def(NUMBER)

    assembly_format = "$address `,` $offset `,` $count attr-dict"

    def verify_(self) -> None:
        self.refuse(rows.why_illegal_count(self.WHAT, self.LOWEST, self.count.value.data))


@fields_op("ptx.mbarrier.init", rows.MBARRIER_INIT)
class InitOp(_CountedOp):
    """`mbarrier.init.shared.b64 [a], count`."""


@fields_op("ptx.mbarrier.inval", rows.MBARRIER_INVAL)
class InvalOp(MbarrierOp):
    """`mbarrier.inval.shared.b64 [a]`."""


@fields_op("ptx.mbarrier.arrive", rows.MBARRIER_ARRIVE, rows.MBARRIER_ARRIVE_COUNT)
class ArriveOp(MbarrierOp):
    """`mbarrier.arrive.shared.b64 _, [a]{, count}`."""

    count = opt_prop_def(NUMBER)

    assembly_format = "$address `,` $offset (`,` $count^)?"

    @property
    def row(self) -> InstructionRow:
        return rows.MBARRIER_ARRIVE if self.count is None else rows.MBARRIER_ARRIVE_COUNT

    def verify_(self) -> None:
        if self.count is not None:
            self.refuse(rows.why_illegal_count("arrivals", 1, self.count.value.data))


@fields_op("ptx.mbarrier.arrive.expect_tx", rows.MBARRIER_ARRIVE_EXPECT_TX)
class ArriveExpectTxOp(_CountedOp):
    """`mbarrier.arrive.expect_tx.shared.b64 _, [a], bytes`."""

    WHAT: ClassVar = "bytes"
    LOWEST: ClassVar = 0


@fields_op("ptx.mbarrier.try_wait.parity", rows.MBARRIER_TRY_WAIT)
class TryWaitParityOp(MbarrierOp):
    """`mbarrier.try_wait.parity.shared.b64 p, [a], parity`, in a loop until p is true."""

    # xDSL puts a subclass's operands before those of its base.
    address = operand_def(reg("b32"))
    parity = operand_def(reg("b32"))

    assembly_format = "$address `,` $offset `,` $parity"


FenceMbarrierInitOp = row_op("ptx.fence.mbarrier_init", rows.FENCE_MBARRIER_INIT)
