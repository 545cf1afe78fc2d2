"""`SM120.mma`, `SM120.mma_sp`, `SM120.mma_bs`, `SM120.mma_bs_sp`: 8-, 6- and 4-bit floats on
RTX Blackwell, dense and sparse, plain and block-scaled.

6- and 4-bit elements take a byte each, except with `kind::mxf4` and `kind::mxf4nvf4`. Sparse ones
have ordered metadata only. PTX ISA 9.7.14.3, 9.7.14.5.14 and 9.7.14.6.3.
"""

from tilewright.dialects.cute_nvgpu.lattice.row import BlockScale, Kind, MmaRow, Sparsity

_F8F6F4 = "e4m3|e5m2|e3m2|e2m3|e2m1"
_ORDERED: Sparsity = "sp::ordered_metadata"
_1X = BlockScale(1, "ue8m0")
_2X = BlockScale(2, "ue8m0")
_4X = BlockScale(4, "ue4m3")
_4X_UE8M0 = BlockScale(4, "ue8m0")

_MXF4_FORMS: tuple[tuple[Kind, BlockScale, str], ...] = (
    ("mxf4", _2X, "8.7"), ("mxf4nvf4", _2X, "8.7"), ("mxf4nvf4", _4X, "8.7"),
    ("mxf4nvf4", _4X_UE8M0, "9.1"),
)  # fmt: skip
"""With the version of PTX ISA that brought them."""

_MMA, _SP, _BS, _BS_SP = "SM120.mma", "SM120.mma_sp", "SM120.mma_bs", "SM120.mma_bs_sp"

SM120_MMA = MmaRow.table(_MMA, f"m16n8k32 {_F8F6F4} f16|f32 sm_120f 8.7 9.7.14.5.10", kind="f8f6f4")

SM120_MMA_SP = (
    *MmaRow.table(
        _SP, f"m16n8k64 {_F8F6F4} f16|f32 sm_120f 8.7 9.7.14.6.2.6",
        kind="f8f6f4", sparsity=_ORDERED,
    ),
    *MmaRow.table(_SP, "m16n8k64 e4m3|e5m2 f16 sm_120f 8.7 9.7.14.6.2.6", sparsity=_ORDERED),
)  # fmt: skip

SM120_MMA_BS: tuple[MmaRow, ...] = (
    *MmaRow.table(
        _BS, f"m16n8k32 {_F8F6F4} f32 sm_120f 8.7 9.7.14.5.10", kind="mxf8f6f4", scale=_1X
    ),
    *(
        row for kind, scale, version in _MXF4_FORMS for row in MmaRow.table(
            _BS, f"m16n8k64 e2m1 f32 sm_120f {version} 9.7.14.5.11", kind=kind, scale=scale
        )
    ),
)  # fmt: skip

SM120_MMA_BS_SP: tuple[MmaRow, ...] = (
    *MmaRow.table(
        _BS_SP, f"m16n8k64 {_F8F6F4} f32 sm_120f 8.7 9.7.14.6.2.6",
        kind="mxf8f6f4", sparsity=_ORDERED, scale=_1X,
    ),
    *(
        row for kind, scale, version in _MXF4_FORMS for row in MmaRow.table(
            _BS_SP, f"m16n8k128 e2m1 f32 sm_120a|sm_121a {version} 9.7.14.6.2.8",
            kind=kind, sparsity=_ORDERED, scale=scale,
        )
    ),
)  # fmt: skip
