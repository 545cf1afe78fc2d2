"""Functions that the chip approximates: the PTX ISA bounds their error alone. PTX ISA 9.7.3."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS
from tilewright.dialects.ptx.instruction import ScalarOp


@irdl_op_definition
class Ex2Op(ScalarOp):
    """`ex2.FORM d, a`."""

    name = "ptx.ex2"
    FORMS: ClassVar = SCALARS["ex2"].forms


@irdl_op_definition
class Lg2Op(ScalarOp):
    """`lg2.FORM d, a`."""

    name = "ptx.lg2"
    FORMS: ClassVar = SCALARS["lg2"].forms


@irdl_op_definition
class RcpOp(ScalarOp):
    """`rcp.FORM d, a`."""

    name = "ptx.rcp"
    FORMS: ClassVar = SCALARS["rcp"].forms


@irdl_op_definition
class RsqrtOp(ScalarOp):
    """`rsqrt.FORM d, a`."""

    name = "ptx.rsqrt"
    FORMS: ClassVar = SCALARS["rsqrt"].forms
