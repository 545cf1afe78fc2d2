"""Operands in memory: memrefs of the right space, whose layout keeps together the bytes that an
instruction moves as one, and the matrices in shared memory that MMAs read."""

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType
from xdsl.ir import Attribute

from tilewright.dialects.cute import ComposedLayout, Layout, Swizzle
from tilewright.dialects.cute.tensor_memory import CELL_BITS
from tilewright.dialects.cute.types.memref import (
    Space,
    is_memref,
    layout_mismatch,
    layout_of,
    space_of,
)
from tilewright.dialects.cute_nvgpu.atoms.tmem_layouts import column_stride, lane_stride, span
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import CHUNK, WGMMA, MajorMode
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.tmem import COLUMNS, LANES
from tilewright.dialects.cute_nvgpu.types.fragments import element_of
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.dialects.illegal import Illegal


def verify_memref(what: str, type_: Attribute, indices: int, space: Space) -> MemRefType[Attribute]:
    """The type of an operand that must be a memref of that space and of so many dimensions.

    Raises Illegal where it is not.
    """
    if not is_memref(type_):
        raise Illegal(f"{what} expected a memref, got {type_}")
    if space_of(type_.memory_space) is not space:
        raise Illegal(
            f"{what} expected memory space {space.value}, got {type_} "
            f"(PTX takes a {space.value} address here)"
        )
    if len(type_.shape) != indices:
        raise Illegal(f"{what} expected {len(type_.shape)} indices for {type_}, got {indices}")
    if (reason := layout_mismatch(type_)) is not None:
        raise Illegal(f"{what} {reason}")
    return type_


def verify_words(what: str, type_: Attribute, indices: int, word: Attribute, why: str) -> None:
    """Raise Illegal unless the type is a memref of such words in shared memory."""
    memref = verify_memref(what, type_, indices, Space.SMEM)
    if memref.element_type != word:
        raise Illegal(f"{what} expected a memref of {word}, got {memref} ({why})")


def verify_tmem(what: str, type_: Attribute, indices: int) -> MemRefType[Attribute]:
    """The type of an operand that must be a memref of that many dimensions in tensor memory.

    Its layout counts elements, lane by lane and column by column (`tmem_layouts`). Raises
    Illegal where it is none, or no part of a CTA's tensor memory.
    """
    memref = verify_memref(what, type_, indices, Space.TMEM)
    _ = tmem_span(what, memref)
    return memref


def tmem_span(what: str, type_: MemRefType[Attribute]) -> tuple[int, int]:
    """(lanes, columns) that a memref in tensor memory spans. Raises Illegal where it is
    not of static layout, or spans more than there is."""
    layout, bits = layout_of(type_), bits_of(type_.element_type)
    if not isinstance(layout, Layout):
        raise Illegal(f"{what} expected a memref of static layout without swizzle, got {type_}")
    if bits is None or not 0 < bits <= CELL_BITS:
        raise Illegal(
            f"{what} expected elements of 1 to {CELL_BITS} bits, got {type_.element_type}"
        )
    try:
        lanes, columns = span(layout, bits)
    except ValueError as error:
        raise Illegal(f"{what} {error}") from None
    if lanes > LANES or columns > COLUMNS:
        raise Illegal(
            f"{what} expected a layout within {LANES} lanes and {COLUMNS} columns of 32-bit "
            f"cells, got {lanes} lanes and {columns} columns of {layout} (a lane is "
            f"{lane_stride(bits)} elements of {bits} bits, a column {column_stride(bits)})"
        )
    return lanes, columns


def verify_matrix(atom: WgmmaAtom | UmmaAtom, operand: str, type_: Attribute) -> None:
    """Raise Illegal unless the type is the atom's matrix in shared memory."""
    where, element, format = f"operand {operand}", atom.element(operand), atom.FORMAT
    rows, columns = atom.shared_extents(operand)
    unpacked = ", unpacked" if element.padded and element.width == 4 else ""
    spelled = f"{rows}x{columns}x{element.mlir}{unpacked}"
    named = "" if format is WGMMA else f" {format.name},"
    legal = f"!cute_nvgpu.smem_desc_view<{spelled},{named} ...>"
    if not isinstance(type_, SmemDescViewType):
        raise Illegal(
            f"{where} expected a matrix in shared memory, got {type_} "
            f"(frag_kind = {atom.frag_kind}); nearest legal: {legal}"
        )
    if type_.format is not format:
        raise Illegal(
            f"{where} expected a descriptor of {format.name}, got one of {type_.format.name} "
            f"({atom.mnemonic}); nearest legal: {legal}"
        )
    if type_.element is not element or type_.extents != (rows, columns):
        group = f", cta_group {atom.cta_group}" if isinstance(atom, UmmaAtom) else ""
        raise Illegal(
            f"{where} expected {spelled}, got {type_.elements} ({atom.mnemonic}{group}); "
            f"nearest legal: {legal}"
        )
    _verify_major(where, type_, atom.majors["AB".index(operand)], element)


def _verify_major(
    where: str, type_: SmemDescViewType, major: MajorMode, element: ElementType
) -> None:
    tile, format = type_.tile, type_.format
    if tile.major != major:
        raise Illegal(
            f"{where} expected {'an MN' if major == 'mn' else 'a K'}-major matrix, as ab_major "
            f"says, got {tile.major.upper()}-major layout {type_.layout.data}; nearest legal: "
            f"ab_major = {tile.major} ({format.major_section})"
        )
    if tile.swizzle_atom != (atom := format.swizzle_atom(major, element.bits)):
        wanted = "none, 32, 64 or 128 bytes" if atom == CHUNK else f"128 bytes in atoms of {atom}"
        raise Illegal(
            f"{where} expected a swizzle of {wanted} for {major.upper()}-major {element.name}, got "
            f"layout {type_.layout.data} ({format.major_section})"
        )


def verify_contiguous(what: str, type_: MemRefType[Attribute], wanted: int) -> None:
    """Raise Illegal unless `wanted` bytes along the last index lie side by side, and
    every such run starts on a multiple of `wanted` bytes from the memref's start."""
    bits, layout = bits_of(type_.element_type), layout_of(type_)
    if bits is None or layout is None:
        return
    if wanted * 8 < bits:
        raise Illegal(
            f"{what} expected elements of at most {wanted} bytes, got {type_.element_type}"
        )
    count = wanted * 8 // bits
    plain = layout
    if isinstance(layout, ComposedLayout):
        plain, swizzle = layout.outer, layout.inner
        if isinstance(swizzle, Swizzle) and swizzle.bits and (1 << swizzle.base) < count:
            raise Illegal(
                f"{what} expected a swizzle that keeps {count} elements ({wanted} bytes) "
                f"together, got {swizzle}; nearest legal: "
                f"{Swizzle(swizzle.bits, count.bit_length() - 1, swizzle.shift)}"
            )
    assert isinstance(plain, Layout)
    last, *rest = (_steps(plain[mode]) for mode in reversed(range(plain.rank())))
    run = last[0] if last else (1, 1)
    others = [stride for _, stride in last[1:] + [step for mode in rest for step in mode]]
    if run[1] != 1 or run[0] % count or any(stride % count for stride in others):
        raise Illegal(
            f"{what} expected {count} elements ({wanted} bytes) side by side along the "
            f"last index, each run on its own {wanted} bytes, got layout {layout}"
        )


def bits_of(type_: Attribute) -> int | None:
    """The width of an element in memory, or None where it has none."""
    if (element := element_of(type_)) is not None:
        return element.bits
    return type_.bitwidth if isinstance(type_, FixedBitwidthType) else None


def tmem_layout(type_: Attribute) -> tuple[Layout, int]:
    """The layout of a memref in tensor memory, and the bits of its elements."""
    assert is_memref(type_)
    layout, bits = layout_of(type_), bits_of(type_.element_type)
    assert isinstance(layout, Layout) and bits is not None
    return layout, bits


def _steps(mode: Layout) -> list[tuple[int, int]]:
    """The (extent, stride) pairs of a mode that move at all."""
    return [
        (extent, stride)
        for extent, stride in mode.leaves
        if isinstance(extent, int) and isinstance(stride, int) and extent != 1
    ]
