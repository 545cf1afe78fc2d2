"""The meaning of names: registers, and variables of each state space. PTX ISA 4.4 and 5.

A name is known from its declaration to the end of the braces around that; one inside hides one
outside.
"""

import re
from dataclasses import field
from string import digits

from xdsl.ir import Block, SSAValue

from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF
from tilewright.dialects.frozen import entity
from tilewright.dialects.ptx.types import KINDS
from tilewright.lowering.ptx.parsing.ssa import Variable
from tilewright.lowering.ptx.parsing.statements import NAMES

_REGISTERS = re.compile(r"\.(\w+)\s+(.*)", re.DOTALL)
_RANGE = re.compile(r"([A-Za-z_$%][\w$]*?)<(\d+)>")


@entity
class Symbol:
    """A variable in memory: its state space, its size and alignment in bytes, None where a launch
    says the size, and the position of its declaration. A kernel's parameter has a `value`, what it
    holds or, of a tensor map, its address; one of a function `parts`, registers by their offset."""

    space: str
    name: str
    size: int | None = None
    align: int = 1
    position: int = 0
    value: SSAValue | None = None
    parts: dict[int, Variable] = field(default_factory=dict[int, Variable])

    def part(self, offset: int, kind: str) -> Variable:
        """The register of a kind that stands for the parameter's bytes from an offset on."""
        return self.parts.setdefault(offset, Variable(kind))


def _half(name: str, place: int) -> str:
    """The name of a half of a register of 128 bits, which no text has."""
    return f"%${place}{name.removeprefix('%')}"


@entity
class Names:
    """The names between two braces."""

    outer: "Names | None" = None
    names: dict[str, Variable | Symbol] = field(default_factory=dict[str, Variable | Symbol])
    labels: dict[str, Block] = field(default_factory=dict[str, Block])
    ranges: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])

    def find(self, name: str) -> Variable | Symbol | None:
        """The thing that a name stands for here, or None."""
        scope = self
        while scope is not None:
            known = scope.names.get(name)
            if known is not None or (scope.ranges and (known := scope._numbered(name))):
                return known
            scope = scope.outer
        return None

    def _numbered(self, name: str) -> Variable | None:
        """The register of a name like `%r7` where `%r<8>` is declared."""
        for end in range(len(name.rstrip(digits)), len(name)):
            kind, count = self.ranges.get(name[:end], ("", 0))
            if (
                len(name) - end < 20
                and int(name[end:]) < count
                and (name[end] != "0" or name[end:] == "0")
            ):
                variable = self.names[name] = Variable(kind)
                return variable
        return None

    def label(self, name: str) -> Block | None:
        """The block of a label here, or None."""
        scope = self
        while scope is not None:
            if name in scope.labels:
                return scope.labels[name]
            scope = scope.outer
        return None

    def in_halves(self, text: str) -> str:
        """Operands in which registers of 128 bits are lists of two, the low half first."""

        def listed(match: re.Match[str]) -> str:
            known = self.find(_half(match[0], 0)) is not None
            return f"{{{_half(match[0], 0)}, {_half(match[0], 1)}}}" if known else match[0]

        return NAMES.sub(listed, text)

    def declare_registers(self, text: str) -> str | None:
        """Declare registers, of a text like `.b32 %r<8>, %x`; why that is none, or None."""
        match = _REGISTERS.fullmatch(text.strip())
        if match is not None and match[1] == "b128":
            for place in range(2):
                halves = (_half(name.strip(), place) for name in match[2].split(","))
                self.declare_registers(f".b64 {', '.join(halves)}")
            return None
        kind = None if match is None else REGISTER_OF.get(match[1], match[1])
        if match is None or kind not in KINDS:
            return f"expected registers of a type of {', '.join(REGISTER_OF)}, got '{text.strip()}'"
        for name in match[2].split(","):
            if (several := _RANGE.fullmatch(name := name.strip())) is not None:
                self.ranges[several[1]] = kind, int(several[2])
            else:
                self.names[name] = Variable(kind)
        return None
