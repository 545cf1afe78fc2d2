"""`sm80.mma`: dense `mma.sync` on f16, bf16, tf32, f64, integers and single bits.

Shapes, types, targets and versions: PTX ISA 9.7.14.1 and 9.7.14.5.14. Where the syntax block
allows c and d of different types, ptxas takes only equal ones at these shapes.
"""

from __future__ import annotations

from tilewright.dialects.cute_nvgpu.lattice.row import MmaRow, row

_F16 = (("f16", "f16"),)
_BF16 = (("bf16", "bf16"),)
_TF32 = (("tf32", "tf32"),)
_F64 = (("f64", "f64"),)
_S8_U8 = (("s8", "s8"), ("s8", "u8"), ("u8", "s8"), ("u8", "u8"))

_S4_U4 = (("s4", "s4"), ("s4", "u4"), ("u4", "s4"), ("u4", "u4"))
_B1 = (("b1", "b1"),)

_ACC_F16_F32 = (("f16", "f16"), ("f32", "f32"))
_ACC_F32 = (("f32", "f32"),)
_ACC_S32 = (("s32", "s32"),)

_OP = "sm80.mma"
_ROUNDING = ("rn", "rz", "rm", "rp")

SM80_MMA: tuple[MmaRow, ...] = (
    row(_OP, (16, 8, 8), _F16, _ACC_F16_F32, "sm_75", (6, 5), "9.7.14.5.7"),
    row(_OP, (16, 8, 16), _F16, _ACC_F16_F32, "sm_80", (7, 0), "9.7.14.5.8"),
    row(_OP, (16, 8, 8), _BF16, _ACC_F32, "sm_80", (7, 0), "9.7.14.5.7"),
    row(_OP, (16, 8, 16), _BF16, _ACC_F32, "sm_80", (7, 0), "9.7.14.5.8"),
    row(_OP, (16, 8, 4), _TF32, _ACC_F32, "sm_80", (7, 0), "9.7.14.5.6"),
    row(_OP, (16, 8, 8), _TF32, _ACC_F32, "sm_80", (7, 0), "9.7.14.5.7"),
    row(_OP, (8, 8, 4), _F64, _F64, "sm_80", (7, 0), "9.7.14.5.2", rounding=_ROUNDING),
    row(_OP, (16, 8, 4), _F64, _F64, "sm_90", (7, 8), "9.7.14.5.6", rounding=_ROUNDING),
    row(_OP, (16, 8, 8), _F64, _F64, "sm_90", (7, 8), "9.7.14.5.7", rounding=_ROUNDING),
    row(_OP, (16, 8, 16), _F64, _F64, "sm_90", (7, 8), "9.7.14.5.8", rounding=_ROUNDING),
    row(_OP, (8, 8, 16), _S8_U8, _ACC_S32, "sm_75", (6, 5), "9.7.14.5.3", satfinite=True),
    row(_OP, (16, 8, 16), _S8_U8, _ACC_S32, "sm_80", (7, 0), "9.7.14.5.9", satfinite=True),
    row(_OP, (16, 8, 32), _S8_U8, _ACC_S32, "sm_80", (7, 0), "9.7.14.5.10", satfinite=True),
    row(_OP, (8, 8, 32), _S4_U4, _ACC_S32, "sm_75", (6, 5), "9.7.14.5.4", satfinite=True),
    row(_OP, (16, 8, 32), _S4_U4, _ACC_S32, "sm_80", (7, 0), "9.7.14.5.10", satfinite=True),
    row(_OP, (16, 8, 64), _S4_U4, _ACC_S32, "sm_80", (7, 0), "9.7.14.5.11", satfinite=True),
    row(_OP, (8, 8, 128), _B1, _ACC_S32, "sm_75", (7, 0), "9.7.14.5.5", bit_op="xor"),
    row(_OP, (16, 8, 128), _B1, _ACC_S32, "sm_80", (7, 0), "9.7.14.5.12", bit_op="xor"),
    row(_OP, (16, 8, 256), _B1, _ACC_S32, "sm_80", (7, 0), "9.7.14.5.13", bit_op="xor"),
    row(_OP, (8, 8, 128), _B1, _ACC_S32, "sm_80", (7, 1), "9.7.14.5.5", bit_op="and"),
    row(_OP, (16, 8, 128), _B1, _ACC_S32, "sm_80", (7, 1), "9.7.14.5.12", bit_op="and"),
    row(_OP, (16, 8, 256), _B1, _ACC_S32, "sm_80", (7, 1), "9.7.14.5.13", bit_op="and"),
)
