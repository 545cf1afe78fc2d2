"""Traits, as CuTe calls them: an instruction as tiled MMAs and copies know it.

    (thread, value) -> index    of an MMA's operand: A m + M*k, B n + N*k, C m + M*n
    (thread, value) -> element  of a copy's source, its destination and its reference, which is
                                the numbering that source and destination have in common

The layouts of ldmatrix.x4 on 16-bit elements: each thread names a row of 8 elements, and gets
2 of each matrix.

    source        (32,8):(8,1)
    destination   (32,(2,4)):(2,(1,64))
"""

from collections.abc import Mapping
from typing import Literal, Protocol

from tilewright.dialects.cute.algebra import composition
from tilewright.dialects.cute.int_tuple import LayoutError
from tilewright.dialects.cute.inverse import right_inverse
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.frozen import frozen

Operand = Literal["A", "B", "C", "E", "SFA", "SFB"]
"""The operands of an MMA, which writes C too: E is the metadata of a sparse A, SFA and SFB are the
scale factors of A and B."""

OPERAND_MODES: dict[Operand, tuple[int, int]] = {
    "A": (0, 2), "B": (1, 2), "C": (0, 1), "E": (0, 2), "SFA": (0, 2), "SFB": (1, 2),
}  # fmt: skip
"""Which of the modes (M, N, K) an operand has."""


@frozen
class MmaOperand:
    """One operand of an MMA: its extents, its TV layout, the MLIR spellings of the element types
    that hold it (first the instruction's own), and the memory space that the instruction reads it
    from: rmem, smem or tmem.

    What lies along K has its own number of `columns`: half a K of a sparse A, indices of E, scale
    factors. Of `packed` neighbours along K that share a register or a cell an id chooses one MMA's.
    """

    extents: tuple[int, int]
    tv: Layout
    elements: tuple[str, ...]
    space: str
    packed: int = 1


@frozen
class MmaTraits:
    """An MMA instruction: its shape (M, N, K), which threads of a CTA are its own (thread of the
    instruction -> thread), its operands, and how many threads execute it `together`: those of one
    MMA, or of the several that one instruction computes."""

    shape: tuple[int, int, int]
    thread_ids: Layout
    operands: Mapping[Operand, MmaOperand]
    together: int

    def operand(self, which: Operand) -> MmaOperand:
        """The operand of that name. Raises LayoutError where there is none."""
        if (operand := self.operands.get(which)) is None:
            legal = ", ".join(self.operands)
            raise LayoutError(f"expected an operand of {legal}, those of the atom, got {which}")
        return operand


class TiledAtom(Protocol):
    """An MMA instruction, as a dialect above this one knows it."""

    @property
    def mma_traits(self) -> MmaTraits:
        """How threads hold its operands."""
        ...

    def why_not_operand(self, which: Operand, layout: AnyLayout) -> str | None:
        """Why the instruction cannot read an operand of that layout, (mode of rows, mode of
        columns), from shared or tensor memory, or None where it can."""
        ...


@frozen
class CopyTraits:
    """A copy instruction: its element type, the spaces it copies between (none: any), and TV
    layouts whose images are elements. `vector` is how many bytes each thread moves at once on
    the sides that are memory, which must be aligned to as many; `tmem` how the source's elements
    lie in tensor memory, where the instruction reads that."""

    element: str
    source_space: str | None
    destination_space: str | None
    source: Layout
    destination: Layout
    reference: Layout
    vector: int
    tmem: Layout | None = None

    @property
    def threads(self) -> int:
        """How many threads issue the instruction together."""
        return self.reference[0].size()

    @property
    def values(self) -> int:
        """How many elements a thread has in the reference numbering."""
        return self.reference[1].size()

    def target(self, side: Literal["S", "D"]) -> Layout:
        """The source's or the destination's TV layout."""
        return self.source if side == "S" else self.destination

    def to_reference(self, side: Literal["S", "D"]) -> Layout:
        """(thread, value) of a side -> thread + threads*value of the reference."""
        return composition(right_inverse(self.reference), self.target(side))


class CopyAtom(Protocol):
    """A copy instruction, as a dialect above this one knows it."""

    @property
    def copy_traits(self) -> CopyTraits:
        """The parts of its source and its destination that threads hold."""
        ...


# --- the tensor memory accelerator ----------------------------------------------------------------

SMEM_ALIGN = 128
"""Where a box of TMA may start in shared memory, in bytes. PTX ISA, cp.async.bulk.tensor."""


@frozen
class TmaBox:
    """The box of one TMA instruction: extents, outermost first, the last contiguous in global
    memory; the bytes of its swizzle in shared memory; and which mode of the tensor each of them
    runs along."""

    extents: tuple[int, ...]
    element: str
    swizzle: int
    modes: tuple[int, ...]

    def __str__(self) -> str:
        text = "x".join((*map(str, self.extents), self.element))
        if self.swizzle:
            text += f", swizzle = {self.swizzle}"
        if self.modes != tuple(range(len(self.modes))):
            text += f", modes = [{', '.join(map(str, self.modes))}]"
        return text


class TmaAtom(Protocol):
    """A TMA instruction, as a dialect above this one knows it."""

    @property
    def loads(self) -> bool:
        """True where it copies to shared memory; else from there."""
        ...

    @property
    def multicast(self) -> bool:
        """True where it copies to several CTAs of a cluster, which a mask names."""
        ...

    def box_for(
        self, tensor: Layout, tile: tuple[int, ...], memory: AnyLayout, element: str
    ) -> TmaBox:
        """The box that each instruction copies of a tile of a tensor in global memory to shared
        memory of that layout. Raises LayoutError where there is none."""
        ...

    def why_not_memory(self, box: TmaBox, memory: AnyLayout) -> str | None:
        """Why shared memory of that layout, its modes those of the box, does not hold boxes as the
        instruction lays them down, or None where it does."""
        ...


@frozen
class TmaCopy:
    """A TMA instruction with the box that it copies."""

    atom: TmaAtom
    box: TmaBox

    def __str__(self) -> str:
        return f"{self.atom}, {self.box}"
