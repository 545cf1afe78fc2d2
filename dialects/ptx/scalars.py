"""Scalar instructions: each is a row of the lattice, and an op of its forms. PTX ISA 9.7.1, 9.7.3,
9.7.4, 9.7.6, 9.7.8, 9.7.9.20, 9.7.9.21."""

from collections.abc import Iterator

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


def _ops(*names: str) -> Iterator[type[ScalarOp]]:
    return map(SCALAR_OPS.__getitem__, names)


AddOp, SubOp, MulOp, MadOp, FmaOp = _ops("add", "sub", "mul", "mad", "fma")
DivOp, RemOp, MinOp, MaxOp = _ops("div", "rem", "min", "max")
SqrtOp, RsqrtOp = _ops("sqrt", "rsqrt")
SetpOp, SelpOp = _ops("setp", "selp")
AndOp, OrOp, XorOp, NotOp, ShlOp, ShrOp = _ops("and", "or", "xor", "not", "shl", "shr")
CvtOp, CvtaOp, IsspacepOp = _ops("cvt", "cvta", "isspacep")
