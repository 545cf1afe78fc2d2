"""Parts of a loop over a range: what is done for one concern around its body and within."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import SSAValue

from tilewright.dialects.frozen import frozen


@frozen
class Range:
    """The bounds and the step of a loop, and the number of its iteration, at first the lower
    bound."""

    lower: SSAValue
    upper: SSAValue
    step: SSAValue
    number: SSAValue

    def at(self, number: SSAValue) -> Range:
        """The range in another iteration."""
        return replace(self, number=number)


class LoopPart:
    """A part of a loop: `carried` are the values of it that the loop carries, which `before` and
    `end` leave there, and `begin` and `after` find. By default there is nothing to do."""

    carried: Sequence[SSAValue] = ()

    def before(self, bounds: Range) -> None:
        """Emit what comes in front of the loop."""

    def begin(self, bounds: Range) -> None:
        """Begin an iteration."""

    def end(self) -> None:
        """End an iteration."""

    def after(self, bounds: Range) -> None:
        """Emit what comes behind the loop."""

    def instead(self, given: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Emit what it carries where there is no iteration, of what it was given."""
        return given
