"""`wmma.load` and `wmma.store` as plain values: a row of the lattice and how the matrix lies in
memory, found by what they move and by PTX mnemonic. PTX ISA 9.7.14.4.3, 9.7.14.4.4.

The syntax blocks of all `wmma` mnemonics have layouts, shape and state space in this order, the
examples of the same sections have the shape first; ptxas takes them in any order.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError, MmaAtom
from tilewright.dialects.cute_nvgpu.lattice import WMMA_ACCESS, WmmaAccessRow
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, ElementType
from tilewright.dialects.cute_nvgpu.lattice.nearest import distance
from tilewright.dialects.cute_nvgpu.lattice.row import Major, Operand, Shape, shape_of, shape_text
from tilewright.dialects.cute_nvgpu.lattice.wmma import WMMA_SPACES, WmmaSpace
from tilewright.dialects.frozen import frozen


@frozen
class WmmaAccess:
    """One legal `wmma.load` or `wmma.store`: build it with `find_access` or `parse_access`."""

    row: WmmaAccessRow
    major: Major

    @property
    def op(self) -> str:
        """`wmma.load` or `wmma.store`."""
        return self.row.op

    @property
    def element(self) -> ElementType:
        """The element type of the matrix."""
        return self.row.element

    @property
    def tv_layout(self) -> Layout:
        """The layout `(thread, value) -> index` of the fragment, as that of `wmma.mma`."""
        return self.row.layout

    @property
    def lines(self) -> tuple[int, int]:
        """How many rows (columns where `major` is "col") lie in memory, each of how many
        elements side by side; the second is the least stride too."""
        return self.row.lines(self.major)

    def alignment(self, space: WmmaSpace | None) -> int:
        """On how many bytes each of `lines` must begin. PTX ISA 9.7.14.4.2."""
        return self.row.alignment(self.major, space)

    def why_stride(self, stride: int, space: WmmaSpace | None, several: int = 1) -> str | None:
        """The fault of a stride, or None; it counts units of `several` elements."""
        _, least = self.lines
        alignment = self.alignment(space)
        unit = alignment * 8 // self.element.bits
        if stride * several >= least and stride * several % unit == 0:
            return None
        nearest = max(least, -(-stride * several // unit) * unit)
        return (
            f"expected a stride of at least {least // several} and a multiple of "
            f"{unit // several} (a {self.line} on {alignment} bytes), got {stride}; nearest "
            f"legal: {nearest // several} ({self.mnemonic()}, PTX ISA 9.7.14.4.2)"
        )

    @property
    def line(self) -> str:
        """The name of one of `lines`: row or column."""
        return "row" if self.major == "row" else "column"

    @property
    def parameters(self) -> str:
        """The text between angle brackets in IR:
        `16x16x16, operand = a, elem_type = f16, layout = row`."""
        row = self.row
        return (
            f"{shape_text(row.shape)}, operand = {row.operand.lower()}, "
            f"elem_type = {row.element.mlir}, layout = {self.major}"
        )

    def mnemonic(self, space: WmmaSpace | None = None) -> str:
        """The PTX mnemonic for an address in that space; a generic one without."""
        return self.row.mnemonic(self.major, space)

    def __str__(self) -> str:
        return self.mnemonic()


def why_not_loaded(atom: MmaAtom, *loaded: Iterable[WmmaAccess]) -> str | None:
    """Why a `wmma.mma` cannot take what these loaded as A, these as B and these as C, or None where
    it can; how C lay in memory does not matter. PTX ISA 9.7.14.4.5."""
    operands: tuple[Operand, ...] = ("A", "B", "C")
    for operand, major, accesses in zip(operands, (*atom.majors, None), loaded, strict=True):
        for access in accesses:
            by, element = major or access.major, atom.element(operand).name
            wanted = find_access("wmma.load", operand.lower(), atom.shape, element, by)
            if access != wanted:
                return (
                    f"expected operand {operand} of {wanted}, got that of {access} "
                    f"({atom.mnemonic}, PTX ISA 9.7.14.4.5)"
                )
    return None


_CHOICES: tuple[tuple[str, str, Callable[[WmmaAccessRow], str]], ...] = (
    ("an operand", "", lambda row: row.operand.lower()),
    ("an element type", " that {0} has", lambda row: row.element.name),
    ("a shape", " that {0} of {1} has", lambda row: shape_text(row.shape)),
)
"""The names of a row, one after the other."""


def find_access(op: str, operand: str, shape: Shape, element: str, major: str) -> WmmaAccess:
    """The access of that op (`wmma.load`), operand (a, b, c or d), shape, element type (PTX name)
    and layout. Raises AtomError, naming the nearest legal choice, where there is none."""
    rows = [row for row in WMMA_ACCESS if row.op == op]
    for (what, of_what, key), wanted in zip(
        _CHOICES, (operand, element, shape_text(shape)), strict=True
    ):
        legal = list(dict.fromkeys(map(key, rows)))
        rows = [row for row in rows if key(row) == wanted]
        if not rows:
            raise AtomError(_expected(op, what, of_what.format(operand, element), wanted, legal))
    row = rows[0]
    for by in row.majors:
        if by == major:
            return WmmaAccess(row, by)
    raise AtomError(
        _expected(op, "a layout", f" that {operand} of {element} has", major, row.majors)
    )


def _expected(op: str, what: str, of_what: str, wanted: str, legal: Sequence[str]) -> str:
    """Why there is none such; shapes are ordered by how near they are."""
    if what == "a shape":
        legal = sorted(legal, key=lambda shape: distance(_extents(shape), _extents(wanted)))
    why = ""
    if what == "a layout" and len(legal) == 1:
        why = " (elements of less than a byte lie along K)"
    return f"'{op}' expected {what}{of_what}, got {wanted}{why}; nearest legal: {', '.join(legal)}"


def _extents(shape: str) -> tuple[int, ...]:
    return tuple(map(int, shape.split("x")))


@cache
def accesses() -> dict[str, tuple[WmmaAccess, WmmaSpace | None]]:
    """Every `wmma.load` and `wmma.store` by its mnemonic, and the space that it names."""
    moves = [WmmaAccess(row, major) for row in WMMA_ACCESS for major in row.majors]
    spaces: tuple[WmmaSpace | None, ...] = (None, *WMMA_SPACES)
    return {access.mnemonic(space): (access, space) for access in moves for space in spaces}


_ACCESS = re.compile(
    r"(?P<op>wmma\.(?:load|store))\.(?P<operand>[abcd])\.sync\.aligned\.(?P<major>row|col)"
    r"\.m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)(?:\.(?P<space>\w+))?\.(?P<element>\w+)"
)


def parse_access(mnemonic: str) -> tuple[WmmaAccess, WmmaSpace | None]:
    """The access that a PTX mnemonic names, and the space that it names (None is generic).

    Raises AtomError where it is no mnemonic of `wmma.load` or `wmma.store`, or an illegal one.
    """
    wanted = canonical_wmma(mnemonic).replace(".shared::cta.", ".shared.")
    if (known := accesses().get(wanted)) is not None:
        return known
    match = _ACCESS.fullmatch(wanted)
    if match is None:
        raise AtomError(
            "expected wmma.load.{a,b,c}.sync.aligned.LAYOUT.SHAPE{.SPACE}.TYPE or "
            f"wmma.store.d.sync.aligned.LAYOUT.SHAPE{{.SPACE}}.TYPE, got '{mnemonic}'"
        )
    if match["element"] not in ELEMENT_TYPES:
        legal = ", ".join(dict.fromkeys(row.element.name for row in WMMA_ACCESS))
        raise AtomError(f"expected an element type of {legal}, got {match['element']}")
    shape = shape_of(match)
    access = find_access(match["op"], match["operand"], shape, match["element"], match["major"])
    raise AtomError(
        f"'{access.op}' expected a state space of {', '.join(WMMA_SPACES)} or none, "
        f"got {match['space']}; nearest legal: {access.mnemonic('global')}"
    )


# Mnemonics

_ALIGNED = "sync.aligned"
_ORDER = re.compile(
    r"(?P<layout>row|col)|(?P<shape>m\d+n\d+k\d+)|(?P<space>global|shared(?:::cta)?)"
)
_ORDERED = ("layout", "shape", "space")

_MMA = re.compile(
    r"wmma\.mma(?:\.(?P<bit_op>\w+)\.popc)?\.sync\.aligned\.(?P<al>row|col)\.(?P<bl>row|col)"
    r"\.m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)(?:\.(?P<rounding>r[nzmp]))?"
    r"\.(?P<d>\w+)(?:\.(?P<a>\w+)\.(?P<b>\w+))?\.(?P<c>\w+?)(?P<satfinite>\.satfinite)?"
)


def canonical_wmma(mnemonic: str) -> str:
    """The mnemonic with layouts, shape and state space in the order of the syntax blocks."""
    head, aligned, rest = mnemonic.partition(f".{_ALIGNED}.")
    words = rest.split(".")
    kinds = [_kind(word) for word in words]
    first = next((i for i, kind in enumerate(kinds) if kind is None), len(words))
    ordered = sorted(range(first), key=lambda i: _ORDERED.index(kinds[i] or ""))
    return head + aligned + ".".join([*(words[i] for i in ordered), *words[first:]])


def _kind(word: str) -> str | None:
    match = _ORDER.fullmatch(word)
    return None if match is None else match.lastgroup


def read_wmma(mnemonic: str) -> re.Match[str]:
    """The parts of a canonical `wmma.mma`, which may name no legal atom.

    Raises AtomError where it is no such mnemonic, or has an unknown element type.
    """
    match = _MMA.fullmatch(mnemonic)
    if match is None:
        raise AtomError(
            "expected wmma.mma{.BITOP.popc}.sync.aligned.ALAYOUT.BLAYOUT.SHAPE{.ROUNDING}.DTYPE"
            f"{{.ATYPE.BTYPE}}.CTYPE{{.satfinite}}, got '{mnemonic}'"
        )
    for group in "dabc":
        if match[group] not in (None, *ELEMENT_TYPES):
            legal = ", ".join(ELEMENT_TYPES)
            raise AtomError(f"expected element types of {legal}, got {match[group]}")
    return match
