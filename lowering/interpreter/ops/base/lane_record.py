"""Values of several fields in every thread."""

from dataclasses import fields
from typing import Any, Self

from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.array_types import is_array
from tilewright.lowering.interpreter.values import Lanes, joined, take


@frozen
class LaneRecord:
    """Fields that are values of all threads, tuples of those, or the same in every thread."""

    def take(self, lanes: Lanes) -> Self:
        """The fields in some of the threads."""
        own = (getattr(self, field.name) for field in fields(self))
        return type(self)(*(_taken(value, lanes) for value in own))

    def joined(self, other: Self, counts: tuple[int, int], order: Lanes) -> Self:
        """The fields of the threads of two gangs."""
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return type(self)(*(_joined(*pair, counts, order) for pair in pairs))


def _is_of_threads(value: Any) -> bool:
    return is_array(value) or hasattr(value, "take")


def _taken(value: Any, lanes: Lanes) -> Any:
    if isinstance(value, tuple):
        return tuple(_taken(part, lanes) for part in value)  # pyright: ignore[reportUnknownVariableType]
    return take(value, lanes) if _is_of_threads(value) else value


def _joined(a: Any, b: Any, counts: tuple[int, int], order: Lanes) -> Any:
    if isinstance(a, tuple):
        return tuple(_joined(*pair, counts, order) for pair in zip(a, b, strict=True))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return joined(a, b, counts, order) if _is_of_threads(a) else a
