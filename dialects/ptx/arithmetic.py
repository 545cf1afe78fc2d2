"""Integer and floating-point arithmetic. PTX ISA 9.7.1, 9.7.3, 9.7.4."""

from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import ScalarOp


@fields_op("ptx.add", SCALARS["add"])
class AddOp(ScalarOp):
    """`add.FORM d, a, b`."""


@fields_op("ptx.sub", SCALARS["sub"])
class SubOp(ScalarOp):
    """`sub.FORM d, a, b`."""


@fields_op("ptx.mul", SCALARS["mul"])
class MulOp(ScalarOp):
    """`mul.FORM d, a, b`."""


@fields_op("ptx.mad", SCALARS["mad"])
class MadOp(ScalarOp):
    """`mad.FORM d, a, b, c`."""


@fields_op("ptx.fma", SCALARS["fma"])
class FmaOp(ScalarOp):
    """`fma.FORM d, a, b, c`."""


@fields_op("ptx.div", SCALARS["div"])
class DivOp(ScalarOp):
    """`div.FORM d, a, b`."""


@fields_op("ptx.rem", SCALARS["rem"])
class RemOp(ScalarOp):
    """`rem.FORM d, a, b`."""


@fields_op("ptx.abs", SCALARS["abs"])
class AbsOp(ScalarOp):
    """`abs.FORM d, a`."""


@fields_op("ptx.neg", SCALARS["neg"])
class NegOp(ScalarOp):
    """`neg.FORM d, a`."""


@fields_op("ptx.min", SCALARS["min"])
class MinOp(ScalarOp):
    """`min.FORM d, a, b`."""


@fields_op("ptx.max", SCALARS["max"])
class MaxOp(ScalarOp):
    """`max.FORM d, a, b`."""


@fields_op("ptx.sqrt", SCALARS["sqrt"])
class SqrtOp(ScalarOp):
    """`sqrt.FORM d, a`."""
