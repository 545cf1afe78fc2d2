"""A `wgmma` atom: a row of the lattice with its N, element types and operands' places chosen."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import ClassVar, Literal

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atoms.atom import (
    AtomError,
    FragmentAtom,
    Selector,
    as_accumulator,
    of_operand,
    operands_of,
)
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import WGMMA, MajorMode
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, ElementType
from tilewright.dialects.cute_nvgpu.lattice.row import Operand, Shape, shape_text
from tilewright.dialects.cute_nvgpu.lattice.sm90 import WARPGROUP, WgmmaRow, WgmmaTypes
from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import told

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


@frozen
class WgmmaAtom(FragmentAtom[WgmmaRow]):
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

    FORMAT: ClassVar = WGMMA

    @property
    def shape(self) -> Shape:
        return self.row.shape(self.n)

    @property
    def threads(self) -> int:
        return WARPGROUP

    @property
    def chunk(self) -> int:
        return self.row.chunk

    @property
    def contributors(self) -> int:
        return self.row.contributors

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
    def selectors(self) -> tuple[Selector, ...]:
        """The sparsity selector of a sparse atom. PTX ISA 9.7.15.6.1."""
        legal = tuple(range(4 // self.row.contributors))
        return (Selector("sparsity selector", legal),) if self.row.sparse else ()

    @property
    def operands(self) -> tuple[Operand, ...]:
        return operands_of(self.row.sparse, False)

    @of_operand
    def element(self, operand: str) -> ElementType:
        return self.row.element(as_accumulator(operand), self.types)

    def tv_layout(self, operand: str) -> Layout:
        legal = ("A", "C", "D", "E") if self.row.sparse else ("A", "C", "D")
        if type(operand) is not str or operand not in legal:
            got = told(operand)
            why = " (B is always in shared memory)" if got == "'B'" else ""
            raise AtomError(
                f"{self.mnemonic} expected a register operand of {', '.join(legal)}, got {got}{why}"
            )
        return _tv_layout(self.row, as_accumulator(operand), self.types, self.n)

    @of_operand
    def extents(self, operand: str) -> tuple[int, int]:
        return self.row.extents(as_accumulator(operand), *self.shape[:2])

    def shared_extents(self, operand: str) -> tuple[int, int]:
        """(rows, columns) of a matrix in shared memory."""
        return self.extents(operand)

    def parameter_list(self) -> Iterator[str]:
        yield shape_text(self.shape)
        yield f"elem_type = ({', '.join(ELEMENT_TYPES[name].mlir for name in self.types)})"
        yield f"ab_major = ({', '.join(self.majors)})"
        yield f"frag_kind = {self.frag_kind}"
        if self.satfinite:
            yield "satfinite"

    @property
    def mnemonic(self) -> str:
        """The PTX mnemonic, `wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16`."""
        m, n, k = self.shape
        a, b, d = self.types
        sparse = ".sp" if self.row.sparse else ""
        counting = f".{self.row.bit_op}.popc" if self.row.bit_op else ""
        satfinite = ".satfinite" if self.satfinite else ""
        return f"wgmma.mma_async{sparse}.sync.aligned.m{m}n{n}k{k}.{d}.{a}.{b}{satfinite}{counting}"


@cache
def _tv_layout(row: WgmmaRow, operand: str, types: WgmmaTypes, n: int) -> Layout:
    return row.tv_layout(operand, types, n)
