"""An MMA atom: one row of the lattice with its element types and modifiers chosen.

Atoms are plain values (no xDSL): IR wraps them in an attribute, `tilewright.atom` hands them to
users, and the mnemonic parses to and prints from them (`lookup.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from tilewright.dialects.cute import Layout, composition, right_inverse
from tilewright.dialects.cute.drawing import Drawing
from tilewright.dialects.cute_nvgpu.atoms.drawing import AXES, drawing_of, html
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, SCALE_TYPES, ElementType
from tilewright.dialects.cute_nvgpu.lattice.nearest import closest
from tilewright.dialects.cute_nvgpu.lattice.row import (
    OPERANDS,
    ElementTypes,
    Majors,
    MmaRow,
    Operand,
    Shape,
    shape_text,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import Minimum, target
from tilewright.dialects.cute_nvgpu.lattice.wmma import WmmaRow
from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import Illegal, told

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
WARP = 32


class AtomError(Illegal):
    """A wish for an atom that is not legal: what was found, what is legal, and why."""


@frozen
class Selector:
    """An immediate operand that says which threads or bytes of a register count, and its legal
    values."""

    name: str
    legal: tuple[int, ...]


class AtomRow(Protocol):
    """A row of the lattice, as far as every atom reads it."""

    @property
    def op(self) -> str: ...

    @property
    def section(self) -> str: ...

    @property
    def target(self) -> Minimum: ...


Row = TypeVar("Row", bound=AtomRow)


@cache
def operands_of(sparse: bool, scaled: bool) -> tuple[Operand, ...]:
    """The operands of an MMA that is sparse, or block-scaled."""
    metadata: tuple[Operand, ...] = ("E",) if sparse else ()
    return (*OPERANDS, *metadata, *(("SFA", "SFB") if scaled else ()))


def as_accumulator(operand: str) -> str:
    """C is D before: one place in the tables."""
    return "D" if operand == "C" else operand


Method = TypeVar("Method", bound=Callable[..., Any])


def of_operand(method: Method) -> Method:
    """A method that takes an operand of its atom. Raises AtomError for anything else."""

    @wraps(method)
    def checked(self: Atom[Any], operand: Operand) -> Any:
        if type(operand) is not str or operand not in self.operands:
            raise AtomError(
                f"'{self.op}' expected an operand of {', '.join(self.operands)}, "
                f"got {told(operand)}"
            )
        return method(self, operand)

    return cast("Method", checked)


class Atom(ABC, Generic[Row]):
    """One legal MMA instruction: a row of the lattice, its element types and modifiers chosen."""

    __slots__ = ()
    row: Row

    @property
    def op(self) -> str:
        """The op that issues it, without its dialect: `sm80.mma`."""
        return self.row.op

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """(M, N, K)."""

    @property
    @abstractmethod
    def mnemonic(self) -> str:
        """The PTX mnemonic."""

    @property
    def parameters(self) -> str:
        """The text between angle brackets in IR: `16x8x16, elem_type = (bf16, bf16, f32)`."""
        return ", ".join(self.parameter_list())

    @abstractmethod
    def parameter_list(self) -> Iterator[str]:
        """The parts of `parameters`."""

    @property
    @abstractmethod
    def selectors(self) -> tuple[Selector, ...]:
        """Its immediate operands that choose threads or bytes, in PTX's order."""

    @property
    @abstractmethod
    def operands(self) -> tuple[Operand, ...]:
        """A, B, C and D, E where it is sparse, SFA and SFB where it is block-scaled."""

    @abstractmethod
    def element(self, operand: Operand) -> ElementType:
        """The element type of operand "A", "B", "C", "D", "E", "SFA" or "SFB"."""

    @abstractmethod
    def extents(self, operand: Operand) -> tuple[int, int]:
        """(rows, columns) of the whole operand: A (M, stored K), B (N, K), C and D (M, N), E (M,
        indices of a row), SFA (M, factors of a row) and SFB (N, factors of a column)."""

    def check(self, arch: str) -> None:
        """Raise AtomError where `arch` cannot run this atom, TargetError where it is unknown."""
        minimum = self.row.target
        if not target(arch).supports(minimum):
            raise AtomError(
                f"{self.mnemonic} requires {minimum.at_least}, got {arch} "
                f"(PTX ISA {self.row.section})"
            )

    def check_selectors(self, values: Sequence[object]) -> None:
        """Raise AtomError unless there is a legal value for each of `selectors`: of those that are
        no numbers it is not known."""
        if not isinstance(values, tuple | list):
            raise AtomError(f"{self.mnemonic} expected a list of selectors, got {told(values)}")
        if values and not self.selectors:
            raise AtomError(
                f"{self.mnemonic} expected a sparsity selector of none (it is dense), "
                f"got {told(values[0])}"
            )
        if len(values) != len(self.selectors):
            names = ", ".join(selector.name for selector in self.selectors) or "none"
            raise AtomError(
                f"{self.mnemonic} expected {len(self.selectors)} selectors ({names}), "
                f"got {len(values)}"
            )
        for selector, value in zip(self.selectors, values, strict=True):
            if isinstance(value, int) and value not in selector.legal:
                raise AtomError(
                    f"{self.mnemonic} expected a {selector.name} of "
                    f"{', '.join(map(str, selector.legal))}, got {told(value)}; "
                    f"nearest legal: {closest(value, selector.legal)}"
                )

    def __str__(self) -> str:
        return self.mnemonic


class FragmentAtom(Atom[Row]):
    """An atom with operands in registers, each of its threads holding a fragment of them."""

    __slots__ = ()

    @property
    @abstractmethod
    def threads(self) -> int:
        """How many threads issue it together."""

    @property
    @abstractmethod
    def chunk(self) -> int:
        """Of how many neighbours in a row of a sparse A half are zeros: 2, 4 or 8."""

    @property
    @abstractmethod
    def contributors(self) -> int:
        """How many threads of each group of four give sparsity metadata."""

    @property
    def ordered_metadata(self) -> bool:
        """True where the indices of a chunk must increase."""
        return False

    @abstractmethod
    def tv_layout(self, operand: Operand) -> Layout:
        """The canonical layout `(thread, value) -> index` of an operand.

        The index is m + M*k for A, n + N*k for B and m + M*n for C and D, of E m + M*j for the j-th
        2-bit index of a row, of SFA m + M*s and of SFB n + N*s for the s-th scale factor; values
        count in register order, low bits first. Threads and bytes that a selector chooses among
        repeat each other. PTX ISA: the row's `section`. Raises AtomError for what is not in
        registers.
        """

    def values(self, operand: Operand) -> int:
        """How many elements of the operand one thread holds. Raises AtomError as `tv_layout`."""
        return self.tv_layout(operand).size() // self.threads

    def stored_layout(self, operand: Operand) -> Layout:
        """(row, column) -> element of an operand whose registers lie in memory one thread after
        another, [threads, words], as `tilewright.sparsify` and `simulate` have them: the first of
        those that repeat each other. Raises AtomError as `tv_layout`."""
        tv, values = self.tv_layout(operand), self.values(operand)
        by_thread = composition(Layout((self.threads, values), (values, 1)), right_inverse(tv))
        return composition(by_thread, Layout(self.extents(operand)))

    def registers(self, operand: Operand) -> tuple[str, int]:
        """The operand's PTX register type and how many of them a thread passes."""
        element = self.element(operand)
        return element.register, self.values(operand) // element.per_register

    def coords(self, operand: Operand) -> NDArray[np.int64]:
        """Matrix coordinates of every fragment element: int64 [threads, values, 2].

        A holds (m, k), B (n, k), C and D (m, n); values in register order, low bits first. Raises
        AtomError as `tv_layout`.
        """
        import numpy as np

        layout, rows = self.tv_layout(operand), self.extents(operand)[0]
        threads, values = (np.arange(layout[mode].size(), dtype=np.int64) for mode in (0, 1))
        index = layout[0](threads)[:, None] + layout[1](values)[None, :]
        return np.stack([index % rows, index // rows], axis=-1)

    def _repr_html_(self) -> str:
        drawings: list[Drawing] = []
        for operand in AXES:
            with suppress(AtomError):
                element, layout = self.element(operand).name, self.tv_layout(operand)
                drawings.append(drawing_of(operand, element, layout, self.coords(operand)))
        return html(str(self), drawings)


@frozen
class MmaAtom(FragmentAtom[MmaRow]):
    """One legal `mma.sync` or `wmma.mma`: build it with `lookup.find` or `parse`, which check it
    against its row."""

    row: MmaRow
    types: ElementTypes
    satfinite: bool = False
    rounding: str | None = None
    majors: Majors = ("row", "col")

    @property
    def shape(self) -> Shape:
        return self.row.shape

    @property
    def inputs(self) -> tuple[Operand, ...]:
        """The register operands that it reads, in PTX's order: A, B, C, then E, SFA and SFB where
        it is sparse and block-scaled."""
        return self.row.inputs

    @property
    def threads(self) -> int:
        return WARP

    @property
    def chunk(self) -> int:
        return self.row.chunk(self.types)

    @property
    def contributors(self) -> int:
        return self.row.contributors(self.types)

    @property
    def ordered_metadata(self) -> bool:
        return self.row.sparsity == "sp::ordered_metadata"

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """Its immediate operands, in PTX's order. PTX ISA 9.7.14.3 and 9.7.14.6.1."""
        return _selectors(self.row, self.types)

    @property
    def operands(self) -> tuple[Operand, ...]:
        return operands_of(self.row.sparsity is not None, self.row.scale is not None)

    @of_operand
    def element(self, operand: Operand) -> ElementType:
        return self.row.element(operand, self.types)

    @of_operand
    def tv_layout(self, operand: Operand) -> Layout:
        return _tv_layout(self.row, operand, self.types, self.majors)

    @of_operand
    def extents(self, operand: Operand) -> tuple[int, int]:
        return self.row.extents(operand, self.types)

    def parameter_list(self) -> Iterator[str]:
        row = self.row
        types = self.types[:3] if self.types[2] == self.types[3] else self.types
        spelled = ", ".join(ELEMENT_TYPES[name].mlir for name in types)
        yield shape_text(self.shape)
        yield f"elem_type = ({spelled})"
        if len(row.majors) > 1:
            yield f"layouts = ({', '.join(self.majors)})"
        if row.kind is not None:
            yield f"kind = {row.kind}"
        if row.scale is not None:
            yield f"scale_vec = {row.scale.vector}"
            yield f"scale_type = {SCALE_TYPES[row.scale.type].mlir}"
        if row.sparsity == "sp::ordered_metadata":
            yield "ordered_metadata"
        if self.satfinite:
            yield "satfinite"
        if self.rounding is not None:
            yield f"rounding = {self.rounding}"
        if row.bit_op is not None:
            yield f"bit_op = {row.bit_op}"

    @property
    def mnemonic(self) -> str:
        """The PTX mnemonic, `mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32`."""
        return _mnemonic(self)


def atoms_of(row: MmaRow) -> Iterator[MmaAtom]:
    """Every atom of a row: its element types with each of its modifiers."""
    for types in row.element_types():
        for majors in row.majors:
            yield MmaAtom(row, types, majors=majors)
            if row.satfinite:
                yield MmaAtom(row, types, satfinite=True, majors=majors)
            for rounding in row.rounding:
                yield MmaAtom(row, types, rounding=rounding, majors=majors)


@cache
def _tv_layout(row: MmaRow, operand: Operand, types: ElementTypes, majors: Majors) -> Layout:
    return row.tv_layout(operand, types, majors)


@cache
def _selectors(row: MmaRow, types: ElementTypes) -> tuple[Selector, ...]:
    selectors: list[Selector] = []
    if row.sparsity is not None:
        selectors.append(Selector("sparsity selector", tuple(range(4 // row.contributors(types)))))
    if row.scale is not None:
        for operand, threads in (("a", 2), ("b", 4)):
            selectors.append(Selector(f"byte-id-{operand}", row.scale.byte_ids))
            selectors.append(Selector(f"thread-id-{operand}", tuple(range(threads))))
    return tuple(selectors)


def _mnemonic(atom: MmaAtom) -> str:
    row = atom.row
    if isinstance(row, WmmaRow):
        return row.mnemonic(atom.types, atom.majors, atom.satfinite, atom.rounding)
    m, n, k = atom.shape
    a, b, c, d = atom.types
    parts = ["mma", row.sparsity, f"sync.aligned.m{m}n{n}k{k}", *atom.majors]
    if row.kind is not None:
        parts.append(f"kind::{row.kind}")
    parts += [] if row.scale is None else ["block_scale", f"scale_vec::{row.scale.vector}X"]
    if atom.satfinite:
        parts.append("satfinite")
    parts += [atom.rounding, d, a, b, c, row.scale_type, row.counting]
    return ".".join(part for part in parts if part)
