"""Which memrefs `wmma.load` and `wmma.store` can address: one stride, and aligned rows."""

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute

from tilewright.dialects.cute import Layout, coalesce
from tilewright.dialects.cute.types.memref import (
    Space,
    is_memref,
    layout_mismatch,
    layout_of,
    space_of,
)
from tilewright.dialects.cute_nvgpu.atoms.wmma import WmmaAccess
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.wmma import WmmaSpace
from tilewright.dialects.cute_nvgpu.types.fragments import MLIR_TYPES
from tilewright.dialects.illegal import Illegal

_SPACES = (Space.GMEM, Space.SMEM)
_ITEMS: dict[str, dict[str, int]] = {
    "tf32": {"tf32": 1, "f32": 1},
    "s8": {"si8": 1, "i8": 1},
    "u8": {"ui8": 1, "i8": 1},
    "s4": {"i8": 2, "i32": 8},
    "u4": {"i8": 2, "i32": 8},
    "b1": {"i8": 8, "i32": 32},
}
"""Element types of a memref that holds a matrix, and how many elements of the matrix each holds;
low bits first. Where an element type is not named here, it is its own."""


def items_of(element: ElementType) -> dict[str, int]:
    """The MLIR types of which a memref may hold such a matrix, and how many elements are in one."""
    return _ITEMS.get(element.name, {str(MLIR_TYPES[element.name]): 1})


def elements_per_item(element: ElementType, type_: MemRefType[Attribute]) -> int:
    """How many elements of the matrix one element of the memref holds."""
    return items_of(element)[str(type_.element_type)]


def verify_memory(access: WmmaAccess, type_: Attribute, indices: int) -> None:
    """Raise Illegal unless the instruction can address the memref."""
    if not is_memref(type_):
        raise Illegal(f"memory expected a memref, got {type_}")
    if space_of(type_.memory_space) not in _SPACES:
        raise Illegal(
            f"memory expected memory space {' or '.join(space.value for space in _SPACES)}, "
            f"got {type_} (PTX takes a global or shared address here)"
        )
    if len(type_.shape) < 2:
        raise Illegal(
            f"memory expected a memref of two or more dimensions, got {type_} "
            "(the last two are the matrix)"
        )
    if len(type_.shape) != indices:
        raise Illegal(f"memory expected {len(type_.shape)} indices for {type_}, got {indices}")
    if (reason := layout_mismatch(type_)) is not None:
        raise Illegal(f"memory {reason}")
    legal = items_of(access.element)
    if str(type_.element_type) not in legal:
        raise Illegal(
            f"memory expected elements of {' or '.join(legal)}, got {type_.element_type} "
            f"(the matrix is of {access.element.mlir})"
        )
    _verify_extents(access, type_)
    _verify_strides(access, type_)


def _verify_extents(access: WmmaAccess, type_: MemRefType[Attribute]) -> None:
    """The matrix must fit into the memref."""
    extents, available = extents_of(access, type_), type_.get_shape()[-2:]
    pairs = zip(available, extents, strict=True)
    if any(have != DYNAMIC_INDEX and have < want for have, want in pairs):
        raise Illegal(
            f"memory expected at least {extents[0]}x{extents[1]} elements, got {type_} "
            f"({access.mnemonic()})"
        )


def extents_of(access: WmmaAccess, type_: MemRefType[Attribute]) -> tuple[int, int]:
    """Rows and columns of the matrix in elements of the memref."""
    rows, columns = access.row.extents
    several = elements_per_item(access.element, type_)
    return (rows, columns // several) if access.major == "row" else (rows // several, columns)


# Strides

Strides = list[list["int | None"]]


def _strides(type_: MemRefType[Attribute]) -> Strides:
    """The strides of each dimension: one, or those of its submodes; None is known when it runs."""
    layout = layout_of(type_)
    if layout is None:
        strides = type_.get_strides()
        if strides is None:
            raise Illegal(f"memory expected a memref with strides, got {type_}")
        return [[stride] for stride in strides]
    if not isinstance(layout, Layout):
        raise Illegal(
            f"memory expected a layout without a swizzle, got {layout} "
            "(the instruction has one stride)"
        )
    modes = [coalesce(layout[mode]) for mode in range(layout.rank())]
    return [[step for _, step in mode.leaves if isinstance(step, int)] for mode in modes]


def static_stride(type_: MemRefType[Attribute], dimension: int) -> int | None:
    """The stride of a dimension that has one, or None where it is known when it runs."""
    [stride] = _strides(type_)[dimension]
    return stride


def _verify_strides(access: WmmaAccess, type_: MemRefType[Attribute]) -> None:
    """One of the last two dimensions must be contiguous, and the stride of the other legal."""
    *batch, row, column = _strides(type_)
    if len(row) != 1 or len(column) != 1:
        raise Illegal(
            f"memory expected one stride for rows and one for columns, got {type_} "
            "(the instruction has one stride)"
        )
    by_row = access.major == "row"
    (leading,), (contiguous,) = (row, column) if by_row else (column, row)
    if contiguous != 1:
        other = "col" if by_row else "row"
        got = "a stride known at run time" if contiguous is None else f"stride {contiguous}"
        hint = f"; nearest legal: layout = {other}" if leading == 1 else ""
        raise Illegal(
            f"memory expected neighbours along the {'last' if by_row else 'last but one'} "
            f"index with layout = {access.major}, got {got} in {type_}{hint}"
        )
    several = elements_per_item(access.element, type_)
    space: WmmaSpace = "shared" if space_of(type_.memory_space) is Space.SMEM else "global"
    alignment = access.alignment(space)
    why = None if leading is None else access.why_stride(leading, space, several)
    if why is not None:
        raise Illegal(f"memory {why}")
    for stride in (step for mode in batch for step in mode):
        if stride is not None and stride * several * access.element.bits // 8 % alignment:
            raise Illegal(
                f"memory expected matrices on {alignment} bytes, got {type_} "
                f"({access.mnemonic()}, PTX ISA 9.7.14.4.2)"
            )
