"""Every op that issues an MMA of one warp, by its op in the lattice."""

from __future__ import annotations

from tilewright.dialects.cute_nvgpu.ops import sm70, sm80, sm89, sm120
from tilewright.dialects.cute_nvgpu.ops.register_mma import RegisterMmaOp

MMA_OPS: dict[str, type[RegisterMmaOp]] = {
    op.name.removeprefix("cute_nvgpu."): op
    for op in (
        sm70.MmaOp,
        sm80.MmaOp,
        sm80.SparseMmaOp,
        sm89.MmaOp,
        sm89.SparseMmaOp,
        sm120.MmaOp,
        sm120.MmaSpOp,
        sm120.MmaBsOp,
        sm120.MmaBsSpOp,
    )
}
