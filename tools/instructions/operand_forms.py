"""What an instruction wants of each of its operands, and what is wrong with another one.

registers   {a0,a1}    a vector in braces, of one register as well
register    e          one 32-bit register, with or without braces where `braces` is None
constant    1          one of some integers
superfluous            nothing
selectors   {0,1}      a byte-id and a thread-id: integers or 16-bit registers
address     [p]        a register or a variable and an offset
count       16         an integer of a range, or a register
number      2          an integer of 0 or more
descriptor  a_desc     one 64-bit register
predicate   p          a predicate register, or 0 or 1
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from tilewright.dialects.cute_nvgpu.lattice.targets import Minimum
from tilewright.tools.instructions.ptx_operands import Kind, Written, read


@dataclass(frozen=True, slots=True)
class Misfit:
    """What was expected in the place of an operand, and the legal spelling nearest to it;
    `replaced` is what stood there and ptxas takes nevertheless, in words."""

    expected: str
    nearest: str
    replaced: str | None = None


class OperandForm(Protocol):
    """An operand of an instruction."""

    @property
    def name(self) -> str:
        """What the PTX ISA calls it."""
        ...

    @property
    def section(self) -> str:
        """The section of the PTX ISA that says what it is."""
        ...

    @property
    def spelling(self) -> str:
        """A legal one."""
        ...

    @property
    def optional(self) -> bool:
        """Whether it may be left out, with those after it."""
        ...

    def misfit(self, written: Written) -> Misfit | None:
        """What is wrong with an operand in its place, or None."""
        ...


@dataclass(frozen=True, slots=True)
class Registers:
    """A vector of `count` registers of a type; `target` says that they are written to, `updated`
    that they are read too."""

    name: str
    register: str
    count: int
    section: str
    target: bool = False
    updated: bool = False
    optional: bool = False

    @property
    def spelling(self) -> str:
        return _vector(self._names())

    def misfit(self, written: Written) -> Misfit | None:
        items = written.items
        if len(items) == self.count and all(item.kind == "register" for item in items):
            return None
        given = [item.text for item in items or (written,) if item.kind == "register"]
        taken = set(given)
        spare = [name for name in self._names() if name not in taken]
        registers = "register" if self.count == 1 else "registers"
        return Misfit(
            f"a vector of {self.count} .{self.register} {registers}",
            _vector([*given, *spare][: self.count]),
            self._replaced({item.kind for item in items}) if len(items) == self.count else None,
        )

    def _names(self) -> list[str]:
        stem = self.name.replace("-", "_")
        return [f"{stem}{i}" for i in range(self.count)]

    def _replaced(self, kinds: set[Kind]) -> str | None:
        """What ptxas takes in the place of some registers, not of all of them."""
        if self.updated:
            return None
        others: set[Kind] = {"integer", "float"} if self.register == "b32" else {"float"}
        others = {"sink"} if self.target else others
        if "register" not in kinds or not kinds - {"register"} <= others:
            return None
        return "_ beside registers" if self.target else "constants beside registers"


@dataclass(frozen=True, slots=True)
class Register:
    """One register, of 32 bits by default; `braces` says whether they may stand around it."""

    name: str
    section: str
    braces: bool = True
    optional: bool = False
    register: str = "b32"

    @property
    def spelling(self) -> str:
        return self.name.replace("-", "_")

    def misfit(self, written: Written) -> Misfit | None:
        inner = written.items if written.kind == "vector" else (written,)
        bare = written.kind != "vector" or self.braces
        if bare and len(inner) == 1 and inner[0].kind == "register":
            return None
        found = (item.text for item in inner if item.kind == "register")
        where = "" if self.braces else " without braces"
        return Misfit(f"a .{self.register} register{where}", next(found, self.spelling))


@dataclass(frozen=True, slots=True)
class Constant:
    """One of some integers; of `target` alone where it is given."""

    name: str
    legal: tuple[int, ...]
    section: str
    optional: bool = False
    target: Minimum | None = None

    @property
    def spelling(self) -> str:
        return str(self.legal[0])

    def misfit(self, written: Written) -> Misfit | None:
        if written.kind == "integer" and written.value in self.legal:
            return None
        return Misfit(f"the constant {_either(self.legal)}", _nearest(self.legal, written))


@dataclass(frozen=True, slots=True)
class Superfluous:
    """What others of the instruction have in its place: ptxas takes an integer there, the PTX ISA
    has none."""

    name: str
    section: str
    optional: bool = True

    @property
    def spelling(self) -> str:
        return ""

    def misfit(self, written: Written) -> Misfit | None:
        replaced = "an integer" if written.kind == "integer" else None
        return Misfit("nothing", "nothing", replaced)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some integers, or a register."""

    name: str
    legal: tuple[int, ...]
    section: str
    optional: bool = False

    @property
    def spelling(self) -> str:
        return str(self.legal[0])

    def misfit(self, written: Written) -> Misfit | None:
        if _selects(written, self.legal):
            return None
        return Misfit(f"a register, or {_either(self.legal)}", _nearest(self.legal, written))


@dataclass(frozen=True, slots=True)
class Selectors:
    """`{byte-id, thread-id}`: each one of some integers, or a 16-bit register."""

    name: str
    legal: tuple[tuple[int, ...], tuple[int, ...]]
    section: str
    optional: bool = False

    @property
    def spelling(self) -> str:
        return _vector(str(legal[0]) for legal in self.legal)

    def misfit(self, written: Written) -> Misfit | None:
        pairs = list(zip(self.legal, written.items, strict=False))
        fine = [_selects(item, legal) for legal, item in pairs]
        if len(written.items) == 2 and all(fine):
            return None
        byte, thread = map(_either, self.legal)
        near = [
            item.text if good else _nearest(legal, item)
            for good, (legal, item) in zip(fine, pairs, strict=True)
        ]
        near += [str(legal[0]) for legal in self.legal[len(near) :]]
        return Misfit(f"{{byte-id of {byte}, thread-id of {thread}}}", _vector(near))


@dataclass(frozen=True, slots=True)
class Address:
    """A register or a variable in brackets, with a constant offset or none."""

    name: str
    section: str
    optional: bool = False

    @property
    def spelling(self) -> str:
        return f"[{self.name.replace('-', '_')}]"

    def misfit(self, written: Written) -> Misfit | None:
        if written.kind == "address":
            return None
        near = written.text if written.kind == "register" else self.name.replace("-", "_")
        return Misfit("an address", f"[{near}]")


@dataclass(frozen=True, slots=True)
class Count:
    """A register, or an integer; of a range where one is given."""

    name: str
    section: str
    legal: range | None = None
    optional: bool = True

    @property
    def spelling(self) -> str:
        return self.name.replace("-", "_")

    def misfit(self, written: Written) -> Misfit | None:
        fits = self.legal is None or written.value in self.legal
        if written.kind == "register" or (written.kind == "integer" and fits):
            return None
        if self.legal is None:
            return Misfit("a register or an integer", self.spelling)
        first, last = self.legal[0], self.legal[-1]
        near = min(max(written.value, first), last) if written.kind == "integer" else self.spelling
        return Misfit(f"a register or an integer of {first} to {last}", str(near))


@dataclass(frozen=True, slots=True)
class Number:
    """An integer of 0 or more; PTX's have 63 bits and a sign."""

    name: str
    section: str
    optional: bool = False

    @property
    def spelling(self) -> str:
        return "0"

    def misfit(self, written: Written) -> Misfit | None:
        if written.kind == "integer" and 0 <= written.value < 1 << 63:
            return None
        near = "0" if written.kind != "integer" or written.value < 0 else str((1 << 63) - 1)
        return Misfit("an integer constant of 0 or more", near)


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A 64-bit register that holds the descriptor of a matrix in shared memory."""

    name: str
    section: str
    optional: bool = False

    @property
    def spelling(self) -> str:
        return self.name.replace("-", "_")

    def misfit(self, written: Written) -> Misfit | None:
        if written.kind == "register":
            return None
        replaced = "a constant descriptor" if written.kind == "integer" else None
        return Misfit("a .b64 register", self.spelling, replaced)


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate register, or a constant in its place; `loose` where ptxas takes any integer."""

    name: str
    section: str
    optional: bool = False
    loose: bool = False

    @property
    def spelling(self) -> str:
        return self.name.replace("-", "_")

    def misfit(self, written: Written) -> Misfit | None:
        if self._fits(written):
            return None
        near = _nearest((0, 1), written) if written.kind == "integer" else self.spelling
        negated = written.text.startswith("!") and self._fits(read(written.text[1:].lstrip())[0])
        replaced = "a negated predicate" if negated else None
        if self.loose and written.kind == "integer":
            replaced = "any integer"
        return Misfit("a predicate or the constant 0 or 1", near, replaced)

    def _fits(self, written: Written) -> bool:
        return written.kind == "register" or (written.kind == "integer" and written.value in (0, 1))


def _selects(item: Written, legal: tuple[int, ...]) -> bool:
    return item.kind == "register" or (item.kind == "integer" and item.value in legal)


def _nearest(legal: tuple[int, ...], written: Written) -> str:
    """Of the integers; the first where no integer was written."""
    if written.kind != "integer":
        return str(legal[0])
    return str(min(legal, key=lambda each: abs(each - written.value)))


def _either(choices: Iterable[int]) -> str:
    """`0, 1 or 2`."""
    *others, last = map(str, choices)
    return f"{', '.join(others)} or {last}" if others else last


def _vector(items: Iterable[str]) -> str:
    return "{" + ",".join(items) + "}"
