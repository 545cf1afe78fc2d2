"""Scalar instructions: each is a row of the lattice, and an op of its forms. PTX ISA 9.7.1, 9.7.3,
9.7.4, 9.7.6, 9.7.8, 9.7.9.20, 9.7.9.21."""

from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS, ScalarRow
from tilewright.dialects.definition import class_of_row
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import ScalarOp


def _op(row: ScalarRow) -> type[ScalarOp]:
    operands = next(iter(row.forms.values())).types
    written = ", ".join("dabc"[: 1 + len(operands)])
    law = f"`{row.name}.FORM {written}`: {row.does}. PTX ISA {row.section}."
    name = f"ptx.{row.name}"
    return fields_op(name, row)(class_of_row(ScalarOp, name, law))


SCALAR_OPS = {name: _op(row) for name, row in SCALARS.items()}
"""The ops, by the names of their instructions."""

AddOp = SCALAR_OPS["add"]
SubOp = SCALAR_OPS["sub"]
MulOp = SCALAR_OPS["mul"]
MadOp = SCALAR_OPS["mad"]
FmaOp = SCALAR_OPS["fma"]
DivOp = SCALAR_OPS["div"]
RemOp = SCALAR_OPS["rem"]
MinOp = SCALAR_OPS["min"]
SqrtOp = SCALAR_OPS["sqrt"]
RsqrtOp = SCALAR_OPS["rsqrt"]
SetpOp = SCALAR_OPS["setp"]
SelpOp = SCALAR_OPS["selp"]
AndOp = SCALAR_OPS["and"]
OrOp = SCALAR_OPS["or"]
XorOp = SCALAR_OPS["xor"]
NotOp = SCALAR_OPS["not"]
ShlOp = SCALAR_OPS["shl"]
ShrOp = SCALAR_OPS["shr"]
CvtOp = SCALAR_OPS["cvt"]
CvtaOp = SCALAR_OPS["cvta"]
IsspacepOp = SCALAR_OPS["isspacep"]
