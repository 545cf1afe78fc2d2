"""Conversions between register types, and between address spaces. PTX ISA 9.7.9.20, 9.7.9.21."""

from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import ScalarOp


@fields_op("ptx.cvt", SCALARS["cvt"])
class CvtOp(ScalarOp):
    """`cvt.FORM d, a`; of two halves `d, a, b`, and `rbits` where rounding is stochastic."""


@fields_op("ptx.cvta", SCALARS["cvta"])
class CvtaOp(ScalarOp):
    """`cvta.FORM d, a`."""
