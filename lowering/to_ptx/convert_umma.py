"""`cute_nvgpu.sm100` to `ptx`: the instruction descriptor as a constant, or as it is given."""

from xdsl.ir import SSAValue

from tilewright.dialects.cute_nvgpu.ops.sm100 import UMMA_OPS
from tilewright.dialects.cute_nvgpu.ops.umma import UmmaOp
from tilewright.dialects.ptx.tcgen05_mma import Tcgen05MmaOp
from tilewright.lowering.to_ptx.conversion import Conversion, constant, lowers
from tilewright.lowering.to_ptx.programs import listed


@lowers(*UMMA_OPS.values())
def _mma(op: UmmaOp, to: Conversion) -> None:
    tensors = op.mma_atom.tmem_operands

    def lowered(operand: str) -> SSAValue:
        value = op.sources[operand]
        return to.values[value].address if operand in tensors else to[value]

    enable = to.given(op.accumulates_if)
    known = None if enable is None else constant(enable)
    to.add(
        Tcgen05MmaOp(
            op.mnemonic,
            lowered("D"),
            lowered("A"),
            lowered("B"),
            to.const(op.instruction_descriptor.encode(), "b32")
            if op.idesc is None
            else to[op.idesc],
            metadata=lowered("E") if "E" in op.sources else None,
            lanes=_lanes(op, to),
            scales=(lowered("SFA"), lowered("SFB")) if "SFA" in op.sources else None,
            enable_input_d=enable if known is None else None,
            zero=known == 0,
            scale_input_d=op.input_scale,
            zero_column_mask=to.given(op.zero_columns),
        )
    )


def _lanes(op: UmmaOp, to: Conversion) -> SSAValue | None:
    """The words of the lane mask as a list of registers."""
    if not op.lane_mask:
        return None
    return listed([to[word] for word in op.lane_mask], to)
