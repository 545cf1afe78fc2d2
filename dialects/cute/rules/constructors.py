"""Rules of the ops that build values from their parts."""

from tilewright.dialects.cute.int_tuple import weakly_congruent
from tilewright.dialects.cute.layout import Layout, make_unchecked
from tilewright.dialects.cute.rules import RuleError, required, valid_layout
from tilewright.dialects.cute.swizzle import Swizzle, compose_unchecked
from tilewright.dialects.cute.symbolic import layouts
from tilewright.dialects.cute.symbolic.composed import outer_of
from tilewright.dialects.cute.symbolic.tuples import has_basis, is_static
from tilewright.dialects.cute.values import Typed, fault


def checked(typed: Typed) -> Typed:
    """The value, which must be one of its kind. Raises RuleError."""
    reason = fault(typed.kind, typed.text)
    if reason is not None:
        raise RuleError(reason)
    return typed


def make_layout(shape: Typed, stride: Typed) -> Typed:
    """shape:stride."""
    return checked(Typed("layout", make_unchecked(shape.value, stride.value)))


def make_composed_layout(inner: Typed, offset: Typed, outer: Typed) -> Typed:
    """inner o offset o outer."""
    value = compose_unchecked(inner.value, offset.value, outer.value)
    return checked(Typed("composed_layout", value))


def make_layout_like(source: Typed) -> Typed:
    """Compact, the modes laid out in the order of the source's strides."""
    composed = source.kind == "composed_layout"
    if composed and not isinstance(source.value.inner, Swizzle):
        raise RuleError(
            "expects source composed layout to have a Swizzle A component, but got a layout A"
        )
    layout: Layout = outer_of(source.value)
    where = "outer B layout of composed source" if composed else "source layout"
    required(
        not has_basis(layout.stride),
        f"expects plain integer strides in {where}, but got scaled-basis strides",
    )
    return valid_layout(
        lambda: layouts.make_layout_like(layout),
        "expects a valid layout-like result, but construction failed",
    )


def make_ordered_layout(shape: Typed, order: Typed) -> Typed:
    """Compact, the modes laid out in a given order."""
    required(
        is_static(order.value), f"expects order to be a static int_tuple, but got {order.quoted}"
    )
    required(
        weakly_congruent(order.value, shape.value),
        f"expects order to be weakly congruent to shape {shape.quoted}, but got {order.quoted}",
    )
    return valid_layout(
        lambda: layouts.make_ordered_layout(shape.value, order.value),
        "expects a valid ordered layout, but construction failed",
    )


def make_identity_layout(shape: Typed) -> Typed:
    """Every coordinate is its own image."""
    return valid_layout(
        lambda: layouts.make_identity_layout(shape.value),
        f"expects a valid identity layout from {shape.quoted}, but construction failed",
    )
