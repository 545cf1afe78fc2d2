"""Comparison, selection, logic and shifts. PTX ISA 9.7.6, 9.7.8."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS
from tilewright.dialects.ptx.instruction import ScalarOp


@irdl_op_definition
class SetpOp(ScalarOp):
    """`setp.FORM d, a, b`."""

    name = "ptx.setp"
    FORMS: ClassVar = SCALARS["setp"].forms


@irdl_op_definition
class SelpOp(ScalarOp):
    """`selp.FORM d, a, b, c`."""

    name = "ptx.selp"
    FORMS: ClassVar = SCALARS["selp"].forms


@irdl_op_definition
class AndOp(ScalarOp):
    """`and.FORM d, a, b`."""

    name = "ptx.and"
    FORMS: ClassVar = SCALARS["and"].forms


@irdl_op_definition
class OrOp(ScalarOp):
    """`or.FORM d, a, b`."""

    name = "ptx.or"
    FORMS: ClassVar = SCALARS["or"].forms


@irdl_op_definition
class XorOp(ScalarOp):
    """`xor.FORM d, a, b`."""

    name = "ptx.xor"
    FORMS: ClassVar = SCALARS["xor"].forms


@irdl_op_definition
class NotOp(ScalarOp):
    """`not.FORM d, a`."""

    name = "ptx.not"
    FORMS: ClassVar = SCALARS["not"].forms


@irdl_op_definition
class PopcOp(ScalarOp):
    """`popc.FORM d, a`."""

    name = "ptx.popc"
    FORMS: ClassVar = SCALARS["popc"].forms


@irdl_op_definition
class ClzOp(ScalarOp):
    """`clz.FORM d, a`."""

    name = "ptx.clz"
    FORMS: ClassVar = SCALARS["clz"].forms


@irdl_op_definition
class BrevOp(ScalarOp):
    """`brev.FORM d, a`."""

    name = "ptx.brev"
    FORMS: ClassVar = SCALARS["brev"].forms


@irdl_op_definition
class ShlOp(ScalarOp):
    """`shl.FORM d, a, b`."""

    name = "ptx.shl"
    FORMS: ClassVar = SCALARS["shl"].forms


@irdl_op_definition
class ShrOp(ScalarOp):
    """`shr.FORM d, a, b`."""

    name = "ptx.shr"
    FORMS: ClassVar = SCALARS["shr"].forms
