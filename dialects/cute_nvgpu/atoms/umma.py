"""A `tcgen05.mma` atom: a row of the lattice with its M, N, types and operands' places chosen."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal

from tilewright.dialects.cute import Layout, make_layout
from tilewright.dialects.cute_nvgpu.atoms import tmem_layouts
from tilewright.dialects.cute_nvgpu.atoms.atom import (
    Atom,
    AtomError,
    Selector,
    as_accumulator,
    of_operand,
    operands_of,
)
from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import parse_mnemonic, spelled
from tilewright.dialects.cute_nvgpu.descriptors.instruction_descriptor import InstructionDescriptor
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import TCGEN05, MajorMode
from tilewright.dialects.cute_nvgpu.fragments.mma import mode
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, SCALE_TYPES, ElementType
from tilewright.dialects.cute_nvgpu.lattice.nearest import closest
from tilewright.dialects.cute_nvgpu.lattice.row import Operand, Shape, shape_text
from tilewright.dialects.cute_nvgpu.lattice.sm100 import LONG_K, UmmaRow, UmmaTypes
from tilewright.dialects.frozen import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UmmaFragmentKind = Literal["ss", "ts"]
"""Where A and B are: in shared memory ("s") or, A alone, in tensor memory ("t")."""

TmemOperand = Literal["A", "D", "E", "SFA", "SFB"]

_CELL_BITS = 32
_WORD = 4
"""Scale factors in a cell."""


@frozen
class UmmaAtom(Atom[UmmaRow]):
    """One legal `tcgen05.mma`: build it with `find_umma` or `umma_of`, which check it against its
    row. M and N are those of the pair where `cta_group` is 2."""

    row: UmmaRow
    m: int
    n: int
    types: UmmaTypes
    cta_group: int
    majors: tuple[MajorMode, MajorMode] = ("k", "k")
    frag_kind: UmmaFragmentKind = "ss"
    satfinite: bool = False

    FORMAT: ClassVar = TCGEN05

    @property
    def shape(self) -> Shape:
        return self.row.shape(self.m, self.n)

    @property
    def chunk(self) -> int:
        """Of how many neighbours in a row of a sparse A half are zeros: 2, 4 or 8."""
        return self.row.chunk

    @property
    def tmem_operands(self) -> tuple[TmemOperand, ...]:
        """Its operands in tensor memory."""
        operands: list[TmemOperand] = ["D"]
        if self.frag_kind == "ts":
            operands.append("A")
        if self.row.sparse:
            operands.append("E")
        if self.row.scale is not None:
            operands.append("SFA")
            operands.append("SFB")
        return tuple(operands)

    @property
    def path(self) -> tmem_layouts.DataPath:
        """Which lanes its rows lie in."""
        return tmem_layouts.data_path(
            self.m, self.cta_group, ws=self.row.ws, sparse=self.row.sparse
        )

    @property
    def pipeline(self) -> tuple[object, ...]:
        """The facts of two MMAs to one accumulator of which the first is done before the second."""
        return self.shape, self.cta_group, self.row.kind, self.row.ws, self.types[2]

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """The sparsity selector where it is sparse, and the ids of its scale factors."""
        row = self.row
        sparsity = (Selector("sparsity selector", row.selectors),) if row.sparse else ()
        ids = (Selector(name, row.scale_ids) for name in ("sfa_id", "sfb_id") if row.scale)
        return *sparsity, *ids

    @property
    def operands(self) -> tuple[Operand, ...]:
        return operands_of(self.row.sparse, self.row.scale is not None)

    @of_operand
    def element(self, operand: str) -> ElementType:
        return self.row.element(as_accumulator(operand), self.types)

    def cell_bits(self, operand: str) -> int:
        """How many bits the offsets of an operand's layout count."""
        return self.element(operand).bits

    @of_operand
    def extents(self, operand: str) -> tuple[int, int]:
        return self.row.extents(as_accumulator(operand), self.m, self.n)

    def cta_extents(self, operand: str) -> tuple[int, int]:
        """(rows, columns) of what one CTA holds: of a pair each has half of the rows of A, D, E and
        SFA and, in shared memory, half of the columns of B. SFB is whole in both."""
        rows, columns = self.extents(operand)
        return (rows if operand == "SFB" else rows // self.cta_group), columns

    def shared_extents(self, operand: str) -> tuple[int, int]:
        """(rows, columns) of what one CTA has of A or B in its shared memory: of a pair each has
        half of the columns of B."""
        rows, columns = self.extents(operand)
        return rows // self.cta_group, columns

    @of_operand
    def tmem_layout(self, operand: str) -> Layout:
        """`(row, column) -> offset` of an operand in tensor memory, in its elements from its
        address on: a lane is 65536 cells, the pair's other CTA 2^32. Scale factors count
        `(row, (byte of a word, word))`. PTX ISA, tcgen05 data path layouts.

        Raises AtomError for an operand that is not in tensor memory.
        """
        if as_accumulator(operand) not in self.tmem_operands:
            raise AtomError(
                f"{self.mnemonic} expected an operand in tensor memory, "
                f"{', '.join(self.tmem_operands)}, got {operand} (A and B may be in shared memory)"
            )
        return _tmem_layout(self, as_accumulator(operand))

    def cta_layout(self, operand: str) -> Layout:
        """The part of `tmem_layout` that one CTA has."""
        layout = self.tmem_layout(operand)
        step = tmem_layouts.PAIR_STRIDE * _CELL_BITS // self.cell_bits(operand)
        return make_layout(
            mode(*(leaf for leaf in layout.mode(0).leaves if leaf[1] != step)), layout.mode(1)
        )

    @of_operand
    def copies(self, operand: str) -> Layout:
        """`copy -> offset`: how often an operand must be there."""
        if operand == "SFB" and self.halves_columns:
            return tmem_layouts.HALVED_SCALE_COPIES
        if operand in ("SFA", "SFB"):
            return tmem_layouts.SCALE_COPIES
        if operand in ("A", "E"):
            return tmem_layouts.copies(self.path, self.cell_bits(operand))
        return Layout(1, 0)

    @property
    def halves_columns(self) -> bool:
        """True where each half of D's columns has lanes, and scale factors of B, of its own."""
        return self.m == 128 and self.cta_group == 2

    def cells(self, operand: str) -> NDArray[np.int64]:
        """The lane and column of every element of an operand in tensor memory, counted from its
        address: int64 [rows, columns, 3] of (lane, column, first bit of the cell). The lanes of a
        pair's second CTA follow those of the first, from 65536 on."""
        import numpy as np

        layout, (rows, columns) = self.tmem_layout(operand), self.extents(operand)
        row, column = np.arange(rows, dtype=np.int64), np.arange(columns, dtype=np.int64)
        bit = (layout[0](row)[:, None] + layout[1](column)[None, :]) * self.cell_bits(operand)
        cell = bit // _CELL_BITS
        return np.stack([cell >> 16, cell & 0xFFFF, bit % _CELL_BITS], axis=-1)

    def parameter_list(self) -> Iterator[str]:
        row = self.row
        yield shape_text(self.shape)
        yield f"elem_type = ({', '.join(ELEMENT_TYPES[name].mlir for name in self.types)})"
        yield f"ab_major = ({', '.join(self.majors)})"
        yield f"frag_kind = {self.frag_kind}"
        if self.cta_group != 1:
            yield f"cta_group = {self.cta_group}"
        if row.scale is not None:
            yield f"kind = {row.kind}"
            yield f"scale_vec = {row.scale.vector}"
            yield f"scale_type = {SCALE_TYPES[row.scale.type].mlir}"
        if self.satfinite:
            yield "satfinite"

    @property
    def mnemonic(self) -> str:
        """The PTX mnemonic, `tcgen05.mma.cta_group::1.kind::f16`."""
        return self.spelled()

    def spelled(self, *, ashift: bool = False, collector: str | None = None) -> str:
        """The mnemonic with its modifiers. Raises AtomError where there is none such."""
        row = self.row
        text = spelled(row, row.spellings[0], self.cta_group, ashift, collector)
        return parse_mnemonic(text).text

    def descriptor(
        self,
        *,
        negated: tuple[bool, bool] = (False, False),
        selector: int = 0,
        sfa_id: int = 0,
        sfb_id: int = 0,
    ) -> InstructionDescriptor:
        """Its instruction descriptor. Raises AtomError for a selector or a scale factor id that it
        has not, DescriptorError for what no bits say."""
        row = self.row
        self._check_id("a sparsity selector", selector, row.selectors, "it is dense")
        self._check_id("sfa_id", sfa_id, row.scale_ids, "it does not scale")
        self._check_id("sfb_id", sfb_id, row.scale_ids, "it does not scale")
        a, b, d = self.types
        return InstructionDescriptor(
            kind=self.row.kind,
            m=self.m,
            n=self.n,
            a_type=a,
            b_type=b,
            d_type=d,
            a_major=self.majors[0],
            b_major=self.majors[1],
            negate_a=negated[0],
            negate_b=negated[1],
            sparse=self.row.sparse,
            selector=selector,
            saturate=self.satfinite,
            scale_type=self.row.scale_type,
            sfa_id=sfa_id,
            sfb_id=sfb_id,
            long_k=self.row.k == LONG_K,
        )

    def _check_id(self, what: str, value: int, legal: tuple[int, ...], why_none: str) -> None:
        if value not in (legal or (0,)):
            raise AtomError(
                f"{self.mnemonic} expected {what} of "
                f"{', '.join(map(str, legal)) or f'none ({why_none})'}, got {value}"
                + (f"; nearest legal: {closest(value, legal)}" if legal else "")
            )


@cache
def _tmem_layout(atom: UmmaAtom, operand: str) -> Layout:
    _, columns = atom.extents(operand)
    bits = atom.cell_bits(operand)
    if operand == "D":
        return tmem_layouts.accumulator(atom.path, columns, bits)
    if operand == "A":
        return tmem_layouts.multiplicand(atom.path, columns, bits)
    if operand == "E":
        return tmem_layouts.metadata(atom.path, atom.element("A").bits, columns)
    return _scale_layout(atom, operand)


def _scale_layout(atom: UmmaAtom, operand: str) -> Layout:
    """Of K = 96 a row has factors in two words, and B's next words are 4 or 8 columns on."""
    rows, _ = atom.cta_extents(operand)
    long = atom.row.k == LONG_K
    words = 2 if long else 1
    if operand == "SFA":
        one_cta = tmem_layouts.scale_factors(rows, words)
        if atom.cta_group == 1:
            return one_cta
        pair = Layout(2, tmem_layouts.PAIR_STRIDE * _WORD)
        return make_layout(make_layout(one_cta.mode(0), pair), one_cta.mode(1))
    group = (4 if rows <= 128 else 8) if long else None
    if atom.halves_columns:
        return tmem_layouts.halved_scale_factors(rows, words, group)
    return tmem_layouts.scale_factors(rows, words, group)
