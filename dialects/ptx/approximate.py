"""Functions that the chip approximates: the PTX ISA bounds their error alone. PTX ISA 9.7.3."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from tilewright.dialects.ptx.instruction import ScalarOp, forms


@irdl_op_definition
class Ex2Op(ScalarOp):
    """2 to the power of a, approximately; subnormal numbers become zeros. PTX ISA 9.7.3.21."""

    name = "ptx.ex2"
    FORMS: ClassVar = forms(("f32",), 1, "approx.ftz.")


@irdl_op_definition
class Lg2Op(ScalarOp):
    """The binary logarithm of a, approximately; subnormal numbers become zeros.

    PTX ISA 9.7.3.20.
    """

    name = "ptx.lg2"
    FORMS: ClassVar = forms(("f32",), 1, "approx.ftz.")


@irdl_op_definition
class RcpOp(ScalarOp):
    """1 / a, approximately; subnormal numbers become zeros. PTX ISA 9.7.3.13."""

    name = "ptx.rcp"
    FORMS: ClassVar = forms(("f32",), 1, "approx.ftz.")


@irdl_op_definition
class RsqrtOp(ScalarOp):
    """1 / sqrt(a), approximately; subnormal numbers become zeros. PTX ISA 9.7.3.16."""

    name = "ptx.rsqrt"
    FORMS: ClassVar = forms(("f32",), 1, "approx.ftz.")


OPS = [Ex2Op, Lg2Op, RcpOp, RsqrtOp]
