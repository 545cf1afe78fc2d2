"""A contraction of one tile, D = A * B + C, as far as MMA atoms care: extents and element types.

`A` is M x K, `B` K x N, `C` and `D` M x N; where they lie and how is the copies' business.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.lattice import (
    MMA_ROWS,
    UMMA_ROWS,
    WGMMA_ROWS,
    WMMA_MMA,
    MmaRow,
    UmmaRow,
    WgmmaRow,
)
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, SCALE_TYPES
from tilewright.dialects.cute_nvgpu.lattice.row import ElementTypes, Shape, shape_text
from tilewright.dialects.cute_nvgpu.lattice.targets import Target, lowest
from tilewright.dialects.frozen import frozen

AnyMmaRow = MmaRow | WgmmaRow | UmmaRow

FAMILIES: dict[str, tuple[AnyMmaRow, ...]] = {
    "mma": MMA_ROWS, "wmma": WMMA_MMA, "wgmma": WGMMA_ROWS, "tcgen05": UMMA_ROWS
}  # fmt: skip
"""The rows of every MMA, by the first word of their mnemonics."""

_BIT_OPS = ("xor", "and")
_INTEGERS = frozenset({"s32", "s8", "u8", "s4", "u4", "b1"})


@frozen
class ScaleBlock:
    """Block scaling: along K, every `size` elements share one scale factor of a type ("ue8m0" or
    "ue4m3"). PTX ISA 9.7.14.3."""

    size: int
    type: str

    def __str__(self) -> str:
        return f"{self.size} x {self.type}"


@frozen
class ContractionForm:
    """Operands of an MMA beside A, B and C: sparsity metadata, scale factors, both or neither."""

    sparse: bool = False
    scale: ScaleBlock | None = None

    def named(self, what: str) -> str:
        """`dense MMA`, or `sparse MMA scaled by 32 x ue8m0`, of "MMA"."""
        words = f"{'sparse' if self.sparse else 'dense'} {what}"
        return words if self.scale is None else f"{words} scaled by {self.scale}"

    def distance(self, other: ContractionForm) -> int:
        """How far another form is: more for scale factors that are there or not than for others."""
        mine, its = self.scale, other.scale
        apart = 2 * ((mine is None) != (its is None)) + (self.sparse != other.sparse)
        if mine is not None and its is not None:
            apart += (mine.size != its.size) + (mine.type != its.type)
        return apart


@frozen
class Contraction:
    """The tile's extents (M, N, K), the element types of (a, b, c, d), and the form.

    `bit_op` is what single bits do before they are counted, None where either will do;
    `any_accumulator` takes atoms with other types of c and d, too; `families` are the instructions
    to choose from. Raises AtomError for an empty tile, or a type or a family that there is none of.
    """

    shape: Shape
    types: ElementTypes
    form: ContractionForm
    bit_op: str | None = None
    any_accumulator: bool = False
    families: tuple[str, ...] = tuple(FAMILIES)

    def __post_init__(self) -> None:
        if min(self.shape) < 1:
            m, n, k = (max(extent, 1) for extent in self.shape)
            raise AtomError(
                f"expected a tile of one element or more, got {shape_text(self.shape)}; "
                f"nearest legal: {shape_text((m, n, k))}"
            )
        for name in self.types:
            _check_name(name, ELEMENT_TYPES, "an element type")
        if self.form.scale is not None:
            _check_name(self.form.scale.type, SCALE_TYPES, "a type of scale factors")
        if self.bit_op is not None:
            _check_name(self.bit_op, _BIT_OPS, "a bit operation")
        for name in self.families:
            _check_name(name, FAMILIES, "an instruction")

    @property
    def rows(self) -> Iterator[AnyMmaRow]:
        """The rows to choose from."""
        return (row for family in self.families for row in FAMILIES[family])

    def types_in(self, row: AnyMmaRow) -> list[ElementTypes]:
        """The element types with which the atoms of a row compute it; none where they do not."""
        bit_op = None if isinstance(row, UmmaRow) else row.bit_op
        if form_of(row) != self.form or (bit_op and self.bit_op not in (None, bit_op)):
            return []
        return [
            types
            for types in types_of(row)
            if types[:2] == self.types[:2] and (types == self.types or self.any_accumulator)
        ]

    def nearest(self, chip: Target) -> tuple[ContractionForm, ElementTypes]:
        """The form and element types that some atom of the chip has and that differ least."""
        return min(
            (
                (form_of(row), types)
                for row in self.rows
                if chip.supports(row.target)
                for types in types_of(row)
            ),
            key=lambda candidate: self._distance(*candidate),
        )

    def why_none(self, chip: Target) -> str:
        """Why no atom of the chip computes it, and what is nearest to it."""
        needed = self._needed(chip)
        form, types = self.nearest(chip)
        if needed and self.bit_op is not None and (form, types) == (self.form, self.types):
            other = next(bit_op for bit_op in _BIT_OPS if bit_op != self.bit_op)
            return (
                f"expected bit operation {other} on {chip}, "
                f"got {self.bit_op} (requires {needed}); nearest legal: {other}"
            )
        why = f"they require {needed}" if needed else "no target has them"
        near = f"({', '.join(types)})"
        return (
            f"expected element types (a, b, c, d) of a {self.form.named('MMA')} on {chip}, "
            f"got ({', '.join(self.types)}) ({why}); "
            f"nearest legal: {near if form == self.form else form.named(near)}"
        )

    def _needed(self, chip: Target) -> str | None:
        """The targets nearest to the chip that have atoms for it, in words, or None."""
        targets = [row.target for row in self.rows if self.types_in(row)]
        if not targets:
            return None
        return min(
            targets, key=lambda minimum: abs(lowest([minimum]).number - chip.number)
        ).at_least

    def _distance(self, form: ContractionForm, types: ElementTypes) -> tuple[int, ...]:
        """How far other types and another form are: a changed kind of number weighs most."""
        pairs = list(zip(types, self.types, strict=True))
        kinds = sum((x in _INTEGERS) != (y in _INTEGERS) for x, y in pairs)
        bits = sum(abs(ELEMENT_TYPES[x].bits - ELEMENT_TYPES[y].bits) for x, y in pairs)
        return kinds, sum(x != y for x, y in pairs) + self.form.distance(form), bits


def contraction(
    shape: Shape,
    types: Sequence[str],
    *,
    sparse: bool,
    scale: ScaleBlock | None,
    bit_op: str | None,
    any_accumulator: bool,
    families: Sequence[str],
) -> Contraction:
    """The contraction of element types (a, b, accumulators) or (a, b, c, d). Raises AtomError."""
    if len(types) not in (3, 4):
        raise AtomError(
            f"expected element types (a, b, accumulators) or (a, b, c, d), got ({', '.join(types)})"
        )
    a, b, c, d = (*types, types[-1])[:4]
    form = ContractionForm(sparse, scale)
    return Contraction(shape, (a, b, c, d), form, bit_op, any_accumulator, tuple(families))


def types_of(row: AnyMmaRow) -> list[ElementTypes]:
    """Every legal (a, b, c, d) of a row."""
    if isinstance(row, MmaRow):
        return row.element_types()
    return [(a, b, d, d) for a, b, d in row.element_types()]


def form_of(row: AnyMmaRow) -> ContractionForm:
    """The form of a row's MMAs; a block of K shares a scale factor: K / scale_vec of them."""
    if isinstance(row, MmaRow):
        block, k, sparse = row.scale, row.shape[2], row.sparsity is not None
    else:
        block, k, sparse = row.scale, row.k, row.sparse
    scale = None if block is None else ScaleBlock(k // block.vector, block.type)
    return ContractionForm(sparse, scale)


def _check_name(name: str, legal: Iterable[str], what: str) -> None:
    known = list(legal)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]
        raise AtomError(f"expected {what} of {', '.join(known)}, got {name}; nearest legal: {near}")
