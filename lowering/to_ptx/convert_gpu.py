"""`gpu` to `ptx`: thread and block ids, and the CTA's barrier; values of other lanes."""

from xdsl.dialects import gpu
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute_nvgpu.lattice.data_movement import TIMES
from tilewright.dialects.cute_nvgpu.ops.shuffle import ShflIdxOp
from tilewright.dialects.cute_nvgpu.ops.special_register import SpecialRegisterOp
from tilewright.dialects.gpu import NUMBERS, register_of
from tilewright.dialects.ptx.registers import SregOp, TimeOp
from tilewright.dialects.ptx.scalars import AddOp, CvtOp, MulOp, ShrOp
from tilewright.dialects.ptx.synchronization import BarSyncOp
from tilewright.dialects.ptx.types import B32, reg
from tilewright.dialects.ptx.warp import ShuffleOp
from tilewright.lowering.to_ptx.conversion import Conversion, lowers


def special(register: str, to: Conversion) -> SSAValue:
    """A special register, in 32 bits."""
    return to.pure(SregOp, register)


def _index(value: SSAValue, to: Conversion) -> SSAValue:
    return to.scalar(CvtOp, "u64.u32", value)


@lowers(*NUMBERS)
def _id(op: Operation, to: Conversion) -> SSAValue:
    return _index(special(register_of(op), to), to)


@lowers
def _global_id(op: gpu.GlobalIdOp, to: Conversion) -> SSAValue:
    """ctaid * ntid + tid, in 64 bits."""
    axis = op.dimension.data.value
    block, size, thread = (
        _index(special(f"{register}.{axis}", to), to) for register in ("ctaid", "ntid", "tid")
    )
    first = to.scalar(MulOp, "lo.s64", block, size)
    return to.scalar(AddOp, "s64", first, thread)


@lowers
def _lane_id(op: gpu.LaneIdOp, to: Conversion) -> SSAValue:
    return _index(special("laneid", to), to)


@lowers
def _subgroup_id(op: gpu.SubgroupIdOp, to: Conversion) -> SSAValue:
    """The number of the warp: the thread's place in its CTA, x fastest, over 32."""
    place = special("tid.z", to)
    for axis in "yx":
        row = to.scalar(MulOp, "lo.u32", place, special(f"ntid.{axis}", to))
        place = to.scalar(AddOp, "u32", row, special(f"tid.{axis}", to))
    return _index(to.scalar(ShrOp, "u32", place, to.const(5, "b32")), to)


@lowers
def _subgroup_size(op: gpu.SubgroupSizeOp, to: Conversion) -> SSAValue:
    return to.const(32, "b64")


@lowers
def _special_register(op: SpecialRegisterOp, to: Conversion) -> SSAValue:
    kind = TIMES.get(name := op.register.data)
    return special(name, to) if kind is None else to.emit(TimeOp(reg(kind), name))


@lowers
def _barrier(op: gpu.BarrierOp, to: Conversion) -> None:
    to.add(BarSyncOp(0))


@lowers
def _of_lane(op: ShflIdxOp, to: Conversion) -> SSAValue:
    value, lane, last, every = to[op.value], to[op.lane], to.const(31, "b32"), to.const(-1, "b32")
    return to.emit(ShuffleOp(value, lane, last, every, result=B32, mode="idx"))
