"""An op interpreted, the algebra on numbers, and the op expanded, then interpreted: all agree."""

from __future__ import annotations

from typing import Any

import pytest
from covering import THOROUGH
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from op_cases import CASES, STATIC
from op_kernels import Later, LayoutError, OpKernel, evaluated_later, settled
from plain_ops import LESS_WHEN_DYNAMIC, PURE
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute import ComposedLayout, Layout, equivalent
from tilewright.dialects.cute.dialect import ALGEBRA_OPS
from tilewright.dialects.cute.rules.accessors import dynamic_leaves, scalar_leaves
from tilewright.dialects.cute.values import Typed, with_dynamic_leaves, with_numbers

LANES = 3
# Shrinking would run hundreds of kernels, for minutes.
checked = settings(
    max_examples=settings().max_examples // (4 if THOROUGH else 8),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


def hidden(draw: st.DrawFn, value: Typed) -> Typed:
    """A value with some of its numbers for the run to know, of 32 or 64 bits."""
    if value.kind == "swizzle":
        return value
    leaves: list[Any] = []
    for number in scalar_leaves(value):
        width = draw(st.sampled_from([0, 0, 32, 64]))
        leaves.append(Later(number, width) if width else number)
    return with_numbers(value, leaves)


def test_every_op_has_a_case():
    """All but `cute.print`, which has no result."""
    assert {each.name for each in ALGEBRA_OPS} == {f"cute.{name}" for name in (*CASES, "print")}


def same(found: Any, expected: Any) -> bool:
    if isinstance(found, Layout) and isinstance(expected, ComposedLayout):
        # A plain slice through a swizzle: the iterator has the offset.
        first = expected(0)
        return found.size() == expected.size() and all(
            found(i) == expected(i) - first for i in range(found.size())
        )
    if isinstance(found, Layout | ComposedLayout):
        return isinstance(expected, Layout | ComposedLayout) and equivalent(found, expected)
    return found == expected


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@given(data=st.data())
@checked
def test_op(name: str, dynamic: bool, data: st.DataObject):
    operands, arguments = data.draw(st.composite(CASES[name])())
    if dynamic:
        operands = [
            each if i in STATIC[name] else hidden(data.draw, each)
            for i, each in enumerate(operands)
        ]
    try:
        kernel = OpKernel(name, operands, arguments)
    except VerifyException:
        assume(False)
        raise
    lanes = [operands, *([other(data.draw, each) for each in operands] for _ in range(LANES - 1))]
    try:
        later = [evaluated_later(name, row, arguments) for row in lanes]
    except LayoutError:
        assume(False)
        raise
    assert kernel.run(lanes, expand=False) == later
    assert kernel.run(lanes, expand=True) == later
    if name in PURE and not (dynamic and name in LESS_WHEN_DYNAMIC):
        values = [settled(each).value for each in operands]
        try:
            expected = PURE[name](*values, *arguments)
        except LayoutError:
            assume(False)
            raise
        found = [each.value if isinstance(each, Typed) else each for each in later[0]]
        wanted = expected if isinstance(expected, list) else [expected]
        assert all(map(same, found, wanted)), (operands, arguments, found, wanted)


def other(draw: st.DrawFn, value: Typed) -> Typed:
    """The value in another thread: other numbers where the type knows none."""
    leaves = [
        Later(draw(st.sampled_from([leaf.number, 1, 2, 4, 8])), leaf.width)
        for leaf in dynamic_leaves(value)
        if isinstance(leaf, Later)
    ]
    return with_dynamic_leaves(value, leaves)
