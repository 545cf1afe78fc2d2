"""What the copies ask of the memory that they read and write: a memref of the right space, whose
layout keeps together the bytes that the instruction moves as one."""

from __future__ import annotations

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute import ComposedLayout, Layout, Swizzle, flatten
from tilewright.dialects.cute.dialect import Space, is_memref, layout_mismatch, layout_of, space_of
from tilewright.dialects.cute_nvgpu.attributes import element_of


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


def verify_contiguous(op: str, what: str, type_: MemRefType[Attribute], wanted: int) -> None:
    """Raise VerifyException unless `wanted` bytes along the last index lie side by side, and
    every such run starts on a multiple of `wanted` bytes from the memref's start."""
    bits, layout = _bits(type_.element_type), layout_of(type_)
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


def _bits(type_: Attribute) -> int | None:
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
