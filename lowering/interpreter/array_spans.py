"""Arrays of NumPy as memory: which of them overlap, which of their bytes may be written."""

from collections.abc import Iterable, Sequence

import numpy as np

from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray

Bounds = tuple[int, int]
"""The addresses of a first byte and behind the last one."""


def bounds_of(array: AnyArray) -> Bounds:
    """From an array's first byte to behind its last one; of one without elements both are alike."""
    if not array.size:
        return array.ctypes.data, array.ctypes.data
    low, high = np.lib.array_utils.byte_bounds(array)
    return int(low), int(high)


def steps_forwards(array: AnyArray) -> bool:
    """True where strides are whole elements, and none is negative."""
    return all(step >= 0 and step % array.itemsize == 0 for step in array.strides)


def overlapping(bounds: Sequence[Bounds]) -> list[int]:
    """For each span the number of the first span that it is connected to by overlaps."""
    order = sorted(range(len(bounds)), key=lambda i: bounds[i])
    groups, end, leader = [0] * len(bounds), -1, -1
    for i in order:
        low, high = bounds[i]
        if leader < 0 or low >= end:
            leader, end = i, high
        groups[i] = leader
        end = max(end, high)
    return groups


def overlaps_itself(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """True where two elements of an array may be one in memory: where a step leads to what inner
    dimensions reach."""
    reach = 0
    for step, size in sorted(zip(map(abs, strides), shape, strict=True)):
        if size > 1 and step <= reach:
            return True
        reach += step * (size - 1)
    return False


def read_only_bytes(arrays: Iterable[AnyArray], start: int, size: int) -> BoolArray | None:
    """Which of the bytes from an address on no array has that may be written; None where all
    arrays may be."""
    arrays = list(arrays)
    if all(array.flags.writeable for array in arrays):
        return None
    kept = np.ones(size, np.bool_)
    for array in arrays:
        if array.flags.writeable and array.size:
            shape, strides = (*array.shape, array.itemsize), (*array.strides, 1)
            first = array.ctypes.data - start
            np.ndarray(shape, np.bool_, kept.data, first, strides)[...] = False
    return kept


def why_read_only(byte: int, name: str) -> str:
    """The error of a write to a byte of arguments that may only be read."""
    return f"expected an array that may be written, got byte {byte} of {name}, which is read-only"
