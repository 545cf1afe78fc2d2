"""A `wgmma` atom: a row of the lattice with its N, element types and operands' places chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError, check_arch, coordinates
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import MajorMode
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, ElementType
from tilewright.dialects.cute_nvgpu.lattice.row import Shape, shape_text
from tilewright.dialects.cute_nvgpu.lattice.sm90 import WARPGROUP, WgmmaRow, WgmmaTypes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FragmentKind = Literal["ss", "rs"]
"""Where A and B are: in shared memory ("s") or, A alone, in registers ("r")."""

Immediate = Literal["imm-scale-a", "imm-scale-b", "imm-trans-a", "imm-trans-b"]

LEGAL_IMMEDIATES: Mapping[Immediate, tuple[int, int]] = {
    "imm-scale-a": (1, -1),
    "imm-scale-b": (1, -1),
    "imm-trans-a": (0, 1),
    "imm-trans-b": (0, 1),
}
"""The values of each immediate, what changes nothing first. PTX ISA 9.7.15.5.2."""


@dataclass(frozen=True, slots=True)
class WgmmaAtom:
    """One legal `wgmma.mma_async`: build it with `find_wgmma` or `parse_wgmma`, which check it
    against its row.

    The mnemonic does not say where A is and which way A and B lie: `frag_kind` and `majors` are
    what its operands will be.
    """

    row: WgmmaRow
    n: int
    types: WgmmaTypes
    satfinite: bool = False
    majors: tuple[MajorMode, MajorMode] = ("k", "k")
    frag_kind: FragmentKind = "ss"

    @property
    def op(self) -> str:
        """The op that issues it, without its dialect: `sm90.mma`."""
        return self.row.op

    @property
    def shape(self) -> Shape:
        """(M, N, K)."""
        return self.row.shape(self.n)

    @property
    def threads(self) -> int:
        """How many threads issue it together."""
        return WARPGROUP

    @property
    def chunk(self) -> int:
        """Of how many neighbours in a row of a sparse A half are zeros: 2 or 4."""
        return self.row.chunk

    @property
    def contributors(self) -> int:
        """How many threads of each group of four give sparsity metadata."""
        return self.row.contributors

    @property
    def ordered_metadata(self) -> bool:
        """Whether the indices of a chunk must increase: `wgmma` has plain metadata alone."""
        return False

    @property
    def immediates(self) -> tuple[Immediate, ...]:
        """The immediate operands after scale-d, in PTX's order. PTX ISA 9.7.15.5.2."""
        scales: tuple[Immediate, ...] = ("imm-scale-a", "imm-scale-b") if self.row.negates else ()
        if not self.row.transposes:
            return scales
        if self.frag_kind == "rs":
            return (*scales, "imm-trans-b")
        return (*scales, "imm-trans-a", "imm-trans-b")

    @property
    def selectors(self) -> tuple[int, ...]:
        """The legal values of a sparse atom's sparsity selector; none where it is dense."""
        return tuple(range(4 // self.row.contributors)) if self.row.sparse else ()

    def element(self, operand: str) -> ElementType:
        """The element type of operand "A", "B", "C", "D" or "E" (the sparsity metadata)."""
        return self.row.element(_accumulator(operand), self.types)

    def tv_layout(self, operand: str) -> Layout:
        """The canonical layout `(thread, value) -> index` of what registers hold: "A", "C", "D" or
        "E". The index is m + M*k for A (the stored k of a sparse one), m + M*n for C and D and, of
        E, m + M*j for the j-th 2-bit index of a row. PTX ISA 9.7.15.5.1.1 and 9.7.15.6.2.

        Raises AtomError for B, which is always in shared memory, and E of a dense atom.
        """
        legal = ("A", "C", "D", "E") if self.row.sparse else ("A", "C", "D")
        if operand not in legal:
            why = " (B is always in shared memory)" if operand == "B" else ""
            raise AtomError(
                f"{self.mnemonic} expected a register operand of {', '.join(legal)}, "
                f"got {operand}{why}"
            )
        return _tv_layout(self.row, _accumulator(operand), self.types, self.n)

    def values(self, operand: str) -> int:
        """How many elements of the operand one thread holds. Raises AtomError as `tv_layout`."""
        return self.tv_layout(operand).size() // WARPGROUP

    def registers(self, operand: str) -> tuple[str, int]:
        """The operand's PTX register type and how many of them a thread passes."""
        element = self.element(operand)
        return element.register, self.values(operand) // element.per_register

    def extents(self, operand: str) -> tuple[int, int]:
        """(rows, columns): A (M, stored K), B (N, K), C and D (M, N), E (M, indices of a row)."""
        return self.row.extents(_accumulator(operand), self.n)

    def coords(self, operand: str) -> NDArray[np.int64]:
        """Matrix coordinates of every fragment element: int64 [threads, values, 2]."""
        return coordinates(self.tv_layout(operand), self.extents(operand)[0])

    @property
    def parameters(self) -> str:
        """What IR writes of it between angle brackets."""
        return ", ".join(_parameters(self))

    @property
    def mnemonic(self) -> str:
        """The PTX mnemonic, `wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16`."""
        m, n, k = self.shape
        a, b, d = self.types
        sparse = ".sp" if self.row.sparse else ""
        counting = f".{self.row.bit_op}.popc" if self.row.bit_op else ""
        satfinite = ".satfinite" if self.satfinite else ""
        return f"wgmma.mma_async{sparse}.sync.aligned.m{m}n{n}k{k}.{d}.{a}.{b}{satfinite}{counting}"

    def check(self, arch: str) -> None:
        """Raise AtomError where `arch` cannot run this atom, TargetError where it is unknown."""
        check_arch(self.mnemonic, self.row.target, self.row.section, arch)

    def check_selector(self, value: int) -> None:
        """Raise AtomError for a sparsity selector that says nothing. PTX ISA 9.7.15.6.1."""
        if value not in self.selectors:
            legal = ", ".join(map(str, self.selectors)) or "none (it is dense)"
            raise AtomError(
                f"{self.mnemonic} expected a sparsity selector of {legal}, got {value}"
                + (f"; nearest legal: {_nearest(self.selectors, value)}" if self.selectors else "")
            )

    def __str__(self) -> str:
        return self.mnemonic


def _nearest(legal: tuple[int, ...], value: int) -> int:
    return min(legal, key=lambda each: abs(each - value))


def _accumulator(operand: str) -> str:
    """C is D before: one place in the tables."""
    return "D" if operand == "C" else operand


@cache
def _tv_layout(row: WgmmaRow, operand: str, types: WgmmaTypes, n: int) -> Layout:
    return row.tv_layout(operand, types, n)


def _parameters(atom: WgmmaAtom) -> Iterator[str]:
    yield shape_text(atom.shape)
    yield f"elem_type = ({', '.join(ELEMENT_TYPES[name].mlir for name in atom.types)})"
    yield f"ab_major = ({', '.join(atom.majors)})"
    yield f"frag_kind = {atom.frag_kind}"
    if atom.satfinite:
        yield "satfinite"
