"""The meaning of names: registers, and variables of each state space. PTX ISA 4.4 and 5.

A name is known from its declaration to the end of the braces around that; one inside hides one
outside.
"""

import re
from string import digits

from xdsl.ir import Block, SSAValue

from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF
from tilewright.dialects.frozen import entity, factory
from tilewright.dialects.ptx.types import KINDS
from tilewright.lowering.ptx.parsing.ssa import Variable
from tilewright.lowering.ptx.parsing.statements import NAME

_REGISTERS = re.compile(r"(?:\.v([24])\s+)?\.(\w+)\s+(.*)", re.DOTALL)
_RANGE = re.compile(r"([A-Za-z_$%][\w$]*?)\s*<\s*(\d+)\s*>")


@entity
class Symbol:
    """A variable in memory: its state space, its size and alignment in bytes, None where a launch
    says the size, the position of its declaration, and the bytes of an element. A kernel's
    parameter has a `value`, what it holds or, of a tensor map, its address; one of a function
    `parts`, registers by their offset, and how many bits `widths` says are in each."""

    space: str
    name: str
    size: int | None = None
    align: int = 1
    position: int = 0
    element: int = 1
    value: SSAValue | None = None
    parts: dict[int, Variable] = factory(dict)
    widths: dict[int, int] = factory(dict)

    def part(self, offset: int, kind: str, width: int = 0) -> Variable:
        """The register of a kind that stands for the parameter's bytes from an offset on."""
        self.widths[offset] = width or KINDS[kind]
        return self.parts.setdefault(offset, Variable(kind))


_AT_ONCE = 1 << 14
"""The registers of a range that are made with it: a text has more than it uses by hand alone."""

_PART = re.compile(rf"({NAME})(?:\.([xyzwrgba])\b)?(?:\[([^\]]*)\])?")
_PLACES = "xyzwrgba"


def _part(name: str, place: int) -> str:
    """The name of a part of a register of 128 bits, or of a vector, which no text has."""
    return f"%${place}{name.removeprefix('%')}"


@entity
class Names:
    """The names between two braces."""

    outer: "Names | None" = None
    names: dict[str, Variable | Symbol] = factory(dict)
    labels: dict[str, Block] = factory(dict)
    ranges: dict[str, tuple[str, int]] = factory(dict)

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
        if name in self.labels or self.outer is None:
            return self.labels.get(name)
        return self.outer.label(name)

    def in_parts(self, text: str, *, addressed: bool) -> str:
        """Operands in which registers of 128 bits and vectors are lists, the low part first, and
        elements of arrays `addressed` in brackets, or sums."""

        def listed(match: re.Match[str]) -> str:
            name, part, element = match.groups()
            known = self.find(name)
            if isinstance(known, Symbol) and element is not None:
                place = f"{name}+{known.element}*({element})"
                return f"[{place}]" if addressed else place
            if part is not None and self.find(_part(name, _PLACES.index(part) % 4)):
                return _part(name, _PLACES.index(part) % 4)
            parts = [_part(name, place) for place in range(4) if self.find(_part(name, place))]
            is_wide = parts and known is None and part is None
            return f"{{{', '.join(parts)}}}" if is_wide else match[0]

        return _PART.sub(listed, text)

    def declare_registers(self, text: str) -> str | None:
        """Declare registers, of a text like `.b32 %r<8>, %x`; why that is none, or None."""
        match = _REGISTERS.fullmatch(text.strip())
        if match is not None and (match[1] or match[2] == "b128"):
            type_ = match[2].replace("b128", "b64")
            for place in range(int(match[1] or 2)):
                parts = (_part(name.strip(), place) for name in match[3].split(","))
                self.declare_registers(f".{type_} {', '.join(parts)}")
            return None
        kind = None if match is None else REGISTER_OF.get(match[2], match[2])
        if match is None or kind not in KINDS:
            return f"expected registers of a type of {', '.join(REGISTER_OF)}, got '{text.strip()}'"
        for name in match[3].split(","):
            if (several := _RANGE.fullmatch(name := name.strip())) is not None:
                stem, count = several[1], int(several[2])
                self.ranges[stem] = kind, count
                if count <= _AT_ONCE:
                    of_range = {f"{stem}{place}": Variable(kind) for place in range(count)}
                    self.names = of_range | self.names
            else:
                self.names[name] = Variable(kind)
        return None
