"""Conversions between register types, and between address spaces. PTX ISA 9.7.9.20, 9.7.9.21."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS
from tilewright.dialects.ptx.instruction import ScalarOp


@irdl_op_definition
class CvtOp(ScalarOp):
    """`cvt.FORM d, a`; of two halves `d, a, b`, and `rbits` where rounding is stochastic."""

    name = "ptx.cvt"
    FORMS: ClassVar = SCALARS["cvt"].forms


@irdl_op_definition
class CvtaOp(ScalarOp):
    """`cvta.FORM d, a`."""

    name = "ptx.cvta"
    FORMS: ClassVar = SCALARS["cvta"].forms
