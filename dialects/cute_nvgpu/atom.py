"""An MMA atom: one row of the lattice with its element types and modifiers chosen.

Atoms are plain values (no xDSL): IR wraps them in an attribute, `tilewright.atom` hands them to
users, and the mnemonic parses to and prints from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.elements import ELEMENT_TYPES, ElementType
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS, MmaRow
from tilewright.dialects.cute_nvgpu.lattice.row import (
    ElementTypes,
    Operand,
    Shape,
    shape_text,
)
from tilewright.dialects.cute_nvgpu.targets import target

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WARP = 32


class AtomError(ValueError):
    """What was asked for is no legal atom: what was found, what is legal, and why."""


@dataclass(frozen=True, slots=True)
class MmaAtom:
    """One legal `mma.sync`: build it with `find` or `parse`, which check it against its row."""

    row: MmaRow
    types: ElementTypes
    satfinite: bool = False
    rounding: str | None = None

    @property
    def op(self) -> str:
        """The op that issues it, without its dialect: `sm80.mma`."""
        return self.row.op

    @property
    def shape(self) -> Shape:
        """(M, N, K)."""
        return self.row.shape

    def element(self, operand: Operand) -> ElementType:
        """The element type of operand "A", "B", "C" or "D"."""
        return self.row.register(operand, self.types)

    def tv_layout(self, operand: Operand) -> Layout:
        """The canonical layout `(thread, value) -> index` of an operand.

        The index is m + M*k for A, n + N*k for B and m + M*n for C and D; values count in
        register order, low bits first. PTX ISA: the row's `section`.
        """
        return _tv_layout(self.row, operand, self.types)

    def values(self, operand: Operand) -> int:
        """How many elements of the operand one thread holds."""
        return self.tv_layout(operand).size() // WARP

    def registers(self, operand: Operand) -> tuple[str, int]:
        """The operand's PTX register type and how many of them a thread passes."""
        element = self.element(operand)
        return element.register, self.values(operand) // element.per_register

    def coords(self, operand: Operand) -> NDArray[np.int64]:
        """Matrix coordinates of every fragment element: int64 [threads, values, 2].

        A holds (m, k), B (n, k), C and D (m, n); values in register order, low bits first.
        """
        import numpy as np

        layout = self.tv_layout(operand)
        rows, _ = self.row.extents(operand)
        index = np.array([layout(i) for i in range(layout.size())], dtype=np.int64)
        index = index.reshape(self.values(operand), WARP).T
        return np.stack([index % rows, index // rows], axis=-1)

    @property
    def parameters(self) -> str:
        """What IR writes of it between angle brackets: `16x8x16, elem_type = (bf16, bf16, f32)`."""
        types = self.types[:3] if self.types[2] == self.types[3] else self.types
        spelled = ", ".join(ELEMENT_TYPES[name].mlir for name in types)
        parts = [shape_text(self.shape), f"elem_type = ({spelled})"]
        if self.satfinite:
            parts.append("satfinite")
        if self.rounding is not None:
            parts.append(f"rounding = {self.rounding}")
        if self.row.bit_op is not None:
            parts.append(f"bit_op = {self.row.bit_op}")
        return ", ".join(parts)

    @property
    def mnemonic(self) -> str:
        """The PTX mnemonic, `mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32`."""
        m, n, k = self.shape
        a, b, c, d = self.types
        parts = ["mma.sync.aligned", f"m{m}n{n}k{k}", "row.col"]
        if self.satfinite:
            parts.append("satfinite")
        if self.rounding is not None:
            parts.append(self.rounding)
        parts += [d, a, b, c]
        if self.row.counting:
            parts.append(self.row.counting)
        return ".".join(parts)

    def check(self, arch: str) -> None:
        """Raise AtomError where `arch` cannot run this atom, TargetError where it is unknown."""
        if not target(arch).supports(self.row.target):
            raise AtomError(
                f"{self.mnemonic} requires {self.row.target} or later, got {arch}"
                f" (PTX ISA {self.row.section})"
            )

    def __str__(self) -> str:
        return self.mnemonic


def atoms_of(row: MmaRow) -> Iterator[MmaAtom]:
    """Every atom of a row: its element types with each of its modifiers."""
    for types in row.element_types():
        yield MmaAtom(row, types)
        if row.satfinite:
            yield MmaAtom(row, types, satfinite=True)
        for rounding in row.rounding:
            yield MmaAtom(row, types, rounding=rounding)


@cache
def _tv_layout(row: MmaRow, operand: Operand, types: ElementTypes) -> Layout:
    return row.tv_layout(operand, types)


def find(
    op: str | None,
    shape: Shape,
    types: ElementTypes,
    *,
    satfinite: bool = False,
    rounding: str | None = None,
    bit_op: str | None = None,
) -> MmaAtom:
    """The atom of that op, shape, element types (a, b, c, d, PTX names) and modifiers.

    `op` None searches the whole lattice. Raises AtomError, naming the nearest legal choice, where
    there is no such row.
    """
    rows = [row for row in MMA_ROWS if op in (None, row.op)]
    if not rows:
        legal = ", ".join(sorted({row.op for row in MMA_ROWS}))
        raise AtomError(f"expected an op of the lattice, got '{op}'; legal: {legal}")
    typed = [row for row in rows if types in row.element_types()]
    if not typed:
        raise AtomError(_explain_types(types, rows))
    shaped = [row for row in typed if row.shape == shape]
    if not shaped:
        near = sorted({row.shape for row in typed}, key=lambda each: _distance(each, shape))
        raise AtomError(
            f"'{typed[0].op}' expected a shape that {_types_text(types)} has, "
            f"got {shape_text(shape)}; nearest legal: {', '.join(map(shape_text, near))}"
        )
    row = next((row for row in shaped if row.bit_op == bit_op), None)
    if row is None:
        legal = " or ".join(each.bit_op or "none" for each in shaped)
        raise AtomError(
            f"'{shaped[0].op}' expected a bit operation that {_types_text(types)} has, "
            f"got {bit_op or 'none'}; legal: {legal}"
        )
    return _with_modifiers(row, types, satfinite, rounding)


def _with_modifiers(
    row: MmaRow, types: ElementTypes, satfinite: bool, rounding: str | None
) -> MmaAtom:
    if satfinite and not row.satfinite:
        raise AtomError(
            f"'{row.op}' expected no satfinite for {_types_text(types)}, got satfinite "
            "(only integer accumulators saturate)"
        )
    if rounding is not None and rounding not in row.rounding:
        legal = ", ".join(row.rounding) or "none"
        raise AtomError(
            f"'{row.op}' expected a rounding modifier that {_types_text(types)} has, "
            f"got {rounding}; legal: {legal}"
        )
    return MmaAtom(row, types, satfinite, rounding)


def _distance(found: Shape, wanted: Shape) -> int:
    return sum(abs(have - want) for have, want in zip(found, wanted, strict=True))


def _types_text(types: ElementTypes) -> str:
    return "(" + ", ".join(types) + ")"


def _explain_types(types: ElementTypes, rows: list[MmaRow]) -> str:
    """Why no row takes these element types: the nearest legal tuple differs least."""

    def difference(candidate: tuple[ElementTypes, str]) -> tuple[int, ElementTypes]:
        return sum(x != y for x, y in zip(candidate[0], types, strict=True)), candidate[0]

    near, op = min(((each, row.op) for row in rows for each in row.element_types()), key=difference)
    return (
        f"'{op}' expected element types (a, b, c, d) of the lattice, got {_types_text(types)}; "
        f"nearest legal: {_types_text(near)}"
    )


_MMA = re.compile(
    r"mma\.sync\.aligned\.m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)\.(?P<al>\w+)\.(?P<bl>\w+)"
    r"(?P<satfinite>\.satfinite)?(?:\.(?P<rounding>r[nzmp]))?"
    r"\.(?P<d>\w+)\.(?P<a>\w+)\.(?P<b>\w+)\.(?P<c>\w+?)(?:\.(?P<bit_op>\w+)\.popc)?"
)


@cache
def parse(mnemonic: str) -> MmaAtom:
    """The atom that a PTX mnemonic names.

    Raises AtomError where it is no `mma.sync` mnemonic, or an illegal one.
    """
    match = _MMA.fullmatch(mnemonic)
    if match is None:
        raise AtomError(
            f"expected mma.sync.aligned.SHAPE.row.col.DTYPE.ATYPE.BTYPE.CTYPE, got '{mnemonic}'"
        )
    if (match["al"], match["bl"]) != ("row", "col"):
        raise AtomError(
            f"expected layouts row.col, got {match['al']}.{match['bl']}; nearest legal: "
            + mnemonic.replace(f".{match['al']}.{match['bl']}.", ".row.col.")
        )
    types = (match["a"], match["b"], match["c"], match["d"])
    unknown = [name for name in types if name not in ELEMENT_TYPES]
    if unknown:
        legal = ", ".join(ELEMENT_TYPES)
        raise AtomError(f"expected element types of {legal}, got {unknown[0]}")
    return find(
        None,
        (int(match["m"]), int(match["n"]), int(match["k"])),
        types,
        satfinite=match["satfinite"] is not None,
        rounding=match["rounding"],
        bit_op=match["bit_op"],
    )
