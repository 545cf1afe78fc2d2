"""Barriers. PTX ISA 9.7.13."""

from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, result_def

from tilewright.dialects.cute_nvgpu.lattice import NAMED_BARRIER
from tilewright.dialects.cute_nvgpu.lattice import sync as rows
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Result
from tilewright.dialects.cute_nvgpu.ops import sync
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import FormOp, RowOp, content, twin
from tilewright.dialects.ptx.types import B32, B64, PRED, RegType, reg


class NumberedBarrierOp(RowOp):
    """A numbered barrier of the CTA; without `threads`, all of the CTA's threads take part."""

    barrier = prop_def(NUMBER)
    threads = opt_prop_def(NUMBER)

    assembly_format = "$barrier (`,` $threads^)? attr-dict"

    def verify_(self) -> None:
        self.refuse(NAMED_BARRIER.why_illegal(content(self.barrier), content(self.threads)))


@fields_op("ptx.bar.sync", rows.BAR_SYNC)
class BarSyncOp(NumberedBarrierOp):
    """`bar.sync a{, b}`: arrive and wait. PTX ISA 9.7.13.1."""


class ArrivalOp(NumberedBarrierOp):
    """An arrival at a numbered barrier, of a count of threads."""

    def verify_(self) -> None:
        super().verify_()
        if self.threads is None:
            raise self.fail(f"a count of threads ({self.mnemonic} a, b)")


@fields_op("ptx.bar.arrive", rows.BAR_ARRIVE)
class BarArriveOp(ArrivalOp):
    """`bar.arrive a, b`: arrive without waiting. PTX ISA 9.7.13.1."""


@fields_op("ptx.barrier.sync", rows.BARRIER_SYNC)
class BarrierSyncOp(NumberedBarrierOp):
    """`barrier.sync a{, b}`: arrive and wait, each thread for itself. PTX ISA 9.7.13.1."""


@fields_op("ptx.barrier.arrive", rows.BARRIER_ARRIVE)
class BarrierArriveOp(ArrivalOp):
    """`barrier.arrive a, b`: arrive without waiting, each thread for itself. PTX ISA 9.7.13.1."""


class _OfRegistersOp(FormOp):
    """A barrier of the CTA whose number and count of threads are in registers; `form` is the whole
    mnemonic."""

    WORDS = 0

    barrier = operand_def(B32)
    threads = opt_operand_def(B32)


@fields_op("ptx.barrier", *rows.REGISTER_BARRIERS)
class RegisterBarrierOp(_OfRegistersOp):
    """`bar.sync a{, b}`, `bar.arrive a, b`, or of `barrier`: which barrier, and of how many
    threads, registers say. PTX ISA 9.7.13.1.

    ```mlir
    ptx.barrier "bar.sync" %a, %b
    ```
    """

    assembly_format = "$form $barrier (`,` $threads^)?"


@fields_op("ptx.bar.warp.sync.members", rows.BAR_WARP_SYNC_MEMBERS)
class MembersSyncOp(RowOp):
    """`bar.warp.sync membermask`, of a register: wait for those threads of the warp. PTX ISA
    9.7.13.2."""

    members = operand_def(B32)


class _VoteOp(FormOp):
    """A barrier at which threads learn of c in all of them."""

    value = operand_def(PRED)
    result = result_def(RegType)

    assembly_format = "$form $barrier (`of` $threads^)? `,` $value attr-dict `:` type($result)"

    def verify_(self) -> None:
        super().verify_()
        result = self.row.operands[0]
        assert isinstance(result, Result)
        self.expect(self.result, reg(result.register))


class _VotingBarrierOp(_VoteOp, NumberedBarrierOp):
    """One of a number that is known."""

    WORDS = None

    def verify_(self) -> None:
        NumberedBarrierOp.verify_(self)
        super().verify_()


@fields_op("ptx.bar.red", rows.BAR_COUNT, rows.BAR_VOTE)
class BarRedOp(_VotingBarrierOp):
    """`bar.red.OPERATION d, a{, b}, c`: arrive and wait, and learn of c in all threads. PTX ISA
    9.7.13.1.

    ```mlir
    %d = ptx.bar.red "popc.u32" 0, %c : !ptx.reg<b32>
    ```
    """


@fields_op("ptx.barrier.red", rows.BARRIER_COUNT, rows.BARRIER_VOTE)
class BarrierRedOp(_VotingBarrierOp):
    """`barrier.red.OPERATION d, a{, b}, c`: `bar.red`, each thread for itself. PTX ISA
    9.7.13.1."""


@fields_op("ptx.barrier.vote", *rows.REGISTER_VOTES)
class RegisterVoteOp(_VoteOp, _OfRegistersOp):
    """`bar.red.OPERATION d, a{, b}, c`, or of `barrier`: which barrier, and of how many threads,
    registers say. PTX ISA 9.7.13.1.

    ```mlir
    %d = ptx.barrier.vote "bar.red.popc.u32" %a of %b, %c : !ptx.reg<b32>
    ```
    """


@fields_op("ptx.fence.proxy", rows.PROXY_FENCES, rows.PROXY_FENCES_OF_MAPS, rows.RESTRICTED_FENCES)
class ProxyFenceOp(FormOp):
    """`fence.FORM{ [address], 128}`: a fence of tensor maps, at an address where it acquires one;
    or of shared memory alone. PTX ISA 9.7.13.4.

    ```mlir
    ptx.fence.proxy "proxy.tensormap::generic.acquire.gpu" at %map
    ```
    """

    address = opt_operand_def(B64)

    assembly_format = "$form (`at` $address^)?"

    def verify_(self) -> None:
        super().verify_()
        if bool(self.row.operands) is not (self.address is not None):
            raise self.fail(f"an address where it acquires a tensor map alone ({self.mnemonic})")


@fields_op("ptx.nanosleep", rows.NANOSLEEP)
class NanosleepOp(RowOp):
    """`nanosleep.u32 t`: wait for about so many nanoseconds. PTX ISA 9.7.13.15."""

    time = operand_def(B32)


WarpSyncOp = twin(sync.WarpSyncOp)
GridDependencyWaitOp = twin(sync.GridDependencyWaitOp)
LaunchDependentsOp = twin(sync.LaunchDependentsOp)
FenceProxyAliasOp = twin(sync.FenceProxyAliasOp)
FenceOp = twin(sync.FenceOp)
