"""`sm80.sparse_mma` and `sm89.sparse_mma`: `mma.sp`, whose A is structured sparse.

Every one exists with plain and with ordered metadata (`mma.sp::ordered_metadata`, PTX ISA 8.5).
PTX ISA 9.7.14.6; c and d have one type, whatever the syntax block allows.
"""

from __future__ import annotations

from tilewright.dialects.cute_nvgpu.lattice.row import MmaRow, Shape, Sparsity, row

_F16 = (("f16", "f16"),)
_BF16 = (("bf16", "bf16"),)
_TF32 = (("tf32", "tf32"),)
_S8_U8 = (("s8", "s8"), ("s8", "u8"), ("u8", "s8"), ("u8", "u8"))
_S4_U4 = (("s4", "s4"), ("s4", "u4"), ("u4", "s4"), ("u4", "u4"))
_FP8 = (("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2"))

_ACC_F16_F32 = (("f16", "f16"), ("f32", "f32"))
_ACC_F32 = (("f32", "f32"),)
_ACC_S32 = (("s32", "s32"),)

_ORDERED: Sparsity = "sp::ordered_metadata"
_ORDERED_VERSION = (8, 5)


def _both(
    op: str,
    shape: Shape,
    multiplicands: tuple[tuple[str, str], ...],
    accumulators: tuple[tuple[str, str], ...],
    minimum: str,
    ptx_version: tuple[int, int],
    section: str,
    *,
    satfinite: bool = False,
) -> tuple[MmaRow, MmaRow]:
    """The row with plain metadata, from `ptx_version` on, and the one with ordered metadata."""

    def with_metadata(sparsity: Sparsity, version: tuple[int, int]) -> MmaRow:
        return row(
            op,
            shape,
            multiplicands,
            accumulators,
            minimum,
            version,
            section,
            satfinite=satfinite,
            sparsity=sparsity,
        )

    return with_metadata("sp", ptx_version), with_metadata(_ORDERED, _ORDERED_VERSION)


_OP = "sm80.sparse_mma"
_V = (7, 1)

SM80_SPARSE_MMA: tuple[MmaRow, ...] = (
    *_both(_OP, (16, 8, 16), _F16, _ACC_F16_F32, "sm_80", _V, "9.7.14.6.2.1"),
    *_both(_OP, (16, 8, 32), _F16, _ACC_F16_F32, "sm_80", _V, "9.7.14.6.2.2"),
    *_both(_OP, (16, 8, 16), _BF16, _ACC_F32, "sm_80", _V, "9.7.14.6.2.1"),
    *_both(_OP, (16, 8, 32), _BF16, _ACC_F32, "sm_80", _V, "9.7.14.6.2.2"),
    *_both(_OP, (16, 8, 8), _TF32, _ACC_F32, "sm_80", _V, "9.7.14.6.2.4"),
    *_both(_OP, (16, 8, 16), _TF32, _ACC_F32, "sm_80", _V, "9.7.14.6.2.3"),
    *_both(_OP, (16, 8, 32), _S8_U8, _ACC_S32, "sm_80", _V, "9.7.14.6.2.5", satfinite=True),
    *_both(_OP, (16, 8, 64), _S8_U8, _ACC_S32, "sm_80", _V, "9.7.14.6.2.6", satfinite=True),
    *_both(_OP, (16, 8, 64), _S4_U4, _ACC_S32, "sm_80", _V, "9.7.14.6.2.7", satfinite=True),
    *_both(_OP, (16, 8, 128), _S4_U4, _ACC_S32, "sm_80", _V, "9.7.14.6.2.8", satfinite=True),
)

SM89_SPARSE_MMA: tuple[MmaRow, ...] = _both(
    "sm89.sparse_mma", (16, 8, 64), _FP8, _ACC_F32, "sm_89", (8, 4), "9.7.14.6.2.6"
)
