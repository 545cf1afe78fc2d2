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

from dataclasses import replace
from functools import partial

from tilewright.dialects.cute_nvgpu.lattice.row import Majors, MmaRow
from tilewright.dialects.cute_nvgpu.lattice.targets import needs

_VOLTA = needs("sm_70", (6, 4))
_TURING = needs("sm_75", (6, 5))
_TURING_XOR = needs("sm_75", (7, 0))
_AMPERE = needs("sm_80", (7, 0))
_AMPERE_AND = needs("sm_80", (7, 1))
_HOPPER = needs("sm_90", (7, 8))
_ADA = needs("sm_89", (8, 4))
_ADA_F16 = needs("sm_89", (8, 7))

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
    MmaRow("sm70.mma", (8, 8, 4), _F16, _F16_OR_F32, _VOLTA, "9.7.14.5.1", majors=_ALL_MAJORS),
)


SM80_MMA: tuple[MmaRow, ...] = (
    MmaRow("sm80.mma", (16, 8, 8), _F16, _F16_F32, _TURING, "9.7.14.5.7"),
    MmaRow("sm80.mma", (16, 8, 16), _F16, _F16_F32, _AMPERE, "9.7.14.5.8"),
    MmaRow("sm80.mma", (16, 8, 8), _BF16, _F32, _AMPERE, "9.7.14.5.7"),
    MmaRow("sm80.mma", (16, 8, 16), _BF16, _F32, _AMPERE, "9.7.14.5.8"),
    MmaRow("sm80.mma", (16, 8, 4), _TF32, _F32, _AMPERE, "9.7.14.5.6"),
    MmaRow("sm80.mma", (16, 8, 8), _TF32, _F32, _AMPERE, "9.7.14.5.7"),
    MmaRow("sm80.mma", (8, 8, 4), _F64, _F64, _AMPERE, "9.7.14.5.2"),
    MmaRow("sm80.mma", (16, 8, 4), _F64, _F64, _HOPPER, "9.7.14.5.6"),
    MmaRow("sm80.mma", (16, 8, 8), _F64, _F64, _HOPPER, "9.7.14.5.7"),
    MmaRow("sm80.mma", (16, 8, 16), _F64, _F64, _HOPPER, "9.7.14.5.8"),
    MmaRow("sm80.mma", (8, 8, 16), _S8_U8, _S32, _TURING, "9.7.14.5.3"),
    MmaRow("sm80.mma", (16, 8, 16), _S8_U8, _S32, _AMPERE, "9.7.14.5.9"),
    MmaRow("sm80.mma", (16, 8, 32), _S8_U8, _S32, _AMPERE, "9.7.14.5.10"),
    MmaRow("sm80.mma", (8, 8, 32), _S4_U4, _S32, _TURING, "9.7.14.5.4"),
    MmaRow("sm80.mma", (16, 8, 32), _S4_U4, _S32, _AMPERE, "9.7.14.5.10"),
    MmaRow("sm80.mma", (16, 8, 64), _S4_U4, _S32, _AMPERE, "9.7.14.5.11"),
    MmaRow("sm80.mma", (8, 8, 128), _B1, _S32, _TURING_XOR, "9.7.14.5.5", bit_op="xor"),
    MmaRow("sm80.mma", (16, 8, 128), _B1, _S32, _AMPERE, "9.7.14.5.12", bit_op="xor"),
    MmaRow("sm80.mma", (16, 8, 256), _B1, _S32, _AMPERE, "9.7.14.5.13", bit_op="xor"),
    MmaRow("sm80.mma", (8, 8, 128), _B1, _S32, _AMPERE_AND, "9.7.14.5.5", bit_op="and"),
    MmaRow("sm80.mma", (16, 8, 128), _B1, _S32, _AMPERE_AND, "9.7.14.5.12", bit_op="and"),
    MmaRow("sm80.mma", (16, 8, 256), _B1, _S32, _AMPERE_AND, "9.7.14.5.13", bit_op="and"),
)

SM89_MMA: tuple[MmaRow, ...] = (
    MmaRow("sm89.mma", (16, 8, 32), _FP8, _F32, _ADA, "9.7.14.5.10"),
    MmaRow("sm89.mma", (16, 8, 32), _FP8, _F16, _ADA_F16, "9.7.14.5.10"),
    MmaRow("sm89.mma", (16, 8, 16), _FP8, (*_F32, *_F16), _ADA_F16, "9.7.14.5.9"),
)


def _with_ordered(*rows: MmaRow) -> tuple[MmaRow, ...]:
    """Each row, of plain metadata, and the one with ordered metadata."""

    def ordered(row: MmaRow) -> MmaRow:
        return replace(row, sparsity="sp::ordered_metadata", needs=needs(row.target, (8, 5)))

    return tuple(form for row in rows for form in (row, ordered(row)))


_sparse = partial(MmaRow, sparsity="sp")
_OP, _V = "sm80.sparse_mma", _AMPERE_AND

SM80_SPARSE_MMA = _with_ordered(
    _sparse(_OP, (16, 8, 16), _F16, _F16_F32, _V, "9.7.14.6.2.1"),
    _sparse(_OP, (16, 8, 32), _F16, _F16_F32, _V, "9.7.14.6.2.2"),
    _sparse(_OP, (16, 8, 16), _BF16, _F32, _V, "9.7.14.6.2.1"),
    _sparse(_OP, (16, 8, 32), _BF16, _F32, _V, "9.7.14.6.2.2"),
    _sparse(_OP, (16, 8, 8), _TF32, _F32, _V, "9.7.14.6.2.4"),
    _sparse(_OP, (16, 8, 16), _TF32, _F32, _V, "9.7.14.6.2.3"),
    _sparse(_OP, (16, 8, 32), _S8_U8, _S32, _V, "9.7.14.6.2.5"),
    _sparse(_OP, (16, 8, 64), _S8_U8, _S32, _V, "9.7.14.6.2.6"),
    _sparse(_OP, (16, 8, 64), _S4_U4, _S32, _V, "9.7.14.6.2.7"),
    _sparse(_OP, (16, 8, 128), _S4_U4, _S32, _V, "9.7.14.6.2.8"),
)

SM89_SPARSE_MMA = _with_ordered(
    _sparse("sm89.sparse_mma", (16, 8, 64), _FP8, _F32, _ADA, "9.7.14.6.2.6")
)
