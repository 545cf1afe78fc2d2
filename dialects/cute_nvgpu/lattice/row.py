"""The form of a row of the MMA lattice."""

import re
from collections.abc import Mapping
from functools import cache
from itertools import product as cartesian
from typing import Any, Literal, Self, get_args

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.fragments import mma as fragments
from tilewright.dialects.cute_nvgpu.lattice.elements import (
    ELEMENT_TYPES,
    METADATA,
    SCALE_TYPES,
    UNPACKED,
    ElementType,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import NeedingRow, Requirement, needs
from tilewright.dialects.frozen import frozen

Operand = Literal["A", "B", "C", "D", "E", "SFA", "SFB"]
"""A, B, C, D; E is the sparsity metadata, SFA and SFB are the scale factors of A and B."""

MatrixOperand = Literal["A", "B", "C", "D"]
OPERANDS: tuple[MatrixOperand, ...] = get_args(MatrixOperand)

Shape = tuple[int, int, int]
ElementTypes = tuple[str, str, str, str]
"""PTX names of the element types of a, b, c and d."""

Major = Literal["row", "col"]
Majors = tuple[Major, Major]
"""How A and B lie: PTX's `.alayout.blayout`."""

ROW_COL: tuple[Majors, ...] = (("row", "col"),)
ALL_MAJORS: tuple[Majors, ...] = tuple(cartesian(get_args(Major), repeat=2))

Sparsity = Literal["sp", "sp::ordered_metadata"]
Kind = Literal["f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4"]

_UNPACKING_KINDS = ("f8f6f4", "mxf8f6f4")
"""The kinds to which every element is a byte: sixteen of 6 or 4 bits lie in 16 bytes of shared
memory, those of e2m1 in the first 8, the others in the first 12."""


def shape_of(match: re.Match[str]) -> Shape:
    """The M, N and K that a mnemonic says."""
    m, n, k = map(int, match.group("m", "n", "k"))
    return m, n, k


def shape_text(shape: tuple[int, ...]) -> str:
    """`16x8x16`, as IR spells a shape."""
    return "x".join(map(str, shape))


def types_text(types: tuple[str, ...]) -> str:
    """Element types as diagnostics list them: `(f16, f16, f32)`."""
    return "(" + ", ".join(types) + ")"


@frozen
class BlockScale:
    """How many scale factors each row of A and column of B has, and of which type."""

    vector: int
    type: str

    @property
    def byte_ids(self) -> tuple[int, ...]:
        """Where in a word the scale factors may start. PTX ISA 9.7.14.3, table 37."""
        return tuple(range(0, 4, self.vector))


def element_of(
    operand: str, types: Mapping[Any, str], kind: str | None, scale: BlockScale | None
) -> ElementType:
    """The element type of an operand of an MMA of a kind, with matrices of these types."""
    if operand == "E":
        return METADATA
    if operand in ("SFA", "SFB"):
        assert scale is not None
        return SCALE_TYPES[scale.type]
    table = ELEMENT_TYPES | UNPACKED if kind in _UNPACKING_KINDS else ELEMENT_TYPES
    return table[types[operand]]


class ScaledRow:
    """A row that may be block-scaled."""

    __slots__ = ()
    scale: BlockScale | None = None

    @property
    def scale_vector(self) -> int | None:
        """How many scale factors a row of A has, or None without block scaling."""
        return None if self.scale is None else self.scale.vector

    @property
    def scale_type(self) -> str | None:
        """The type of the scale factors, or None without block scaling."""
        return None if self.scale is None else self.scale.type


@frozen
class MmaRow(NeedingRow, ScaledRow):
    """One warp-level MMA: a shape, and the element types it takes.

    `multiplicands` are the legal pairs (a, b), `accumulators` the legal pairs (c, d); every
    pair of the one goes with every pair of the other. `bit_op` is
    what a single-bit MMA does before it counts bits ("xor" or "and"). `majors` are the legal
    layouts of A and B, `kind` is PTX's `.kind::`, `sparsity` the form of a sparse A's metadata,
    `scale` the block scaling. `section` is the section of the PTX ISA that gives the fragments.
    """

    op: str
    shape: Shape
    multiplicands: tuple[tuple[str, str], ...]
    accumulators: tuple[tuple[str, str], ...]
    needs: Requirement
    section: str
    bit_op: str | None = None
    majors: tuple[Majors, ...] = ROW_COL
    kind: Kind | None = None
    sparsity: Sparsity | None = None
    scale: BlockScale | None = None

    @classmethod
    def table(cls, op: str, text: str, **alike: Any) -> tuple[Self, ...]:
        """The rows of a table: shapes; types of A and B, any two of which go together; types of C
        and D, `c:d` where they differ; what is needed; the section; the bit operation if any."""
        rows: list[Self] = []
        for line in text.strip().splitlines():
            shapes, inputs, sums, target, version, section, *bit_op = line.split()
            names = inputs.split("|")
            pairs = tuple(cartesian(names, names))
            ends = [accumulator.split(":") for accumulator in sums.split("|")]
            accumulators = tuple((end[0], end[-1]) for end in ends)
            needed = needs(f"{target} {version}")
            alike["bit_op"] = bit_op[0] if bit_op else None
            for shape in shapes.split("|"):
                m, n, k = map(int, re.findall(r"\d+", shape))
                rows.append(cls(op, (m, n, k), pairs, accumulators, needed, section, **alike))
        return tuple(rows)

    def __post_init__(self) -> None:
        """A row whose layouts do not cover its matrices exactly once cannot be built."""
        for types, majors in cartesian(self.element_types(), self.majors):
            for operand in OPERANDS:
                layout = self.tv_layout(operand, types, majors)
                rows, columns = self.extents(operand, types)
                element = self.element(operand, types)
                assert _fills(layout, rows * columns, element.per_register), (self, operand)

    @property
    def satfinite(self) -> bool:
        """True where the saturating form exists: of sums of integers."""
        return self.accumulators == (("s32", "s32"),) and self.bit_op is None

    @property
    def rounding(self) -> tuple[str, ...]:
        """The rounding modifiers, the default first: those of f64."""
        return ("rn", "rz", "rm", "rp") if self.accumulators == (("f64", "f64"),) else ()

    @property
    def modifiers(self) -> tuple[str, ...]:
        """The modifiers that its mnemonics may carry."""
        return (*(("satfinite",) if self.satfinite else ()), *self.rounding)

    @property
    def counting(self) -> str:
        """`xor.popc` or `and.popc`, which a single-bit MMA's mnemonic ends with; or nothing."""
        return "" if self.bit_op is None else f"{self.bit_op}.popc"

    @property
    def matrices(self) -> int:
        """How many MMAs one instruction computes: four of m8n8k4 on f16, otherwise one."""
        return fragments.QUAD_PAIRS if self._quad_pairs else 1

    @property
    def inputs(self) -> tuple[Operand, ...]:
        """The register operands that it reads, in PTX's order."""
        extra: tuple[Operand, ...] = ("E",) if self.sparsity is not None else ()
        return ("A", "B", "C", *extra, *(("SFA", "SFB") if self.scale is not None else ()))

    def element_types(self) -> list[ElementTypes]:
        """Every legal (a, b, c, d)."""
        pairs = cartesian(self.multiplicands, self.accumulators)
        return [(a, b, c, d) for (a, b), (c, d) in pairs]

    def extents(self, operand: Operand, types: ElementTypes) -> tuple[int, int]:
        """(rows, columns) as the layout's index counts: A (M, K), B (N, K), C and D (M, N).

        A sparse A is stored in K/2 columns. E has a column for each 2-bit index of a row, SFA
        (M, vector) and SFB (N, vector) one for each scale factor. Where one instruction computes
        several MMAs, their matrices lie side by side.
        """
        m, n, k = self.shape
        match operand:
            case "A":
                return m, (k if self.sparsity is None else k // 2) * self.matrices
            case "B":
                return n, k * self.matrices
            case "C" | "D":
                return m, n * self.matrices
            case "E":
                return m, 2 * k // self.chunk(types)
            case "SFA":
                return m, self.scale_vector or 0
            case "SFB":
                return n, self.scale_vector or 0

    def chunk(self, types: ElementTypes) -> int:
        """Of how many neighbours in a row of a sparse A half are zeros: 2, 4 or 8.

        At 8 they come in pairs (4:8). A chunk takes two 2-bit indices. PTX ISA 9.7.14.6.1.
        """
        return {32: 2, 4: 8}.get(self.element("A", types).bits, 4)

    def contributors(self, types: ElementTypes) -> int:
        """How many threads of each group of four give sparsity metadata."""
        rows, columns = self.extents("E", types)
        return rows * columns // 128

    def element(self, operand: Operand, types: ElementTypes) -> ElementType:
        """The element type of the operand, as its fragment holds it."""
        return element_of(operand, dict(zip(OPERANDS, types, strict=True)), self.kind, self.scale)

    def tv_layout(self, operand: Operand, types: ElementTypes, majors: Majors) -> Layout:
        """The operand's canonical layout `(thread, value) -> index`."""
        match operand:
            case "E":
                rows, columns = self.extents("E", types)
                return fragments.metadata(rows, columns, across=self.element("A", types).bits <= 8)
            case "SFA":
                return fragments.scale_a(*self.extents("SFA", types))
            case "SFB":
                return fragments.scale_b(*self.extents("SFB", types))
            case _ if self._quad_pairs:
                return self._quad_pair_layout(operand, types, majors)
            case "A" | "B":
                rows, columns = self.extents(operand, types)
                return fragments.blocks(rows, columns, self.element(operand, types).per_register)
            case "C" | "D":
                return fragments.blocks(*self.extents(operand, types), 2)

    @property
    def _quad_pairs(self) -> bool:
        return self.shape == (8, 8, 4) and self.multiplicands == (("f16", "f16"),)

    def _quad_pair_layout(self, operand: Operand, types: ElementTypes, majors: Majors) -> Layout:
        if operand == "A":
            return fragments.quad_pair_multiplicand(along_k=majors[0] == "row")
        if operand == "B":
            return fragments.quad_pair_multiplicand(along_k=majors[1] == "col")
        return fragments.quad_pair_accumulator(self.element(operand, types).name)


class DescriptorMmaRow(ScaledRow):
    """A row of MMAs that read matrices through descriptors: one K, with every M and N.

    `multiplicands` are the legal pairs (a, b), `accumulators` the types of d that go with each.
    """

    __slots__ = ()
    k: int
    multiplicands: tuple[tuple[str, str], ...]
    accumulators: tuple[str, ...]
    sparse: bool

    @property
    def chunk(self) -> int:
        """Of how many neighbours in a row of a sparse A half are zeros: 2, 4, or 8 in pairs."""
        raise NotImplementedError

    @property
    def stored_k(self) -> int:
        """How many columns of A are stored: half of them where A is sparse."""
        return self.k // 2 if self.sparse else self.k

    @property
    def indices(self) -> int:
        """How many 2-bit indices of metadata a row of a sparse A has."""
        return 2 * self.k // self.chunk

    def element_types(self) -> list[tuple[str, str, str]]:
        """Every legal (a, b, d)."""
        return [(a, b, d) for (a, b), d in cartesian(self.multiplicands, self.accumulators)]

    def extents(self, operand: str, m: int, n: int) -> tuple[int, int]:
        """(rows, columns): A (M, stored K), B (N, K), D (M, N), E (M, indices of a row), SFA (M,
        factors of a row) and SFB (N, factors of a column)."""
        columns = {"A": self.stored_k, "B": self.k, "D": n, "E": self.indices}
        return n if operand in ("B", "SFB") else m, columns.get(operand, self.scale_vector or 0)


@cache
def _fills(layout: Layout, elements: int, per_register: int) -> bool:
    """True where the threads hold that many elements, each of them, in whole registers."""
    return layout.size() == layout.cosize() == elements and elements // 32 % per_register == 0
