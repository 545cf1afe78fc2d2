"""Programs of scalar instructions (`dialects/math_functions`), computed on arrays."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tilewright.dialects.math_functions.code import Value, Values, choice
from tilewright.lowering.interpreter.arithmetic.scalar import scalar
from tilewright.lowering.interpreter.values import Bits


class Computed:
    """The leaf of programs that computes them on raw bits."""

    def instruction(self, mnemonic: str, form: str, *operands: Any) -> Bits:
        """The instruction's result."""
        return scalar(mnemonic, form)(*operands)

    def constant(self, bits: int, type_: str) -> Bits:
        """One number for all threads."""
        width = int(type_[1:])
        return np.array([bits % (1 << width)], dtype=f"uint{width}")

    def move(self, value: Bits, type_: str) -> Bits:
        """The bits themselves."""
        return value

    def rarely(self, condition: Value, then: Callable[[], Values], other: Values) -> Values:
        """Both, and a choice."""
        pairs = zip(then(), other, strict=True)
        return [choice(condition, here, elsewhere) for here, elsewhere in pairs]


LEAF = Computed()


def computed(program: Callable[..., Value], type_: str, operands: Sequence[Bits]) -> Bits:
    """The result of a program on bits of one type."""
    return program(*(Value(LEAF, operand, type_) for operand in operands)).handle
