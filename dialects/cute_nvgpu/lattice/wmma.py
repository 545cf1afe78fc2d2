"""`wmma.mma`, and the `wmma.load` and `wmma.store` of its matrices.

The rows of the loads and stores follow from those of `wmma.mma`: whatever matrix one of them takes
or gives can be loaded or stored. Modifier `.aligned` came with PTX ISA 6.3, and as every mnemonic
here has it, no row has an older version. PTX ISA 9.7.14.4.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Literal

from tilewright.dialects.cute import Layout, filter, right_inverse
from tilewright.dialects.cute_nvgpu.fragments import wmma as wmma_fragments
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType, register_bits
from tilewright.dialects.cute_nvgpu.lattice.row import (
    ALL_MAJORS,
    OPERANDS,
    ElementTypes,
    Major,
    Majors,
    MatrixOperand,
    MmaRow,
    Operand,
    Shape,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import NeedingRow, Requirement
from tilewright.dialects.frozen import frozen

WARP = 32
MATRIX_ROW_BYTES = 16
"""The bytes of a row of a matrix that `ldmatrix` reads."""
_HALF_REGISTERS = 8
"""How many registers an f16 A or B has at every shape. PTX ISA 9.7.14.4.1."""

MAJORS: tuple[Major, Major] = ("row", "col")


@frozen
class WmmaRow(MmaRow):
    """One `wmma.mma`: a shape, and the element types it takes.

    `majors` are how A and B lay in memory when they were loaded. The layouts of its fragments are
    one chip's (`wmma_fragments.py`), and may hold every element several times.
    """

    def __post_init__(self) -> None:
        """A row whose layouts do not hold every element equally often cannot be built."""
        for types, operand in product(self.element_types(), OPERANDS):
            layout = self.tv_layout(operand, types, self.majors[0])
            rows, columns = self.extents(operand, types)
            once = filter(layout)
            assert right_inverse(once).size() == once.size() == rows * columns, (self, operand)
            element = self.element(operand, types)
            assert (layout.size() // WARP) % element.per_register == 0, (self, operand)

    def tv_layout(self, operand: Operand, types: ElementTypes, majors: Majors) -> Layout:
        """The operand's layout `(thread, value) -> index`, whichever way it lay in memory."""
        extents = self.extents(operand, types)
        if operand in ("C", "D"):
            return wmma_fragments.accumulator(extents)
        m, n, _ = self.shape
        element = self.element(operand, types)
        per_register, copies = element.per_register, 1
        if element.name == "f16":
            copies = _HALF_REGISTERS * per_register * WARP // (extents[0] * extents[1])
        as_a = (operand == "A") == (m >= n)
        return wmma_fragments.multiplicand(extents, per_register, as_a=as_a, copies=copies)

    def mnemonic(
        self, types: ElementTypes, majors: Majors, satfinite: bool, rounding: str | None
    ) -> str:
        """`wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32`: an f16 A and B go without saying."""
        m, n, k = self.shape
        a, b, c, d = types
        parts = ["wmma.mma", self.counting, "sync.aligned", *majors, f"m{m}n{n}k{k}", rounding]
        parts += (d, c) if (a, b) == ("f16", "f16") else (d, a, b, c)
        return ".".join(part for part in (*parts, "satfinite" if satfinite else "") if part)


WMMA_MMA: tuple[WmmaRow, ...] = (
    *WmmaRow.table(
        "wmma.mma",
        """
        m16n16k16|m8n32k16|m32n8k16  f16   f16|f16:f32|f32:f16|f32  sm_70 6.3  9.7.14.4.5
        m16n16k16|m8n32k16|m32n8k16  bf16  f32                      sm_80 7.0  9.7.14.4.5
        m16n16k8                     tf32  f32                      sm_80 7.0  9.7.14.4.5
        m8n8k4                       f64   f64                      sm_80 7.0  9.7.14.4.5
        m16n16k16|m8n32k16|m32n8k16  s8    s32                      sm_72 6.3  9.7.14.4.5
        m16n16k16|m8n32k16|m32n8k16  u8    s32                      sm_72 6.3  9.7.14.4.5
        """,
        majors=ALL_MAJORS,
    ),
    *WmmaRow.table(
        "wmma.mma",
        """
        m8n8k32   s4  s32  sm_75 6.3  9.7.14.4.5
        m8n8k32   u4  s32  sm_75 6.3  9.7.14.4.5
        m8n8k128  b1  s32  sm_75 6.3  9.7.14.4.5  xor
        m8n8k128  b1  s32  sm_80 7.1  9.7.14.4.5  and
        """,
    ),
)


# Loads and stores

WmmaAccess = Literal["load", "store"]
WmmaSpace = Literal["global", "shared"]
WMMA_SPACES: tuple[WmmaSpace, ...] = ("global", "shared")
"""The state spaces that a mnemonic may name; without one its address is generic."""


@frozen
class WmmaAccessRow(NeedingRow):
    """`wmma.load` of A, B or C, or `wmma.store` of D: one matrix of a shape and element type.

    `majors` are how it may lie in memory, `layout` is its fragment's, and `extents` are its rows
    and columns in memory: A (M, K), B (K, N), C and D (M, N).
    """

    access: WmmaAccess
    operand: MatrixOperand
    shape: Shape
    element: ElementType
    majors: tuple[Major, ...]
    extents: tuple[int, int]
    layout: Layout
    needs: Requirement
    section: str

    @property
    def op(self) -> str:
        """`wmma.load`."""
        return f"wmma.{self.access}"

    @property
    def values(self) -> int:
        """How many elements a thread holds."""
        return self.layout.size() // WARP

    @property
    def registers(self) -> tuple[str, int]:
        """The PTX register type of its fragment, and how many of them a thread passes."""
        return self.element.register, self.values // self.element.per_register

    def lines(self, major: Major) -> tuple[int, int]:
        """How many runs of neighbours in memory the matrix has, and of how many elements: its
        rows, or its columns. The second is also the least stride between them."""
        rows, columns = self.extents
        return (rows, columns) if major == "row" else (columns, rows)

    def alignment(self, major: Major, space: WmmaSpace | None) -> int:
        """On how many bytes each run must lie: on the size of the fragment (PTX ISA 9.7.14.4.2),
        but no more than a run has, nor than the 16 that `load_matrix_sync` of CUDA C++ asks of
        strides, as an H200 shows. What ptxas reads from shared memory as `ldmatrix` would needs
        them, as an H100 shows."""
        register, count = self.registers
        _, length = self.lines(major)
        bits = min(count * register_bits(register), length * self.element.bits)
        fragment = min(bits // 8, MATRIX_ROW_BYTES)
        along_k = (self.operand, major) in (("A", "row"), ("B", "col"))
        as_rows = self.element.bits == 16 or (along_k and self.element.bits < 16)
        if space == "shared" and self.operand in ("A", "B") and as_rows:
            return MATRIX_ROW_BYTES
        return fragment

    def mnemonic(self, major: Major, space: WmmaSpace | None) -> str:
        """`wmma.load.a.sync.aligned.row.m16n16k16.shared.f16`."""
        m, n, k = self.shape
        parts = [self.op, self.operand.lower(), "sync.aligned", major, f"m{m}n{n}k{k}", space]
        return ".".join(part for part in (*parts, self.element.name) if part)


def _accesses(row: WmmaRow) -> Iterator[WmmaAccessRow]:
    """The loads and stores of one row's matrices."""
    for types, (place, operand) in product(row.element_types(), enumerate(OPERANDS)):
        rows, columns = row.extents(operand, types)
        majors: tuple[Major, ...] = MAJORS
        if operand in ("A", "B"):
            majors = tuple(dict.fromkeys(major[place] for major in row.majors))
        yield WmmaAccessRow(
            "store" if operand == "D" else "load",
            operand,
            row.shape,
            row.element(operand, types),
            majors,
            (columns, rows) if operand == "B" else (rows, columns),
            row.tv_layout(operand, types, row.majors[0]),
            row.needs,
            "9.7.14.4.4" if operand == "D" else "9.7.14.4.3",
        )


def _distinct(rows: Iterable[WmmaAccessRow]) -> tuple[WmmaAccessRow, ...]:
    """One row a matrix. MMAs that share a matrix stand oldest first, and it is as old as they."""
    oldest: dict[tuple[MatrixOperand, Shape, str], WmmaAccessRow] = {}
    for row in rows:
        oldest.setdefault((row.operand, row.shape, row.element.name), row)
    return tuple(oldest.values())


WMMA_ACCESS = _distinct(access for row in WMMA_MMA for access in _accesses(row))
"""Every `wmma.load` and `wmma.store`."""
