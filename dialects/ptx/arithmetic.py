"""Integer and floating-point arithmetic. PTX ISA 9.7.1, 9.7.3, 9.7.4."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from tilewright.dialects.ptx.instruction import ScalarOp, forms, needs

_SIGNED = ("s16", "s32", "s64")
_INTEGER = (*_SIGNED, "u16", "u32", "u64")
_FLOAT = ("f32", "f64")
_NAN = needs("sm_80", (7, 0))


@irdl_op_definition
class AddOp(ScalarOp):
    """d = a + b. PTX ISA 9.7.1.1, 9.7.3.3, 9.7.4.1."""

    name = "ptx.add"
    FORMS: ClassVar = {**forms(_INTEGER, 2), **forms((*_FLOAT, "f16"), 2, "rn.")}


@irdl_op_definition
class SubOp(ScalarOp):
    """d = a - b. PTX ISA 9.7.1.2, 9.7.3.4, 9.7.4.2."""

    name = "ptx.sub"
    FORMS: ClassVar = {**forms(_INTEGER, 2), **forms((*_FLOAT, "f16"), 2, "rn.")}


@irdl_op_definition
class MulOp(ScalarOp):
    """d = a * b: its low half (`lo`), high half (`hi`), or rounded. PTX ISA 9.7.1.3, 9.7.3.5."""

    name = "ptx.mul"
    FORMS: ClassVar = {
        **forms(_INTEGER, 2, "lo."),
        **forms(_INTEGER, 2, "hi."),
        **forms((*_FLOAT, "f16"), 2, "rn."),
    }


@irdl_op_definition
class MadOp(ScalarOp):
    """d = a * b + c, the low half. PTX ISA 9.7.1.4."""

    name = "ptx.mad"
    FORMS: ClassVar = forms(_INTEGER, 3, "lo.")


@irdl_op_definition
class FmaOp(ScalarOp):
    """d = a * b + c, rounded once. PTX ISA 9.7.3.6, 9.7.4.4."""

    name = "ptx.fma"
    FORMS: ClassVar = forms((*_FLOAT, "f16"), 3, "rn.")


@irdl_op_definition
class DivOp(ScalarOp):
    """d = a / b. PTX ISA 9.7.1.8, 9.7.3.8."""

    name = "ptx.div"
    FORMS: ClassVar = {**forms(_INTEGER, 2), **forms(_FLOAT, 2, "rn.")}


@irdl_op_definition
class RemOp(ScalarOp):
    """d = a % b, with the sign of a. PTX ISA 9.7.1.9."""

    name = "ptx.rem"
    FORMS: ClassVar = forms(_INTEGER, 2)


@irdl_op_definition
class AbsOp(ScalarOp):
    """d = |a|. PTX ISA 9.7.1.10, 9.7.3.9."""

    name = "ptx.abs"
    FORMS: ClassVar = {**forms(_SIGNED, 1), **forms(_FLOAT, 1)}


@irdl_op_definition
class NegOp(ScalarOp):
    """d = -a. PTX ISA 9.7.1.11, 9.7.3.10."""

    name = "ptx.neg"
    FORMS: ClassVar = {**forms(_SIGNED, 1), **forms((*_FLOAT, "f16"), 1)}


@irdl_op_definition
class MinOp(ScalarOp):
    """The smaller of a and b; -0 is smaller than +0. Without `NaN` a number wins over NaN.

    PTX ISA 9.7.1.12, 9.7.3.11, 9.7.4.7.
    """

    name = "ptx.min"
    FORMS: ClassVar = {
        **forms(_INTEGER, 2),
        **forms(_FLOAT, 2),
        **forms(("f32",), 2, "NaN.", requirement=_NAN),
    }


@irdl_op_definition
class MaxOp(ScalarOp):
    """The larger of a and b; +0 is larger than -0. Without `NaN` a number wins over NaN.

    PTX ISA 9.7.1.13, 9.7.3.12, 9.7.4.8.
    """

    name = "ptx.max"
    FORMS: ClassVar = {
        **forms(_INTEGER, 2),
        **forms(_FLOAT, 2),
        **forms(("f32",), 2, "NaN.", requirement=_NAN),
    }


@irdl_op_definition
class SqrtOp(ScalarOp):
    """The square root of a, rounded to nearest even. PTX ISA 9.7.3.14."""

    name = "ptx.sqrt"
    FORMS: ClassVar = forms(_FLOAT, 1, "rn.")


OPS = [AddOp, SubOp, MulOp, MadOp, FmaOp, DivOp, RemOp, AbsOp, NegOp, MinOp, MaxOp, SqrtOp]
