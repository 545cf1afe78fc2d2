"""Barriers in shared memory: `mbarrier`, which threads arrive at and copies complete."""

from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, UnitAttr, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, prop_def, var_operand_def

from tilewright.dialects.cute_nvgpu.lattice import mbarrier as rows
from tilewright.dialects.cute_nvgpu.ops.instruction import NvgpuOp
from tilewright.dialects.cute_nvgpu.ops.memory_operand import verify_words
from tilewright.dialects.fields import NUMBER, FieldsOp, fields_op


def verify_mbarrier(type_: Attribute, indices: int) -> None:
    """Raise Illegal unless the type is a memref of mbarriers: i64 in shared memory."""
    verify_words("mbarrier", type_, indices, i64, "an mbarrier has 64 bits")


class MbarrierOp(NvgpuOp):
    """An op on the mbarrier at an element of a memref of i64 in shared memory."""

    barrier = operand_def(MemRefType)
    indices = var_operand_def(IndexType())

    assembly_format = "$barrier `[` $indices `]` attr-dict `:` type($barrier)"

    def verify_(self) -> None:
        verify_mbarrier(self.barrier.type, len(self.indices))


class _Counts(FieldsOp):
    """An op with a count, at either level."""

    WHAT: ClassVar[str] = "arrivals"
    LOWEST: ClassVar[int] = 1

    if TYPE_CHECKING:
        count: IntegerAttr | None

    def verify_(self) -> None:
        super().verify_()
        if self.count is not None:
            self.refuse(rows.why_illegal_count(self.WHAT, self.LOWEST, self.count.value.data))


class CountsArrivals(_Counts):
    """An op with a count of arrivals."""

    count = prop_def(NUMBER)


class CountsBytes(CountsArrivals):
    """An op with a count of bytes."""

    WHAT = "bytes"
    LOWEST = 0


class Arrives(_Counts):
    """An arrival, once or a count of times."""

    count = opt_prop_def(NUMBER)

    @property
    def row(self) -> rows.InstructionRow:
        """The row without a count, or with one."""
        return rows.MBARRIER_ARRIVE if self.count is None else rows.MBARRIER_ARRIVE_COUNT


class ArrivesBehindCopies(FieldsOp):
    """An arrival that the thread's copies make; without `noinc` the phase waits for it besides."""

    noinc = opt_prop_def(UnitAttr)

    @property
    def row(self) -> rows.InstructionRow:
        """The row of an arrival that is expected, or of one more."""
        return rows.CP_ASYNC_ARRIVE if self.noinc else rows.CP_ASYNC_ARRIVE_MORE


class Waits(FieldsOp):
    """A wait for a phase, of scope `cta` or `cluster`."""

    cluster = opt_prop_def(UnitAttr)

    @property
    def row(self) -> rows.InstructionRow:
        """The row of its scope."""
        return rows.MBARRIER_TRY_WAIT_CLUSTER if self.cluster else rows.MBARRIER_TRY_WAIT


@fields_op("cute_nvgpu.mbarrier.init", rows.MBARRIER_INIT)
class InitOp(CountsArrivals, MbarrierOp):
    """Make an mbarrier whose phases each wait for `count` arrivals.

    ```mlir
    cute_nvgpu.mbarrier.init %full[%i] count 1 : memref<4xi64, #cute<space smem>>
    ```

    One thread does it, before a barrier that all others wait at; `fence.mbarrier_init` in between
    shows it to the copies that complete the mbarrier. PTX ISA, mbarrier.init.
    """

    assembly_format = "$barrier `[` $indices `]` `count` $count"


@fields_op("cute_nvgpu.mbarrier.inval", rows.MBARRIER_INVAL)
class InvalOp(MbarrierOp):
    """End an mbarrier, with which everybody is done: its memory may be used for something else.

    ```mlir
    cute_nvgpu.mbarrier.inval %full[%i] : memref<4xi64, #cute<space smem>>
    ```

    PTX ISA, mbarrier.inval.
    """


@fields_op("cute_nvgpu.mbarrier.arrive", rows.MBARRIER_ARRIVE, rows.MBARRIER_ARRIVE_COUNT)
class ArriveOp(Arrives, MbarrierOp):
    """Arrive, once or `count` times, at the current phase of an mbarrier, without waiting.

    ```mlir
    cute_nvgpu.mbarrier.arrive %empty[%stage] : memref<4xi64, #cute<space smem>>
    cute_nvgpu.mbarrier.arrive %empty[%stage] count 2 : memref<4xi64, #cute<space smem>>
    ```

    What the thread did before is before what those do who wait for the phase. PTX ISA,
    mbarrier.arrive.
    """

    assembly_format = "$barrier `[` $indices `]`"


@fields_op("cute_nvgpu.mbarrier.arrive.expect_tx", rows.MBARRIER_ARRIVE_EXPECT_TX)
class ArriveExpectTxOp(CountsBytes, MbarrierOp):
    """Let the current phase of an mbarrier also wait for `count` bytes of copies, then arrive.

    ```mlir
    cute_nvgpu.mbarrier.arrive.expect_tx %full[%stage] bytes 49152
      : memref<4xi64, #cute<space smem>>
    ```

    PTX ISA, mbarrier.arrive.expect_tx.
    """

    assembly_format = "$barrier `[` $indices `]` `bytes` $count"


@fields_op("cute_nvgpu.cp.async.mbarrier.arrive", rows.CP_ASYNC_ARRIVE, rows.CP_ASYNC_ARRIVE_MORE)
class CpAsyncArriveOp(ArrivesBehindCopies, MbarrierOp):
    """Let the current phase of an mbarrier wait until the `cp.async` that the thread has started
    are complete: whoever waits for it sees what they wrote.

    ```mlir
    cute_nvgpu.cp.async.mbarrier.arrive %full[%stage] noinc : memref<4xi64, #cute<space smem>>
    ```

    With `noinc` it is one of the arrivals that the phase waits for anyway. PTX ISA,
    cp.async.mbarrier.arrive.
    """

    assembly_format = "$barrier `[` $indices `]` (`noinc` $noinc^)?"


@fields_op("cute_nvgpu.mbarrier.wait", rows.MBARRIER_TRY_WAIT, rows.MBARRIER_TRY_WAIT_CLUSTER)
class WaitOp(Waits, MbarrierOp):
    """Wait until the phase of that parity is complete: 0 for the first phase, 1 for the second.

    ```mlir
    cute_nvgpu.mbarrier.wait %full[%stage] parity %parity : memref<4xi64, #cute<space smem>>
    cute_nvgpu.mbarrier.wait %full[%stage] parity %parity cluster : memref<4xi64, 3>
    ```

    Before the first phase is complete, parity 1 does not wait. Of CTAs of the cluster that arrived
    the thread knows what they have read, and with `cluster` what they wrote too. A loop of
    `mbarrier.try_wait.parity` in PTX, `.acquire.cta` or `.acquire.cluster`. PTX ISA,
    mbarrier.try_wait.
    """

    # xDSL puts a subclass's operands before those of its base.
    barrier = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    parity = operand_def(i32)

    assembly_format = "$barrier `[` $indices `]` `parity` $parity"


@fields_op("cute_nvgpu.fence.mbarrier_init", rows.FENCE_MBARRIER_INIT)
class FenceMbarrierInitOp(NvgpuOp):
    """The mbarriers that the thread made are made before what copies do to them. PTX ISA,
    fence.mbarrier_init."""
