"""`mma.sync` and `mma.sp` before RTX Blackwell, by the targets that brought them.

`sm70.mma` is `mma.sync.m8n8k4` on f16, four MMAs on the quad pairs of a warp: the only one with all
four layouts of A and B, and the only one whose c and d may differ. From sm_80 on it is emulated.
`sm80.mma` is dense, on f16, bf16, tf32, f64, integers and single bits; `sm89.mma` on e4m3 and e5m2,
in any pair, its f16 accumulator and m16n8k16 since PTX ISA 8.7. Of `sm80.sparse_mma` and
`sm89.sparse_mma`, whose A is structured sparse, every one exists with plain and with ordered
metadata (`mma.sp::ordered_metadata`, PTX ISA 8.5).

Shapes, types, targets and versions: PTX ISA 9.7.14.1, 9.7.14.5.14 and 9.7.14.6. Where the syntax
block allows c and d of different types, ptxas takes only equal ones beyond m8n8k4.
"""

from tilewright.dialects.cute_nvgpu.lattice.row import Majors, MmaRow, Shape, Sparsity, row

_F16 = (("f16", "f16"),)
_BF16 = (("bf16", "bf16"),)
_TF32 = (("tf32", "tf32"),)
_F64 = (("f64", "f64"),)
_S8_U8 = (("s8", "s8"), ("s8", "u8"), ("u8", "s8"), ("u8", "u8"))
_S4_U4 = (("s4", "s4"), ("s4", "u4"), ("u4", "s4"), ("u4", "u4"))
_B1 = (("b1", "b1"),)
_FP8 = (("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2"))

_F32 = (("f32", "f32"),)
_F16_F32 = (*_F16, *_F32)
_S32 = (("s32", "s32"),)

_ALL_MAJORS: tuple[Majors, ...] = (("row", "row"), ("row", "col"), ("col", "row"), ("col", "col"))
_F16_OR_F32 = (("f16", "f16"), ("f16", "f32"), ("f32", "f32"))

SM70_MMA: tuple[MmaRow, ...] = (
    row(
        "sm70.mma", (8, 8, 4), _F16, _F16_OR_F32, "sm_70", (6, 4), "9.7.14.5.1", majors=_ALL_MAJORS
    ),
)

_ROUNDING = ("rn", "rz", "rm", "rp")

SM80_MMA: tuple[MmaRow, ...] = (
    row("sm80.mma", (16, 8, 8), _F16, _F16_F32, "sm_75", (6, 5), "9.7.14.5.7"),
    row("sm80.mma", (16, 8, 16), _F16, _F16_F32, "sm_80", (7, 0), "9.7.14.5.8"),
    row("sm80.mma", (16, 8, 8), _BF16, _F32, "sm_80", (7, 0), "9.7.14.5.7"),
    row("sm80.mma", (16, 8, 16), _BF16, _F32, "sm_80", (7, 0), "9.7.14.5.8"),
    row("sm80.mma", (16, 8, 4), _TF32, _F32, "sm_80", (7, 0), "9.7.14.5.6"),
    row("sm80.mma", (16, 8, 8), _TF32, _F32, "sm_80", (7, 0), "9.7.14.5.7"),
    row("sm80.mma", (8, 8, 4), _F64, _F64, "sm_80", (7, 0), "9.7.14.5.2", rounding=_ROUNDING),
    row("sm80.mma", (16, 8, 4), _F64, _F64, "sm_90", (7, 8), "9.7.14.5.6", rounding=_ROUNDING),
    row("sm80.mma", (16, 8, 8), _F64, _F64, "sm_90", (7, 8), "9.7.14.5.7", rounding=_ROUNDING),
    row("sm80.mma", (16, 8, 16), _F64, _F64, "sm_90", (7, 8), "9.7.14.5.8", rounding=_ROUNDING),
    row("sm80.mma", (8, 8, 16), _S8_U8, _S32, "sm_75", (6, 5), "9.7.14.5.3", satfinite=True),
    row("sm80.mma", (16, 8, 16), _S8_U8, _S32, "sm_80", (7, 0), "9.7.14.5.9", satfinite=True),
    row("sm80.mma", (16, 8, 32), _S8_U8, _S32, "sm_80", (7, 0), "9.7.14.5.10", satfinite=True),
    row("sm80.mma", (8, 8, 32), _S4_U4, _S32, "sm_75", (6, 5), "9.7.14.5.4", satfinite=True),
    row("sm80.mma", (16, 8, 32), _S4_U4, _S32, "sm_80", (7, 0), "9.7.14.5.10", satfinite=True),
    row("sm80.mma", (16, 8, 64), _S4_U4, _S32, "sm_80", (7, 0), "9.7.14.5.11", satfinite=True),
    row("sm80.mma", (8, 8, 128), _B1, _S32, "sm_75", (7, 0), "9.7.14.5.5", bit_op="xor"),
    row("sm80.mma", (16, 8, 128), _B1, _S32, "sm_80", (7, 0), "9.7.14.5.12", bit_op="xor"),
    row("sm80.mma", (16, 8, 256), _B1, _S32, "sm_80", (7, 0), "9.7.14.5.13", bit_op="xor"),
    row("sm80.mma", (8, 8, 128), _B1, _S32, "sm_80", (7, 1), "9.7.14.5.5", bit_op="and"),
    row("sm80.mma", (16, 8, 128), _B1, _S32, "sm_80", (7, 1), "9.7.14.5.12", bit_op="and"),
    row("sm80.mma", (16, 8, 256), _B1, _S32, "sm_80", (7, 1), "9.7.14.5.13", bit_op="and"),
)

SM89_MMA: tuple[MmaRow, ...] = (
    row("sm89.mma", (16, 8, 32), _FP8, _F32, "sm_89", (8, 4), "9.7.14.5.10"),
    row("sm89.mma", (16, 8, 32), _FP8, _F16, "sm_89", (8, 7), "9.7.14.5.10"),
    row("sm89.mma", (16, 8, 16), _FP8, (*_F32, *_F16), "sm_89", (8, 7), "9.7.14.5.9"),
)

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
    *_both(_OP, (16, 8, 16), _F16, _F16_F32, "sm_80", _V, "9.7.14.6.2.1"),
    *_both(_OP, (16, 8, 32), _F16, _F16_F32, "sm_80", _V, "9.7.14.6.2.2"),
    *_both(_OP, (16, 8, 16), _BF16, _F32, "sm_80", _V, "9.7.14.6.2.1"),
    *_both(_OP, (16, 8, 32), _BF16, _F32, "sm_80", _V, "9.7.14.6.2.2"),
    *_both(_OP, (16, 8, 8), _TF32, _F32, "sm_80", _V, "9.7.14.6.2.4"),
    *_both(_OP, (16, 8, 16), _TF32, _F32, "sm_80", _V, "9.7.14.6.2.3"),
    *_both(_OP, (16, 8, 32), _S8_U8, _S32, "sm_80", _V, "9.7.14.6.2.5", satfinite=True),
    *_both(_OP, (16, 8, 64), _S8_U8, _S32, "sm_80", _V, "9.7.14.6.2.6", satfinite=True),
    *_both(_OP, (16, 8, 64), _S4_U4, _S32, "sm_80", _V, "9.7.14.6.2.7", satfinite=True),
    *_both(_OP, (16, 8, 128), _S4_U4, _S32, "sm_80", _V, "9.7.14.6.2.8", satfinite=True),
)

SM89_SPARSE_MMA: tuple[MmaRow, ...] = _both(
    "sm89.sparse_mma", (16, 8, 64), _FP8, _F32, "sm_89", (8, 4), "9.7.14.6.2.6"
)
