"""The demands on a tensor that is written and whose elements may lie in one place."""

from tilewright.dialects.cute.rules import required
from tilewright.dialects.cute.symbolic.sharing import sharing, split
from tilewright.dialects.cute.values import Typed


def check_scatter(source: Typed, destination: Typed) -> None:
    """Raises RuleError where two elements of a source are copied to one place of the destination:
    nothing says which of them stays. CuTe: an ambiguous scatter."""
    shared = sharing(destination.value.modes)
    apart = None if shared is None else split(shared, source.value.modes)
    required(
        apart is None,
        "expected one element of the source for those of the destination that lie in one place, "
        f"got {source.quoted} and {destination.quoted} (elements {apart} of the destination do); "
        "nearest legal: strides of 0 in both, or a destination of cute.make_fragment_like",
    )


def check_apart(name: str, typed: Typed, why: str) -> None:
    """Raises RuleError where two elements of a tensor, which has a name, are sure to lie in one
    place; `why` they may not."""
    shared = sharing(typed.value.modes)
    if shared is None:
        return
    second = next(i for i, first in enumerate(shared) if first != i)
    required(
        False,
        f"expected {name} whose elements lie apart, got {typed.quoted} (elements "
        f"{(shared[second], second)} lie in one place; {why}); nearest legal: strides that step "
        "over one another",
    )
