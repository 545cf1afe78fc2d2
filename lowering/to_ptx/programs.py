"""Programs of scalar instructions (`dialects/scalar_programs.py`), emitted as `ptx`."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import SSAValue

from tilewright.dialects.frozen import entity
from tilewright.dialects.math_functions.code import Value, Values
from tilewright.dialects.ptx.control_flow import BraOp, CondBraOp
from tilewright.dialects.ptx.registers import ListGetOp, ListMakeOp, MovOp, PackOp, UnpackOp
from tilewright.dialects.ptx.scalars import SCALAR_OPS
from tilewright.dialects.ptx.types import RegType, reg
from tilewright.lowering.to_ptx.conversion import Conversion, constant, signed

_RESIZED = re.compile(r"[su](\d+)\.([su])(\d+)")
"""The forms of conversions between integers: bits, and letter and bits of the source."""
_EQUAL_HALVES = re.compile(r"eq\.[sub]16")
"""Comparisons that ptxas 12.9 to 13.0 fuses with `min` or `max` of the same constant into one
VIMNMX, whose upper half's answer takes the place of the lower's; it leaves `ne` alone."""


@entity
class Emitted:
    """The leaf of programs that emits them."""

    to: Conversion

    def instruction(self, mnemonic: str, form: str, *operands: Any) -> SSAValue:
        """The result of the op; of an integer that is known in another width, a constant."""
        if mnemonic == "setp" and _EQUAL_HALVES.fullmatch(form):
            unequal = self.instruction(mnemonic, form.replace("eq", "ne"), *operands)
            return self.instruction("not", "pred", unequal)
        known = constant(operands[0]) if mnemonic == "cvt" else None
        if known is not None and (resized := _RESIZED.fullmatch(form)) is not None:
            bits, letter, source = resized.groups()
            known = signed(known, int(source)) if letter == "s" else known % (1 << int(source))
            return self.to.const(known, f"b{bits}")
        return self.to.scalar(SCALAR_OPS[mnemonic], form, *operands)

    def constant(self, bits: int, type_: str) -> SSAValue:
        """A constant register."""
        return self.to.const(bits, type_)

    def move(self, value: SSAValue, type_: str) -> SSAValue:
        """The register itself, or its bits in one of the other kind."""
        kind = reg(type_)
        if isinstance(value.type, RegType) and value.type == kind:
            return value
        return self.to.pure(MovOp, value, kind)

    def upper_half(self, value: SSAValue) -> SSAValue:
        """It, above 16 zeros."""
        return self.move(self.to.pure(PackOp, self.to.const(0, "b16"), value), "f32")

    def lower_half(self, value: SSAValue) -> SSAValue:
        """The first of its halves."""
        return element(self.to.pure(UnpackOp, value), 0, self.to)

    def remembered(self, key: tuple[Any, ...], build: Callable[[], Any]) -> Any:
        return self.to.remembered(key, build)

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


def listed(parts: Sequence[SSAValue], to: Conversion) -> SSAValue:
    """Registers and lists of one kind, in order, as one value."""
    if len(parts) == 1:
        return parts[0]
    types = [part.type for part in parts if isinstance(part.type, RegType)]
    count = sum(type_.count.data for type_ in types)
    return to.pure(ListMakeOp, tuple(parts), reg(types[0].kind.data, count))


def element(registers: SSAValue, position: int, to: Conversion) -> SSAValue:
    """One register of a list."""
    type_ = registers.type
    assert isinstance(type_, RegType)
    count = type_.count.data
    if count == 1:
        return registers
    return to.pure(ListGetOp, registers, 0, count).owner.results[position]  # type: ignore[union-attr]
