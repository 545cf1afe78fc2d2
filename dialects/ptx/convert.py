"""`cvt`: conversions between register types. PTX ISA 9.7.9.21."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from tilewright.dialects.ptx.instruction import BASELINE, Form, Requirement, ScalarOp, needs

_INTEGERS = ("s16", "u16", "s32", "u32", "s64", "u64")
_BF16 = needs("sm_80", (7, 0))


def _row(to: str, source: str, rounding: str = "", requirement: Requirement = BASELINE) -> Form:
    return Form(f"{rounding}{to}.{source}", (source,), to, requirement)


def _narrow(to: str, source: str) -> Form:
    """From the low 8 bits of a 16-bit register, `cvt.s32.s8`: 8-bit values live in b16."""
    return Form(f"{to}.{source}", ("b16",), to)


def _conversions() -> dict[str, Form]:
    rows = [_row(to, source) for to in _INTEGERS for source in _INTEGERS if to != source]
    rows += [_narrow(to, source) for to in _INTEGERS for source in ("s8", "u8")]
    for integer in _INTEGERS:
        for real in ("f16", "f32", "f64"):
            rows += [_row(real, integer, "rn."), _row(integer, real, "rzi.")]
    rows += [
        _row("f32", "f16"),
        _row("f64", "f16"),
        _row("f64", "f32"),
        _row("f16", "f32", "rn."),
        _row("f16", "f64", "rn."),
        _row("f32", "f64", "rn."),
        _row("bf16", "f32", "rn.", _BF16),
    ]
    return {row.suffix: row for row in rows}


@irdl_op_definition
class CvtOp(ScalarOp):
    """a converted to another type, the target type first: `cvt.rn.f32.s32`."""

    name = "ptx.cvt"
    FORMS: ClassVar = _conversions()


@irdl_op_definition
class CvtaOp(ScalarOp):
    """A generic address as one of a space, `cvta.to.global.u64`. PTX ISA 9.7.9.20."""

    name = "ptx.cvta"
    FORMS: ClassVar = {"to.global.u64": Form("to.global.u64", ("u64",), "u64")}


OPS = [CvtOp, CvtaOp]
