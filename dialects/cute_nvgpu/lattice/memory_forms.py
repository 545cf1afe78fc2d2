"""The forms of operands that lead to memory.

address     [p]        a register or a variable and an offset
box         [map, {c0,c1}]
descriptor  a_desc     one 64-bit register
"""

from dataclasses import KW_ONLY
from typing import ClassVar

from tilewright.dialects.cute_nvgpu.lattice.legal_integers import selects
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Misfit, OperandForm, in_braces
from tilewright.dialects.cute_nvgpu.lattice.operand_text import Kind, Written
from tilewright.dialects.frozen import frozen


@frozen
class Address(OperandForm):
    """A register or a variable in brackets, with a constant offset or none, or where there may be
    `elements` one of an array; ptxas takes what is of the `loose` kinds without brackets."""

    _: KW_ONLY
    loose: tuple[Kind, ...] = ()
    elements: bool = False

    @property
    def spelling(self) -> str:
        return f"[{self.identifier}]"

    def write(self, *words: str) -> str:
        base, offset = words if len(words) > 1 else (*words, "0")
        return f"[{base}+{offset}]" if offset != "0" else f"[{base}]"

    def misfit(self, written: Written) -> Misfit | None:
        if written.kind == "address" or (self.elements and written.kind == "element"):
            return None
        base, plus, _ = written.text.partition("+")
        if written.kind == "other" and plus:
            return Misfit("an address, its offset a constant of 64 bits", f"{base.rstrip()}]")
        near = written.text if written.kind == "register" else self.identifier
        bare = written.kind in self.loose
        return Misfit("an address", f"[{near}]", "it without brackets" if bare else None)


@frozen
class BoxForm(OperandForm):
    """A tensor map and the coordinates of a box's first element, innermost first, `rank` of them:
    `[map, {c0, c1}]`."""

    rank: int

    ADDRESSES: ClassVar[int] = 1

    @property
    def literal(self) -> str:
        return "s32"

    @property
    def spelling(self) -> str:
        return f"[{self.name}, {in_braces(f'c{i}' for i in range(self.rank))}]"

    def write(self, *words: str) -> str:
        return f"[{words[0]}, {{{', '.join(words[1:])}}}]"

    def misfit(self, written: Written) -> Misfit | None:
        coordinates = written.items[1:] if written.kind == "box" else ()
        if len(coordinates) == self.rank and all(selects(item, None) for item in coordinates):
            return None
        of = "1 coordinate" if self.rank == 1 else f"{self.rank} coordinates"
        return Misfit(f"a tensor map and {of}", self.spelling)


@frozen
class Descriptor(OperandForm):
    """A 64-bit register that holds the descriptor of a matrix in shared memory."""

    def misfit(self, written: Written) -> Misfit | None:
        if written.kind == "register":
            return None
        replaced = "a constant descriptor" if written.kind == "integer" else None
        return Misfit("a .b64 register", self.spelling, replaced)
