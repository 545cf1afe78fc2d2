"""Where the results of two runs differ, bit by bit."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import listed
from tilewright.lowering.interpreter.array_types import AnyArray


@frozen
class Difference:
    """The first element that differs: that of array number `array`, and how many of it do."""

    array: int
    index: str
    before: str
    after: str
    extent: str


def first_difference(before: Sequence[AnyArray], after: Sequence[AnyArray]) -> Difference | None:
    """The first of the arrays, of equal shapes and dtypes, that differ; None where none does."""
    for number, (one, other) in enumerate(zip(before, after, strict=True)):
        differs = np.argwhere(bits(one) != bits(other))
        if len(differs):
            place = tuple(differs[0])
            return Difference(
                number,
                listed(place),
                _shown(one[place]),
                _shown(other[place]),
                f"{len(differs)} of {one.size} elements differ, this one first",
            )
    return None


def bits(array: AnyArray) -> AnyArray:
    """The elements as unsigned integers."""
    return array.view(f"uint{8 * array.dtype.itemsize}")


def _shown(element: Any) -> str:
    """A value with its bits, which tell NaNs and zeros apart."""
    pattern = bits(np.asarray(element))[()]
    return f"{element} (0x{pattern:0{2 * element.itemsize}x})"
