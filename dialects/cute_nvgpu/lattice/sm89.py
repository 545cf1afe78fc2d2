"""`sm89.mma`: dense `mma.sync` on e4m3 and e5m2, in any pair.

The f16 accumulator and the shape m16n8k16 came with PTX ISA 8.7. PTX ISA 9.7.14.1, 9.7.14.5.14.
"""

from __future__ import annotations

from tilewright.dialects.cute_nvgpu.lattice.row import MmaRow, row

_FP8 = (("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2"))
_ACC_F32 = (("f32", "f32"),)
_ACC_F16 = (("f16", "f16"),)

_OP = "sm89.mma"

SM89_MMA: tuple[MmaRow, ...] = (
    row(_OP, (16, 8, 32), _FP8, _ACC_F32, "sm_89", (8, 4), "9.7.14.5.10"),
    row(_OP, (16, 8, 32), _FP8, _ACC_F16, "sm_89", (8, 7), "9.7.14.5.10"),
    row(_OP, (16, 8, 16), _FP8, (*_ACC_F32, *_ACC_F16), "sm_89", (8, 7), "9.7.14.5.9"),
)
