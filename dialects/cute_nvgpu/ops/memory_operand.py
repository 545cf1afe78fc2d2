"""What the copies ask of the memory that they read and write: a memref of the right space, whose
layout keeps together the bytes that the instruction moves as one."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import FixedBitwidthType, IntegerAttr, MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute import ComposedLayout, Layout, Swizzle, flatten
from tilewright.dialects.cute.types.memref import (
    Space,
    is_memref,
    layout_mismatch,
    layout_of,
    space_of,
)
from tilewright.dialects.cute_nvgpu.atoms.tmem_layouts import column_stride, lane_stride, span
from tilewright.dialects.cute_nvgpu.lattice.tmem import COLUMNS, LANES
from tilewright.dialects.cute_nvgpu.types.fragments import element_of


def verify_memref(
    op: str, what: str, type_: Attribute, indices: int, space: Space
) -> MemRefType[Attribute]:
    """The type of an operand that must be a memref of that space and of so many dimensions.

    Raises VerifyException where it is not.
    """
    if not is_memref(type_):
        raise VerifyException(f"'{op}' {what} expected a memref, got {type_}")
    if space_of(type_.memory_space) is not space:
        raise VerifyException(
            f"'{op}' {what} expected memory space {space.value}, got {type_} "
            f"(PTX takes a {space.value} address here)"
        )
    if len(type_.shape) != indices:
        raise VerifyException(
            f"'{op}' {what} expected {len(type_.shape)} indices for {type_}, got {indices}"
        )
    if (reason := layout_mismatch(type_)) is not None:
        raise VerifyException(f"'{op}' {what} {reason}")
    return type_


def verify_tmem(op: str, what: str, type_: Attribute, indices: int) -> MemRefType[Attribute]:
    """The type of an operand that must be a memref of that many dimensions in tensor memory.

    Its layout counts elements, lane by lane and column by column (`tmem_layouts`). Raises
    VerifyException where it is none, or no part of a CTA's tensor memory.
    """
    held = verify_memref(op, what, type_, indices, Space.TMEM)
    _ = tmem_span(op, what, held)
    return held


def tmem_span(op: str, what: str, type_: MemRefType[Attribute]) -> tuple[int, int]:
    """(lanes, columns) that a memref in tensor memory spans. Raises VerifyException where it is
    not of static layout, or spans more than there is."""
    layout, bits = layout_of(type_), bits_of(type_.element_type)
    if not isinstance(layout, Layout):
        raise VerifyException(
            f"'{op}' {what} expected a memref of static layout without swizzle, got {type_}"
        )
    if bits is None or bits > 32:
        raise VerifyException(
            f"'{op}' {what} expected elements of at most 32 bits, got {type_.element_type}"
        )
    try:
        lanes, columns = span(layout, bits)
    except ValueError as error:
        raise VerifyException(f"'{op}' {what} {error}") from None
    if lanes > LANES or columns > COLUMNS:
        raise VerifyException(
            f"'{op}' {what} expected a layout within {LANES} lanes and {COLUMNS} columns of 32-bit "
            f"cells, got {lanes} lanes and {columns} columns of {layout} (a lane is "
            f"{lane_stride(bits)} elements of {bits} bits, a column {column_stride(bits)})"
        )
    return lanes, columns


def constant_index(value: SSAValue) -> int | None:
    """The value of an index that is a constant, or None."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def verify_contiguous(op: str, what: str, type_: MemRefType[Attribute], wanted: int) -> None:
    """Raise VerifyException unless `wanted` bytes along the last index lie side by side, and
    every such run starts on a multiple of `wanted` bytes from the memref's start."""
    bits, layout = bits_of(type_.element_type), layout_of(type_)
    if bits is None or layout is None:
        return
    if wanted * 8 < bits:
        raise VerifyException(
            f"'{op}' {what} expected elements of at most {wanted} bytes, got {type_.element_type}"
        )
    count = wanted * 8 // bits
    plain = layout
    if isinstance(layout, ComposedLayout):
        plain, swizzle = layout.outer, layout.inner
        if isinstance(swizzle, Swizzle) and swizzle.bits and (1 << swizzle.base) < count:
            raise VerifyException(
                f"'{op}' {what} expected a swizzle that keeps {count} elements ({wanted} bytes) "
                f"together, got {swizzle}; nearest legal: "
                f"{Swizzle(swizzle.bits, count.bit_length() - 1, swizzle.shift)}"
            )
    assert isinstance(plain, Layout)
    last, *rest = (_steps(plain[mode]) for mode in reversed(range(plain.rank())))
    run = last[0] if last else (1, 1)
    others = [stride for _, stride in last[1:] + [step for mode in rest for step in mode]]
    if run[1] != 1 or run[0] % count or any(stride % count for stride in others):
        raise VerifyException(
            f"'{op}' {what} expected {count} elements ({wanted} bytes) side by side along the "
            f"last index, each run on its own {wanted} bytes, got layout {layout}"
        )


def bits_of(type_: Attribute) -> int | None:
    """The width of an element in memory, or None where it has none."""
    if (element := element_of(type_)) is not None:
        return element.bits
    return type_.bitwidth if isinstance(type_, FixedBitwidthType) else None


def _steps(mode: Layout) -> list[tuple[int, int]]:
    """The (extent, stride) pairs of a mode that move at all."""
    pairs = zip(flatten(mode.shape), flatten(mode.stride), strict=True)
    return [
        (extent, stride)
        for extent, stride in pairs
        if isinstance(extent, int) and isinstance(stride, int) and extent != 1
    ]
