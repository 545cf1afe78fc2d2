"""The forms of an instruction's operands: how PTX writes it, and what is wrong with
another one. Those that lead to memory are in `memory_forms.py`.

vector      {a0,a1}    registers in braces, one as well
wide        q          a register of 128 bits
register    e          one register, with or without braces where `braces` is None
scalar      a          a register of an instruction type, or a constant of it
result      d|p        a register that is written to; some with a predicate, some left out: _
constant    1          one of some integers
choice      32         one of some integers, or a register
superfluous            nothing
selectors   {0,1}      a byte-id and a thread-id: integers or 16-bit registers
predicate   p          a predicate register, or 0 or 1
passed      (a, b)     what a call passes
"""

from collections.abc import Iterable
from dataclasses import KW_ONLY
from typing import ClassVar

from tilewright.dialects.cute_nvgpu.lattice.legal_integers import (
    Integers,
    either_of,
    nearest_of,
    selects,
    some_of,
)
from tilewright.dialects.cute_nvgpu.lattice.operand_text import Kind, Written
from tilewright.dialects.cute_nvgpu.lattice.targets import Minimum
from tilewright.dialects.frozen import frozen


@frozen
class Misfit:
    """The wish for an operand in its place, and the legal spelling nearest to it;
    `replaced` is what stood there and ptxas takes nevertheless, in words."""

    expected: str
    nearest: str
    replaced: str | None = None


@frozen
class OperandForm:
    """An operand of an instruction.

    `name` is what the PTX ISA calls it and `section` where it says what it is, unless that is the
    instruction's section. It may be left out, with those after it, where it is `optional`, and
    given on `target` alone where that is said.
    """

    name: str
    _: KW_ONLY
    section: str = ""
    optional: bool = False
    target: Minimum | None = None

    ADDRESSES: ClassVar[int] = 0
    """How many of its words come before those that may be constants."""

    @property
    def literal(self) -> str | None:
        """The instruction type of constants that may stand for its registers, if any may."""
        return None

    @property
    def identifier(self) -> str:
        """Its name as PTX may have it."""
        return self.name.replace("-", "_")

    @property
    def spelling(self) -> str:
        """A legal one."""
        return self.identifier

    @property
    def in_words(self) -> str:
        """The legal operands there, where the spelling alone does not say."""
        return ""

    def takes(self, constant: int) -> bool:
        """True where a constant may stand for its register, where one of the type may."""
        return True

    def write(self, *words: str) -> str:
        """Its text, of the names of its registers and its constants in order."""
        return words[0]

    def misfit(self, written: Written) -> Misfit | None:
        """The fault of an operand in its place, or None."""
        raise NotImplementedError


@frozen
class Vector(OperandForm):
    """A vector of `count` registers of a type; `written` says that they are written to, `updated`
    that they are read too. A `loose` one is that of a plain load, store or move: one register needs
    no braces, some may be `_` where they are written to, of two `in_pairs` one, and constants where
    they are read. In place of all there may be one `sink`."""

    register: str
    count: int
    _: KW_ONLY
    sink: bool = False
    written: bool = False
    updated: bool = False
    loose: bool = False
    in_pairs: bool = False

    @property
    def spelling(self) -> str:
        return in_braces(self._names())

    def write(self, *words: str) -> str:
        return words[0] if self.loose and self.count == 1 else "{" + ", ".join(words) + "}"

    def misfit(self, written: Written) -> Misfit | None:
        bare = self.loose and self.count == 1 and written.kind != "vector"
        items = (written,) if bare else written.items if written.kind == "vector" else ()
        is_left_out = self.sink and written.kind == "sink"
        if is_left_out or (len(items) == self.count and self._fits(items)):
            return None
        given = [item.text for item in items or (written,) if item.kind == "register"]
        taken = set(given)
        spare = [name for name in self._names() if name not in taken]
        registers = "register" if self.count == 1 else "registers"
        return Misfit(
            f"a vector of {self.count} .{self.register} {registers}",
            self.write(*[*given, *spare][: self.count]) if self.loose
            else in_braces([*given, *spare][: self.count]),
            self._replaced({item.kind for item in items}) if len(items) == self.count else None,
        )  # fmt: skip

    def _fits(self, items: tuple[Written, ...]) -> bool:
        registers = [item.kind == "register" for item in items]
        if not self.loose or all(registers):
            return all(registers)
        if not self.written:
            return all(item.kind == "register" or fits(item, self.register) for item in items)
        lefts, rights = (registers[::2], registers[1::2]) if self.in_pairs else ([True], [True])
        pairs = zip(lefts, rights, strict=True)
        return (
            any(registers)
            and all(item.kind in ("register", "sink") for item in items)
            and all(map(any, pairs))
        )

    def _names(self) -> list[str]:
        return [f"{self.identifier}{i}" for i in range(self.count)]

    def _replaced(self, kinds: set[Kind]) -> str | None:
        """A constant, which ptxas takes in the place of some registers, not of all."""
        if self.updated or self.in_pairs:
            return None
        others: set[Kind] = {"integer", "float"} if self.register == "b32" else {"float"}
        others = {"sink"} if self.written else others
        if "register" not in kinds or not kinds - {"register"} <= others:
            return None
        return "_ beside registers" if self.written else "constants beside registers"


@frozen
class Register(OperandForm):
    """One register, of 32 bits by default; `braces` says whether they may stand around it."""

    register: str = "b32"
    _: KW_ONLY
    braces: bool = False

    def misfit(self, written: Written) -> Misfit | None:
        inner = written.items if written.kind == "vector" else (written,)
        bare = written.kind != "vector" or self.braces
        if bare and len(inner) == 1 and inner[0].kind == "register":
            return None
        given = (item.text for item in inner if item.kind == "register")
        where = "" if self.braces else " without braces"
        return Misfit(f"a .{self.register} register{where}", next(given, self.spelling))


@frozen
class Wide(OperandForm):
    """A register of 128 bits, of which tilewright has the halves, the low one first; what is `also`
    legal may stand there."""

    also: Kind = "integer"

    register: ClassVar[str] = "b64"
    count: ClassVar[int] = 2

    def write(self, *words: str) -> str:
        return words[0] if len(words) == 1 else "{" + ", ".join(words) + "}"

    def misfit(self, written: Written) -> Misfit | None:
        fits = written.kind in ("register", self.also)
        return None if fits else Misfit("a .b128 register", self.spelling)


NO_LITERAL = (
    *("f16", "bf16", "f16x2", "bf16x2", "s16x2", "u16x2", "f32x2", "s8x4", "u8x4"),
    *("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2", "ue8m0x2", "s2f6x2"),
)
"""Instruction types that have no constants."""


def fits(written: Written, type_: str) -> bool:
    """True where what is written is a constant of an instruction type. PTX ISA 4.5.4."""
    if type_ in ("f32", "f64"):
        return written.kind == "float"
    if written.kind == "integer":
        return type_ not in NO_LITERAL
    # The bits of a float of that width: of 32 bits by 0f alone, any other is one of 64.
    bits = "b32" if written.text[:2] in ("0f", "0F") else "b64"
    return written.kind == "float" and type_ == bits


@frozen
class Scalar(OperandForm):
    """A register that holds an instruction type, or a constant of that type; a predicate may be
    negated. `plain` ones are given as registers by tilewright, and `sums` say that a variable's
    address and an offset may stand there, `smem+16`, or that of an element, `smem[4]`."""

    type_: str
    _: KW_ONLY
    plain: bool = False
    sums: bool = False

    @property
    def literal(self) -> str | None:
        unwritten = self.plain or self.type_ == "pred" or self.type_ in NO_LITERAL
        return None if unwritten else self.type_

    def misfit(self, written: Written) -> Misfit | None:
        if self.type_ == "pred" and written.kind == "negation":
            [written] = written.items
        if written.kind == "register" or fits(written, self.type_):
            return None
        if self.sums and written.kind in ("sum", "element"):
            return None
        constant = "" if self.type_ in NO_LITERAL else f" or a constant of .{self.type_}"
        return Misfit(f"a register{constant}", self.spelling)


@frozen
class Result(OperandForm):
    """A register that is written to. `legal` are the ways to write it, the first one's first: `r`
    for a register, `_` for none, `r|r` for a register and a predicate."""

    register: str = "b32"
    legal: tuple[str, ...] = ("r",)

    @property
    def spelling(self) -> str:
        return self._spelled(self.legal[0])

    def write(self, *words: str) -> str:
        return "|".join(words)

    def _spelled(self, way: str) -> str:
        return way.replace("|r", "|p").replace("r", self.name, 1)

    def misfit(self, written: Written) -> Misfit | None:
        items = written.items if written.kind == "pair" else (written,)
        letters = {"register": "r", "sink": "_"}
        if "|".join(letters.get(item.kind, "?") for item in items) in self.legal:
            return None
        ways = " or ".join(map(self._spelled, self.legal))
        return Misfit(f"a .{self.register} register to write to ({ways})", self.spelling)


@frozen
class Constant(OperandForm):
    """One of some integers; any integer where none are said."""

    legal: Integers | None = None

    @property
    def spelling(self) -> str:
        return str(self.legal[0]) if self.legal else "0"

    @property
    def in_words(self) -> str:
        if isinstance(self.legal, tuple):
            return f"the constant {either_of(self.legal)}"
        return some_of(self.legal, "integer constant")

    def misfit(self, written: Written) -> Misfit | None:
        if written.kind == "integer" and (self.legal is None or written.value in self.legal):
            return None
        return Misfit(self.in_words, nearest_of(self.legal, written) or self.spelling)


@frozen
class Choice(OperandForm):
    """A register, or one of some integers; any integer where none are said. `type_` is that of
    constants that tilewright writes, if it writes any: `x32` in hexadecimal digits. A `bounded` one
    is at most the operand before it."""

    legal: Integers | None = None
    _: KW_ONLY
    type_: str | None = None
    bounded: bool = False

    @property
    def literal(self) -> str | None:
        return self.type_

    @property
    def spelling(self) -> str:
        if isinstance(self.legal, tuple):
            return str(self.legal[0])
        return self.identifier

    @property
    def in_words(self) -> str:
        if isinstance(self.legal, tuple):
            return f"a register, or {either_of(self.legal)}"
        return f"a register or {some_of(self.legal, 'integer')}"

    def takes(self, constant: int) -> bool:
        return self.legal is None or constant in self.legal

    def misfit(self, written: Written) -> Misfit | None:
        if selects(written, self.legal):
            return None
        return Misfit(self.in_words, nearest_of(self.legal, written) or self.spelling)


@frozen
class Superfluous(OperandForm):
    """An operand in the place of those of other forms: ptxas takes an integer there, the PTX ISA
    has none."""

    @property
    def spelling(self) -> str:
        return ""

    def misfit(self, written: Written) -> Misfit | None:
        replaced = "an integer" if written.kind == "integer" else None
        return Misfit("nothing", "nothing", replaced)


@frozen
class Selectors(OperandForm):
    """`{byte-id, thread-id}`: each one of some integers, or a 16-bit register."""

    legal: tuple[tuple[int, ...], tuple[int, ...]]

    @property
    def spelling(self) -> str:
        return in_braces(str(legal[0]) for legal in self.legal)

    def write(self, *words: str) -> str:
        return "{" + ", ".join(words) + "}"

    def misfit(self, written: Written) -> Misfit | None:
        items = written.items if written.kind == "vector" else ()
        pairs = list(zip(self.legal, items, strict=False))
        fine = [selects(item, legal) for legal, item in pairs]
        if len(items) == 2 and all(fine):
            return None
        byte, thread = map(either_of, self.legal)
        near = [
            item.text if good else nearest_of(legal, item) or str(legal[0])
            for good, (legal, item) in zip(fine, pairs, strict=True)
        ]
        near += [str(legal[0]) for legal in self.legal[len(near) :]]
        return Misfit(f"{{byte-id of {byte}, thread-id of {thread}}}", in_braces(near))


@frozen
class Label(OperandForm):
    """Where to go on."""

    def misfit(self, written: Written) -> Misfit | None:
        return None if written.kind == "register" else Misfit("a label", self.spelling)


@frozen
class ParameterList(OperandForm):
    """Arguments or results of a call, in parentheses."""

    @property
    def spelling(self) -> str:
        return f"({self.identifier})"

    def misfit(self, written: Written) -> Misfit | None:
        return None if written.kind == "passed" else Misfit("a list in parentheses", self.spelling)


@frozen
class Predicate(OperandForm):
    """A predicate register, or a constant in its place; `loose` where ptxas takes any integer."""

    _: KW_ONLY
    loose: bool = False

    def misfit(self, written: Written) -> Misfit | None:
        if self._fits(written):
            return None
        near = nearest_of((0, 1), written) or self.spelling
        negated = written.kind == "negation" and self._fits(written.items[0])
        replaced = "a negated predicate" if negated else None
        if self.loose and written.kind == "integer":
            replaced = "any integer"
        return Misfit("a predicate or the constant 0 or 1", near, replaced)

    def _fits(self, written: Written) -> bool:
        return selects(written, (0, 1))


def in_braces(items: Iterable[str]) -> str:
    return "{" + ",".join(items) + "}"
