"""The results of each op of the `cute` dialect for its operands: the ops without their syntax.

A rule takes the operands as `Typed` values, then the op's attributes, and returns the results.
Types are inferred by it, dynamic leaves standing for what is not known; the passes and the
interpreter run the same rule on leaves that are SSA values, or numbers. The words of its errors are
CuTe IR's.
"""

from collections.abc import Callable, Sequence
from typing import Any

from tilewright.dialects.cute.int_tuple import LayoutError
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.swizzle import AnyLayout, ComposedLayout
from tilewright.dialects.cute.symbolic.check import is_valid_layout
from tilewright.dialects.cute.values import Typed, typed_layout
from tilewright.dialects.illegal import Illegal


class RuleError(Illegal):
    """Operands that an op does not take."""


def required(condition: bool, expected: str) -> None:
    """Raises RuleError where the condition does not hold."""
    if not condition:
        raise RuleError(expected)


def attempted(compute: Callable[[], Any], otherwise: str) -> Any:
    """The value, or a RuleError that says `otherwise` where the algebra has none."""
    try:
        return compute()
    except (LayoutError, IndexError) as error:
        raise RuleError(f"{otherwise} ({error})") from error


def computed(kind: str, compute: Callable[[], Any], otherwise: str) -> Typed:
    """The value with its kind, or a RuleError that says `otherwise` where there is none."""
    return Typed(kind, attempted(compute, otherwise))


def valid_layout(compute: Callable[[], AnyLayout], otherwise: str) -> Typed:
    """The layout with its kind, or a RuleError that says `otherwise` where there is none."""
    layout = attempted(compute, otherwise)
    parts = [layout]
    if isinstance(layout, ComposedLayout):
        parts = [part for part in (layout.inner, layout.outer) if isinstance(part, Layout)]
    required(all(map(is_valid_layout, parts)), otherwise)
    return typed_layout(layout)


def mode_path_text(path: Sequence[int]) -> str:
    """Where in a nested operand an error is; nothing for the operand itself."""
    return f" at mode path [{', '.join(map(str, path))}]" if path else ""
