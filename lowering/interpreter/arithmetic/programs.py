"""Programs of scalar instructions (`dialects/scalar_programs.py`), computed on arrays."""

from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from tilewright.dialects.math_functions.code import Program, Value, Values, choice, results_of
from tilewright.lowering.interpreter.arithmetic.conversions import widened
from tilewright.lowering.interpreter.arithmetic.scalar import Function, scalar
from tilewright.lowering.interpreter.array_types import AnyDType
from tilewright.lowering.interpreter.values import Bits


class Recorded:
    """The leaf of programs that records them: handles are places of raw bits, constants are there
    before a run, and every other place is what a step computes of others."""

    def __init__(self, operands: int):
        self.places: list[Bits | None] = [None] * operands
        self.steps: list[tuple[Function, Sequence[int], int]] = []

    def instruction(self, mnemonic: str, form: str, *operands: int) -> int:
        """The place of the instruction's result."""
        return self.computed(scalar(mnemonic, form), *operands)

    def constant(self, bits: int, type_: str) -> int:
        """The place of one number for all threads."""
        width = int(type_[1:])
        return self._placed(np.array([bits % (1 << width)], dtype=f"uint{width}"))

    def move(self, value: int, type_: str) -> int:
        """The bits themselves."""
        return value

    def rarely(self, condition: Value, then: Callable[[], Values], other: Values) -> Values:
        """Both, and a choice."""
        pairs = zip(then(), other, strict=True)
        return [choice(condition, here, elsewhere) for here, elsewhere in pairs]

    def remembered(self, key: tuple[Any, ...], build: Callable[[], Any]) -> Any:
        return build()

    def upper_half(self, value: int) -> int:
        return self.computed(widened, value)

    def lower_half(self, value: int) -> int:
        return self.computed(methodcaller("astype", np.uint16), value)

    def computed(self, function: Function, *operands: int) -> int:
        """The place of what a function computes of others."""
        place = self._placed(None)
        self.steps.append((function, operands, place))
        return place

    def _placed(self, bits: Bits | None) -> int:
        self.places.append(bits)
        return len(self.places) - 1


def function_of(
    program: Program, types: Sequence[str], results: Sequence[AnyDType]
) -> Callable[..., tuple[Bits, ...]]:
    """A program on raw bits of these types: its results, as registers of theirs hold them. What has
    8 bits is in the lower half of 16 in between."""
    leaf = Recorded(len(types))
    operands = [
        Value(leaf, leaf.lower_half(i) if type_ in _OCTETS else i, type_)
        for i, type_ in enumerate(types)
    ]
    ends = [value.handle for value in results_of(program, *operands)]
    for number, dtype in enumerate(results):
        if dtype.itemsize == 1 and dtype != np.bool_:
            ends[number] = leaf.computed(methodcaller("astype", np.uint8), ends[number])
    places, steps, count = leaf.places, leaf.steps, len(types)

    def run(*bits: Bits) -> tuple[Bits, ...]:
        values: list[Any] = places.copy()
        values[:count] = bits
        for function, sources, place in steps:
            values[place] = function(*[values[source] for source in sources])
        return tuple([values[end] for end in ends])

    return run


_OCTETS = ("s8", "e4m3", "e5m2")
"""Types of 8 bits."""
