"""MMA atoms as tiles are made of them: their threads, and which of their operands lie where.

What registers hold is the lattice's TV layouts. A matrix that `wgmma` reads through a descriptor is
every thread's: (T128,(M,K)) -> m + M*k with a stride of 0 along threads. `tcgen05.mma` has one
thread, (T1,(M,K)) -> m + M*k, and its accumulator in tensor memory.
"""

from __future__ import annotations

from functools import cache

from tilewright.dialects.cute import ComposedLayout, Layout, LayoutError, equivalent, flatten
from tilewright.dialects.cute.atoms import OPERAND_MODES, MmaOperand, MmaTraits, Operand
from tilewright.dialects.cute.tiled_mma import covers
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    CHUNK,
    TCGEN05,
    WGMMA,
    DescriptorError,
    DescriptorFormat,
    MajorMode,
)
from tilewright.dialects.cute_nvgpu.descriptors.solve_descriptor import solve
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.wmma import WmmaRow

_STORED_AS = {"tf32": ("f32",), "s8": ("i8",), "u8": ("i8",)}
"""The other types of which memory may hold a matrix of these."""


def stored_as(element: ElementType) -> tuple[str, ...]:
    """The MLIR spellings of what a tensor of these elements may be made of."""
    return (element.mlir, *_STORED_AS.get(element.name, ()))


@cache
def mma_traits(atom: MmaAtom) -> MmaTraits:
    """Of `mma.sync`. Raises LayoutError for an atom with operands beside A, B and C, for `wmma`, or
    where threads do not hold each element of a matrix once."""
    if len(atom.inputs) != 3:
        raise LayoutError(f"expected an atom of A, B and C alone, got {atom}")
    if isinstance(atom.row, WmmaRow):
        raise LayoutError(
            f"expected an atom whose threads hold known elements, got {atom} (wmma leaves them to "
            "the chip, PTX ISA 9.7.14.4.1); nearest legal: an atom of mma.sync"
        )

    def operand(which: Operand) -> MmaOperand:
        tv = atom.tv_layout(which)
        rows, columns = (atom.shape[mode] for mode in OPERAND_MODES[which])
        if atom.extents(which) != (rows, columns) or not covers(tv, rows * columns):
            raise LayoutError(f"expected an atom of one matrix, got {atom} with {which} in {tv}")
        return MmaOperand(tv, stored_as(atom.element(which)), "rmem")

    threads = Layout(atom.threads, 1)
    return MmaTraits(atom.shape, threads, operand("A"), operand("B"), operand("C"))


@cache
def wgmma_traits(atom: WgmmaAtom) -> MmaTraits:
    """Of `wgmma`. Raises LayoutError for a sparse one."""
    if atom.row.sparse:
        raise LayoutError(f"expected an atom of A, B and C alone, got {atom}")

    def in_memory(which: Operand) -> MmaOperand:
        rows, columns = (atom.shape[mode] for mode in OPERAND_MODES[which])
        tv = Layout((atom.threads, (rows, columns)), (0, (1, rows)))
        return MmaOperand(tv, stored_as(atom.element(which)), "smem")

    def in_registers(which: Operand) -> MmaOperand:
        return MmaOperand(atom.tv_layout(which), stored_as(atom.element(which)), "rmem")

    a = in_registers("A") if atom.frag_kind == "rs" else in_memory("A")
    threads = Layout(atom.threads, 1)
    return MmaTraits(atom.shape, threads, a, in_memory("B"), in_registers("C"))


@cache
def umma_traits(atom: UmmaAtom) -> MmaTraits:
    """Of `tcgen05.mma`. Raises LayoutError for what is not dense, of a pair of CTAs, or has A in
    tensor memory; and for elements that are narrower than what they take in shared memory."""
    if atom.op != "sm100.mma":
        raise LayoutError(f"expected an atom of A, B and C alone, got {atom}")
    if atom.cta_group != 1 or atom.frag_kind != "ss":
        raise LayoutError(
            f"expected an atom of one CTA with A and B in shared memory, got <{atom.parameters}>; "
            "nearest legal: frag_kind = ss, no cta_group"
        )

    def operand(which: Operand, space: str) -> MmaOperand:
        element = atom.element(which)
        if element.padded:
            raise LayoutError(f"expected elements of whole bytes, got {element.mlir} in {atom}")
        rows, columns = atom.extents(which)
        tv = Layout((1, (rows, columns)), (0, (1, rows)))
        return MmaOperand(tv, stored_as(element), space)

    a, b, c = operand("A", "smem"), operand("B", "smem"), operand("C", "tmem")
    return MmaTraits(atom.shape, Layout(1, 0), a, b, c)


def why_no_umma_operand(
    atom: UmmaAtom, which: Operand, layout: Layout | ComposedLayout
) -> str | None:
    """Why `tcgen05.mma` has no operand of that layout, or None where it has."""
    if which == "C":
        wanted = atom.cta_layout("D")
        same = isinstance(layout, Layout) and equivalent(layout, wanted)
        return None if same else f"expected {wanted}, M = {atom.m}, got {layout}"
    return why_no_descriptor(layout, atom.element(which), atom.majors["AB".index(which)], TCGEN05)


def why_no_descriptor(
    layout: Layout | ComposedLayout,
    element: ElementType,
    major: MajorMode,
    format: DescriptorFormat = WGMMA,
) -> str | None:
    """Why no descriptor of that major-ness reads (mn, k) of such a layout, or None where one does.

    Where the matrix starts is left out, as a layout's offset may be known at run time only.
    """
    if isinstance(layout, ComposedLayout):
        layout = ComposedLayout(layout.inner, 0, layout.outer)
    outer = layout.outer if isinstance(layout, ComposedLayout) else layout
    if not all(isinstance(step, int) for step in flatten(outer.stride)):
        return f"expected known strides, got {layout}"
    try:
        tile = solve(layout, element.bits, major, format)
    except DescriptorError as error:
        return str(error)
    if tile.swizzle_atom != (atom := format.swizzle_atom(major, element.bits)):
        kept = f"of {CHUNK}" if atom == CHUNK else f"in atoms of {atom}"
        return f"expected a swizzle {kept} bytes, got {layout}"
    return None
