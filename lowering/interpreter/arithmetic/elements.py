"""Between the words of registers and the elements in them, low bits first."""

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType, register_bits
from tilewright.lowering.interpreter.array_types import AnyArray, UInt8Array


def elements_of(words: AnyArray, element: ElementType) -> AnyArray:
    """The elements of registers: [..., registers] to [..., values], in the element's container.

    `words` are unsigned integers of any width that holds whole elements.
    """
    return unpacked(words, element.bits)


def unpacked(words: AnyArray, bits: int) -> AnyArray:
    """Elements of so many bits, in their containers: [..., words] to [..., elements]."""
    words = np.ascontiguousarray(words)
    if bits >= 8:
        return words.view(f"uint{bits}")
    data = words.view(np.uint8)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    values = data[..., None] >> shifts & np.uint8((1 << bits) - 1)
    return values.reshape(*data.shape[:-1], data.shape[-1] * len(shifts))


def words_of(elements: AnyArray, element: ElementType) -> AnyArray:
    """The inverse of `elements_of`: unsigned integers of the width of the element's registers."""
    return packed(elements, element.bits).view(f"uint{register_bits(element.register)}")


def packed(elements: AnyArray, bits: int) -> UInt8Array:
    """The inverse of `unpacked`, as bytes."""
    whole = np.ascontiguousarray(elements)
    if bits >= 8:
        return whole.view(np.uint8)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    octets = whole.shape[-1] // len(shifts)
    parts = whole.reshape(*whole.shape[:-1], octets, len(shifts)) << shifts
    return np.bitwise_or.reduce(parts, axis=-1, dtype=np.uint8)


def values_of(elements: AnyArray, element: ElementType) -> AnyArray:
    """The elements without the padding that a fragment may hold around them, as low bits."""
    if not element.padded:
        return elements
    dtype = elements.dtype.type
    return elements >> dtype(element.shift) & dtype((1 << element.width) - 1)
