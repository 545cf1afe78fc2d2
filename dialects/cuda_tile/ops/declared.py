"""The declaration of an op, and the facts that follow: all that its text is made of."""

from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.enums import RoundingMode
from tilewright.dialects.cuda_tile.ops.facts import OpFacts
from tilewright.dialects.definition import DefinedOp

if TYPE_CHECKING:
    from xdsl.irdl import OpDef

Names = tuple[tuple[str, ...], ...]
"""Groups of names of operands and results."""


class DeclaredOp(DefinedOp):
    """An op by its declaration.

    TEXT is how its format begins (`format_of`). SAME_TYPES, SAME_SHAPES, SAME_ELEMENTS and
    SAME_RANKS name operands and results that agree with each other, all of a group. ROUNDINGS are
    the legal rounding modes, the one that text leaves out first.
    """

    if TYPE_CHECKING:
        definition: ClassVar[OpDef]
        facts: ClassVar[OpFacts]

    TEXT: ClassVar[str] = ""
    SAME_TYPES: ClassVar[Names] = ()
    SAME_SHAPES: ClassVar[Names] = ()
    SAME_ELEMENTS: ClassVar[Names] = ()
    SAME_RANKS: ClassVar[Names] = ()
    ROUNDINGS: ClassVar[tuple[RoundingMode, ...]] = ()

    def values_of(self, name: str) -> tuple[SSAValue, ...]:
        """The values of an operand or result."""
        values: Any = getattr(self, name)
        if values is None:
            return ()
        return (values,) if isinstance(values, SSAValue) else tuple(values)  # pyright: ignore
