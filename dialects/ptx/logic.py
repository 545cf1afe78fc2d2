"""Comparison, selection, logic and shifts. PTX ISA 9.7.6, 9.7.8."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from tilewright.dialects.ptx.instruction import Form, ScalarOp, forms

_SIGNED = ("s16", "s32", "s64")
_UNSIGNED = ("u16", "u32", "u64")
_BITS = ("b16", "b32", "b64")
_FLOAT = ("f32", "f64")

_ORDER = ("lt", "le", "gt", "ge")
_EQUALITY = ("eq", "ne")
# `equ` and its kin are true where an operand is NaN; num and nan test for NaN alone.
_UNORDERED = ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def _comparisons() -> dict[str, Form]:
    table: dict[str, Form] = {}
    for relation in (*_EQUALITY, *_ORDER):
        table |= forms((*_SIGNED, *_UNSIGNED, *_FLOAT), 2, f"{relation}.", "pred")
    for relation in _UNORDERED:
        table |= forms(_FLOAT, 2, f"{relation}.", "pred")
    return table


@irdl_op_definition
class SetpOp(ScalarOp):
    """p = a REL b. PTX ISA 9.7.6.2."""

    name = "ptx.setp"
    FORMS: ClassVar = _comparisons()


@irdl_op_definition
class SelpOp(ScalarOp):
    """d = p ? a : b. PTX ISA 9.7.6.3."""

    name = "ptx.selp"
    FORMS: ClassVar = {each: Form(each, (each, each, "pred"), each) for each in (*_BITS, *_FLOAT)}


@irdl_op_definition
class AndOp(ScalarOp):
    """d = a & b. PTX ISA 9.7.8.1."""

    name = "ptx.and"
    FORMS: ClassVar = forms(("pred", *_BITS), 2)


@irdl_op_definition
class OrOp(ScalarOp):
    """d = a | b. PTX ISA 9.7.8.2."""

    name = "ptx.or"
    FORMS: ClassVar = forms(("pred", *_BITS), 2)


@irdl_op_definition
class XorOp(ScalarOp):
    """d = a ^ b. PTX ISA 9.7.8.3."""

    name = "ptx.xor"
    FORMS: ClassVar = forms(("pred", *_BITS), 2)


@irdl_op_definition
class NotOp(ScalarOp):
    """d = ~a. PTX ISA 9.7.8.4."""

    name = "ptx.not"
    FORMS: ClassVar = forms(("pred", *_BITS), 1)


@irdl_op_definition
class ShlOp(ScalarOp):
    """d = a << b; a shift of the width or more gives zero. PTX ISA 9.7.8.7."""

    name = "ptx.shl"
    FORMS: ClassVar = {each: Form(each, (each, "b32"), each) for each in _BITS}


@irdl_op_definition
class ShrOp(ScalarOp):
    """d = a >> b, filled with zeros (`u`) or the sign (`s`). PTX ISA 9.7.8.8."""

    name = "ptx.shr"
    FORMS: ClassVar = {each: Form(each, (each, "b32"), each) for each in (*_SIGNED, *_UNSIGNED)}


OPS = [SetpOp, SelpOp, AndOp, OrOp, XorOp, NotOp, ShlOp, ShrOp]
