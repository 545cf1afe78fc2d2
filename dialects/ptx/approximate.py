"""Functions that the chip approximates: the PTX ISA bounds their error alone. PTX ISA 9.7.3."""

from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import ScalarOp


@fields_op("ptx.ex2", SCALARS["ex2"])
class Ex2Op(ScalarOp):
    """`ex2.FORM d, a`."""


@fields_op("ptx.lg2", SCALARS["lg2"])
class Lg2Op(ScalarOp):
    """`lg2.FORM d, a`."""


@fields_op("ptx.rcp", SCALARS["rcp"])
class RcpOp(ScalarOp):
    """`rcp.FORM d, a`."""


@fields_op("ptx.rsqrt", SCALARS["rsqrt"])
class RsqrtOp(ScalarOp):
    """`rsqrt.FORM d, a`."""
