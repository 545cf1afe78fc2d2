"""MMA atoms as tiles are made of them: their threads, and which of their operands lie where.

What registers hold is the lattice's TV layouts. A matrix that `wgmma` reads through a descriptor is
every thread's: (T128,(M,K)) -> m + M*k with a stride of 0 along threads. The threads of
`tcgen05.mma` are CTAs, one or a pair: (T2,(M/2,K)) -> m + M*k; what is in tensor memory lies as
`UmmaAtom.cta_layout` says.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import TypeAlias

from tilewright.dialects.cute import (
    ComposedLayout,
    Layout,
    LayoutError,
    composition,
    equivalent,
    flatten,
    make_layout,
)
from tilewright.dialects.cute.algebra import filter as filter_
from tilewright.dialects.cute.atoms import MmaOperand, MmaTraits, Operand
from tilewright.dialects.cute.swizzle import AnyLayout, outer_of
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
from tilewright.dialects.cute_nvgpu.fragments.mma import QUAD_PAIR
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.wmma import WmmaRow

FragmentAtom: TypeAlias = MmaAtom | WgmmaAtom
"""An atom whose accumulators are fragments."""
AnyMmaAtom: TypeAlias = FragmentAtom | UmmaAtom

_STORED_AS = {
    "tf32": ("f32",), "s8": ("i8",), "u8": ("i8",), "ue8m0": ("i8",), "ue4m3": ("i8",)
}  # fmt: skip
"""The other types that elements in memory may have for a matrix of these."""


def stored_as(element: ElementType) -> tuple[str, ...]:
    """The MLIR spellings of what a tensor of these elements may be made of: bytes, for what takes a
    byte each and is narrower."""
    return ("i8",) if element.padded else (element.mlir, *_STORED_AS.get(element.name, ()))


_SCALES: tuple[Operand, ...] = ("SFA", "SFB")
_PER_WORD = 4
"""Scale factors of a register or a cell."""


def _operand(
    atom: AnyMmaAtom,
    which: Operand,
    extents: tuple[int, int],
    tv: Layout,
    space: str,
) -> MmaOperand:
    packed = _PER_WORD if which in _SCALES else 1
    return MmaOperand(extents, tv, stored_as(atom.element(which)), space, packed)


def _traits(
    atom: AnyMmaAtom,
    threads: Layout,
    together: int,
    operand: Callable[[Operand], MmaOperand],
    operands: Iterable[Operand],
) -> MmaTraits:
    return MmaTraits(atom.shape, threads, {which: operand(which) for which in operands}, together)


@cache
def mma_traits(atom: MmaAtom) -> MmaTraits:
    """Of `mma.sync`. Raises LayoutError for `wmma`, and where C is of another type than D."""
    if isinstance(atom.row, WmmaRow):
        raise LayoutError(
            f"expected an atom whose threads hold known elements, got {atom} (the chip chooses, "
            "PTX ISA 9.7.14.4.1); nearest legal: an atom of mma.sync"
        )
    if atom.element("C") != atom.element("D"):
        raise LayoutError(
            f"expected an atom with C and D of one type, got {atom} (each step along K adds to the "
            "D of the one before)"
        )
    # Of the MMAs that one instruction computes side by side, that of the first quad pair.
    matrices = atom.row.matrices
    threads = Layout(atom.threads, 1) if matrices == 1 else QUAD_PAIR

    def operand(which: Operand) -> MmaOperand:
        rows, columns = atom.extents(which)
        return _operand(
            atom, which, (rows, columns // matrices), _held(atom, which, threads), "rmem"
        )

    return _traits(atom, threads, atom.threads, operand, atom.inputs)  # type: ignore[arg-type]


def _held(atom: FragmentAtom, which: Operand, threads: Layout) -> Layout:
    """(thread, value) -> index, each value of a thread once: those that ids choose among are the
    same."""
    tv = atom.tv_layout(which)
    return make_layout(composition(tv[0], threads), filter_(tv[1]))


@cache
def wgmma_traits(atom: WgmmaAtom) -> MmaTraits:
    """Of `wgmma`."""
    threads = Layout(atom.threads, 1)
    in_memory = ("A", "B") if atom.frag_kind == "ss" else ("B",)

    def operand(which: Operand) -> MmaOperand:
        rows, columns = atom.extents(which)
        if which not in in_memory:
            layout = _held(atom, which, threads)
            return _operand(atom, which, (rows, columns), layout, "rmem")
        tv = Layout((atom.threads, (rows, columns)), (0, (1, rows)))
        return _operand(atom, which, (rows, columns), tv, "smem")

    operands: tuple[Operand, ...] = ("A", "B", "C", *(("E",) if atom.row.sparse else ()))
    return _traits(atom, threads, atom.threads, operand, operands)


@cache
def umma_traits(atom: UmmaAtom) -> MmaTraits:
    """Of `tcgen05.mma`. Of elements that it unpacks, shared memory holds bytes, a sixteenth each of
    16 elements and their padding. Raises LayoutError where a row has scale factors in two words."""
    ctas, scale = atom.cta_group, atom.row.scale
    if scale is not None and scale.vector > _PER_WORD:
        raise LayoutError(
            f"expected scale factors of a row in one word, got {atom} (no layout says where "
            f"{scale.vector} are in two words)"
        )

    def operand(which: Operand) -> MmaOperand:
        space = "tmem" if which == "C" or which in atom.tmem_operands else "smem"
        rows, columns = atom.extents(which)
        there = rows if which == "SFB" else rows // ctas
        tv = Layout((ctas, (there, columns)), (there if there < rows else 0, (1, rows)))
        return _operand(atom, which, (rows, columns), tv, space)

    others: tuple[Operand, ...] = tuple(x for x in atom.tmem_operands if x not in ("A", "D"))  # type: ignore[misc]
    threads = Layout(ctas, 1 if ctas > 1 else 0)
    return _traits(atom, threads, ctas, operand, ("A", "B", "C", *others))


def why_no_umma_operand(atom: UmmaAtom, which: Operand, layout: AnyLayout) -> str | None:
    """Why `tcgen05.mma` has no operand of that layout, or None where it has."""
    if which == "C" or which in atom.tmem_operands:
        rows, columns = atom.cta_layout(which)
        wanted = make_layout(rows, composition(columns, Layout(atom.extents(which)[1], 1)))
        same = isinstance(layout, Layout) and equivalent(layout, wanted)
        return None if same else f"expected {wanted}, M = {atom.m}, got {layout}"
    return why_no_descriptor(layout, atom.element(which), atom.majors["AB".index(which)], TCGEN05)


def why_no_descriptor(
    layout: AnyLayout,
    element: ElementType,
    major: MajorMode,
    format: DescriptorFormat = WGMMA,
) -> str | None:
    """Why no descriptor of that major-ness reads (mn, k) of such a layout, or None where one does.

    Where the matrix starts is left out, as a layout's offset may be known at run time only.
    """
    if isinstance(layout, ComposedLayout):
        layout = ComposedLayout(layout.inner, 0, layout.outer)
    if not all(isinstance(step, int) for step in flatten(outer_of(layout).stride)):
        return f"expected known strides, got {layout}"
    try:
        tile = solve(layout, element.bits, major, format)
    except DescriptorError as error:
        return str(error)
    if tile.swizzle_atom != (atom := format.swizzle_atom(major, element.bits)):
        kept = f"of {CHUNK}" if atom == CHUNK else f"in atoms of {atom}"
        return f"expected a swizzle {kept} bytes, got {layout}"
    return None
