"""The form of a row of the MMA lattice."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product as cartesian
from typing import Literal, get_args

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.elements import ELEMENT_TYPES, ElementType
from tilewright.dialects.cute_nvgpu.fragments import accumulator, multiplicand_a, multiplicand_b
from tilewright.dialects.cute_nvgpu.targets import Target, target

Operand = Literal["A", "B", "C", "D"]
OPERANDS: tuple[Operand, ...] = get_args(Operand)

Shape = tuple[int, int, int]
ElementTypes = tuple[str, str, str, str]
"""PTX names of the element types of a, b, c and d."""


def shape_text(shape: tuple[int, ...]) -> str:
    """`16x8x16`, as IR spells a shape."""
    return "x".join(map(str, shape))


@dataclass(frozen=True, slots=True)
class MmaRow:
    """One warp-level MMA: a shape, and the element types it takes.

    `multiplicands` are the legal pairs (a, b), `accumulators` the legal pairs (c, d); every
    pair of the one goes with every pair of the other. `rounding` lists the rounding modifiers
    (the first is the default), `satfinite` says whether the saturating form exists, `bit_op` is
    what a single-bit MMA does before it counts bits ("xor" or "and").
    `section` is the section of the PTX ISA that gives the fragments.
    """

    op: str
    shape: Shape
    multiplicands: tuple[tuple[str, str], ...]
    accumulators: tuple[tuple[str, str], ...]
    target: Target
    ptx_version: tuple[int, int]
    section: str
    satfinite: bool = False
    rounding: tuple[str, ...] = ()
    bit_op: str | None = None

    def __post_init__(self) -> None:
        """A row whose layouts do not cover its matrices exactly once cannot be built."""
        for types in self.element_types():
            for operand in OPERANDS:
                layout = self.tv_layout(operand, types)
                extents = self.extents(operand)
                assert layout.size() == layout.cosize() == extents[0] * extents[1], (self, operand)
                register = self.register(operand, types)
                assert (layout.size() // 32) % register.per_register == 0, (self, operand)

    @property
    def modifiers(self) -> tuple[str, ...]:
        """The modifiers that its mnemonics may carry."""
        return (*(("satfinite",) if self.satfinite else ()), *self.rounding)

    @property
    def counting(self) -> str:
        """`xor.popc` or `and.popc`, which a single-bit MMA's mnemonic ends with; or nothing."""
        return "" if self.bit_op is None else f"{self.bit_op}.popc"

    def element_types(self) -> list[ElementTypes]:
        """Every legal (a, b, c, d)."""
        pairs = cartesian(self.multiplicands, self.accumulators)
        return [(a, b, c, d) for (a, b), (c, d) in pairs]

    def extents(self, operand: Operand) -> tuple[int, int]:
        """(rows, columns) as the layout's index counts: A (M, K), B (N, K), C and D (M, N)."""
        m, n, k = self.shape
        return {"A": (m, k), "B": (n, k), "C": (m, n), "D": (m, n)}[operand]

    def register(self, operand: Operand, types: ElementTypes) -> ElementType:
        """The element type of the operand."""
        return ELEMENT_TYPES[types[OPERANDS.index(operand)]]

    def tv_layout(self, operand: Operand, types: ElementTypes) -> Layout:
        """The operand's canonical layout `(thread, value) -> index`."""
        if operand == "A":
            return multiplicand_a(self.shape, self.register("A", types).per_register)
        if operand == "B":
            return multiplicand_b(self.shape, self.register("B", types).per_register)
        return accumulator(self.shape)


def row(
    op: str,
    shape: Shape,
    multiplicands: tuple[tuple[str, str], ...],
    accumulators: tuple[tuple[str, str], ...],
    minimum: str,
    ptx_version: tuple[int, int],
    section: str,
    *,
    satfinite: bool = False,
    rounding: tuple[str, ...] = (),
    bit_op: str | None = None,
) -> MmaRow:
    """A row, its target by name."""
    return MmaRow(
        op,
        shape,
        multiplicands,
        accumulators,
        target(minimum),
        ptx_version,
        section,
        satfinite,
        rounding,
        bit_op,
    )
