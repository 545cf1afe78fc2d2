"""Barriers in shared memory. PTX ISA, mbarrier."""

from typing import ClassVar

from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    result_def,
)

from tilewright.dialects.cute_nvgpu.lattice import mbarrier as rows
from tilewright.dialects.cute_nvgpu.ops import mbarrier as atom
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import FormOp, OffsetOp, PureOp, RowOp, twin
from tilewright.dialects.ptx.types import B32, B64, PRED, RegType, reg


class MbarrierOp(OffsetOp, RowOp):
    """An instruction on the mbarrier at an address of shared memory plus a constant offset."""

    address = operand_def(B32)


_COUNTED = "$address `,` $offset `,` $count attr-dict"
InitOp = twin(atom.InitOp, base=MbarrierOp, text=_COUNTED)
InvalOp = twin(atom.InvalOp, base=MbarrierOp)
ArriveOp = twin(atom.ArriveOp, base=MbarrierOp, text="$address `,` $offset (`,` $count^)?")
ArriveExpectTxOp = twin(atom.ArriveExpectTxOp, base=MbarrierOp, text=_COUNTED)
CpAsyncArriveOp = twin(atom.CpAsyncArriveOp, base=MbarrierOp)


@fields_op("ptx.mbarrier.try_wait.parity", rows.MBARRIER_TRY_WAIT, rows.MBARRIER_TRY_WAIT_CLUSTER)
class TryWaitParityOp(atom.Waits, MbarrierOp):
    """`mbarrier.try_wait.parity.shared.b64 p, [a], parity{, time}`, in a loop until p is true; with
    `cluster` `.acquire.cluster`. Each try may take `time` nanoseconds."""

    # xDSL puts a subclass's operands before those of its base.
    address = operand_def(B32)
    parity = operand_def(B32)
    time = opt_operand_def(B32)

    assembly_format = "$address `,` $offset `,` $parity (`time` $time^)?"


TWO_WAYS = "ptx.two_ways"
"""The attribute of a wait that leaves its loop by a branch of its own, and goes round by another,
in the text that it was read from: `bra` or `bra.uni`."""


@fields_op("ptx.mbarrier.ask", *rows.MBARRIER_ASK)
class AskOp(OffsetOp, FormOp):
    """`mbarrier.FORM p, [a], phase{, time}`, once: whether the phase is complete that has that
    parity, or that a state is of.

    ```mlir
    %p = ptx.mbarrier.ask "try_wait.parity.relaxed.cta.shared.b64" %a, 8, %parity
    ```
    """

    address = operand_def(B32)
    phase = operand_def(RegType)
    time = opt_operand_def(B32)
    result = result_def(PRED)

    assembly_format = "$form $address `,` $offset `,` $phase (`time` $time^)?"

    def verify_(self) -> None:
        super().verify_()
        self.expect(self.phase, reg("b32" if ".parity" in self.form.data else "b64"))


class _StateOp(MbarrierOp):
    """An arrival at an mbarrier whose phase something reads."""

    result = result_def(B64)


@fields_op("ptx.mbarrier.arrive.state", rows.MBARRIER_ARRIVE, rows.MBARRIER_ARRIVE_COUNT)
class ArriveStateOp(atom.Arrives, _StateOp):
    """`mbarrier.arrive.shared.b64 d, [a]{, count}`: an arrival, and the phase that it is in."""

    assembly_format = "$address `,` $offset (`,` $count^)?"


@fields_op("ptx.mbarrier.arrive.expect_tx.state", rows.MBARRIER_ARRIVE_EXPECT_TX)
class ArriveExpectTxStateOp(atom.CountsBytes, _StateOp):
    """`mbarrier.arrive.expect_tx.shared.b64 d, [a], bytes`: an arrival, and its phase."""

    assembly_format = "$address `,` $offset `,` $count"


class _CountedOp(OffsetOp, FormOp):
    """An instruction on an mbarrier whose count a register says."""

    address = operand_def(B32)
    count = opt_operand_def(B32)

    assembly_format = "$form $address `,` $offset (`count` $count^)?"


@fields_op("ptx.mbarrier", *rows.MBARRIER_COUNTED)
class CountedOp(_CountedOp):
    """`mbarrier.FORM [a], count`, of threads or, of `expect_tx` and `complete_tx`, of bytes; an
    arrival in any CTA of the cluster is `mbarrier.FORM _, [a]{, count}`.

    ```mlir
    ptx.mbarrier "init.shared.b64" %a, 8 count %n
    ```
    """


@fields_op("ptx.mbarrier.arrival", *rows.MBARRIER_ARRIVALS)
class CountedArrivalOp(_CountedOp):
    """`mbarrier.FORM state, [a]{, count}`: arrivals of so many threads, or one that expects so many
    bytes, and their state."""

    result = result_def(B64)


@fields_op("ptx.mbarrier.pending_count", rows.MBARRIER_PENDING_COUNT)
class PendingCountOp(PureOp, RowOp):
    """`mbarrier.pending_count.b64 d, state`: how many arrivals the phase waited for before the
    one that gave the state, which completed none."""

    OPERANDS: ClassVar = {"count": "result"}

    state = operand_def(B64)
    result = result_def(B32)


FenceMbarrierInitOp = twin(atom.FenceMbarrierInitOp)
