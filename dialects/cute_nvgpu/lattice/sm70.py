"""`sm70.mma`: `mma.sync.m8n8k4` on f16, four MMAs on the quad pairs of a warp.

The only MMA with all four layouts of A and B, and the only one whose c and d may differ. From
sm_80 on it is emulated. PTX ISA 9.7.14.5.1 and 9.7.14.5.14.
"""

from __future__ import annotations

from tilewright.dialects.cute_nvgpu.lattice.row import Majors, MmaRow, row

_F16 = (("f16", "f16"),)
_ACC = (("f16", "f16"), ("f16", "f32"), ("f32", "f32"))
_ALL: tuple[Majors, ...] = (("row", "row"), ("row", "col"), ("col", "row"), ("col", "col"))

SM70_MMA: tuple[MmaRow, ...] = (
    row("sm70.mma", (8, 8, 4), _F16, _ACC, "sm_70", (6, 4), "9.7.14.5.1", majors=_ALL),
)
