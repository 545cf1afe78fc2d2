"""`mbarrier`, `elect.sync` and `setmaxnreg` of both levels."""

from xdsl.ir import Operation

from tilewright.dialects.cute_nvgpu.ops import mbarrier as atom
from tilewright.dialects.cute_nvgpu.ops import warp_specialization as atom_warps
from tilewright.dialects.ptx import mbarrier as ptx
from tilewright.dialects.ptx import warp_specialization as ptx_warps
from tilewright.lowering.interpreter.builder import Builder, Step, effect, runs
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.machine.mbarrier import MbarrierWait
from tilewright.lowering.interpreter.machine.register_pool import RegisterWait
from tilewright.lowering.interpreter.ops.instructions.tensor_memory import located
from tilewright.lowering.interpreter.ops.instructions.wgmma import warpgroups
from tilewright.lowering.interpreter.values import Bits


@runs(atom.InitOp, ptx.InitOp)
def _init(op: atom.InitOp | ptx.InitOp, builder: Builder) -> Step:
    locate, count, number = (
        located(builder, op, op.operands[0]),
        op.count.value.data,
        builder.number(op),
    )
    return lambda machine, gang: machine.mbarriers.make(gang.lanes, locate(gang), count, number)


@runs(atom.InvalOp, ptx.InvalOp)
def _inval(op: atom.InvalOp | ptx.InvalOp, builder: Builder) -> Step:
    locate = located(builder, op, op.operands[0])
    return lambda machine, gang: machine.mbarriers.end(gang.lanes, locate(gang))


@runs(atom.ArriveOp, ptx.ArriveOp)
def _arrive(op: atom.ArriveOp | ptx.ArriveOp, builder: Builder) -> Step:
    locate, count = (
        located(builder, op, op.operands[0]),
        1 if op.count is None else op.count.value.data,
    )
    return lambda machine, gang: machine.mbarriers.arrive(gang.lanes, locate(gang), count)


@runs(atom.ArriveExpectTxOp, ptx.ArriveExpectTxOp)
def _expect_tx(op: atom.ArriveExpectTxOp | ptx.ArriveExpectTxOp, builder: Builder) -> Step:
    locate, expected = located(builder, op, op.operands[0]), op.count.value.data
    return lambda machine, gang: machine.mbarriers.arrive(gang.lanes, locate(gang), 1, expected)


@runs(atom.WaitOp, ptx.TryWaitParityOp)
def _wait(op: atom.WaitOp | ptx.TryWaitParityOp, builder: Builder) -> None:
    locate, parity = located(builder, op, op.operands[0]), builder.slot(op.parity)

    def begin(machine: Machine, gang: Gang) -> MbarrierWait:
        return machine.mbarriers.wait(gang.lanes, locate(gang), gang.regs[parity], op)

    builder.suspend(op, begin)


@runs(atom.FenceMbarrierInitOp, ptx.FenceMbarrierInitOp)
def _fence(op: Operation, builder: Builder) -> Step:
    return lambda machine, gang: machine.mbarriers.fence(gang.lanes)


# Warps


@runs(atom_warps.ElectSyncOp, ptx_warps.ElectSyncOp)
def _elect(op: atom_warps.ElectSyncOp | ptx_warps.ElectSyncOp, builder: Builder) -> Step:
    """The first thread of each warp."""

    def run(machine: Machine, gang: Gang) -> Bits:
        gang.warps("elect.sync")
        return gang.lanes % WARP == 0

    return effect(op, builder, run)


@runs(atom_warps.SetmaxnregOp, ptx_warps.SetmaxnregOp)
def _setmaxnreg(
    op: atom_warps.SetmaxnregOp | ptx_warps.SetmaxnregOp, builder: Builder
) -> Step | None:
    count = op.registers.value.data

    def release(machine: Machine, gang: Gang) -> None:
        warpgroups(machine, gang, "setmaxnreg")
        machine.register_pool.release(gang.lanes, count)

    def request(machine: Machine, gang: Gang) -> RegisterWait:
        warpgroups(machine, gang, "setmaxnreg")
        return machine.register_pool.request(op, gang.lanes, count)

    if op.action.data == "dec":
        return release
    builder.suspend(op, request)
    return None
