"""Integer and floating-point arithmetic. PTX ISA 9.7.1, 9.7.3, 9.7.4."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS
from tilewright.dialects.ptx.instruction import ScalarOp


@irdl_op_definition
class AddOp(ScalarOp):
    """`add.FORM d, a, b`."""

    name = "ptx.add"
    FORMS: ClassVar = SCALARS["add"].forms


@irdl_op_definition
class SubOp(ScalarOp):
    """`sub.FORM d, a, b`."""

    name = "ptx.sub"
    FORMS: ClassVar = SCALARS["sub"].forms


@irdl_op_definition
class MulOp(ScalarOp):
    """`mul.FORM d, a, b`."""

    name = "ptx.mul"
    FORMS: ClassVar = SCALARS["mul"].forms


@irdl_op_definition
class MadOp(ScalarOp):
    """`mad.FORM d, a, b, c`."""

    name = "ptx.mad"
    FORMS: ClassVar = SCALARS["mad"].forms


@irdl_op_definition
class FmaOp(ScalarOp):
    """`fma.FORM d, a, b, c`."""

    name = "ptx.fma"
    FORMS: ClassVar = SCALARS["fma"].forms


@irdl_op_definition
class DivOp(ScalarOp):
    """`div.FORM d, a, b`."""

    name = "ptx.div"
    FORMS: ClassVar = SCALARS["div"].forms


@irdl_op_definition
class RemOp(ScalarOp):
    """`rem.FORM d, a, b`."""

    name = "ptx.rem"
    FORMS: ClassVar = SCALARS["rem"].forms


@irdl_op_definition
class AbsOp(ScalarOp):
    """`abs.FORM d, a`."""

    name = "ptx.abs"
    FORMS: ClassVar = SCALARS["abs"].forms


@irdl_op_definition
class NegOp(ScalarOp):
    """`neg.FORM d, a`."""

    name = "ptx.neg"
    FORMS: ClassVar = SCALARS["neg"].forms


@irdl_op_definition
class MinOp(ScalarOp):
    """`min.FORM d, a, b`."""

    name = "ptx.min"
    FORMS: ClassVar = SCALARS["min"].forms


@irdl_op_definition
class MaxOp(ScalarOp):
    """`max.FORM d, a, b`."""

    name = "ptx.max"
    FORMS: ClassVar = SCALARS["max"].forms


@irdl_op_definition
class SqrtOp(ScalarOp):
    """`sqrt.FORM d, a`."""

    name = "ptx.sqrt"
    FORMS: ClassVar = SCALARS["sqrt"].forms
