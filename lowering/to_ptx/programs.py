"""Programs of scalar instructions (`dialects/math_functions`), emitted as `ptx`."""

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import SSAValue

from tilewright.dialects.math_functions.code import Value
from tilewright.dialects.ptx.registers import MovOp
from tilewright.dialects.ptx.scalars import SCALAR_OPS
from tilewright.dialects.ptx.types import RegType, reg
from tilewright.lowering.to_ptx.conversion import Conversion


class Emitted:
    """The leaf of programs that emits them."""

    def __init__(self, to: Conversion):
        self.to = to

    def instruction(self, mnemonic: str, form: str, *operands: Any) -> SSAValue:
        """The result of the op."""
        return self.to.scalar(SCALAR_OPS[mnemonic], form, *operands)

    def constant(self, bits: int, type_: str) -> SSAValue:
        """A constant register."""
        return self.to.const(bits, type_)

    def move(self, value: SSAValue, type_: str) -> SSAValue:
        """The register itself, or its bits in one of the other kind."""
        kind = reg(type_)
        if isinstance(value.type, RegType) and value.type == kind:
            return value
        return self.to.pure((MovOp, value, kind), (value,), lambda: MovOp(value, kind))


def emitted(
    program: Callable[..., Value], type_: str, operands: Sequence[SSAValue], to: Conversion
) -> SSAValue:
    """The result of a program on registers of one type."""
    leaf = Emitted(to)
    return program(*(Value(leaf, operand, type_) for operand in operands)).handle
