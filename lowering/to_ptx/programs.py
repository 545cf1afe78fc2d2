"""Programs of scalar instructions (`dialects/math_functions`), emitted as `ptx`."""

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import SSAValue

from tilewright.dialects.math_functions.code import Value, Values
from tilewright.dialects.ptx.control_flow import BraOp, CondBraOp
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

    def rarely(self, condition: Value, then: Callable[[], Values], other: Values) -> Values:
        """A branch, once for the same values."""
        to, handles = self.to, [value.handle for value in other]
        key = then.__code__, condition.handle, *handles

        def build() -> Sequence[SSAValue]:
            name = to.fresh("rarely")
            block = to.new_block(name)
            end = to.new_block(f"{name}_end", [handle.type for handle in handles])
            to.add(CondBraOp(condition.handle, block, end, (), handles))
            to.enter(block)
            to.add(BraOp(end, [value.handle for value in then()]))
            to.leave()
            to.proceed(end)
            return end.args

        chosen = zip(to.remembered(key, build), other, strict=True)
        return [Value(self, handle, value.type_) for handle, value in chosen]


def emitted(
    program: Callable[..., Value], type_: str, operands: Sequence[SSAValue], to: Conversion
) -> SSAValue:
    """The result of a program on registers of one type."""
    leaf = Emitted(to)
    return program(*(Value(leaf, operand, type_) for operand in operands)).handle
