"""`SM120.mma`, `SM120.mma_sp`, `SM120.mma_bs`, `SM120.mma_bs_sp`: 8-, 6- and 4-bit floats on
RTX Blackwell, dense and sparse, plain and block-scaled.

6- and 4-bit elements take a byte each, except with `kind::mxf4` and `kind::mxf4nvf4`. Sparse ones
have ordered metadata only. PTX ISA 9.7.14.3, 9.7.14.5.14 and 9.7.14.6.3.
"""

from tilewright.dialects.cute_nvgpu.lattice.row import BlockScale, Kind, MmaRow, Sparsity
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement, any_of, needs

_FP8_NAMES = ("e4m3", "e5m2")
_F8F6F4_NAMES = (*_FP8_NAMES, "e3m2", "e2m3", "e2m1")
_F8F6F4 = tuple((a, b) for a in _F8F6F4_NAMES for b in _F8F6F4_NAMES)
_FP8 = tuple((a, b) for a in _FP8_NAMES for b in _FP8_NAMES)
_E2M1 = (("e2m1", "e2m1"),)

_ACC_F16_F32 = (("f16", "f16"), ("f32", "f32"))
_ACC_F16 = (("f16", "f16"),)
_ACC_F32 = (("f32", "f32"),)

_ORDERED: Sparsity = "sp::ordered_metadata"
_1X = BlockScale(1, "ue8m0")
_2X = BlockScale(2, "ue8m0")
_4X = BlockScale(4, "ue4m3")
_4X_UE8M0 = BlockScale(4, "ue8m0")

_FAMILY = needs("sm_120f", (8, 7))
_FAMILY_4X_UE8M0 = needs("sm_120f", (9, 1))
_EACH = any_of("sm_120a", "sm_121a")

_MXF4_FORMS: tuple[tuple[Kind, BlockScale, Requirement], ...] = (
    ("mxf4", _2X, _FAMILY),
    ("mxf4nvf4", _2X, _FAMILY),
    ("mxf4nvf4", _4X, _FAMILY),
    ("mxf4nvf4", _4X_UE8M0, _FAMILY_4X_UE8M0),
)

_MMA, _SP, _BS, _BS_SP = "SM120.mma", "SM120.mma_sp", "SM120.mma_bs", "SM120.mma_bs_sp"

SM120_MMA: tuple[MmaRow, ...] = (
    MmaRow(_MMA, (16, 8, 32), _F8F6F4, _ACC_F16_F32, _FAMILY, "9.7.14.5.10", kind="f8f6f4"),
)

SM120_MMA_SP: tuple[MmaRow, ...] = (
    MmaRow(_SP, (16, 8, 64), _F8F6F4, _ACC_F16_F32, _FAMILY, "9.7.14.6.2.6",
        kind="f8f6f4", sparsity=_ORDERED),
    MmaRow(_SP, (16, 8, 64), _FP8, _ACC_F16, _FAMILY, "9.7.14.6.2.6", sparsity=_ORDERED),
)  # fmt: skip

SM120_MMA_BS: tuple[MmaRow, ...] = (
    MmaRow(_BS, (16, 8, 32), _F8F6F4, _ACC_F32, _FAMILY, "9.7.14.5.10",
        kind="mxf8f6f4", scale=_1X),
    *(
        MmaRow(_BS, (16, 8, 64), _E2M1, _ACC_F32, needed, "9.7.14.5.11", kind=kind, scale=scale)
        for kind, scale, needed in _MXF4_FORMS
    ),
)  # fmt: skip

SM120_MMA_BS_SP: tuple[MmaRow, ...] = (
    MmaRow(_BS_SP, (16, 8, 64), _F8F6F4, _ACC_F32, _FAMILY, "9.7.14.6.2.6",
        kind="mxf8f6f4", sparsity=_ORDERED, scale=_1X),
    *(
        MmaRow(_BS_SP, (16, 8, 128), _E2M1, _ACC_F32, needs(_EACH, needed.version), "9.7.14.6.2.8",
            kind=kind, sparsity=_ORDERED, scale=scale)
        for kind, scale, needed in _MXF4_FORMS
    ),
)  # fmt: skip
