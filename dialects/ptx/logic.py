"""Comparison, selection, logic and shifts. PTX ISA 9.7.6, 9.7.8."""

from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import ScalarOp


@fields_op("ptx.setp", SCALARS["setp"])
class SetpOp(ScalarOp):
    """`setp.FORM d, a, b`."""


@fields_op("ptx.selp", SCALARS["selp"])
class SelpOp(ScalarOp):
    """`selp.FORM d, a, b, c`."""


@fields_op("ptx.and", SCALARS["and"])
class AndOp(ScalarOp):
    """`and.FORM d, a, b`."""


@fields_op("ptx.or", SCALARS["or"])
class OrOp(ScalarOp):
    """`or.FORM d, a, b`."""


@fields_op("ptx.xor", SCALARS["xor"])
class XorOp(ScalarOp):
    """`xor.FORM d, a, b`."""


@fields_op("ptx.not", SCALARS["not"])
class NotOp(ScalarOp):
    """`not.FORM d, a`."""


@fields_op("ptx.popc", SCALARS["popc"])
class PopcOp(ScalarOp):
    """`popc.FORM d, a`."""


@fields_op("ptx.clz", SCALARS["clz"])
class ClzOp(ScalarOp):
    """`clz.FORM d, a`."""


@fields_op("ptx.brev", SCALARS["brev"])
class BrevOp(ScalarOp):
    """`brev.FORM d, a`."""


@fields_op("ptx.shl", SCALARS["shl"])
class ShlOp(ScalarOp):
    """`shl.FORM d, a, b`."""


@fields_op("ptx.shr", SCALARS["shr"])
class ShrOp(ScalarOp):
    """`shr.FORM d, a, b`."""
